"""The service: appends and followers over HTTP, beside the embedded store and a handler written by hand."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msglog import MessageLog
from scripts.benchmarks.appending import many_callers, one_caller
from scripts.benchmarks.measure import Figures, Group, Row, latencies
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import MESSAGE

ROOT = Path(__file__).resolve().parents[2]
FOLLOWERS = 16
MSGLOG = ("-m", "msglog", "serve", "{path}", "--create", "--rate", "1000000", "--port", "{port}")
BY_HAND = ("-m", "scripts.benchmarks.plain_service", "{path}", "{port}")


class Client:
    """One connection that is kept, and as little else as can be: it is the service that is measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def append(self) -> None:
        """Post the message and wait for the answer."""
        body = json.dumps(MESSAGE).encode()
        head = f"POST /v1/logs/log/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        answer = await self._head()
        if b" 200 " not in answer.split(b"\r\n")[0] and b" 201 " not in answer.split(b"\r\n")[0]:
            raise RuntimeError(f"an append was answered {answer!r}")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await self._reader.readexactly(int(length.split(b":")[1]))

    async def follow(self, count: int) -> None:
        """Take in so many messages."""
        self._writer.write(b"GET /v1/logs/log/follow?after=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await self._head()
        while count:
            count -= (await self._reader.readline()).startswith(b"id:")

    async def _head(self) -> bytes:
        return await self._reader.readuntil(b"\r\n\r\n")

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


@asynccontextmanager
async def serving(setting: Setting, command: tuple[str, ...], clients: int) -> AsyncIterator[list[Client]]:
    """Connections to a service in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = [word.format(path=setting.path(), port=port) for word in command]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *told,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    made: list[Client] = []
    try:
        while len(made) < clients:
            with suppress(OSError):
                made.append(Client(*await asyncio.open_connection("127.0.0.1", port)))
                continue
            if process.returncode is not None:
                raise RuntimeError(f"a service did not come up: {told}")
            await asyncio.sleep(0.02)
        yield made
    finally:
        for client in made:
            client.close()
        process.terminate()
        await process.wait()


def appends(setting: Setting, command: tuple[str, ...], callers: int) -> Figures:
    """So many clients at once, each with one append after another."""
    each = setting.sizes.appends if callers == 1 else setting.sizes.each

    async def run() -> Figures:
        taken: list[float] = []

        async def caller(client: Client) -> None:
            for _ in range(each):
                before = time.perf_counter()
                await client.append()
                taken.append(time.perf_counter() - before)

        async with serving(setting, command, callers) as clients:
            await clients[0].append()
            started = time.perf_counter()
            await asyncio.gather(*map(caller, clients))
            wall = time.perf_counter() - started
            return latencies(taken, wall)

    return asyncio.run(run())


def followed(setting: Setting) -> Figures:
    """What all followers together took in a second, while one client appended."""
    count = setting.sizes.appends

    async def run() -> Figures:
        async with serving(setting, MSGLOG, FOLLOWERS + 1) as (writer, *clients):
            await writer.append()
            following = [asyncio.create_task(client.follow(count)) for client in clients]
            started = time.perf_counter()
            for _ in range(count):
                await writer.append()
            await asyncio.gather(*following)
            return {"rate": count * FOLLOWERS / (time.perf_counter() - started)}

    return asyncio.run(run())


def followed_here(setting: Setting) -> Figures:
    """The same, embedded: tasks of one process."""
    count = setting.sizes.appends

    async def follower(log: MessageLog) -> None:
        left = count
        async for _ in log.follow(after=1):
            left -= 1
            if not left:
                return

    async def run() -> Figures:
        async with setting.opening() as store:
            log = store.log("log")
            await log.append(MESSAGE)
            following = [asyncio.create_task(follower(log)) for _ in range(FOLLOWERS)]
            started = time.perf_counter()
            for _ in range(count):
                await log.append(MESSAGE)
            await asyncio.gather(*following)
            return {"rate": count * FOLLOWERS / (time.perf_counter() - started)}

    return asyncio.run(run())


def groups(setting: Setting) -> Iterator[Group]:
    """The rows about HTTP: point 13."""
    callers = setting.sizes.callers
    one, many = "one client over HTTP", f"{callers} clients over HTTP"
    yield Group(
        {
            one: lambda: appends(setting, MSGLOG, 1),
            f"{one}, by hand": lambda: appends(setting, BY_HAND, 1),
            "embedded, one": lambda: one_caller(setting, "full"),
            many: lambda: appends(setting, MSGLOG, callers),
            f"{many}, by hand": lambda: appends(setting, BY_HAND, callers),
            "embedded, many": lambda: many_callers(setting, "full", logs=1),
        },
        [
            Row(13, f"{one}, appends a second", one, figure="rate"),
            Row(13, f"{one} / a Starlette handler with sqlite3, appends a second", one, f"{one}, by hand", "rate"),
            Row(13, f"{one} / embedded, appends a second", one, "embedded, one", "rate"),
            Row(13, f"{many}, appends a second", many, figure="rate"),
            Row(13, f"{many}, p99 ms", many, figure="p99"),
            Row(13, f"{many} / a Starlette handler with sqlite3, appends a second", many, f"{many}, by hand", "rate"),
            Row(13, f"{many} / embedded, appends a second", many, "embedded, many", "rate"),
        ],
        rounds=3,
    )
    yield Group(
        {"followers over HTTP": lambda: followed(setting), "followers, embedded": lambda: followed_here(setting)},
        [
            Row(13, f"{FOLLOWERS} followers over HTTP, messages a second", "followers over HTTP", figure="rate"),
            Row(
                13,
                f"{FOLLOWERS} followers over HTTP / embedded, messages a second",
                "followers over HTTP",
                "followers, embedded",
                "rate",
            ),
        ],
        rounds=3,
    )
