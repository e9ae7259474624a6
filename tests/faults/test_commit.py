"""Whatever fails while something is committed: what was acknowledged is there, what was refused is not.

Only `CommitUncertainError` leaves both open, and then `find` tells.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import msglog
import msglog.sync
from msglog import Store
from msglog.errors import (
    CommitUncertainError,
    CorruptStoreError,
    MsgLogError,
    StoreBusyError,
    StoreFullError,
    StoreIOError,
)
from msglog.storage import wal
from msglog.storage.engine import DriverError
from msglog.transfer import export_bundle, import_bundle
from tests.faults.drivers import FaultyDriver, When
from tests.strategies import user

Work = Callable[[Store], Awaitable[Any]]


@dataclass(frozen=True)
class Operation:
    """Something that writes, and whether a store shows that it was done."""

    do: Work
    done: Callable[[Store], Awaitable[bool]]


async def _append(store: Store) -> None:
    await store.log("talk").add("user", "new", id="new")


async def _appended(store: Store) -> bool:
    return await store.log("talk").find("new") is not None


async def _append_many(store: Store) -> None:
    await store.log("talk").append_many([{"id": f"new {i}", "message": user("new")} for i in range(3)])


async def _many_appended(store: Store) -> bool:
    found = [await store.log("talk").find(f"new {i}") is not None for i in range(3)]
    assert len(set(found)) == 1, "all or none"
    return found[0]


async def _begin_a_log(store: Store) -> None:
    await store.log("another").add("user", "new")


async def _log_begun(store: Store) -> bool:
    return [info.entries for info in await store.logs() if info.name == "another"] == [1]


async def _commit(store: Store) -> None:
    history = await store.log("talk").history()
    edited = history.append({"id": "new", "message": user("new")}).edit({"op": "remove", "id": "first"})
    await store.log("talk").commit(edited)


async def _committed(store: Store) -> bool:
    shown = [message.entry_id for message in await store.log("talk").all()]
    assert shown in (["first", "second"], ["second", "new"])
    return shown == ["second", "new"]


async def _fork(store: Store) -> None:
    await store.log("talk").fork("new")


async def _forked(store: Store) -> bool:
    return "new" in [branch.name for branch in await store.log("talk").branches()]


async def _rewind(store: Store) -> None:
    log = store.log("talk")
    revisions = [revision.id async for revision in log.revisions()]
    await log.rewind(revisions[1])


async def _rewound(store: Store) -> bool:
    return [message.entry_id for message in await store.log("talk").all()] == ["first"]


async def _redact(store: Store) -> None:
    await store.log("talk").redact("first")


async def _redacted(store: Store) -> bool:
    return (await store.log("talk").get("first")).redacted


async def _purge(store: Store) -> None:
    await store.purge("doomed")


async def _purged(store: Store) -> bool:
    names = [info.name for info in await store.logs()]
    left = await store.sql("SELECT count(*) AS n FROM entries WHERE id = 'doomed'")
    assert left == [{"n": int("doomed" in names)}], "all or none"
    return "doomed" not in names


async def _describe(store: Store) -> None:
    await store.describe("talk", title="Trains")


async def _described(store: Store) -> bool:
    return (await store.describe("talk")).title == "Trains"


@cache
def _bundle() -> bytes:
    stream = io.BytesIO()
    with msglog.sync.open(":memory:", durability="normal") as store:
        store.log("came").append_many([{"id": f"came {i}", "message": user("came")} for i in range(3)])
        export_bundle(store, stream)
    return stream.getvalue()


async def _import(store: Store) -> None:
    await import_bundle(store, io.BytesIO(_bundle()))


async def _imported(store: Store) -> bool:
    found = [await store.log("came").find(f"came {i}") is not None for i in range(3)]
    assert len(set(found)) == 1, "all or none"
    return found[0]


OPERATIONS = {
    "append": Operation(_append, _appended),
    "append_many": Operation(_append_many, _many_appended),
    "a log's first append": Operation(_begin_a_log, _log_begun),
    "commit": Operation(_commit, _committed),
    "fork": Operation(_fork, _forked),
    "rewind": Operation(_rewind, _rewound),
    "redact": Operation(_redact, _redacted),
    "purge": Operation(_purge, _purged),
    "describe": Operation(_describe, _described),
    "import": Operation(_import, _imported),
}

EXPLAINED: dict[str, type[MsgLogError]] = {
    "SQLITE_FULL": StoreFullError,
    "SQLITE_IOERR_WRITE": StoreIOError,
    "SQLITE_IOERR_FSYNC": StoreIOError,
    "SQLITE_BUSY": StoreBusyError,
    "SQLITE_CORRUPT": CorruptStoreError,
}

every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())


async def _begin(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        await store.log("talk").append({"id": "first", "message": user("first")})
        await store.log("talk").append({"id": "second", "message": user("second")})
        await store.log("doomed").append({"id": "doomed", "message": user("doomed")})


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file that every operation finds."""
    path = tmp_path_factory.mktemp("begun") / "begun.db"
    asyncio.run(_begin(path))
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, begun: bytes) -> Path:
    path = tmp_path / "agent.db"
    path.write_bytes(begun)
    return path


