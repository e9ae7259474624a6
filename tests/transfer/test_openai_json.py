"""Plain JSON in OpenAI's chat format: every layout becomes logs, twice is once, and garbage is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import msglog
import msglog.sync
from msglog import Store
from msglog.errors import SourceError
from msglog.transfer.importers import FORMATS, import_file, json_values
from msglog.transfer.report import ImportedLog

pytestmark = pytest.mark.every_engine

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Is the 7:58 on time?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "status", "arguments": '{"n": 758}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "12 minutes late"},
    {"role": "assistant", "content": "It is late \ud83d."},
]


def written(path: Path, *values: Any, indent: int | None = None) -> Path:
    path.write_text("".join(json.dumps(value, indent=indent) + "\n" for value in values))
    return path


async def contents(store: Store, name: str) -> list[Any]:
    return [message.content for message in await store.log(name).all()]


LAYOUTS = {
    "an array of messages": lambda p: written(p, TALK),
    "an array that is written over many lines": lambda p: written(p, TALK, indent=2),
    "messages as lines": lambda p: written(p, *TALK),
    "a document": lambda p: written(p, {"messages": TALK}, indent=2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_messages_become_a_log_named_like_the_file(layout: str, store: Store, tmp_path: Path) -> None:
    source = LAYOUTS[layout](tmp_path / "trains.json")
    report = await import_file(store, source)
    assert (report.format, report.logs, report.losses) == ("openai", (ImportedLog("trains", 4),), ())
    assert await store.log("trains").to_openai() == json.loads(json.dumps(TALK).replace("\\ud83d", "\\ufffd"))
    messages = await store.log("trains").all()
    assert messages[3].content == "It is late \ud83d."
    assert messages[1].tool_calls[0].args == {"n": 758}


@pytest.mark.parametrize(
    "source",
    [
        lambda p: written(p, {"id": "a", "messages": TALK}, {"messages": TALK[:1]}),
        lambda p: written(p, [{"id": "a", "messages": TALK}, {"messages": TALK[:1]}]),
    ],
    ids=["lines", "array"],
)
async def test_conversations_become_logs_named_by_id_or_number(source: Any, store: Store, tmp_path: Path) -> None:
    report = await import_file(store, source(tmp_path / "talks.json"), prefix="old/")
    assert report.logs == (ImportedLog("old/a", 4), ImportedLog("old/talks-2", 1))
    assert await contents(store, "old/talks-2") == ["Is the 7:58 on time?"]


async def test_a_file_that_is_not_there_is_said(store: Store, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        await import_file(store, tmp_path / "talks.jsonl")


def test_a_blocking_store_takes_a_file_without_waiting(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db") as store:
        report = import_file(store, written(tmp_path / "trains.json", TALK))
        assert report.logs == (ImportedLog("trains", 4),)
        assert store.log("trains").count() == 4


async def test_lists_of_messages_as_lines_become_numbered_logs(store: Store, tmp_path: Path) -> None:
    report = await import_file(store, written(tmp_path / "talks.jsonl", TALK, TALK[:2]))
    assert report.logs == (ImportedLog("talks-1", 4), ImportedLog("talks-2", 2))


async def test_what_else_a_conversation_says_becomes_metadata_of_its_log(store: Store, tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "status"}}]
    await import_file(store, written(tmp_path / "t.jsonl", {"id": "a", "messages": TALK, "tools": tools}))
    assert (await store.describe("a")).meta == {"tools": tools}


async def test_a_dry_run_says_the_same_and_writes_nothing(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "talks.jsonl", {"id": "a", "messages": TALK})
    said = await import_file(store, source, dry_run=True)
    assert await store.logs() == []
    done = await import_file(store, source)
    assert (said.logs, said.dry_run, done.dry_run) == (done.logs, True, False)


async def test_a_second_run_adds_nothing_and_one_after_growth_adds_what_is_new(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "trains.jsonl", *TALK[:3])
    await import_file(store, source)
    before = await store.stats()
    assert (await import_file(store, source)).logs == (ImportedLog("trains", 0, 3),)
    assert (await store.stats()).revisions == before.revisions
    written(source, *TALK)
    assert (await import_file(store, source)).logs == (ImportedLog("trains", 1, 3),)
    assert len(await store.log("trains").all()) == 4


async def test_an_interrupted_run_goes_on_where_it_was(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "long.jsonl", *({"role": "user", "content": f"{i}"} for i in range(1200)))

    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await import_file(store, source, progress=interrupt)
    assert (await import_file(store, source)).logs == (ImportedLog("long", 700, 500),)
    assert await contents(store, "long") == [f"{i}" for i in range(1200)]
    assert (await store.verify()).ok


async def test_what_was_changed_redacted_or_hidden_here_stays_so(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "t.jsonl", *TALK[:3])
    await import_file(store, source)
    log = store.log("t")
    await log.redact("1")
    await log.edit({"op": "remove", "id": "3"})
    assert (await import_file(store, written(source, *TALK))).logs == (ImportedLog("t", 1, 3),)
    assert [message.entry_id for message in await log.all()] == ["1", "2", "4"]


async def test_secrets_that_the_store_takes_out_do_not_make_a_second_run_differ(path: Path, tmp_path: Path) -> None:
    def without_words(entry: msglog.Entry) -> msglog.Entry:
        return entry.model_copy(update={"message": msglog.Message(role=entry.message.role, content="[taken out]")})

    source = written(tmp_path / "t.jsonl", *TALK)
    async with msglog.open(path, before_store=without_words) as store:
        await import_file(store, source)
        assert (await import_file(store, source)).logs == (ImportedLog("t", 0, 4),)
        assert set(await contents(store, "t")) == {"[taken out]"}


async def test_another_conversation_of_the_same_name_is_left_out_whole(store: Store, tmp_path: Path) -> None:
    await import_file(store, written(tmp_path / "t.jsonl", *TALK))
    other = written(tmp_path / "t.jsonl", {"role": "user", "content": "Something else"}, *TALK, *TALK)
    report = await import_file(store, other)
    assert report.logs == (ImportedLog("t"),)
    assert [(loss.where, "another message in its place" in loss.what) for loss in report.losses] == [("t", True)]
    assert len(await contents(store, "t")) == 4
    assert (await import_file(store, other, prefix="new/")).entries_new == 9


async def test_conversations_of_one_id_become_logs_of_their_own(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "t.jsonl", *({"id": "a", "messages": TALK[:n]} for n in (1, 2)))
    report = await import_file(store, source)
    assert [log.name for log in report.logs] == ["a", "a-2"]
    assert [loss.where for loss in report.losses] == ["a-2"]
    assert (await import_file(store, source)).entries_new == 0


async def test_a_name_that_no_log_can_have_is_made_valid(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "t.jsonl"
    source.write_text('{"id": "a\\u0000\\ud83d\\u001b[2J", "messages": [{"role": "user", "content": "x"}]}\n')
    report = await import_file(store, source)
    assert [log.name for log in report.logs] == ["a\ufffd\ufffd\x1b[2J"]
    assert [loss.where for loss in report.losses] == ["a\ufffd\ufffd\\x1b[2J"]


BEFORE, AFTER = '{"role": "user", "content": "a"}', '{"role": "user", "content": "c"}'
BROKEN = {
    "a line that is no JSON": (f'{BEFORE}\n{{"role"\n{AFTER}\n', "line 2"),
    "NaN": (f'{BEFORE}\n{{"role": "user", "content": "b", "x": NaN}}\n{AFTER}', "line 2"),
    "a line that is no message": (f"{BEFORE}\n17\n{AFTER}", "line 2"),
    "a role that nobody has": (f'{BEFORE}\n{{"role": "king"}}\n{AFTER}', "line 2"),
    "bytes that are no UTF-8": (f'{BEFORE}\n"\udcff"\n{AFTER}', "line 2"),
    "depth": (f"{BEFORE}\n{'[' * 99999}\n{AFTER}", "line 2"),
    "an item that is no message": (f"[{BEFORE}, 17, {AFTER}]", "item 2"),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_what_is_broken_is_listed_and_the_rest_comes_over(case: str, store: Store, tmp_path: Path) -> None:
    text, where = BROKEN[case]
    source = tmp_path / "t.json"
    source.write_bytes(text.encode("utf-8", "surrogateescape"))
    report = await import_file(store, source)
    assert [loss.where for loss in report.losses] == [where]
    assert await contents(store, "t") == ["a", "c"]


@pytest.mark.parametrize("end", ["", '{"role": "user", "content": "b', '{"role": "user", "content": "b"}', "{]", "nul"])
async def test_an_array_that_breaks_off_gives_what_is_before_and_later_the_rest(
    end: str, store: Store, tmp_path: Path
) -> None:
    source = tmp_path / "t.json"
    source.write_text('[{"role": "user", "content": "a"}, ' + end)
    report = await import_file(store, source)
    assert [loss.where for loss in report.losses] == [f"item {report.entries_new + 1}"]
    source.write_text('[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]')
    assert (await import_file(store, source)).losses == ()
    assert await contents(store, "t") == ["a", "b"]


NOTHING = {
    "nothing": b"",
    "blanks": b" \n",
    "words": b"Dear diary,\n",
    "an open array": b"[",
    "an array of garbage": b"[garbage]",
    "numbers": b"[1, 2, 3]",
    "an empty array": b"[]",
    "another object": b'{"version": 1}',
    "UTF-16": '{"role": "user"}'.encode("utf-16"),
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("case", NOTHING)
async def test_a_file_in_which_nothing_is_known_is_refused(case: str, store: Store, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(NOTHING[case])
    with pytest.raises(SourceError):
        await import_file(store, source)
    assert await store.logs() == []


async def test_a_missing_file_a_folder_and_the_store_itself_are_refused(store: Store, tmp_path: Path) -> None:
    for source in (tmp_path / "none", tmp_path, store.path, "a\0b"):
        with pytest.raises(SourceError):
            await import_file(store, source)
    with pytest.raises(SourceError, match="'word' is none of the formats"):
        await import_file(store, written(tmp_path / "t.json", TALK), format="word")


async def test_a_file_is_read_in_pieces_whatever_lies_at_their_borders(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = [{"role": "user", "content": f'Ünï \ud83d \\ " {"x" * i}', "n": [10**i, True]} for i in range(60)]
    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr(json_values, "CHUNK", size)
        source = tmp_path / f"t{size}.json"
        source.write_text(json.dumps(talk, ensure_ascii=True).replace("\\u00dc", "Ü"), encoding="utf-8-sig")
        assert (await import_file(store, source, format="openai")).losses == ()
        assert await contents(store, f"t{size}") == [message["content"] for message in talk]


async def test_progress_counts_the_bytes_of_the_file(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "long.jsonl", *({"role": "user", "content": f"{i}"} for i in range(1200)))
    told: list[tuple[int, int | None]] = []
    await import_file(store, source, progress=lambda done, total: told.append((done, total)))
    size = source.stat().st_size
    assert told == sorted(told)
    assert (len(told), told[-1]) == (3, (size, size))


def test_every_format_says_what_it_is() -> None:
    assert all(FORMATS.values())
