"""Many appenders and followers of one service at once: nothing lost, nothing repeated, nothing out of order.

`python -m tests.server.load --appenders 200 --followers 200 --seconds 60` is the long form of what the tests do.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msglog
from msglog import Store
from msglog.errors import UnreachableError
from tests.server.serving import free_port


@dataclass(frozen=True, slots=True)
class Load:
    """How much: appenders and followers share the logs; each appender goes on for so many seconds, or messages."""

    appenders: int
    followers: int
    logs: int
    seconds: float
    messages: int = 10**9


@dataclass(slots=True)
class Figures:
    """What came of it."""

    appended: int = 0
    heard: int = 0
    seconds: float = 0.0


async def run(url: str, load: Load) -> Figures:
    """Put a service under load, and check what every follower heard against what every appender was told."""
    figures = Figures()
    told: list[dict[int, str]] = [{} for _ in range(load.logs)]
    started = time.monotonic()
    async with msglog.open(url, busy_timeout=60) as store:
        ends = [asyncio.get_running_loop().create_future() for _ in range(load.logs)]
        followers = [asyncio.create_task(_follow(store, n % load.logs, ends)) for n in range(load.followers)]
        await asyncio.gather(*(_append(store, n, told[n % load.logs], load, started) for n in range(load.appenders)))
        figures.seconds = time.monotonic() - started
        for log, end in enumerate(ends):
            end.set_result(len(told[log]))
            await store.log(f"load-{log}").add("user", "end", id="end")
        heard = await asyncio.gather(*followers)
        for n, stream in enumerate(heard):
            expected = told[n % load.logs]
            assert [seq for seq, _ in stream] == list(range(1, len(expected) + 1)), (
                f"follower {n}: lost or out of order"
            )
            assert dict(stream) == expected, f"follower {n}: heard something else than was acknowledged"
        figures.appended, figures.heard = sum(map(len, told)), sum(map(len, heard))
    return figures


async def _append(store: Store, number: int, told: dict[int, str], load: Load, started: float) -> None:
    log = store.log(f"load-{number % load.logs}")
    count = 0
    while count < load.messages and time.monotonic() - started < load.seconds:
        entry_id = f"{number}-{count}"
        seq = await log.add("user", f"message {count} of {number}", id=entry_id)
        assert told.setdefault(seq, entry_id) == entry_id, f"seq {seq} was given twice"
        count += 1


async def _follow(store: Store, log: int, ends: list[asyncio.Future[int]]) -> list[tuple[int, str]]:
    heard: list[tuple[int, str]] = []
    async for message in store.log(f"load-{log}").follow():
        if message.entry_id == "end":
            break
        heard.append((message.seq, message.entry_id))
    assert len(heard) == ends[log].result()
    return heard


def main() -> None:
    """Serve a new store in a process of its own, and run the load that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--appenders", type=int, default=200)
    parser.add_argument("--followers", type=int, default=200)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port, path = free_port(), Path(folder) / "agent.db"
        command = [sys.executable, "-m", "msglog", "serve", str(path), "--create", "--port", str(port), "--rate", "0"]
        service = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            figures = asyncio.run(_once_it_answers(f"http://127.0.0.1:{port}", Load(**vars(asked))))
            spent = sum(os.times()[:2])
        finally:
            service.terminate()
            service.wait()
    print(
        f"{figures.appended:,} appended in {figures.seconds:.0f} s, {figures.appended / figures.seconds:,.0f} a second;"
        f" {figures.heard:,} heard, each once and in order; {spent:.0f} s of the clients' processor"
    )


async def _once_it_answers(url: str, load: Load) -> Figures:
    while True:
        try:
            async with msglog.open(url):
                pass
        except UnreachableError:
            continue
        return await run(url, load)


if __name__ == "__main__":
    main()
