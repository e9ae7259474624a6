"""A process of `processes`: told by its argument, it says "ready", waits for a line, works, and says when."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import msglog
from msglog import MessageLog
from scripts.benchmarks.workload import MESSAGE


def say(what: Any) -> None:
    """Tell the parent."""
    print(json.dumps(what), flush=True)


async def write(log: MessageLog, told: dict[str, Any]) -> None:
    """Append, in several tasks at once."""

    async def caller() -> None:
        for _ in range(told["each"]):
            await log.append(MESSAGE)

    await asyncio.gather(*(caller() for _ in range(told["callers"])))


async def follow(log: MessageLog, told: dict[str, Any]) -> None:
    """Take in every message up to a seq."""
    expected = 1
    async for message in log.follow():
        if message.seq != expected:
            raise RuntimeError(f"seq {message.seq} came where {expected} was to come")
        expected += 1
        if message.seq == told["until"]:
            return


ROLES: dict[str, Callable[[MessageLog, dict[str, Any]], Coroutine[Any, Any, None]]] = {"write": write, "follow": follow}


async def main(told: dict[str, Any]) -> None:
    """Open the store, get ready, begin when told."""
    module = None if told["sqlite"] == "sqlite3" else importlib.import_module(told["sqlite"])
    async with msglog.open(told["path"], driver=module) as store:
        log = store.log("log")
        await log.last()
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        began = time.monotonic()
        await ROLES[told["role"]](log, told)
        say({"began": began, "ended": time.monotonic()})


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
