"""A process may die at every point inside our own steps, and a fault may raise there.

What was acknowledged is there, what was refused is not.
"""

from __future__ import annotations

import asyncio
import importlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import msglog
import msglog.sync
from msglog import faults
from msglog.errors import MsgLogError
from msglog.sync import Store
from tests.concurrency.processes import Process
from tests.faults.points import DIED, SCENARIOS, SECRET, begin, counted, die_at, die_opening, raising

AT = [
    # the point, what comes by it, and whether that is done there
    ("transaction.begun", "append", False),
    ("commit.rows", "append", False),
    ("commit.before", "append", False),
    ("commit.after", "append", True),
    ("checkpoint.before", "compact", True),
    ("checkpoint.after", "compact", True),
    ("rewrite.before", "compact", True),
    ("rewrite.after", "purge", True),
    ("backup.before", "backup", False),
    ("backup.copied", "backup", False),
    ("backup.after", "backup", True),
    ("redaction.blanked", "redact", False),
    ("redaction.blanked", "purge", False),
    ("erasure.committed", "redact", True),
    ("erasure.after", "redact", True),
    ("erasure.committed", "purge", True),
    ("purge.marked", "purge", False),
    ("purge.deleted", "purge", False),
    ("repair.before", "repair", False),
    ("repair.mended", "repair", False),
]
OPENING = [
    ("migration.before", False),
    ("migration.tables", False),
    ("migration.changed", False),
    ("migration.after", True),
]

every_point = pytest.mark.parametrize(("point", "name", "done"), AT, ids=[f"{point}, {name}" for point, name, _ in AT])
every_point_of_opening = pytest.mark.parametrize(("point", "done"), OPENING)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("begun") / "begun.db"
    begin(path)
    return path


@pytest.fixture
def path(tmp_path: Path, begun: Path) -> Path:
    copied = tmp_path / "agent.db"
    shutil.copy(begun, copied)
    return copied


@pytest.fixture(autouse=True)
def _nothing_stays_set() -> Iterator[None]:
    yield
    faults.clear()


def died(process: Process) -> bool:
    try:
        while True:
            process.hear()
    except (EOFError, ConnectionResetError):
        process._process.join()
    return process._process.exitcode == DIED


def check(store: Store, name: str, *, done: bool) -> None:
    """The store is sound, holds what was acknowledged, and did what it should have, or not."""
    scenario = SCENARIOS[name]
    assert scenario.done(store) is done
    if name == "repair" and not done:
        scenario.do(store)
    report = store.verify()
    assert report.ok, report.problems
    ids = ["first", "second", "acknowledged"] + ["new"] * (name == "append" and done)
    talk = store.log("talk")
    assert [message.entry_id for message in talk.all()] == ids
    assert [message.text for message in talk.raw.all()][:1] == ["first"]
    assert talk.add("user", "further") == len(ids) + 1


def erased_from(path: Path) -> list[str]:
    """The store's files in which the secret is still found."""
    return [each.name for each in path.parent.glob("agent.db*") if SECRET.encode() in each.read_bytes()]


@every_point
def test_a_process_that_dies_at_a_point_leaves_all_or_nothing(path: Path, point: str, name: str, *, done: bool) -> None:
    SCENARIOS[name].prepare(path)
    with Process(die_at, str(path), point, name) as process:
        assert died(process), "it came by"
    with msglog.sync.open(path) as store:
        check(store, name, done=done)
        # What was erased and is not gone yet goes with the next checkpoint, once the other secret is erased too.
        store.log("talk").redact("second")
        if "doomed" in [info.name for info in store.logs()]:
            store.purge("doomed")
        assert store.doctor().content is not None
    for copy in path.parent.glob("agent.db.*"):  # backups, of before
        copy.unlink()
    assert erased_from(path) == []


