"""The tables are those of `schema.py`, and the database itself refuses to rewrite what is in them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

import msglog
from msglog.storage.migrate import object_statements
from msglog.storage.schema import metadata
from msglog.storage.version import APPLICATION_ID, VERSION
from tests.strategies import calls, user

Rows = list[tuple[object, ...]]

LASTING = ("entries", "revisions", "chunks", "branches", "logs")
"""The tables that only grow."""


@pytest.fixture
async def made(path: Path) -> Path:
    """A file with two logs, branches, chunks and a redacted entry, which nobody has open."""
    async with msglog.open(path, durability="normal") as store:
        log = store.log("one")
        await log.append_many([user(f"text {i}") for i in range(80)])
        await log.append({"message": calls("c1") | {"name": "bot", "extra": {"k": 1}}, "meta": {"turn": 1}})
        await log.edit(*[{"op": "remove", "id": message.entry_id} for message in (await log.all())[:80:2]])
        await log.fork("side")
        await log.add("user", "more")
        await log.redact(2)
        await store.log("two").add("user", "other")
    return path


@pytest.fixture
def connection(made: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(made, isolation_level=None)) as opened:
        yield opened


def everything(connection: sqlite3.Connection) -> dict[str, Rows]:
    return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in LASTING}


# What is there


def definitions(connection: sqlite3.Connection) -> dict[str, str]:
    """Tables and indices, with their SQL."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL"
        " AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version'"
    )
    return {name: re.sub(r"\s+", " ", sql).strip() for name, sql in rows}


def test_migrations_make_the_tables_of_the_schema(connection: sqlite3.Connection, tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'wanted.db'}")
    metadata.create_all(engine)
    engine.dispose()
    with closing(sqlite3.connect(tmp_path / "wanted.db")) as wanted:
        assert definitions(connection) == definitions(wanted)


def test_triggers_and_views_are_those_of_the_file_of_objects(connection: sqlite3.Connection) -> None:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchall()
    assert sorted(name for (name,) in found) == sorted(statement.split()[2] for statement in object_statements())


def test_file_is_marked_as_ours(connection: sqlite3.Connection) -> None:
    assert connection.execute("PRAGMA application_id").fetchall() == [(APPLICATION_ID,)]
    assert APPLICATION_ID.to_bytes(4, "big") == b"msgl"
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(VERSION,)]


def test_file_keeps_a_write_ahead_log(connection: sqlite3.Connection) -> None:
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]


# What is refused


def columns(table: str) -> list[str]:
    return [column.name for column in metadata.tables[table].columns]


def changed(table: str) -> list[str]:
    """A statement for each column of a table that gives it another value."""
    return [
        f"UPDATE {table} SET {column} = CASE WHEN typeof({column}) = 'integer' THEN {column} - 1 ELSE 'other' END"
        for column in columns(table)
    ]


def replaced(table: str) -> list[str]:
    """Statements that put rows where there are some."""
    names = ", ".join(columns(table))
    return [
        f"INSERT OR REPLACE INTO {table} SELECT {names} FROM {table}",
        f"REPLACE INTO {table} SELECT {names} FROM {table} LIMIT 1",
        f"INSERT OR IGNORE INTO {table} SELECT {names} FROM {table}",
    ]


NEW = "(n, log_id, seq, id, revision, kind, role, at, content_hash, chain_hash)"

REFUSED = [
    *changed("entries"),
    *changed("revisions"),
    *changed("chunks"),
    *(f"DELETE FROM {table}" for table in LASTING),
    *(statement for table in LASTING for statement in replaced(table)),
    # The same place or id under another key: REPLACE would delete the row without asking the delete trigger.
    f"INSERT OR REPLACE INTO entries {NEW} VALUES (999, 1, 1, 'new', 1, 'turn', 'user', 0, x'00', x'00')",
    f"INSERT OR REPLACE INTO entries {NEW} VALUES (1, 1, 999, 'new', 1, 'turn', 'user', 0, x'00', x'00')",
    f"INSERT OR REPLACE INTO entries {NEW} SELECT 999, 1, 999, id, 1, 'turn', 'user', 0, x'00', x'00' FROM entries",
    f"INSERT OR REPLACE INTO revisions SELECT {', '.join(['log_id', '999', *columns('revisions')[2:]])} FROM revisions",
    "INSERT INTO chunks VALUES (1, 1, '[]') ON CONFLICT DO UPDATE SET spans = excluded.spans",
    "INSERT INTO branches VALUES (1, 'main', 0, NULL, 0) ON CONFLICT DO UPDATE SET head = excluded.head",
    f"INSERT OR REPLACE INTO logs SELECT {', '.join(['77', *columns('logs')[1:]])} FROM logs",
    (
        "INSERT OR REPLACE INTO logs (uid, name, created_at, entry_count, revision_count, chain_hash)"
        " SELECT uid, 'another', 0, 0, 0, uid FROM logs WHERE name = 'one'"
    ),
    "UPDATE OR REPLACE logs SET name = 'two' WHERE name = 'one'",
    "UPDATE OR REPLACE entries SET seq = 5 WHERE log_id = 1 AND seq = 4",
    "UPDATE OR REPLACE entries SET n = 5 WHERE n = 4",
    # Heads only move on, and logs never shrink.
    "UPDATE branches SET head = head - 1",
    "UPDATE branches SET name = 'other' WHERE name = 'side'",
    "UPDATE branches SET log_id = 2",
    "UPDATE branches SET forked_from = 0",
    "UPDATE branches SET forked_from = NULL WHERE name = 'side'",
    "UPDATE logs SET id = id + 10",
    "UPDATE logs SET uid = x'00'",
    "UPDATE logs SET entry_count = entry_count - 1",
    "UPDATE logs SET revision_count = revision_count - 1",
]


