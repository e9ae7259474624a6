from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import msglog
import msglog.sync
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, hold, user

ROOT = Path(__file__).resolve().parents[2]
PROMPT = 8.0
"""Seconds after which a program that leaves has hung; what it handed over may take five."""

HANDS_OVER = """
import asyncio, sys, msglog
async def main():
    store = await msglog.open(sys.argv[1], busy_timeout=2)
    tasks = [asyncio.create_task(store.log("talk").append({"role": "user", "content": str(i)})) for i in range(100)]
    await asyncio.sleep(0)
    return store, tasks
asyncio.new_event_loop().run_until_complete(main())
"""

APPENDS = """
import sys, msglog.sync
log = msglog.sync.open(sys.argv[1]).log("talk")
while True:
    print(log.append({"role": "user", "content": "x"}), flush=True)
"""


def program(text: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", text, str(path)], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_what_was_handed_over_is_stored_though_nobody_waits_for_it(path: Path) -> None:
    with program(HANDS_OVER, path) as process:
        process.communicate(timeout=PROMPT)
    assert process.returncode == 0
    with msglog.sync.open(path) as store:
        assert [message.text for message in store.log(LOG).all()] == [str(i) for i in range(100)]


async def test_a_program_leaves_promptly_though_another_holds_the_file(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log(LOG).append(user("first"))
        with Process(hold, str(path), "BEGIN IMMEDIATE") as holder:
            assert holder.hear() == "held"
            with program(HANDS_OVER, path) as process:
                _, errors = await asyncio.to_thread(process.communicate, timeout=PROMPT)
            assert (process.returncode, "Traceback" in errors) == (0, False)
            holder.tell("let go")
            holder.result()
        assert [message.text for message in await store.log(LOG).all()] == ["first"]


def test_a_program_that_is_interrupted_leaves_promptly_and_keeps_what_was_acknowledged(path: Path) -> None:
    for number, code in ((signal.SIGINT, {1, 130, -signal.SIGINT}), (signal.SIGTERM, {-signal.SIGTERM})):
        with program(APPENDS, path) as process:
            assert process.stdout is not None
            acknowledged = [int(process.stdout.readline()) for _ in range(20)]
            process.send_signal(number)
            rest, _ = process.communicate(timeout=PROMPT)
        assert process.returncode in code
        acknowledged += [int(line) for line in rest.splitlines()]
        with msglog.sync.open(path) as store:
            stored = [message.seq for message in store.log(LOG).all()]
            assert set(acknowledged) <= set(stored)
            assert stored == list(range(1, len(stored) + 1))
            assert store.verify().ok


def test_an_open_that_is_cancelled_leaves_nothing_open(path: Path) -> None:
    async def cancelled() -> None:
        opening = asyncio.ensure_future(_opened(path))
        await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
        assert opening.cancelled()

    asyncio.run(cancelled())
    with msglog.sync.open(path) as store:
        assert store.log(LOG).append(user("hi")) == 1


async def _opened(path: Path) -> msglog.Store:
    return await msglog.open(path)
