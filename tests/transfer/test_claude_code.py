"""Sessions of Claude Code: the newest line ends main, what was taken back and what agents did are branches."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from msglog import Store
from msglog.adapters import to_anthropic
from msglog.transfer.importers import import_file
from msglog.transfer.report import ImportedLog
from tests.transfer.exports import CLAUDE_CODE, claude_call, claude_line, claude_result
from tests.transfer.sources import contents, untouched

pytestmark = pytest.mark.every_engine

LEFT_OUT = [
    "lines left out of the type 'file-history-snapshot': 1",
    "lines left out of the type 'system': 1",
    "lines of which toolUseResult was left out, but no result: 1",
]


def session(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "session-1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


async def ids(store: Store, branch: str = "main") -> list[str]:
    return [message.entry_id for message in await store.log("session-1", branch).all()]


async def test_the_newest_line_ends_main_and_the_rest_are_branches(store: Store, tmp_path: Path) -> None:
    source = session(tmp_path, *CLAUDE_CODE)
    with untouched(source):
        report = await import_file(store, source)
    assert report.format == "claude-code"
    assert report.logs == (ImportedLog("session-1", 12, 0, 2),)
    assert [loss.what for loss in report.losses] == LEFT_OUT
    assert await ids(store) == ["u1", "a1", "a2", "a3", "r1", "r2", "a4", "u3"]
    assert await ids(store, "u2") == ["u1", "a1", "a2", "a3", "r1", "r2", "a4", "u2", "a5"]
    assert await ids(store, "sidechain-f00") == ["s1", "s2"]
    assert (await store.verify()).ok


async def test_calls_made_at_once_and_their_results_go_back_in_order(store: Store, tmp_path: Path) -> None:
    await import_file(store, session(tmp_path, *CLAUDE_CODE))
    sent = to_anthropic(await store.log("session-1").all())
    assert [turn["role"] for turn in sent][:2] == ["user", "assistant"]
    blocks = [block for turn in sent for block in turn["content"] if isinstance(block, dict)]
    assert blocks[0] == {"type": "thinking", "thinking": "Both.", "signature": "Eq"}
    assert [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"] == ["toolu_1", "toolu_2"]


async def test_time_model_and_the_usage_of_each_response_are_told_once(store: Store, tmp_path: Path) -> None:
    await import_file(store, session(tmp_path, *CLAUDE_CODE))
    first, second, *_ = await store.log("session-1").all()
    assert first.meta is not None
    assert first.meta.created_at == datetime(2026, 11, 30, 12, 0, 0, 123000, UTC)
    assert second.meta is not None
    assert second.meta.model == "claude-opus-5"
    usage = await store.log("session-1").usage()
    assert usage.total.tokens.output_tokens == 40 + 5 + 5 + 5
    assert usage.total.responses == 4


async def test_the_title_and_where_it_happened_are_told_of_the_log(store: Store, tmp_path: Path) -> None:
    await import_file(store, session(tmp_path, *CLAUDE_CODE))
    info = await store.describe("session-1")
    assert (info.title, info.meta["cwd"]) == ("Two files compared", "/home/ann/trains")


@pytest.mark.file_only("it imports again and again")
async def test_a_session_may_be_read_after_each_line_that_is_written(store: Store, tmp_path: Path) -> None:
    for end in range(2, len(CLAUDE_CODE) + 1):
        source = session(tmp_path, *CLAUDE_CODE[:end])
        await import_file(store, source)
        await import_file(store, source)
    assert await ids(store) == ["u1", "a1", "a2", "a3", "r1", "r2", "a4", "u2", "a5"]
    assert await ids(store, "u3") == ["u1", "a1", "a2", "a3", "r1", "r2", "a4", "u3"]
    assert await ids(store, "sidechain-f00") == ["s1", "s2"]
    assert len([branch.name for branch in await store.log("session-1").branches()]) == 3


async def test_a_second_run_adds_nothing(store: Store, tmp_path: Path) -> None:
    source = session(tmp_path, *CLAUDE_CODE)
    await import_file(store, source)
    before = await store.stats()
    assert (await import_file(store, source)).logs == (ImportedLog("session-1", 0, 12),)
    assert (await import_file(store, source, dry_run=True)).logs == (ImportedLog("session-1", 0, 12),)
    assert (await store.stats()).revisions == before.revisions


async def test_a_compaction_is_a_summary_of_what_was_before_it(store: Store, tmp_path: Path) -> None:
    source = session(
        tmp_path,
        claude_line("u1", None, "user", "Hello"),
        claude_line("a1", "u1", "assistant", [{"type": "text", "text": "Hi!"}]),
        claude_line("b1", None, "system", subtype="compact_boundary", logicalParentUuid="a1", content="Compacted"),
        claude_line("c1", "b1", "user", "They greeted.", isCompactSummary=True),
        claude_line("u2", "c1", "user", "Go on."),
        claude_line("a2", "u2", "assistant", [{"type": "text", "text": "So."}]),
        claude_line("u3", "u2", "user", "An edit of the answer"),
    )
    for _ in range(2):
        await import_file(store, source)
        assert await contents(store, "session-1") == ["They greeted.", "Go on.", "An edit of the answer"]
        assert await ids(store, "a2") == ["c1", "u2", "a2"]
        summary = (await store.log("session-1").all())[0]
        assert (summary.kind, summary.sources) == ("summary", ("u1", "a1"))
    assert [message.content for message in await store.log("session-1").restore()][:2] == [
        "Hello",
        [{"type": "text", "text": "Hi!"}],
    ]
    assert (await store.verify()).ok


async def test_a_session_that_goes_on_from_another_file_begins_with_its_summary(store: Store, tmp_path: Path) -> None:
    source = session(
        tmp_path,
        claude_line("b1", None, "system", subtype="compact_boundary", logicalParentUuid="gone", content="Compacted"),
        claude_line("c1", "b1", "user", "They greeted.", isCompactSummary=True),
        claude_line("u2", "c1", "user", "Go on."),
    )
    report = await import_file(store, source)
    assert await contents(store, "session-1") == ["They greeted.", "Go on."]
    assert [loss.where for loss in report.losses] == ["session-1", "session-1, b1"]


async def test_an_agent_s_own_file_has_its_lines_on_main(store: Store, tmp_path: Path) -> None:
    lines = [line for line in CLAUDE_CODE if line.get("isSidechain")]
    await import_file(store, session(tmp_path, *lines))
    assert await ids(store) == ["s1", "s2"]


async def test_a_call_that_was_answered_twice_has_an_alternative(store: Store, tmp_path: Path) -> None:
    source = session(
        tmp_path,
        claude_line("u1", None, "user", "Read a."),
        claude_line("a1", "u1", "assistant", claude_call("toolu_1")),
        claude_line("r1", "a1", "user", claude_result("toolu_1", "one")),
        claude_line("r2", "a1", "user", claude_result("toolu_1", "another")),
        claude_line("a2", "r2", "assistant", [{"type": "text", "text": "Another."}]),
    )
    await import_file(store, source)
    assert await ids(store) == ["u1", "a1", "r2", "a2"]
    assert await ids(store, "r1") == ["u1", "a1", "r1"]


GARBAGE: list[Any] = [
    7,
    {"type": 7},
    {"type": "user", "sessionId": "s"},
    {"type": "user", "uuid": "\ud83d", "sessionId": "s", "message": {}},
    {"type": "user", "uuid": "x", "parentUuid": "u1", "message": {}},
    {"type": "user", "uuid": "x", "parentUuid": 7, "message": {"role": "user", "content": 7}},
    {"type": "assistant", "uuid": "x", "parentUuid": "u1", "message": {"role": "assistant", "content": [7]}},
    {"type": "assistant", "uuid": "x", "parentUuid": "u1", "message": {"role": "king", "content": "x"}},
    {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "Another"}},
    {"type": "user", "uuid": "x", "parentUuid": "x", "message": 7},
]


@pytest.mark.parametrize("line", GARBAGE)
async def test_garbage_in_a_line_is_a_loss_and_the_rest_stands(line: Any, store: Store, tmp_path: Path) -> None:
    source = session(tmp_path, claude_line("u1", None, "user", "Hello"), line, claude_line("u2", "u1", "user", "Anew"))
    report = await import_file(store, source)
    assert report.losses
    assert await contents(store, "session-1") == ["Hello", "Anew"]


async def test_a_line_that_is_half_written_comes_with_the_next_run(store: Store, tmp_path: Path) -> None:
    source = session(tmp_path, claude_line("u1", None, "user", "Hello"))
    whole = json.dumps(claude_line("u2", "u1", "user", "Anew"))
    with source.open("a") as file:
        file.write(whole[:50])
    report = await import_file(store, source)
    assert [loss.where for loss in report.losses] == ["line 2"]
    with source.open("a") as file:
        file.write(whole[50:] + "\n")
    assert (await import_file(store, source)).losses == ()
    assert await contents(store, "session-1") == ["Hello", "Anew"]