async def outcome(store: Store, work: Work) -> MsgLogError | None:
    try:
        await work(store)
    except MsgLogError as error:
        return error
    return None


async def check(path: Path, operation: Operation, error: MsgLogError | None) -> bool:
    """A fresh look at the file holds what was said; whether the operation was done."""
    async with msglog.open(path, durability="normal") as store:
        report = await store.verify()
        assert report.ok, report.problems
        done = await operation.done(store)
        assert isinstance(error, CommitUncertainError) or done == (error is None)
        assert await store.log("talk").find("second") is not None
        await store.log("other").add("user", "goes on")
        return done


@every_operation
@pytest.mark.parametrize("code", ["SQLITE_FULL", "SQLITE_IOERR_WRITE"])
async def test_a_failure_of_any_statement_leaves_all_or_nothing(
    tmp_path: Path, begun: bytes, operation: Operation, code: str
) -> None:
    """The n-th statement fails, for every n that the operation comes to."""
    errors = []
    for n in range(100):
        path, driver = tmp_path / f"{n}.db", FaultyDriver()
        path.write_bytes(begun)
        async with msglog.open(path, durability="normal", driver=driver) as store:
            driver.arm(n, code)
            error = await outcome(store, operation.do)
            failed = driver.failed
            driver.disarm()
            assert error is None or isinstance(error, EXPLAINED[code])
            await store.log("other").add("user", "the same store goes on")
        if not failed:
            break
        await check(path, operation, error)
        errors.append(error)
    assert len(errors) >= 4, "BEGIN, a statement that reads, one that writes, COMMIT"
    assert any(errors)


@every_operation
@pytest.mark.parametrize("code", EXPLAINED)
async def test_a_commit_that_fails_before_it_takes_effect_is_refused(
    path: Path, operation: Operation, code: str
) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        driver.arm(0, code, only="COMMIT", times=1)
        error = await outcome(store, operation.do)
        assert isinstance(error, EXPLAINED[code])
        assert not await operation.done(store)
        assert await outcome(store, operation.do) is None, "the same store does it when asked again"
        assert await operation.done(store)
    assert await check(path, operation, None)


@every_operation
@pytest.mark.parametrize("code", ["SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC"])
async def test_a_commit_that_fails_after_it_took_effect_is_acknowledged(
    path: Path, operation: Operation, code: str
) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        driver.arm(0, code, "after", only="COMMIT")
        assert await outcome(store, operation.do) is None
        assert driver.failed
    assert await check(path, operation, None)


