"""Histories of LangChain, written by its own SQLChatMessageHistory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from msglog import Store
from msglog.adapters import to_langchain_messages
from msglog.transfer.importers import import_file
from msglog.transfer.report import ImportedLog
from tests.transfer.sources import changed, contents, untouched

histories = pytest.importorskip(
    "langchain_community.chat_message_histories.sql", reason="langchain-community is not installed (group importers)"
)

MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("Is the 7:58 on time?", name="ann"),
    AIMessage(
        "",
        id="run-1",
        tool_calls=[{"name": "status", "args": {"n": 758}, "id": "c1"}],
        invalid_tool_calls=[{"name": "status", "args": "{", "id": "c2", "error": "no JSON"}],
        response_metadata={"model_name": "gpt-5", "id": "resp_1"},
        usage_metadata={"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
    ),
    ToolMessage("late", tool_call_id="c1", status="error"),
    ToolMessage("?", tool_call_id="c2"),
    AIMessage([{"type": "text", "text": "It is late."}]),
]


def history(path: Path, session: str, **options: Any) -> Any:
    return histories.SQLChatMessageHistory(session, connection=f"sqlite:///{path}", **options)


def written(path: Path, session: str, messages: list[BaseMessage], **options: Any) -> None:
    made = history(path, session, **options)
    made.add_messages(messages)
    made.engine.dispose()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "chats.db"
    written(path, "ann", MESSAGES[:2])
    written(path, "bob", MESSAGES[:1])
    written(path, "ann", MESSAGES[2:])
    return path


async def test_each_session_becomes_a_log_and_goes_back_as_it_came(source: Path, store: Store) -> None:
    with untouched(source):
        report = await import_file(store, source)
    assert (report.format, report.losses) == ("langchain", ())
    assert report.logs == (ImportedLog("ann", 6), ImportedLog("bob", 1))
    assert to_langchain_messages(await store.log("ann").all()) == MESSAGES
    assert sorted(path.name for path in source.parent.glob("chats*")) == ["chats.db"]


async def test_usage_and_model_are_told(source: Path, store: Store) -> None:
    await import_file(store, source)
    usage = await store.log("ann").usage()
    assert set(usage.by_model) == {"gpt-5"}
    assert usage.total.tokens.input_tokens == 7


async def test_a_second_run_adds_nothing_and_a_grown_session_its_new_messages(source: Path, store: Store) -> None:
    await import_file(store, source)
    assert (await import_file(store, source)).entries_new == 0
    written(source, "ann", [HumanMessage("Thanks!")])
    assert (await import_file(store, source)).entries_new == 1
    assert (await contents(store, "ann"))[-1] == "Thanks!"


async def test_what_came_after_a_clear_is_not_taken_for_what_was_before(source: Path, store: Store) -> None:
    await import_file(store, source)
    made = history(source, "ann")
    made.clear()
    made.add_messages([HumanMessage("Anew")])
    made.engine.dispose()
    assert (await import_file(store, source)).entries_new == 1
    assert (await contents(store, "ann"))[-1] == "Anew"


async def test_rows_that_are_broken_are_listed_and_the_rest_comes_over(source: Path, store: Store) -> None:
    broken = ["{", "[]", "{}", '{"type": "ai"}', '{"type": "ai", "data": {"content": 7}}', None]
    for n, text in enumerate(broken, 100):
        value = "NULL" if text is None else f"'{text}'"
        changed(source, f"INSERT INTO message_store VALUES ({n}, 'ann', {value})")
    report = await import_file(store, source)
    assert [loss.where for loss in report.losses] == [f"message_store, row {n}" for n in range(100, 106)]
    assert report.entries_new == 7


GARBAGE = [
    {"type": "ai", "data": {"content": "", "tool_calls": [{"name": None, "args": {}, "id": None}]}},
    {"type": "ai", "data": {"content": "", "tool_calls": "x"}},
    {"type": "ai", "data": {"content": "", "tool_calls": [7], "additional_kwargs": 7}},
    {"type": "ai", "data": {"content": "", "invalid_tool_calls": [{"args": 7}]}},
    {"type": "system", "data": {"content": {}, "additional_kwargs": [], "name": 7}},
    {"type": "tool", "data": {"content": None, "tool_call_id": 7}},
]


@pytest.mark.parametrize("stored", GARBAGE)
async def test_garbage_in_a_message_is_a_loss_and_no_crash(stored: dict[str, Any], source: Path, store: Store) -> None:
    changed(source, f"INSERT INTO message_store VALUES (100, 'ann', '{json.dumps(stored)}')")
    report = await import_file(store, source)
    assert [loss.where for loss in report.losses] == ["message_store, row 100"]
