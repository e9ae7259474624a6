"""`Store` and `open`: what each method does, in a sentence each, and what it refuses."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import MessageLog, Store
from msglog.errors import (
    CannotOpenError,
    InvalidNameError,
    MsgLogError,
    NotAStoreError,
    ReadOnlyError,
    SqlError,
    StoreClosedError,
    StoreNotFoundError,
    UnknownLogError,
)
from msglog.storage.sqlite import SqliteDriver
from tests.strategies import user

pytestmark = pytest.mark.every_engine
backup_takes_the_file = pytest.mark.file_only("a backup is written where the file lies")

Open = Callable[[Path], Any]


def listing(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def modes(folder: Path) -> list[str]:
    return [oct(each.stat().st_mode & 0o777) for each in folder.iterdir()]


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def protect(path: Path) -> None:
    path.chmod(0o400)


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def text(path: Path) -> str:
    return path.read_text()


def forget(stores: list[Store]) -> None:
    stores.clear()
    gc.collect()


def damaged(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(old, new))


# Opening


async def test_a_store_is_opened_by_awaiting_or_by_entering(path: Path) -> None:
    async with msglog.open(path) as store:
        assert await store.log().add("user", "a") == 1
    store = await msglog.open(str(path))
    assert await store.log().count() == 1
    await store.close()


async def test_a_url_of_sqlite_names_a_file(path: Path) -> None:
    async with msglog.open(f"sqlite:///{path}") as store:
        assert store.path == str(path)


async def test_an_opening_that_nobody_awaits_warns(path: Path) -> None:
    with pytest.warns(ResourceWarning, match="never awaited"):
        msglog.open(path)
    assert listing(path.parent) == []


async def test_a_store_that_nobody_closes_warns(path: Path) -> None:
    stores = [await msglog.open(path)]
    lease = stores[0]._lease
    await asyncio.sleep(0)  # the loop lets go of the result that it handed over
    with pytest.warns(ResourceWarning, match="was not closed"):
        forget(stores)
    lease.end()


async def test_memory_is_private_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with msglog.open(":memory:") as one, msglog.open(":memory:") as other:
        await one.log("talk").add("user", "a")
        assert (await one.log("talk").count(), await other.log("talk").count()) == (1, 0)
        assert modes(tmp_path) == ["0o700"] * 2
    assert listing(tmp_path) == []


async def test_stores_of_one_file_see_each_others_commits(path: Path, tmp_path: Path) -> None:
    link(tmp_path / "link.db", path)
    async with msglog.open(path) as one, msglog.open(tmp_path / "link.db") as other:
        assert await one.log("talk").add("user", "a") == 1
        assert await other.log("talk").add("user", "b") == 2
        assert await one.log("talk").count() == 2


async def test_closing_one_store_leaves_another_of_the_file_working(path: Path) -> None:
    async with msglog.open(path) as one:
        other = await msglog.open(path)
        await other.close()
        await other.close()
        assert await one.log("talk").add("user", "a") == 1


class NoDriver:
    """Something that opens nothing."""


OPENINGS: dict[str, tuple[Open, type[Exception]]] = {
    "an empty path": (lambda path: msglog.open(""), CannotOpenError),
    "a path with NUL": (lambda path: msglog.open(f"{path}\0"), CannotOpenError),
    "a path of bytes": (lambda path: msglog.open(os.fsencode(path)), TypeError),  # type: ignore[arg-type]
    "a path that is none": (lambda path: msglog.open(5), TypeError),  # type: ignore[arg-type]
    "no path": (lambda path: msglog.open(None), TypeError),  # type: ignore[arg-type]
    "another database": (lambda path: msglog.open("postgresql://localhost/x"), CannotOpenError),
    "a directory": (lambda path: msglog.open(path.parent), CannotOpenError),
    "in a file": (lambda path: msglog.open(put(path, "a file") / "agent.db"), CannotOpenError),
    "missing, not to be made": (lambda path: msglog.open(path, create=False), StoreNotFoundError),
    "missing, read-only": (lambda path: msglog.open(path, read_only=True), StoreNotFoundError),
    "missing in a missing directory": (
        lambda path: msglog.open(path / "deep" / "agent.db", create=False),
        StoreNotFoundError,
    ),
    "memory, read-only": (lambda path: msglog.open(":memory:", read_only=True), StoreNotFoundError),
    "an unknown durability": (lambda path: msglog.open(path, durability="some"), ValueError),  # type: ignore[arg-type]
    "a timeout of text": (lambda path: msglog.open(path, busy_timeout="1"), TypeError),  # type: ignore[arg-type]
    "a negative timeout": (lambda path: msglog.open(path, busy_timeout=-1), ValueError),
    "a limit of text": (lambda path: msglog.open(path, max_message_bytes="1"), TypeError),  # type: ignore[arg-type]
    "a negative limit": (lambda path: msglog.open(path, max_message_bytes=-1), ValueError),
    "a hook that is none": (lambda path: msglog.open(path, before_store="x"), TypeError),  # type: ignore[arg-type]
    "a driver that is none": (lambda path: msglog.open(path, driver=NoDriver()), TypeError),  # type: ignore[arg-type]
    "a module of something else": (lambda path: msglog.open(path, driver=json), TypeError),
}


@pytest.mark.parametrize(("opening", "refusal"), OPENINGS.values(), ids=OPENINGS.keys())
async def test_what_cannot_be_opened_is_refused_and_nothing_made(
    tmp_path: Path, opening: Open, refusal: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = put(tmp_path / "temporary" / "mark", "").parent
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    path = put(tmp_path / "in" / "mark", "").with_name("agent.db")
    with pytest.raises(refusal):
        await opening(path)
    assert [text(each) for each in path.parent.iterdir()] in ([""], ["", "a file"], ["a file", ""])
    assert listing(temporary) == ["mark"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
async def test_a_file_that_may_not_be_written_is_refused_for_writing(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").add("user", "a")
    protect(path)
    with pytest.raises(ReadOnlyError):
        await msglog.open(path)


async def test_a_driver_may_be_given(path: Path) -> None:
    async with msglog.open(path, driver=SqliteDriver()) as store:
        assert await store.log("talk").add("user", "a") == 1


# Logs


async def test_a_log_exists_from_its_first_append(store: Store) -> None:
    log = store.log("talk")
    assert await store.logs() == []
    await log.add("user", "a")
    assert [info.name for info in await store.logs()] == ["talk"]
    assert (log.name, log.branch, log.store) == ("talk", "main", store)


async def test_logs_are_told_apart_byte_by_byte(store: Store) -> None:
    names = ["talk", "Talk", "talk ", "tal\u212a", "e\u0301", "\u00e9", "' OR 1=1 --", "a/b", "%", "日本"]
    for name in names:
        await store.log(name).add("user", name)
    assert sorted(info.name for info in await store.logs()) == sorted(names)
    for name in names:
        assert [message.content for message in await store.log(name).all()] == [name]


async def test_logs_are_listed_by_their_last_message(store: Store) -> None:
    for name in ("one", "two", "one"):
        await store.log(name).add("user", "x")
    await store.log("two").fork("side")
    two, one = await store.logs()
    assert (one.name, one.entries, one.revisions, one.branches) == ("one", 2, 3, 1)
    assert (two.name, two.entries, two.branches) == ("two", 1, 2)
    assert one.last_at is not None
    assert one.created_at <= one.last_at
    assert one.last_at.tzinfo is UTC


async def test_stats_count_what_the_store_holds(store: Store) -> None:
    await store.log("one").append_many([user("a"), user("b")])
    await store.log("two").add("user", "c")
    stats = await store.stats()
    assert (stats.logs, stats.entries, stats.revisions) == (2, 3, 4)
    assert stats.bytes + stats.wal_bytes > 4096


# Verifying


async def test_verify_reports_on_all_logs_or_on_one(store: Store) -> None:
    await store.log("one").add("user", "a")
    await store.log("two").append_many([user("b"), user("c")])
    whole, part = await store.verify(), await store.verify("two")
    assert (whole.ok, whole.logs, whole.entries, whole.revisions, whole.problems) == (True, 2, 3, 4, [])
    assert (part.ok, part.logs, part.entries) == (True, 1, 2)


async def test_verify_of_a_log_that_does_not_exist_is_refused(store: Store) -> None:
    with pytest.raises(UnknownLogError):
        await store.verify("nothing")
    with pytest.raises(InvalidNameError):
        await store.verify("")


# Purging


async def test_purge_takes_a_log_away_and_gives_a_receipt(store: Store) -> None:
    await store.log("gone").append_many([user("a"), user("b")])
    await store.log("kept").add("user", "c")
    receipt = await store.purge("gone")
    assert (receipt.log, receipt.entries, receipt.revisions, receipt.complete) == ("gone", 2, 2, True)
    assert [info.name for info in await store.logs()] == ["kept"]
    assert await store.log("gone").all() == []
    assert (await store.verify()).ok
    (left,) = await store.sql("SELECT name, meta, entry_count FROM logs WHERE purged_at IS NOT NULL")
    assert left == {"name": None, "meta": None, "entry_count": 2}


async def test_the_name_of_a_purged_log_can_be_used_again(store: Store) -> None:
    log = store.log("talk")
    await log.append({"id": "same", "message": user("a")})
    await store.purge("talk")
    assert await log.append({"id": "same", "message": user("b")}) == 1
    assert [message.content for message in await log.all()] == ["b"]
    await store.purge("talk")
    with pytest.raises(UnknownLogError):
        await store.purge("talk")


async def test_the_order_of_the_store_is_never_used_again(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("kept").add("user", "a")
        await store.log("gone").append_many([user("b"), user("c")])
        await store.purge("gone")
    async with msglog.open(path) as store:
        await store.log("kept").add("user", "d")
        async with aclosing(store.follow(after=1)) as following:  # type: ignore[type-var]  # it is a generator
            logged = await anext(following)
    assert (logged.n, logged.message.content) == (4, "d")


# Backups


@backup_takes_the_file
async def test_a_backup_is_a_store_of_its_own(store: Store, tmp_path: Path) -> None:
    await store.log("talk").append_many([user("a"), user("b")])
    await store.backup(tmp_path / "copy.db")
    await store.log("talk").add("user", "c")
    async with msglog.open(tmp_path / "copy.db") as copy:
        assert [message.content for message in await copy.log("talk").all()] == ["a", "b"]
        assert (await copy.verify()).ok
        assert await copy.log("talk").add("user", "d") == 3


@backup_takes_the_file
async def test_a_backup_is_private_and_leaves_no_other_file(store: Store, tmp_path: Path) -> None:
    await store.backup(folder(tmp_path / "copies") / "copy.db")
    assert (listing(tmp_path / "copies"), modes(tmp_path / "copies")) == (["copy.db"], ["0o600"])


@backup_takes_the_file
async def test_a_backup_while_others_write_is_one_moment(store: Store, tmp_path: Path) -> None:
    logs = [store.log(f"log {i}") for i in range(4)]
    await asyncio.gather(*(log.add("user", "x" * 2000) for log in logs for _ in range(50)))
    writing = asyncio.gather(*(log.add("user", str(i)) for i in range(50) for log in logs))
    for number in range(3):
        await store.backup(tmp_path / f"copy-{number}.db")
    await writing
    for number in range(3):
        async with msglog.open(tmp_path / f"copy-{number}.db") as copy:
            assert (await copy.verify()).ok
            assert (await copy.stats()).entries >= 200


@backup_takes_the_file
@pytest.mark.parametrize(
    ("target", "refusal"),
    [
        ("agent.db", FileExistsError),
        ("there.txt", FileExistsError),
        ("dangling", FileExistsError),
        ("missing/copy.db", CannotOpenError),
        ("a\0b", (MsgLogError, ValueError)),
        (b"copy.db", TypeError),
        (5, TypeError),
    ],
)
async def test_a_backup_never_overwrites_and_makes_no_directories(
    store: Store, path: Path, target: Any, refusal: Any
) -> None:
    there = put(path.parent / "there.txt", "mine")
    link(path.parent / "dangling", Path("nowhere"))
    before = listing(path.parent)
    with pytest.raises(refusal):
        await store.backup(str(path.parent / target) if isinstance(target, str) else target)
    assert listing(path.parent) == before
    assert text(there) == "mine"


# SQL


async def test_sql_gives_rows_as_dicts(store: Store, log: MessageLog) -> None:
    await log.append_many([user("a"), user("b")])
    query = "SELECT seq, text FROM active_entries WHERE log = {} AND seq > {} ORDER BY seq"
    expected = [{"seq": 2, "text": "b"}]
    assert await store.sql(query.format("?", "?"), ("talk", 1)) == expected
    assert await store.sql(query.format(":log", ":after"), {"log": "talk", "after": 1}) == expected
    assert await store.sql("WITH x AS (VALUES (1)) SELECT * FROM x") == [{"column1": 1}]
    assert await store.sql("-- why\n/* and\nhow */ EXPLAIN QUERY PLAN SELECT 1") != []
    assert await store.sql("SELECT 1 WHERE 0;") == []


UNRUNNABLE = [
    "DELETE FROM marks",
    "INSERT INTO marks VALUES ('a', 1)",
    "UPDATE logs SET name = 'x'",
    "DROP TABLE marks",
    "CREATE TABLE t (x)",
    "CREATE TEMP TABLE t (x)",
    "PRAGMA user_version = 5",
    "PRAGMA query_only = OFF",
    "ATTACH 'other.db' AS other",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO 'other.db'",
    "BEGIN IMMEDIATE",
    "SELECT 1; SELECT 2",
    "SELECT 1; DELETE FROM marks",
    "WITH x AS (SELECT 1) DELETE FROM marks",
    "WITH x AS (SELECT 1) INSERT INTO marks SELECT 'a', 1",
    "SELECT * FROM nothing",
    "SELECT",
    "",
    "select load_extension('x')",
    "SELECT ?",
    "SELECT '\ud800'",
    5,
    None,
]


@pytest.mark.parametrize("query", UNRUNNABLE, ids=repr)
async def test_sql_runs_one_reading_statement_and_nothing_else(store: Store, log: MessageLog, query: Any) -> None:
    await log.add("user", "a")
    with pytest.raises(SqlError):
        await store.sql(query)
    assert await store.sql("SELECT (SELECT count(*) FROM logs) AS logs, (SELECT count(*) FROM marks) AS marks") == [
        {"logs": 1, "marks": 0}
    ]
    assert "other.db" not in listing(Path())


@pytest.mark.parametrize("parameters", [("a",), {"other": 1}, (NoDriver(), 1), ("\ud800", 1), (2**70, 1), "a", 5])
async def test_sql_refuses_parameters_that_do_not_fit(store: Store, parameters: Any) -> None:
    with pytest.raises((SqlError, TypeError)):
        await store.sql("SELECT ?, ?", parameters)


async def test_sql_that_quotes_what_is_stored_never_shows_it_in_an_error(store: Store, log: MessageLog) -> None:
    await log.add("user", "a secret")
    with pytest.raises(MsgLogError) as refusal:
        await store.sql("SELECT CAST(x'ff' || text AS TEXT) AS t FROM entries")
    assert "secret" not in str(refusal.value)


# Following


async def test_follow_gives_every_message_of_every_log_in_commit_order(store: Store) -> None:
    for name, text in (("one", "a"), ("two", "b"), ("one", "c")):
        await store.log(name).add("user", text)
    async with aclosing(store.follow(after=1)) as following:  # type: ignore[type-var]  # it is a generator
        heard = [await anext(following), await anext(following)]
        coming = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        await store.log("three").add("user", "d")
        heard.append(await coming)
    assert [(each.n, each.log, each.message.content) for each in heard] == [
        (2, "two", "b"), (3, "one", "c"), (4, "three", "d")
    ]  # fmt: skip


@pytest.mark.parametrize("after", [-1, "1", 1.5, None, True])
async def test_follow_takes_a_count(store: Store, after: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        await anext(store.follow(after))


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", 5, None, b"a"])
async def test_names_that_cannot_be_ones_are_refused(store: Store, name: Any) -> None:
    with pytest.raises(InvalidNameError):
        store.log(name)
    with pytest.raises(InvalidNameError):
        await store.purge(name)


# The file behind the store's back


async def test_text_that_is_damaged_is_reported_without_being_shown(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").add("user", "a secret")
    damaged(path, b"a secret", b"a secr\xff\xff")
    async with msglog.open(path) as store:
        with pytest.raises(MsgLogError) as refusal:
            await store.log("talk").all()
        assert not (await store.verify()).ok
    assert "secr" not in str(refusal.value)
    assert "secr" not in str(refusal.value.__cause__)


async def test_a_store_whose_file_becomes_another_is_told_so_when_it_is_opened(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").add("user", "a")
    put(path, "no store any more")
    with pytest.raises(NotAStoreError):
        await msglog.open(path)


async def test_everything_after_close_says_so(path: Path) -> None:
    store = await msglog.open(path)
    await store.close()
    assert "closed" in repr(store)
    for work in (store.logs, store.stats, store.verify):
        with pytest.raises(StoreClosedError):
            await work()
    with pytest.raises(StoreClosedError):
        await store.backup(path.parent / "copy.db")
