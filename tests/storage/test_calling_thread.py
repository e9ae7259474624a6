"""A blocking call that finds nobody waiting is carried out on its own thread, where an interrupt may hit it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Literal

import pytest

import msglog.sync
from msglog.errors import ReentrantCallError
from msglog.storage import upkeep
from tests.faults.drivers import GateDriver, SpyDriver


class InterruptingDriver(SpyDriver):
    """Interrupts the n-th statement (from 0) after it is armed, before or after it takes effect."""

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None
        self.when: Literal["before", "after"] = "before"

    def _strike(self, when: Literal["before", "after"]) -> None:
        if self.left is None or when != self.when:
            return
        self.left -= 1
        if self.left < 0:
            self.left = None
            raise KeyboardInterrupt

    def before(self, sql: str, rows: int) -> None:
        super().before(sql, rows)
        self._strike("before")

    def after(self, sql: str) -> None:
        self._strike("after")


def writers() -> int:
    return sum(thread.name == "msglog-writer" for thread in threading.enumerate())


def test_blocking_calls_one_after_another_need_no_thread(path: Path) -> None:
    before = writers()
    with msglog.sync.open(path) as store:
        log = store.log()
        for i in range(20):
            log.add("user", f"text {i}")
        log.edit({"op": "remove", "id": log.history().refs()[0].id})
        assert writers() == before
        assert log.count() == 20


def test_what_comes_meanwhile_is_committed_together_afterwards(path: Path) -> None:
    gate = GateDriver()
    with msglog.sync.open(path, driver=gate) as store:
        log = store.log()
        log.add("user", "first")
        gate.shut("COMMIT")
        threads = [threading.Thread(target=log.add, args=("user", f"text {i}")) for i in range(9)]
        threads[0].start()
        gate.arrived_blocking()
        gate.forget()
        for thread in threads[1:]:
            thread.start()
        while len(store._inner._access.file.writer._queue) < 8:  # type: ignore[attr-defined]
            os.sched_yield()
        gate.let_through()
        for thread in threads:
            thread.join()
        assert gate.count("BEGIN") == 1
        assert log.count() == 10
        assert store.verify().ok


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_at_any_statement_leaves_all_of_a_batch_or_nothing(
    path: Path, when: Literal["before", "after"]
) -> None:
    driver = InterruptingDriver()
    driver.when = when
    with msglog.sync.open(path, driver=driver) as store:
        log = store.log()
        log.add("user", "first")
        statement, interrupted = 0, True
        while interrupted:
            known = log.count()
            batch = [{"id": f"{statement}-{i}", "message": {"role": "user", "content": "text"}} for i in range(3)]
            driver.left = statement
            try:
                log.append_many(batch)
                interrupted = driver.left is None
            except KeyboardInterrupt:
                pass
            driver.left = None
            assert log.count() in (known, known + 3)
            assert log.append_many(batch) == log.count() == known + 3  # sent again, it is there once
            statement += 1
        assert statement > 6
        assert store.verify().ok
        assert [message.seq for message in log.all()] == list(range(1, log.count() + 1))


@contextmanager
def handled(action: object) -> Iterator[None]:
    def handler(_number: int, _frame: FrameType | None) -> None:
        assert callable(action)
        action()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_signal_handler_that_writes_in_the_middle_of_a_write_is_refused_and_harms_nothing(path: Path) -> None:
    class Signalling(SpyDriver):
        armed = False

        def before(self, sql: str, rows: int) -> None:
            super().before(sql, rows)
            if self.armed and sql == "COMMIT":
                self.armed = False
                os.kill(os.getpid(), signal.SIGUSR1)

    refused: list[Exception] = []
    driver = Signalling()
    with msglog.sync.open(path, driver=driver) as store:
        log = store.log()

        def write() -> None:
            try:
                log.add("user", "goodbye")
            except ReentrantCallError as error:
                refused.append(error)

        log.add("user", "first")
        with handled(write):
            driver.armed = True
            assert log.add("user", "second") == 2
        assert len(refused) == 1
        assert log.add("user", "third") == 3


def test_a_checkpoint_that_is_due_waits_for_no_pause_between_calls(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "WAL_PAGES", 50)
    driver = SpyDriver()
    with msglog.sync.open(path, driver=driver) as store:
        log = store.log()
        for i in range(200):  # each of them writes 6 pages or more
            log.add("user", f"text {i}")
        assert driver.count("PRAGMA wal_checkpoint") >= 200 * 6 // 50 - 5
