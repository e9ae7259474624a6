"""Fresh processes: what starting costs, what two of them do together, what a follower takes from a writer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scripts.benchmarks.measure import Figures, Group, Row, at_least, at_most
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import MESSAGE

ROOT = Path(__file__).resolve().parents[2]
STARTING = {
    "nothing": "pass",
    "import": "import msglog",
    "open": "import msglog.sync; msglog.sync.open({path!r}{driver}).close()",
    "open, async": (
        "import asyncio, msglog\n"
        "async def main():\n"
        "    async with msglog.open({path!r}{driver}): pass\n"
        "asyncio.run(main())"
    ),
}


def cpu(code: str) -> Figures:
    """Seconds of CPU that a fresh interpreter takes to run some code: its own, in user and system mode."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code], environment)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"a fresh process failed: {code}")
    return {"seconds": usage.ru_utime + usage.ru_stime}


def starting(setting: Setting, what: str, path: str) -> Figures:
    """CPU of a fresh process that imports msglog and opens a store."""
    driver = "" if setting.driver is None else f", driver=__import__({setting.module.__name__!r}, fromlist=['connect'])"
    return cpu(STARTING[what].format(path=path, driver=driver))


class Worker:
    """A process that writes to a store, or follows it. It comes up, gets ready, and begins when it is told."""

    def __init__(self, setting: Setting, path: str, role: str, **options: int) -> None:
        told = {"path": path, "role": role, "sqlite": setting.module.__name__, **options}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "scripts.benchmarks.worker", json.dumps(told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def await_ready(self) -> None:
        """Wait until it has opened the store."""
        if self._said() != "ready":
            raise RuntimeError("a process did not come up")

    def _said(self) -> Any:
        assert self._process.stdout is not None  # noqa: S101 it is a pipe
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def begin(self) -> None:
        """Let it go."""
        assert self._process.stdin is not None  # noqa: S101 it is a pipe
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def result(self) -> dict[str, float]:
        """What it says when it is done: when it began and ended, on the system's monotonic clock."""
        said: dict[str, float] | None = self._said()
        if said is None:
            raise RuntimeError("a process ended without a word")
        return said

    def end(self) -> None:
        """Have it end, and wait for that."""
        with suppress(BrokenPipeError):
            self._process.communicate()


@contextmanager
def working(workers: Sequence[Worker]) -> Iterator[Sequence[Worker]]:
    """Workers that end with the block."""
    try:
        yield workers
    finally:
        for worker in workers:
            worker.end()


def writing(setting: Setting, writers: int, callers: int, followers: int = 0) -> Figures:
    """Processes that append to one log together, each with so many tasks at once."""
    path = setting.path()
    with setting.store(path) as store:
        store.log("log").append(MESSAGE)
    each = setting.sizes.appends if callers == 1 else setting.sizes.each
    made = [Worker(setting, path, "write", callers=callers, each=each) for _ in range(writers)]
    follow = [Worker(setting, path, "follow", until=1 + writers * callers * each) for _ in range(followers)]
    with working([*made, *follow]):
        for worker in (*follow, *made):
            worker.await_ready()
        for worker in (*follow, *made):
            worker.begin()
        done = [worker.result() for worker in made]
        for worker in follow:
            worker.result()  # it has seen every message
    wall = max(one["ended"] for one in done) - min(one["began"] for one in done)
    count = writers * callers * each
    return {"seconds": wall / count, "rate": count / wall}


def groups(setting: Setting) -> Iterator[Group]:
    """Points 5, where it is about starting, and 10."""
    existing = setting.filled
    yield Group(
        {
            "a bare interpreter": lambda: cpu(STARTING["nothing"]),
            "import msglog": lambda: cpu(STARTING["import"]),
            "open a current file": lambda: starting(setting, "open", existing(1000)),
            "open a current file, async": lambda: starting(setting, "open, async", existing(1000)),
            "open a new file": lambda: starting(setting, "open", setting.path()),
        },
        [
            Row(5, "a bare interpreter, seconds of CPU", "a bare interpreter"),
            Row(5, "import msglog, seconds of CPU", "import msglog"),
            Row(5, "import and open a current file, seconds of CPU", "open a current file", bound=at_most(0.35)),
            Row(
                5,
                "import and open a current file for tasks, seconds of CPU",
                "open a current file, async",
                bound=at_most(0.35),
            ),
            Row(5, "import and open a new file, seconds of CPU", "open a new file", bound=at_most(0.7)),
        ],
    )
    callers = setting.sizes.callers
    yield Group(
        {
            "one process": lambda: writing(setting, 1, 1),
            "two processes": lambda: writing(setting, 2, 1),
            f"one process of {callers}": lambda: writing(setting, 1, callers),
            f"two processes of {callers}": lambda: writing(setting, 2, callers),
            "one process, followed": lambda: writing(setting, 1, 1, followers=1),
            f"one process of {callers}, followed": lambda: writing(setting, 1, callers, followers=1),
        },
        [
            Row(
                10,
                "two processes of one caller / one, appends a second",
                "two processes",
                "one process",
                "rate",
                at_least(1),
            ),
            Row(
                10,
                f"two processes of {callers} callers / one, appends a second",
                f"two processes of {callers}",
                f"one process of {callers}",
                "rate",
                at_least(1),
            ),
            Row(
                10,
                "one caller, followed by another process / not followed",
                "one process, followed",
                "one process",
                bound=at_most(1.1),
            ),
            Row(
                10,
                f"{callers} callers, followed by another process / not followed",
                f"one process of {callers}, followed",
                f"one process of {callers}",
                bound=at_most(1.1),
            ),
        ],
    )
