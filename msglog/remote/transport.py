"""Two ways to send a request, as there are two to use a file: a task awaits the answer, a thread blocks on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx

T = TypeVar("T")

TIMEOUT = httpx.Timeout(60, connect=5)
"""Seconds of silence after which a request is given up: more than a server's deadline."""
QUIET = httpx.Timeout(75, connect=5)
"""The same for a stream, on which a server says at least every 25 s that it is alive."""
_POOL = httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whole."""

    status: int
    content: bytes


class Refused(Exception):  # noqa: N818 it carries an answer, and never reaches a caller
    """A stream was not begun: the answer says why."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class Transport(Protocol):
    """How requests are sent. All raise `httpx.TransportError`."""

    async def send(self, request: Outgoing) -> Reply:
        """Send a request and read the answer."""
        ...

    def stream(self, request: Outgoing) -> AsyncIterator[bytes]:
        """The pieces of an answer as they come; `Refused` where its status is not 200."""
        ...

    async def pause(self, seconds: float) -> None:
        """Wait."""
        ...

    async def run(self, work: Callable[[], T]) -> T:
        """Run something that blocks."""
        ...

    async def close(self) -> None:
        """Let go of all connections."""
        ...


def _options(url: str) -> dict[str, object]:
    # A proxy of the environment is none for this machine itself.
    local = urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}
    return {"timeout": TIMEOUT, "limits": _POOL, "trust_env": not local, "follow_redirects": False}


class TaskTransport:
    """For tasks, of any event loop: each loop has connections of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._context = httpx.create_ssl_context() if url.startswith("https") else False
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = httpx.AsyncClient(verify=self._context, **_options(self._url))  # type: ignore[arg-type]
        return client

    async def send(self, request: Outgoing) -> Reply:
        """Send a request and await the answer."""
        response = await self._client().request(
            request.method, request.url, headers=request.headers, content=request.content
        )
        return Reply(response.status_code, response.content)

    async def stream(self, request: Outgoing) -> AsyncIterator[bytes]:
        """The pieces of an answer."""
        client = self._client()
        async with client.stream(
            request.method, request.url, headers=request.headers, content=request.content, timeout=QUIET
        ) as response:
            if response.status_code != 200:
                raise Refused(Reply(response.status_code, await response.aread()))
            async for piece in response.aiter_raw():
                yield piece

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)

    async def run(self, work: Callable[[], T]) -> T:
        """Run it on a thread."""
        return await asyncio.to_thread(work)

    async def close(self) -> None:
        """Close the connections of this loop; those of others go with them."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


class BlockingTransport:
    """For threads."""

    def __init__(self, url: str) -> None:
        context = httpx.create_ssl_context() if url.startswith("https") else False
        self._client = httpx.Client(verify=context, **_options(url))  # type: ignore[arg-type]

    async def send(self, request: Outgoing) -> Reply:
        """Send a request and block until the answer is there."""
        response = self._client.request(request.method, request.url, headers=request.headers, content=request.content)
        return Reply(response.status_code, response.content)

    async def stream(self, request: Outgoing) -> AsyncIterator[bytes]:
        """The pieces of an answer."""
        with self._client.stream(
            request.method, request.url, headers=request.headers, content=request.content, timeout=QUIET
        ) as response:
            if response.status_code != 200:
                raise Refused(Reply(response.status_code, response.read()))
            for piece in response.iter_raw():
                yield piece

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)  # noqa: ASYNC251 nothing is awaited for real: see `finish`

    async def run(self, work: Callable[[], T]) -> T:
        """Run it here."""
        return work()

    async def close(self) -> None:
        """Close the connections."""
        self._client.close()
