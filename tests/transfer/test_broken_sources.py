"""Whatever stands in a source, an import ends in a report or in one of msglog's errors, and the store is sound."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import Store
from msglog.errors import MsgLogError, SourceError
from msglog.transfer.importers import import_file, sqlite_source
from msglog.transfer.report import ImportReport
from tests.transfer.exports import CHATGPT, CLAUDE_CODE
from tests.transfer.sources import changed

JUNK: list[Any] = [None, 7, True, [], {}, "", [7], {"a": 1}, 1.5, [None], [[]], {"type": "text"}, "\ud83d", "a\0b"]
VALUES: list[Any] = [None, 7, "x", b"\xff\xfe", "{}", "[]", '{"type":7}', "", 1.5, "a\0b"]
TALK = [
    {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "ann"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "x"},
]
JSON_SOURCES: dict[str, list[Any]] = {
    "conversations.json": [[CHATGPT]],
    "session-1.jsonl": CLAUDE_CODE,
    "talk.jsonl": TALK,
    "talks.jsonl": [{"id": "a", "messages": TALK}],
}
ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
HUMAN = {"type": "human", "data": {"content": "Hi", "id": "1"}}
STATE = {"channel_values": {"messages": [{"role": "user", "content": "Hi", "id": "1"}]}}
SQLITE_SOURCES: dict[str, list[str]] = {
    "openai-agents": [
        "CREATE TABLE m (id INTEGER PRIMARY KEY, session_id TEXT, message_data TEXT, created_at TEXT)",
        *[f"INSERT INTO m VALUES ({n}, 's', '{json.dumps(ITEM)}', '2026-01-01 00:00:00')" for n in range(4)],
    ],
    "langchain": [
        "CREATE TABLE message_store (id INTEGER PRIMARY KEY, session_id TEXT, message TEXT)",
        *[f"INSERT INTO message_store VALUES ({n}, 's', '{json.dumps(HUMAN)}')" for n in range(4)],
    ],
    "langgraph": [
        """CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT,
        type TEXT, checkpoint BLOB, metadata BLOB)""",
        *[f"INSERT INTO checkpoints VALUES ('1', '', 'c{n}', 'c{n - 1}', 'json', '{json.dumps(STATE)}', '{{}}')"
          for n in range(4)],
    ],
    "llm": [
        "CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT)",
        """CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, text TEXT,
        payload TEXT)""",
        "CREATE TABLE threads (id TEXT, name TEXT, tip_message_hash TEXT, forked_from TEXT)",
        """CREATE TABLE turns (id TEXT, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
        resolved_model TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, options_json TEXT,
        datetime_utc TEXT, response_json TEXT)""",
        *[f"INSERT INTO messages VALUES ('h{n}', 'h{n - 1}', 'assistant', NULL)" for n in range(4)],
        *[f"INSERT INTO parts VALUES ({n}, 'h{n}', 0, 'tool_call', NULL, '{{\"name\": \"f\"}}')" for n in range(4)],
        "INSERT INTO threads VALUES ('t', 'T', 'h3', NULL), ('u', 'U', 'h2', 't')",
        "INSERT INTO turns (id, thread_id, tip_message_hash) VALUES ('x', 't', 'h3')",
    ],
}  # fmt: skip


def mutated(value: Any, source: random.Random) -> Any:
    """A JSON value in which some things are others, or gone."""
    if source.random() < 0.08:
        return source.choice(JUNK)
    if isinstance(value, dict):
        return {key: mutated(item, source) for key, item in value.items() if source.random() > 0.04}
    if isinstance(value, list):
        return [mutated(item, source) for item in value if source.random() > 0.04]
    return value


def scrambled(data: bytes, source: random.Random) -> bytes:
    """Bytes of which some are others, or cut off."""
    found = bytearray(data)
    for _ in range(source.randint(1, 8)):
        found[source.randrange(len(found))] = source.randrange(256)
    return bytes(found[: source.randrange(len(found))] if source.random() < 0.4 else found)


async def outcome(store: Store, path: Path, prefix: str, *, dry_run: bool = False) -> ImportReport | type[Exception]:
    try:
        return await import_file(store, path, prefix=prefix, dry_run=dry_run)
    except MsgLogError as error:
        return type(error)


async def survives(store: Store, path: Path, prefix: str) -> None:
    """Import a source, as a dry run and twice."""
    said = await outcome(store, path, prefix, dry_run=True)
    done = await outcome(store, path, prefix)
    again = await outcome(store, path, prefix)
    if isinstance(done, ImportReport):
        assert isinstance(said, ImportReport)
        assert isinstance(again, ImportReport)
        assert (said.logs, again.entries_new) == (done.logs, 0)


@pytest.mark.parametrize("name", JSON_SOURCES)
async def test_json_of_which_parts_are_anything(name: str, path: Path, tmp_path: Path) -> None:
    source, file = random.Random(name), tmp_path / name
    async with msglog.open(path, durability="normal") as store:
        for n in range(60):
            lines = [json.dumps(mutated(value, source)) for value in JSON_SOURCES[name]]
            data = "\n".join(lines).encode()
            await asyncio.to_thread(file.write_bytes, data if n % 3 else scrambled(data, source))
            await survives(store, file, f"{n}/")
        assert (await store.verify()).ok


@pytest.mark.parametrize("name", SQLITE_SOURCES)
async def test_tables_of_which_cells_or_bytes_are_anything(name: str, path: Path, tmp_path: Path) -> None:
    source, whole, file = random.Random(name), tmp_path / "whole.db", tmp_path / "source.db"
    changed(whole, *SQLITE_SOURCES[name])
    data = await asyncio.to_thread(whole.read_bytes)
    async with msglog.open(path, durability="normal") as store:
        for n in range(40):
            await asyncio.to_thread(file.write_bytes, data if n % 3 else scrambled(data, source))
            if n % 3:
                scramble_cells(file, source)
            await survives(store, file, f"{n}/")
        assert (await store.verify()).ok


def scramble_cells(path: Path, source: random.Random) -> None:
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for _ in range(3):
            table = source.choice(tables)
            column = source.choice([row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
            if not (column == "id" and table in {"m", "message_store", "parts"}):  # which take whole numbers only
                cell = (source.choice(VALUES), source.randrange(5))
                connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", cell)
        connection.commit()


# How SQLite files are opened


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "chats.db"
    changed(path, *SQLITE_SOURCES["langchain"])
    return path


async def test_a_source_that_changes_while_it_is_read_is_refused_before_that_is_stored(
    source: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_source, "PAGE", 1)
    read: Callable[..., Any] = sqlite_source.Database.in_session

    def changing(*arguments: Any) -> Any:
        for row in read(*arguments):
            yield row
            os.utime(source, (1, 1))

    monkeypatch.setattr(sqlite_source.Database, "in_session", changing)
    with pytest.raises(SourceError, match="changed while it was read"):
        await import_file(store, source)
    assert await store.logs() == []


async def test_a_source_with_an_unfinished_transaction_is_refused(source: Path, store: Store) -> None:
    Path(f"{source}-journal").write_bytes(b"unfinished")  # noqa: ASYNC240 a test
    with pytest.raises(SourceError, match="unfinished"):
        await import_file(store, source)


async def test_a_source_of_several_formats_is_read_as_the_one_that_is_named(source: Path, store: Store) -> None:
    changed(source, *SQLITE_SOURCES["openai-agents"])
    with pytest.raises(SourceError, match="openai-agents, langchain"):
        await import_file(store, source)
    assert (await import_file(store, source, format="langchain")).format == "langchain"
    with pytest.raises(SourceError, match="no tables of the format 'llm'"):
        await import_file(store, source, format="llm")
    with pytest.raises(SourceError, match="SQLite file"):
        await import_file(store, source, format="openai")


async def test_the_store_under_another_name_and_other_stores_are_refused(store: Store, tmp_path: Path) -> None:
    await store.log("a").add("user", "x")
    os.link(store.path, tmp_path / "link.db")
    with pytest.raises(SourceError, match="the store itself"):
        await import_file(store, tmp_path / "link.db")
    async with msglog.open(tmp_path / "other.db") as other:
        await other.log("a").add("user", "x")
    with pytest.raises(SourceError, match="msglog store"):
        await import_file(store, tmp_path / "other.db")


async def test_a_source_in_a_folder_that_nobody_may_write_to_is_read(source: Path, store: Store) -> None:
    folder = source.parent / "sealed"
    folder.mkdir()
    (folder / "chats.db").write_bytes(source.read_bytes())  # noqa: ASYNC240 a test
    folder.chmod(0o500)
    try:
        assert (await import_file(store, folder / "chats.db")).entries_new == 4
        assert os.listdir(folder) == ["chats.db"]
    finally:
        folder.chmod(0o700)


async def test_a_writer_of_the_source_is_not_kept_waiting(source: Path, store: Store) -> None:
    def write(done: int, total: int | None) -> None:
        with closing(sqlite3.connect(source, timeout=0)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.rollback()

    assert (await import_file(store, source, progress=write)).entries_new == 4
