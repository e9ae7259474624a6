"""Processes for tests: real ones, forked from a server that has done nothing but import msglog.

They are as fresh as spawned ones, in a tenth of the time. What they run gets a `Wire` to the test as its
first argument; nothing is ever waited for by sleeping.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

PATIENCE = 60.0
"""Seconds after which a process that says nothing has hung."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["msglog.sync", "alembic.command", "tests.concurrency.workers"])


@dataclass(frozen=True)
class _Result:
    value: Any = None
    error: BaseException | None = None


class Wire:
    """A process's end of the line to its test."""

    def __init__(self, line: Connection) -> None:
        self._line = line

    def say(self, value: Any) -> None:
        """Tell the test something."""
        self._line.send(value)

    def hear(self) -> Any:
        """What the test says next."""
        return self._line.recv()

    def asked(self) -> bool:
        """Whether the test has said something that was not heard yet."""
        return self._line.poll(0)


def _run(line: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    wire = Wire(line)
    wire.say("ready")
    wire.hear()
    try:
        result = _Result(work(wire, *arguments))
    except BaseException as error:  # noqa: BLE001 whatever it is, the test is to see it
        result = _Result(error=error)
    wire.say(result)


class Process:
    """A process that runs `work(wire, *arguments)` once it was let go. Used as a context, it never outlives it."""

    def __init__(self, work: Callable[..., Any], *arguments: Any) -> None:
        self._line, other = _context.Pipe()
        self._process = _context.Process(target=_run, args=(other, work, arguments), daemon=True)
        self._process.start()
        other.close()
        assert self.hear() == "ready"

    def __enter__(self) -> Self:
        self.go()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def is_dead(self) -> bool:
        """Whether it ended already."""
        return not self._process.is_alive()

    def go(self) -> None:
        """Let it begin."""
        self.tell("go")

    def tell(self, value: Any = None) -> None:
        """Say something to it."""
        self._line.send(value)

    def hear(self) -> Any:
        """What it says next; its error where it came to one."""
        if not self._line.poll(PATIENCE):
            raise TimeoutError("a process has hung")
        heard = self._line.recv()
        if isinstance(heard, _Result) and heard.error is not None:
            raise heard.error
        return heard

    def result(self) -> Any:
        """What it returned."""
        while not isinstance(heard := self.hear(), _Result):
            pass
        self._process.join(PATIENCE)
        return heard.value

    def kill(self) -> list[Any]:
        """End it at once with SIGKILL; what it said and was not heard yet."""
        if self._line.closed:
            return []
        self._process.kill()
        self._process.join()
        heard = []
        with suppress(EOFError, ConnectionResetError):
            while self._line.poll(0):
                heard.append(self._line.recv())
        self._line.close()
        return heard


def at_once(work: Callable[..., Any], each: Iterable[tuple[Any, ...]]) -> list[Any]:
    """What processes returned that were let go together, one for each tuple of arguments."""
    processes = [Process(work, *arguments) for arguments in each]
    try:
        for process in processes:
            process.go()
        return [process.result() for process in processes]
    finally:
        for process in processes:
            process.kill()
