"""Following over HTTP: every message once, in order, whatever happens to the stream or to the service."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import msglog
from msglog import MessageLog, Store, StoredMessage
from msglog.server.app import create_app
from msglog.server.settings import Limits, Settings
from msglog.wire.text import loads
from tests.server import load
from tests.server.serving import client, free_port, served
from tests.strategies import user

FOLLOW = "/v1/logs/talk/follow"


async def events(response: httpx.Response) -> AsyncIterator[dict[str, str]]:
    """The events of a stream, comments as events of their own."""
    rest = ""
    async for text in response.aiter_text():
        *whole, rest = (rest + text).split("\n\n")
        for event in whole:
            yield dict(line.split(": ", 1) for line in event.split("\n"))


async def first(http: httpx.AsyncClient, count: int, path: str = FOLLOW, **options: Any) -> list[int]:
    """The ids of the first events with one."""
    seen: list[int] = []
    async with http.stream("GET", path, **options) as response, aclosing(events(response)) as stream:  # type: ignore[type-var]
        async for event in stream:
            seen += [int(event["id"])] if "id" in event else []
            if len(seen) == count:
                break
    return seen


async def test_what_is_stored_and_what_comes_is_one_stream(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.append_many([user("a"), user("b")])
    async with http.stream("GET", FOLLOW) as response, aclosing(events(response)) as stream:  # type: ignore[type-var]
        assert response.headers["content-type"].startswith("text/event-stream")
        assert await anext(stream) == {"retry": "1000"}
        assert [(await anext(stream))["id"] for _ in range(2)] == ["1", "2"]
        await log.add("user", "c")
        event = await anext(stream)
        assert (event["id"], event["event"], loads(event["data"].encode())["message"]) == ("3", "message", user("c"))


async def test_a_stream_resumes_after_the_last_event_that_was_seen(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.append_many([user(text) for text in "abcd"])
    assert await first(http, 2, headers={"Last-Event-ID": "2"}) == [3, 4]
    assert await first(http, 1, params={"after": 3}) == [4]
    assert await first(http, 1, params={"after": 1}, headers={"Last-Event-ID": "3"}) == [4]


async def test_followers_of_a_branch_and_of_the_whole_log_hear_their_part(
    http: httpx.AsyncClient, log: MessageLog
) -> None:
    await log.add("user", "a")
    side = await log.fork("side")
    main = asyncio.create_task(first(http, 2))
    branch = asyncio.create_task(first(http, 2, params={"branch": "side"}))
    whole = asyncio.create_task(first(http, 3, params={"whole": True}))
    await side.add("user", "b")
    await log.add("user", "c")
    assert (await main, await branch, await whole) == ([1, 3], [1, 2], [1, 2, 3])


async def test_the_whole_store_is_followed_in_commit_order(http: httpx.AsyncClient, store: Store) -> None:
    stream = asyncio.create_task(first(http, 3, "/v1/follow"))
    for name in ("one", "two", "one"):
        await store.log(name).add("user", name)
    assert await stream == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "status", "error"),
    [
        ({"params": {"after": 9}}, 409, "PositionError"),
        ({"headers": {"Last-Event-ID": "9"}}, 409, "PositionError"),
        ({"headers": {"Last-Event-ID": "x"}}, 400, "RequestError"),
        ({"params": {"after": -1}}, 400, "RequestError"),
        ({"params": {"branch": "none"}}, 404, "UnknownBranchError"),
    ],
)
async def test_what_cannot_be_followed_is_refused(
    http: httpx.AsyncClient, log: MessageLog, options: Any, status: int, error: str
) -> None:
    await log.add("user", "a")
    response = await http.get(FOLLOW, **options)
    assert (response.status_code, response.json()["error"]) == (status, error)


async def test_a_quiet_stream_says_that_it_is_alive(store: Store) -> None:
    settings = Settings(limits=Limits(heartbeat=0.01))
    async with (
        served(create_app(store, settings=settings)) as url,
        client(url) as http,
        http.stream("GET", FOLLOW) as response,
    ):
        pieces = response.aiter_text()
        heard = ""
        while heard.count(": alive") < 2:
            heard += await anext(pieces)


async def test_a_quiet_stream_reads_nothing(store: Store, log: MessageLog, monkeypatch: pytest.MonkeyPatch) -> None:
    await log.add("user", "a")
    reads: list[int] = []
    read = MessageLog.read

    async def counted(self: MessageLog, after: int = 0, limit: int = 100) -> list[StoredMessage]:
        reads.append(after)
        return await read(self, after, limit)

    monkeypatch.setattr(MessageLog, "read", counted)
    settings = Settings(limits=Limits(heartbeat=0.01))
    async with (
        served(create_app(store, settings=settings)) as url,
        client(url) as http,
        http.stream("GET", FOLLOW) as response,
        aclosing(events(response)) as stream,  # type: ignore[type-var]
    ):
        heard = [await anext(stream) for _ in range(6)]
    assert [heard[1]["id"], *heard[2:]] == ["1", *[{"": "alive"}] * 4]
    assert reads == [0]


async def test_a_follower_that_is_woken_never_shares_a_read_that_began_before(
    http: httpx.AsyncClient, log: MessageLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await log.add("user", "a")
    after = {"after": 1}
    async with http.stream("GET", FOLLOW, params=after) as woken, aclosing(events(woken)) as stream:  # type: ignore[type-var]
        await anext(stream)
        began, release = asyncio.Event(), asyncio.Event()
        read = MessageLog.read

        async def held_up(self: MessageLog, after: int = 0, limit: int = 100) -> list[StoredMessage]:
            found = await read(self, after, limit)
            if not began.is_set():
                began.set()
                await release.wait()
            return found

        monkeypatch.setattr(MessageLog, "read", held_up)
        async with http.stream("GET", FOLLOW, params=after) as late, aclosing(events(late)) as other:  # type: ignore[type-var]
            await began.wait()
            await log.add("user", "b")
            assert (await anext(stream))["id"] == "2"
            release.set()
            assert [(await anext(other)).get("id") for _ in range(2)] == [None, "2"]


async def test_a_follower_is_told_that_its_log_was_purged(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.add("user", "a")
    async with http.stream("GET", FOLLOW) as response, aclosing(events(response)) as stream:  # type: ignore[type-var]
        await anext(stream)
        await anext(stream)
        assert (await http.delete("/v1/logs/talk")).status_code == 200
        assert (await anext(stream))["event"] == "gone"


async def test_a_follower_never_goes_over_to_another_log_of_the_same_name(
    http: httpx.AsyncClient, log: MessageLog, store: Store
) -> None:
    await log.add("user", "a")
    async with http.stream("GET", FOLLOW) as response, aclosing(events(response)) as stream:  # type: ignore[type-var]
        await anext(stream)
        assert (await anext(stream))["id"] == "1"
        await store.purge("talk")  # past the service, as another process would
        await log.append_many([user("b"), user("c")])
        assert (await anext(stream))["event"] == "gone"


async def test_a_slow_follower_slows_nobody(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.append_many([user("x" * 100_000) for _ in range(100)])
    async with http.stream("GET", FOLLOW) as slow:
        assert slow.status_code == 200  # and nothing more is read of it
        assert await first(http, 100) == list(range(1, 101))
        await log.add("user", "more")
        assert await first(http, 1, params={"after": 100}) == [101]


async def test_open_streams_are_limited_and_counted(store: Store) -> None:
    settings = Settings(limits=Limits(streams=1))
    app = create_app(store, settings=settings)
    async with served(app) as url, client(url) as http:
        async with http.stream("GET", FOLLOW) as response:
            assert response.status_code == 200
            refused = await http.get(FOLLOW)
            assert (refused.status_code, refused.json()["error"]) == (429, "LimitError")
            assert "retry-after" in refused.headers
        while app.service.streams:  # noqa: ASYNC110 the server hears of it in its own time
            await asyncio.sleep(0.001)
        assert await store.log("talk").add("user", "a") == 1
        assert await first(http, 1) == [1]


# Restarts


@asynccontextmanager
async def process(path: Path, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """A service in a process of its own, which answers; killed at the end."""
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "msglog.server", str(path), "--port", str(port),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with client(f"http://127.0.0.1:{port}") as http:
            while True:
                try:
                    await http.get("/healthz")
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.02)
        yield started
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGKILL], ids=lambda each: each.name)
async def test_appenders_and_followers_go_on_over_restarts_and_nothing_is_lost_or_repeated(
    path: Path, signal_: signal.Signals
) -> None:
    port, total = free_port(), 60
    heard: list[tuple[int, str]] = []

    async def append(store: Store) -> list[int]:
        log = store.log("talk")
        return [await log.add("user", str(number), id=f"n{number}") for number in range(total)]

    async def follow(store: Store) -> None:
        async for message in store.log("talk").follow():
            heard.append((message.seq, message.text))
            if len(heard) == total:
                return

    async with process(path, port) as service:
        store = await msglog.open(f"http://127.0.0.1:{port}", busy_timeout=60)
        work = asyncio.gather(append(store), follow(store))
        while len(heard) < 10:  # noqa: ASYNC110 the follower tells how far it is
            await asyncio.sleep(0.001)
        os.kill(service.pid, signal_)
        await service.wait()
        if signal_ == signal.SIGTERM:
            assert service.returncode == 0
    async with process(path, port):
        seqs, _ = await work
        await store.close()
    assert seqs == list(range(1, total + 1))
    assert heard == [(number + 1, str(number)) for number in range(total)]


async def test_many_appenders_and_followers_lose_repeat_and_reorder_nothing(store: Store) -> None:
    settings = Settings(limits=Limits(rate=0))
    async with served(create_app(store, settings=settings)) as url:
        figures = await load.run(url, load.Load(appenders=12, followers=12, logs=3, seconds=60, messages=8))
    assert (figures.appended, figures.heard) == (96, 12 * 32)