@every_operation
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_commit_whose_barrier_fails_too_is_uncertain_until_the_store_is_opened_again(
    path: Path, operation: Operation, when: When
) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        driver.arm(0, "SQLITE_IOERR_FSYNC", when, only="COMMIT", times=2)
        error = await outcome(store, operation.do)
        assert isinstance(error, CommitUncertainError)
        assert "new" not in str(error)
        driver.disarm()
        again = _append if operation.do is _import else operation.do  # an import of what is there only compares
        assert isinstance(await outcome(store, again), StoreIOError), "it fails until it is opened again"
    assert await check(path, operation, error) == (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_uncertain_append_can_be_asked_for_and_repeated(path: Path, when: When) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        driver.arm(0, "SQLITE_IOERR_FSYNC", when, only="COMMIT", times=2)
        with pytest.raises(CommitUncertainError) as uncertain:
            await store.log("talk").append_many([user("a"), {"id": "mine", "message": user("b")}])
    assert uncertain.value.entry_ids[1] == "mine"
    async with msglog.open(path) as store:
        log = store.log("talk")
        found = [await log.find(entry_id) is not None for entry_id in uncertain.value.entry_ids]
        assert found == [when == "after"] * 2
        again = [{"id": i, "message": user(text)} for i, text in zip(uncertain.value.entry_ids, "ab", strict=True)]
        assert await log.append_many(again) == 4
        assert [message.content for message in await log.last(2)] == ["a", "b"]


async def test_an_uncertain_commit_names_every_entry_that_it_was_to_bring_in(path: Path) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        history = await store.log("talk").history()
        for entry_id in ("one", "two", "three"):
            history = history.append({"id": entry_id, "message": user(entry_id)})
        driver.arm(0, "SQLITE_IOERR_FSYNC", only="COMMIT", times=2)
        with pytest.raises(CommitUncertainError) as uncertain:
            await store.log("talk").commit(history)
    assert uncertain.value.entry_ids == ("one", "two", "three")


@pytest.mark.parametrize(("when", "stored"), [("before", 0), ("after", 10)])
async def test_all_of_a_group_hear_the_same_of_its_commit(path: Path, when: When, stored: int) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        log = store.log("talk")
        driver.arm(0, "SQLITE_IOERR_FSYNC", when, only="COMMIT")
        told = await asyncio.gather(*(log.add("user", "x", id=f"e{i}") for i in range(10)), return_exceptions=True)
        groups = driver.count("COMMIT") - 1  # the barrier's is one more
        kept = {message.entry_id for message in await log.read(after=2)}
    acknowledged = {f"e{i}" for i, each in enumerate(told) if not isinstance(each, BaseException)}
    assert kept == acknowledged
    if groups == 1:
        assert len(kept) == stored
    assert all(isinstance(each, (int, StoreIOError)) for each in told)


async def test_a_writer_that_cannot_connect_says_so_and_works_again_afterwards(path: Path) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        driver.broken_opens = 1
        with pytest.raises(MsgLogError):
            await store.log("talk").add("user", "a")
        assert await store.log("talk").add("user", "b") == 3


async def test_errors_keep_the_drivers_error_as_their_cause_and_no_message_text(path: Path) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        driver.arm(0, "SQLITE_IOERR_FSYNC", only="INSERT")
        with pytest.raises(StoreIOError) as refusal:
            await store.log("talk").add("user", "a secret")
    assert refusal.value.code == "SQLITE_IOERR_FSYNC"
    assert type(refusal.value.__cause__).__name__ == "DriverError"
    assert "secret" not in str(refusal.value)


async def test_a_checkpoint_that_fails_costs_no_caller_anything(path: Path) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        log = store.log("talk")
        driver.arm(0, "SQLITE_IOERR_WRITE", only="PRAGMA wal_checkpoint")
        for _ in range(12):
            await log.add("user", "x" * 2**20)
        assert driver.failed
        assert await log.count() == 14
    async with msglog.open(path) as store:
        assert (await store.verify()).ok


def contents(path: Path) -> tuple[bytes, bytes]:
    """A closed store's file and its write-ahead log."""
    return path.read_bytes(), Path(f"{path}-wal").read_bytes()


async def test_a_log_in_doubt_is_not_brought_into_the_file_by_closing_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a failed sync left in memory alone would be trusted, and the log removed."""

    def fail(_path: str) -> None:
        raise DriverError("SQLITE_IOERR_FSYNC", "made to fail")

    driver = FaultyDriver()
    with monkeypatch.context() as broken:
        broken.setattr(wal, "rewrite", fail)
        async with msglog.open(path, driver=driver) as store:
            driver.arm(0, "SQLITE_IOERR_FSYNC", "after", only="COMMIT")
            with pytest.raises(CommitUncertainError):
                await store.log("talk").add("user", "new", id="new")
        held = contents(path)
        assert len(held[1]) > 0
        for _ in range(2):
            assert contents(path) == held
            with pytest.raises(StoreIOError):
                await msglog.open(path, driver=driver)
    async with msglog.open(path, driver=driver) as store:
        assert await store.log("talk").find("new") is not None
        assert (await store.verify()).ok
