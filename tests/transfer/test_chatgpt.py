"""ChatGPT's conversations.json: the current path is main, every alternative a branch where it left it."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from msglog import Store
from msglog.adapters import to_openai
from msglog.transfer.importers import import_file
from msglog.transfer.report import ImportedLog
from tests.transfer.exports import CHATGPT, WHEN, chatgpt_conversation, chatgpt_node
from tests.transfer.sources import contents, untouched


def export(tmp_path: Path, *conversations: dict[str, Any]) -> Path:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(list(conversations)))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return export(tmp_path, CHATGPT)


async def branches(store: Store, log: str = "conv-1") -> list[str]:
    return [branch.name for branch in await store.log(log).branches()]


async def test_the_current_path_is_main_and_alternatives_are_branches(source: Path, store: Store) -> None:
    with untouched(source):
        report = await import_file(store, source)
    assert (report.format, report.losses) == ("chatgpt", ())
    assert report.logs == (ImportedLog("conv-1", 7, 0, 1),)
    main = await store.log("conv-1").all()
    assert [message.entry_id for message in main] == ["ask", "think", "call", "result", "answer"]
    assert await branches(store) == ["main", "old answer"]
    shown = await contents(store, "conv-1", "old answer")
    assert shown == ["Is the 7:58 on time?", "I do not know.", "A pity."]
    assert (await store.verify()).ok


async def test_calls_of_tools_reasoning_and_results_are_typed(source: Path, store: Store) -> None:
    await import_file(store, source)
    _, thought, call, result, answer = await store.log("conv-1").all()
    assert thought.content[0]["type"] == "reasoning"
    assert (call.tool_calls[0].name, call.tool_calls[0].args) == ("trains.status", {"departs": "7:58"})
    assert (result.tool_call_id, result.content) == (call.tool_calls[0].id, "late")
    roles = [message["role"] for message in to_openai(await store.log("conv-1").all())]
    assert roles[-3:] == ["assistant", "tool", "assistant"]
    assert answer.meta is not None
    assert (answer.meta.model, answer.meta.created_at) == ("gpt-5", datetime.fromtimestamp(WHEN, UTC))


async def test_the_title_and_what_else_is_said_of_a_conversation_are_kept(source: Path, store: Store) -> None:
    await import_file(store, source)
    info = await store.describe("conv-1")
    assert (info.title, info.meta["default_model_slug"]) == ("Trains", "gpt-5")


async def test_a_second_run_adds_nothing_and_a_dry_run_tells_the_same(source: Path, store: Store) -> None:
    said = await import_file(store, source, dry_run=True)
    assert await store.logs() == []
    assert said.logs == (await import_file(store, source)).logs
    before = await store.stats()
    for dry in (True, False):
        again = await import_file(store, source, dry_run=dry)
        assert (again.logs, again.losses) == ((ImportedLog("conv-1", 0, 7),), ())
    assert (await store.stats()).revisions == before.revisions


async def test_a_later_export_adds_what_grew_and_what_forked_in_the_middle(source: Path, store: Store) -> None:
    await import_file(store, source)
    later = copy.deepcopy(CHATGPT)
    for node in (
        chatgpt_node("more", "answer", "user", "Thanks!"),
        chatgpt_node("odd", "call", "assistant", "Never mind."),
        chatgpt_node("older", "old thanks", "assistant", "Yes."),
    ):
        later["mapping"][node["id"]] = node
    report = await import_file(store, export(source.parent, later))
    assert (report.logs, report.losses) == ((ImportedLog("conv-1", 3, 7, 1),), ())
    assert (await contents(store, "conv-1"))[-1] == "Thanks!"
    assert (await contents(store, "conv-1", "old answer"))[-1] == "Yes."
    odd = await store.log("conv-1", "odd").all()
    assert [message.entry_id for message in odd] == ["ask", "think", "call", "odd"]
    assert (await import_file(store, source)).entries_new == 0
    assert (await store.verify()).ok


async def test_a_path_that_became_the_current_one_later_stays_a_branch_and_is_told(source: Path, store: Store) -> None:
    await import_file(store, source)
    later = copy.deepcopy(CHATGPT) | {"current_node": "old thanks"}
    report = await import_file(store, export(source.parent, later))
    assert [(loss.where, "branch old answer" in loss.what) for loss in report.losses] == [("conv-1", True)]
    assert report.entries_new == 0


async def test_what_was_said_here_since_stays(source: Path, store: Store) -> None:
    await import_file(store, source)
    log = store.log("conv-1")
    await log.add("user", "Said here")
    await log.edit({"op": "remove", "id": "think"})
    later = copy.deepcopy(CHATGPT)
    later["mapping"]["more"] = chatgpt_node("more", "answer", "user", "Thanks!")
    await import_file(store, export(source.parent, later))
    assert (await contents(store, "conv-1"))[-2:] == ["Said here", "Thanks!"]


async def test_an_interrupted_run_goes_on_where_it_was(source: Path, store: Store) -> None:
    class StopError(Exception):
        pass

    for calls in range(1, 4):
        left = calls

        def stop(done: int, total: int | None) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise StopError

        with pytest.raises(StopError):
            await import_file(store, source, prefix=f"{calls}/", progress=stop)
        await import_file(store, source, prefix=f"{calls}/")
        assert len(await contents(store, f"{calls}/conv-1")) == 5
        assert await branches(store, f"{calls}/conv-1") == ["main", "old answer"]


async def test_a_branch_that_was_made_and_not_filled_is_used(source: Path, store: Store) -> None:
    await import_file(store, export(source.parent, CHATGPT | {"mapping": {
        key: node for key, node in CHATGPT["mapping"].items() if not key.startswith("old")
    }}))  # fmt: skip
    await store.log("conv-1").fork("old answer")
    await import_file(store, export(source.parent, CHATGPT))
    assert await branches(store) == ["main", "old answer"]
    assert (await contents(store, "conv-1", "old answer"))[1] == "I do not know."


async def test_links_that_lead_nowhere_or_in_circles_are_cut_and_listed(store: Store, tmp_path: Path) -> None:
    conversation = chatgpt_conversation(
        chatgpt_node("a", None, "user", "a"),
        chatgpt_node("b", "a", "assistant", "b"),
        chatgpt_node("lost", "nowhere", "user", "lost"),
        chatgpt_node("x", "y", "user", "x"),
        chatgpt_node("y", "x", "user", "y"),
        chatgpt_node("self", "self", "user", "self"),
        current="b",
    )
    report = await import_file(store, export(tmp_path, conversation))
    assert report.logs == (ImportedLog("conv-1", 6, 0, 3),)
    assert [loss.where for loss in report.losses] == ["conv-1, lost", "conv-1, y", "conv-1, self"]
    assert await contents(store, "conv-1") == ["a", "b"]
    assert await contents(store, "conv-1", "lost") == ["lost"]
    assert (await import_file(store, tmp_path / "conversations.json")).entries_new == 0


GARBAGE: list[Any] = [
    7,
    {"message": 7, "parent": "a", "children": 7},
    {"message": {}, "parent": "a"},
    {"message": {"author": 7}, "parent": ["a"]},
    {"message": {"author": {"role": "king"}, "content": {"content_type": "text", "parts": ["x"]}}, "parent": "a"},
    {"message": {"author": {"role": "user"}, "content": {"content_type": 7}}, "parent": "a"},
    {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [7]}}, "parent": "a"},
    {"message": {"author": {"role": "tool", "name": 7}, "content": {"content_type": "t"}}, "parent": "a"},
]


@pytest.mark.parametrize("node", GARBAGE)
async def test_garbage_in_a_node_is_a_loss_and_what_follows_it_stands(node: Any, store: Store, tmp_path: Path) -> None:
    conversation = chatgpt_conversation(
        chatgpt_node("a", None, "user", "a"), chatgpt_node("c", "bad", "user", "c"), current="c"
    )
    conversation["mapping"]["bad"] = node
    report = await import_file(store, export(tmp_path, conversation))
    bears_nothing = isinstance(node, dict) and node["message"] == 7
    followed = isinstance(node, dict) and node["parent"] == "a"
    assert len(report.losses) == (0 if bears_nothing else 1 if isinstance(node, dict) else 2)
    assert await contents(store, "conv-1") == (["a", "c"] if followed else ["c"])


async def test_images_lie_elsewhere_and_that_is_told(store: Store, tmp_path: Path) -> None:
    content = {
        "content_type": "multimodal_text",
        "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1", "width": 7}, "What?"],
    }
    conversation = chatgpt_conversation(chatgpt_node("a", None, "user", content), current="a")
    report = await import_file(store, export(tmp_path, conversation))
    assert [loss.where for loss in report.losses] == ["conv-1, node a"]
    (shown,) = await contents(store, "conv-1")
    assert shown[0] == {"type": "image_asset_pointer", "asset_pointer": "sediment://file_1", "width": 7}


async def test_a_deep_conversation_comes_over_as_quickly_as_a_flat_one(store: Store, tmp_path: Path) -> None:
    nodes = [chatgpt_node(f"{i}", f"{i - 1}" if i else None, "user", f"{i}") for i in range(3000)]
    report = await import_file(store, export(tmp_path, chatgpt_conversation(*nodes, current="2999")))
    assert report.logs == (ImportedLog("conv-1", 3000),)
    assert (await store.stats()).revisions <= 8
