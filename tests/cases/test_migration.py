from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import msglog
from msglog.errors import CannotOpenError, NewerStoreError, NotAStoreError, OlderStoreError, StoreError
from msglog.storage import migrate
from msglog.storage.version import VERSION
from tests.cases import next_release
from tests.cases.next_release import NEXT, append_as_next_release
from tests.concurrency.processes import at_once
from tests.concurrency.workers import LOG, user


@pytest.fixture
async def old(path: Path) -> Path:
    """A store with ten messages, closed, as this release leaves it."""
    async with msglog.open(path) as store:
        await store.log(LOG).append_many(user(f"{i}") for i in range(10))
    return path


@pytest.fixture
def _next_release(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VERSION", "KNOWN", "migrations_path"):
        monkeypatch.setattr(migrate, name, getattr(migrate, name))
    next_release.become(next_release.migrations(tmp_path))


def schema(path: Path) -> list[tuple[str, str | None]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    rows += connection.execute("SELECT version_num, NULL FROM alembic_version").fetchall()
    connection.close()
    return rows


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def everything(folder: Path) -> dict[str, bytes]:
    """Every file of a folder; not what SQLite leaves beside one that it only read."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(("-wal", "-shm")))
    return {str(file): file.read_bytes() for file in files}


async def test_mig_1_processes_that_start_on_an_old_file_migrate_it_once(tmp_path: Path) -> None:
    folder = str(next_release.migrations(tmp_path))
    fresh = tmp_path / "fresh.db"
    at_once(append_as_next_release, [(folder, str(fresh), LOG, "first")])
    for number in range(3):
        path = tmp_path / f"{number}.db"
        async with msglog.open(path) as store:
            await store.log(LOG).append_many(user(f"{i}") for i in range(100))

        seqs = at_once(append_as_next_release, [(folder, str(path), LOG, f"from {i}") for i in range(8)])

        assert sorted(seqs) == list(range(101, 109))
        assert schema(path) == schema(fresh)
        assert schema(path)[-1] == (NEXT, None)


async def test_mig_2_a_file_of_a_newer_release_is_left_as_it_is(old: Path, tmp_path: Path) -> None:
    change(
        old,
        f"UPDATE alembic_version SET version_num = '{NEXT}'",
        "ALTER TABLE logs ADD COLUMN unknown TEXT",
        "CREATE TABLE unheard_of (x)",
    )
    before = everything(tmp_path)
    for read_only in (False, True):
        with pytest.raises(NewerStoreError) as caught:
            await msglog.open(old, read_only=read_only)
        assert (caught.value.found, caught.value.known) == (NEXT, VERSION)
        assert everything(tmp_path) == before


@pytest.mark.usefixtures("_next_release")
async def test_mig_2_a_read_only_open_of_an_older_file_asks_for_a_writing_one(old: Path, tmp_path: Path) -> None:
    before = everything(tmp_path)
    with pytest.raises(OlderStoreError) as caught:
        await msglog.open(old, read_only=True)
    assert (caught.value.found, caught.value.known) == (VERSION, NEXT)
    assert everything(tmp_path) == before


@pytest.mark.usefixtures("_next_release")
async def test_mig_4_old_messages_stay_visible_and_are_never_strays(old: Path) -> None:
    texts = [f"{i}" for i in range(10)]
    async with msglog.open(old) as store:
        log = store.log(LOG)
        assert [message.text for message in await log.all()] == texts
        fork = await log.fork("what if")
        assert [message.text for message in await fork.all()] == texts
        await log.edit({"op": "remove", "id": (await log.get(10)).entry_id})
        assert [message.text for message in await log.all()] == texts[:-1]
        assert [message.text for message in await fork.all()] == texts
        await store.backup(old.with_name("copy.db"))
    change(old, "VACUUM")
    for path in (old, old.with_name("copy.db")):
        async with msglog.open(path) as store:
            assert [message.text for message in await store.log(LOG).all()] == texts[:-1]
            assert [message.text for message in await store.log(LOG).raw.all()] == texts
            assert [message.text for message in await store.log(LOG, "what if").all()] == texts
            assert (await store.verify()).ok


def of_another_program(path: Path) -> None:
    change(path, "CREATE TABLE notes (x)", "INSERT INTO notes VALUES (1)")


def of_text(path: Path) -> None:
    path.write_text("Dear diary, " * 1000)


def a_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("made", "error"),
    [(of_another_program, NotAStoreError), (of_text, NotAStoreError), (a_directory, CannotOpenError)],
)
@pytest.mark.parametrize("read_only", [False, True])
async def test_mig_6_what_is_no_store_is_reported_and_left_as_it_is(
    path: Path, tmp_path: Path, made: Callable[[Path], None], error: type[StoreError], *, read_only: bool
) -> None:
    made(path)
    before = everything(tmp_path)
    with pytest.raises(error) as caught:
        await msglog.open(path, read_only=read_only)
    assert caught.value.path == str(path)
    assert everything(tmp_path) == before


async def test_mig_6_a_store_that_lacks_a_column_is_reported_and_left_as_it_is(old: Path, tmp_path: Path) -> None:
    change(old, "ALTER TABLE entries DROP COLUMN redacted_reason")
    before = everything(tmp_path)
    with pytest.raises(NotAStoreError, match=r"entries\.redacted_reason") as caught:
        await msglog.open(old)
    assert caught.value.path == str(old)
    assert everything(tmp_path) == before


@pytest.fixture
def empty(path: Path) -> Path:
    path.touch()
    return path


async def test_mig_6_an_empty_file_becomes_a_store(empty: Path) -> None:
    async with msglog.open(empty) as store:
        assert await store.log(LOG).add("user", "hi") == 1


async def test_mig_6_an_empty_file_cannot_be_opened_read_only(empty: Path, tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError):
        await msglog.open(empty, read_only=True)
    assert everything(tmp_path) == {str(empty): b""}