@every_point
def test_a_fault_that_raises_at_a_point_leaves_all_or_nothing_and_the_store_goes_on(
    path: Path, point: str, name: str, *, done: bool
) -> None:
    scenario = SCENARIOS[name]
    scenario.prepare(path)
    with msglog.sync.open(path) as store:
        store.log("talk").add("user", "acknowledged", id="acknowledged")
        acknowledged = True
        with faults.at(point, counted(scenario.passes, raising)):
            try:
                scenario.do(store)
            except (RuntimeError, MsgLogError):
                acknowledged = False
        assert scenario.done(store) or not acknowledged
        check(store, name, done=done)


@every_point_of_opening
def test_a_process_that_dies_while_a_store_is_made_leaves_one_that_can_be_opened(
    tmp_path: Path, point: str, *, done: bool
) -> None:
    path = tmp_path / "new.db"
    with Process(die_opening, str(path), point) as process:
        assert died(process), "it came by"
    assert bool(path.stat().st_size) is done
    with msglog.sync.open(path) as store:
        assert store.log("talk").add("user", "hi") == 1
        assert store.verify().ok


@every_point_of_opening
def test_a_fault_that_raises_while_a_store_is_made_leaves_one_that_can_be_opened(
    tmp_path: Path, point: str, *, done: bool
) -> None:
    path = tmp_path / "new.db"
    with faults.at(point, raising), pytest.raises(RuntimeError):
        msglog.sync.open(path)
    assert bool(path.stat().st_size) is done
    with msglog.sync.open(path) as store:
        assert store.log("talk").add("user", "hi") == 1
        assert store.verify().ok


def test_nobody_sees_what_waits_before_its_commit(path: Path) -> None:
    arrived, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        arrived.set()
        assert go_on.wait(30)

    with msglog.sync.open(path) as store, faults.at("commit.before", wait):
        thread = threading.Thread(target=lambda: store.log("talk").add("user", "late", id="late"))
        thread.start()
        assert arrived.wait(30)
        assert store.log("talk").find("late") is None
        go_on.set()
        thread.join()
        assert store.log("talk").find("late") is not None


async def test_a_fault_after_a_commit_tells_nobody_that_it_failed_and_runs_nothing_again(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log("talk")
        with faults.at("commit.after", raising):
            seqs = await asyncio.gather(*(log.add("user", f"{i}") for i in range(20)))
        assert seqs == list(range(3, 23))
        assert await log.count() == 22
        assert (await store.verify()).ok


# The list itself


def test_every_point_is_reached_by_a_test() -> None:
    assert {point for point, *_ in [*AT, *OPENING]} == faults.POINTS.keys()


@pytest.mark.parametrize("name", faults.POINTS)
def test_a_point_is_a_function_of_ours_and_costs_nothing_while_it_is_not_set(name: str) -> None:
    point = faults.POINTS[name]
    module, _, inner = point.owner.partition(":")
    holder = importlib.import_module(module)
    holder = getattr(holder, inner) if inner else holder
    original = getattr(holder, point.function)
    assert not hasattr(original, "__wrapped__")
    with faults.at(name, raising):
        assert getattr(holder, point.function) is not original
    assert getattr(holder, point.function) is original


def test_two_points_around_one_function_are_set_and_cleared_apart(path: Path) -> None:
    passed: list[str] = []
    with msglog.sync.open(path) as store:
        faults.set("checkpoint.before", lambda: passed.append("before"))
        faults.set("checkpoint.after", lambda: passed.append("after"))
        store.compact()
        faults.clear("checkpoint.before")
        faults.clear("checkpoint.before")
        store.compact()
        faults.clear()
        store.compact()
    assert passed == ["before", "after", "after"]


def test_an_unknown_point_and_an_action_that_is_none_are_refused() -> None:
    with pytest.raises(KeyError):
        faults.set("commit.sometime", raising)
    with pytest.raises(TypeError, match="an action must be a function"):
        faults.set("commit.before", "exit")  # type: ignore[arg-type]
