"""Sessions of the OpenAI Agents SDK, written by its own SQLiteSession."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from msglog import Store
from msglog.adapters import to_openai_responses
from msglog.transfer.importers import import_file
from msglog.transfer.report import ImportedLog
from tests.transfer.sources import changed, contents, untouched

agents = pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed (group importers)")

ITEMS: list[Any] = [
    {"content": "Is the 7:58 on time?", "role": "user"},
    {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Look it up."}]},
    {"type": "function_call", "call_id": "c1", "name": "status", "arguments": '{"n": 758}', "id": "fc_1"},
    {"type": "function_call", "call_id": "c2", "name": "status", "arguments": '{"n": 958}', "id": "fc_2"},
    {"type": "function_call_output", "call_id": "c1", "output": "late"},
    {"type": "function_call_output", "call_id": "c2", "output": "on time"},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It is late \ud83d.", "annotations": []}],
    },
]


def written(path: Path, session: str, items: list[Any], **tables: str) -> None:
    made = agents.SQLiteSession(session, path, **tables)
    asyncio.run(made.add_items(items))
    made.close()


def logged(path: Path) -> int:
    """The bytes in a database's write-ahead log."""
    return Path(f"{path}-wal").stat().st_size


def left_behind(path: Path) -> Path:
    """A copy of a database that is open, as the death of its program would leave it."""
    copy = path.parent / "left" / path.name
    copy.parent.mkdir()
    for end in ("", "-wal"):
        Path(f"{copy}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    return copy


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.db"
    written(path, "user-1", ITEMS[:4])
    written(path, "user-2", ITEMS[:1])
    written(path, "user-1", ITEMS[4:])
    return path


async def test_each_session_becomes_a_log_of_typed_messages(source: Path, store: Store) -> None:
    with untouched(source):
        report = await import_file(store, source)
    assert (report.format, report.losses) == ("openai-agents", ())
    assert report.logs == (ImportedLog("user-1", 5), ImportedLog("user-2", 1))
    messages = await store.log("user-1").all()
    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call.args for call in messages[1].tool_calls] == [{"n": 758}, {"n": 958}]
    assert messages[4].text == "It is late \ud83d."


async def test_the_items_go_back_as_they_came(source: Path, store: Store) -> None:
    await import_file(store, source)
    sent = to_openai_responses(await store.log("user-1").all())
    assert sent == json.loads(json.dumps(ITEMS).replace("\\ud83d", "\\ufffd"))


async def test_ids_are_those_of_the_rows_and_times_are_kept(source: Path, store: Store) -> None:
    await import_file(store, source)
    messages = await store.log("user-1").all()
    assert [message.entry_id for message in messages] == ["1", "2", "6", "7", "8"]
    assert all(message.meta is not None and message.meta.created_at is not None for message in messages)


async def test_a_second_run_adds_nothing_and_a_grown_session_its_new_items(source: Path, store: Store) -> None:
    await import_file(store, source)
    assert (await import_file(store, source)).entries_new == 0
    await asyncio.to_thread(written, source, "user-1", [{"role": "user", "content": "Thanks!"}])
    report = await import_file(store, source)
    assert report.logs == (ImportedLog("user-1", 1, 5), ImportedLog("user-2", 0, 1))
    assert (await contents(store, "user-1"))[-1] == "Thanks!"


async def test_a_session_that_is_being_written_is_read_with_its_write_ahead_log(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "live.db"
    session = agents.SQLiteSession("live", source)
    await session.add_items(ITEMS)
    assert logged(source)
    with untouched(source):
        assert (await import_file(store, source)).entries_new == 5
    await session.add_items(ITEMS[:1])  # it was not locked, and its locks were not dropped
    assert (await import_file(store, source)).entries_new == 1
    session.close()


async def test_a_session_that_was_killed_is_read_with_what_its_log_holds(tmp_path: Path, store: Store) -> None:
    session = agents.SQLiteSession("live", tmp_path / "live.db")
    await session.add_items(ITEMS)
    source = left_behind(tmp_path / "live.db")
    session.close()
    with untouched(source):
        assert (await import_file(store, source)).entries_new == 5
    assert sorted(path.name for path in source.parent.iterdir()) == ["live.db", "live.db-wal"]


async def test_tables_of_other_names_are_found(tmp_path: Path, store: Store) -> None:
    source = tmp_path / "own.db"
    await asyncio.to_thread(written, source, "a", ITEMS, sessions_table="s", messages_table="items")
    assert (await import_file(store, source)).entries_new == 5


async def test_rows_that_are_broken_are_listed_and_the_rest_comes_over(source: Path, store: Store) -> None:
    changed(
        source,
        "UPDATE agent_messages SET message_data = '{\"type\"' WHERE id = 2",
        "UPDATE agent_messages SET message_data = '[1]' WHERE id = 3",
        "UPDATE agent_messages SET message_data = x'ff' WHERE id = 6",
        "UPDATE agent_messages SET message_data = CAST(x'22ff22' AS TEXT) WHERE id = 7",
        'UPDATE agent_messages SET message_data = \'{"role": "king"}\' WHERE id = 8',
    )
    report = await import_file(store, source)
    assert [loss.where for loss in report.losses] == [f"agent_messages, row {n}" for n in (2, 3, 6, 7, 8)]
    messages = await store.log("user-1").all()
    assert [(message.role, len(message.tool_calls)) for message in messages] == [("user", 0), ("assistant", 1)]


@pytest.mark.parametrize("session", ["", "a\ud83d", 7, None, b"\xff"])
async def test_a_session_without_a_proper_name_comes_over_under_one(session: Any, source: Path, store: Store) -> None:
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("CREATE TABLE more (id INTEGER PRIMARY KEY, session_id, message_data TEXT)")
        value = session.encode("utf-8", "surrogatepass") if isinstance(session, str) else session
        cast = "CAST(? AS TEXT)" if isinstance(session, str) else "?"
        connection.execute(f"INSERT INTO more VALUES (1, {cast}, ?)", (value, json.dumps(ITEMS[0])))
        connection.commit()
    report = await import_file(store, source)
    name = {"a\ud83d": "a\ufffd", 7: "7"}.get(session, "more")
    assert report.logs[-1] == ImportedLog(name, 1)