@pytest.mark.parametrize("statement", REFUSED)
def test_database_refuses(connection: sqlite3.Connection, statement: str) -> None:
    before = everything(connection)
    with pytest.raises(sqlite3.DatabaseError, match=r"^msglog: "):
        connection.execute(statement)
    assert everything(connection) == before


# The two exceptions

REDACTED = dict.fromkeys(("name", "text", "parts", "sources", "meta", "extra", "salt"), "NULL")
REDACTED |= {"redacted_at": "1", "redacted_reason": "'why'", "tool_calls": "'[]'"}
CALLING = "log_id = 1 AND seq = 81"


def redaction(**other: str) -> str:
    """The statement that redacts the message with tool calls; with other values in some columns."""
    values = REDACTED | other
    return f"UPDATE entries SET {', '.join(f'{c} = {v}' for c, v in values.items())} WHERE {CALLING}"


def test_redacting_is_allowed_once(connection: sqlite3.Connection) -> None:
    connection.execute(redaction())
    with pytest.raises(sqlite3.IntegrityError, match="only redacted"):
        connection.execute(redaction(redacted_at="2"))


KEPT = ("log_id", "seq", "id", "revision", "kind", "role", "at", "content_hash", "chain_hash")


@pytest.mark.parametrize(
    "other",
    [
        *({column: f"coalesce({column}, 'kept')"} for column in ("name", "text", "parts", "sources", "meta", "extra")),
        {"salt": "x'01'"},
        {"redacted_at": "NULL"},
        {"tool_calls": "NULL"},
        {"tool_call_id": "'other'"},
        *({column: f"{column} || 'x'"} for column in KEPT),
    ],
    ids=str,
)
def test_redacting_takes_all_content_and_nothing_of_the_header(
    connection: sqlite3.Connection, other: dict[str, str]
) -> None:
    before = everything(connection)
    with pytest.raises(sqlite3.DatabaseError, match=r"^msglog: "):
        connection.execute(redaction(**other))
    assert everything(connection) == before


@pytest.mark.parametrize("column", [*KEPT, "text", "salt", "tool_calls", "redacted_at", "redacted_reason"])
def test_a_redacted_entry_stays_as_it_is(connection: sqlite3.Connection, column: str) -> None:
    with pytest.raises(sqlite3.DatabaseError, match=r"^msglog: "):
        connection.execute(f"UPDATE entries SET {column} = NULL WHERE log_id = 1 AND seq = 2")


def test_rows_of_a_purged_log_may_be_deleted_and_those_of_others_not(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE logs SET purged_at = 1, name = NULL WHERE id = 2")
    for table in ("branches", "entries", "revisions", "chunks"):
        connection.execute(f"DELETE FROM {table} WHERE log_id = 2")
        with pytest.raises(sqlite3.IntegrityError, match="never deleted"):
            connection.execute(f"DELETE FROM {table} WHERE log_id = 1")


@pytest.mark.parametrize("change", ["purged_at = NULL", "name = 'two'", "entry_count = 5", "meta = '{}'"])
def test_the_receipt_of_a_purged_log_stays_as_it_is(connection: sqlite3.Connection, change: str) -> None:
    connection.execute("UPDATE logs SET purged_at = 1, name = NULL WHERE id = 2")
    with pytest.raises(sqlite3.IntegrityError, match="never shrinks"):
        connection.execute(f"UPDATE logs SET {change} WHERE id = 2")
