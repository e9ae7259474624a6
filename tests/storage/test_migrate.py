"""Opening a file: a store is made current, anything else is refused with a reason and left as it is."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import msglog
from msglog.errors import (
    CannotOpenError,
    MsgLogError,
    NewerStoreError,
    NotAStoreError,
    OlderStoreError,
    StoreNotFoundError,
)
from msglog.storage import migrate
from msglog.storage.version import APPLICATION_ID, VERSION
from tests.strategies import user

Change = Callable[[Path], object]

EMPTY = hashlib.sha256(b"").hexdigest()


def contents(path: Path) -> dict[str, str]:
    """The hash of a file and of what lies beside it; lock files hold nothing."""
    return {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest() if each.is_file() else "a directory"
        for each in path.parent.iterdir()
        if not each.name.endswith("-lock")
    }


async def make(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        await store.log("talk").append_many([user("a"), user("b")])


def run(path: Path, *statements: str) -> None:
    """Change a file as nobody should."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def foreign(path: Path) -> None:
    run(path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")


def marked_as_anothers(path: Path) -> None:
    run(path, "PRAGMA application_id = 12345")


def marked_as_ours_alone(path: Path) -> None:
    run(path, "CREATE TABLE t (x)", f"PRAGMA application_id = {APPLICATION_ID}")


def foreign_in_wal_mode(path: Path) -> None:
    run(path, "PRAGMA journal_mode = WAL", "CREATE TABLE t (x)")


def empty(path: Path) -> None:
    path.touch()


def directory(path: Path) -> None:
    path.mkdir()


def filled(content: bytes) -> Change:
    return lambda path: path.write_bytes(content)


NOT_STORES: dict[str, Change] = {
    "another application's tables": foreign,
    "another application's, in WAL mode": foreign_in_wal_mode,
    "another application's mark": marked_as_anothers,
    "our mark on other tables": marked_as_ours_alone,
    "a text": filled(b"Dear diary, " * 200),
    "a short text": filled(b"hi"),
    "zeros": filled(b"\0" * 4096),
    "a broken header": filled(b"SQLite format 3\0" + b"\xff" * 4080),
}

BROKEN_STORES: dict[str, tuple[str, ...]] = {
    "a dropped column": ("ALTER TABLE entries DROP COLUMN redacted_reason",),
    "a dropped table": ("DROP TABLE marks",),
    "no version": ("DELETE FROM alembic_version",),
    "no table of versions": ("DROP TABLE alembic_version",),
    "our mark taken away": ("PRAGMA application_id = 0",),
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("fill", NOT_STORES.values(), ids=NOT_STORES.keys())
async def test_what_is_no_store_is_refused_and_left_as_it_is(path: Path, fill: Change, *, read_only: bool) -> None:
    fill(path)
    before = contents(path)
    with pytest.raises(NotAStoreError, match="left as it is"):
        await msglog.open(path, read_only=read_only)
    assert contents(path)[path.name] == before[path.name]


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("statements", BROKEN_STORES.values(), ids=BROKEN_STORES.keys())
async def test_a_store_that_lacks_parts_is_refused_and_left_as_it_is(
    path: Path, statements: tuple[str, ...], *, read_only: bool
) -> None:
    await make(path)
    run(path, *statements)
    before = contents(path)
    with pytest.raises(NotAStoreError, match="left as it is"):
        await msglog.open(path, read_only=read_only)
    assert contents(path)[path.name] == before[path.name]


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_newer_store_is_refused_and_left_as_it_is(path: Path, *, read_only: bool) -> None:
    await make(path)
    run(path, "UPDATE alembic_version SET version_num = '9999'")
    before = contents(path)
    with pytest.raises(NewerStoreError) as refusal:
        await msglog.open(path, read_only=read_only)
    assert (refusal.value.found, refusal.value.known) == ("9999", VERSION)
    assert contents(path)[path.name] == before[path.name]


async def test_a_newer_store_that_was_not_closed_keeps_what_its_write_ahead_log_holds(
    path: Path, tmp_path: Path
) -> None:
    await make(path)
    crashed = tmp_path / "crashed.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{crashed}{suffix}")
    with pytest.raises(NewerStoreError):
        await msglog.open(crashed)
    with closing(sqlite3.connect(crashed)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
        assert connection.execute("SELECT text FROM entries").fetchall() == [("a",), ("b",)]


async def test_an_older_store_cannot_be_opened_read_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await make(path)
    run(path, "UPDATE alembic_version SET version_num = '0000'")
    monkeypatch.setattr(migrate, "KNOWN", ("0000", *migrate.KNOWN))
    before = contents(path)
    with pytest.raises(OlderStoreError) as refusal:
        await msglog.open(path, read_only=True)
    assert (refusal.value.found, refusal.value.known) == ("0000", VERSION)
    assert contents(path)[path.name] == before[path.name]


async def test_a_migration_puts_triggers_and_views_back_as_they_are_now(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(path)
    run(
        path,
        "UPDATE alembic_version SET version_num = '0000'",
        "DROP TRIGGER entries_delete",
        "DROP VIEW log_stats",
        "CREATE VIEW log_stats AS SELECT 1 AS old",
        "CREATE VIEW somebodys AS SELECT 1",
    )
    monkeypatch.setattr(migrate, "KNOWN", ("0000", *migrate.KNOWN))
    update = f"UPDATE alembic_version SET version_num = '{VERSION}'"
    monkeypatch.setattr(migrate, "migration_statements", lambda _: [update])
    async with msglog.open(path) as store:
        assert await store.sql("SELECT log, entries FROM log_stats") == [{"log": "talk", "entries": 2}]
        assert len(await store.sql("SELECT 1 FROM sqlite_master WHERE name IN ('somebodys', 'entries_delete')")) == 2


async def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty(path)
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "object_statements", lambda: ["CREATE VIEW wrong AS SELECT"])
        with pytest.raises(MsgLogError):
            await msglog.open(path)
    assert contents(path) == {path.name: EMPTY}
    await make(path)


async def test_an_empty_file_becomes_a_store(path: Path) -> None:
    empty(path)
    await make(path)
    async with msglog.open(path, create=False) as store:
        assert await store.log("talk").count() == 2


async def test_an_empty_file_is_no_store_to_one_who_makes_none(path: Path) -> None:
    empty(path)
    with pytest.raises(NotAStoreError, match="it is empty"):
        await msglog.open(path, create=False)
    assert contents(path) == {path.name: EMPTY}


async def test_an_empty_file_is_no_store_to_one_who_only_reads(path: Path) -> None:
    empty(path)
    with pytest.raises(NotAStoreError, match="it is empty"):
        await msglog.open(path, read_only=True)
    assert contents(path) == {path.name: EMPTY}


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_directory_is_refused(path: Path, *, read_only: bool) -> None:
    directory(path)
    with pytest.raises(CannotOpenError, match="it is a directory"):
        await msglog.open(path, read_only=read_only)
    assert contents(path) == {path.name: "a directory"}


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}])
async def test_a_missing_file_is_not_made_where_none_was_asked_for(path: Path, options: dict[str, bool]) -> None:
    with pytest.raises(StoreNotFoundError):
        await msglog.open(path, **options)  # type: ignore[arg-type]  # these two
    assert contents(path) == {}


async def test_opening_a_current_store_changes_nothing_of_its_file(path: Path) -> None:
    await make(path)
    before = contents(path)
    for read_only in (False, True, False):
        async with msglog.open(path, read_only=read_only) as store:
            assert await store.log("talk").count() == 2
    assert contents(path)[path.name] == before[path.name]


async def test_directories_are_made_private_to_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "some" / "where" / "agent.db"
    await make(path)
    assert [oct(each.stat().st_mode & 0o777) for each in (path.parent, path.parent.parent)] == ["0o700", "0o700"]


async def test_every_file_beside_a_store_is_private_to_its_owner(path: Path) -> None:
    old = os.umask(0)
    try:
        async with msglog.open(path) as store:
            await store.log("talk").add("user", "x")
            modes = {each.name: oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()}
    finally:
        os.umask(old)
    names = {path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}-lock"}
    assert modes == dict.fromkeys(names, "0o600")


def test_opening_a_current_store_imports_no_alembic(path: Path) -> None:
    program = f"""
import asyncio, sys, msglog
async def main():
    async with msglog.open({str(path)!r}): pass
asyncio.run(main())
print("alembic" in sys.modules)
"""
    seen = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in "12"]
    assert [each.stdout.strip() for each in seen] == ["True", "False"]
