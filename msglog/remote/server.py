"""A server as a client sees it: requests that are sent again where that is safe, and errors as the library's own."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

import httpx

from msglog.codec import freeze
from msglog.errors import LimitError, ReadOnlyError, RequestError, StoppingError, StoreClosedError, UnreachableError
from msglog.remote.transport import Outgoing, Refused, Reply, Transport
from msglog.wire.problems import error_of
from msglog.wire.text import EVENTS, EXACT, dumps, loads

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event."""

    kind: str
    data: bytes


class Server:
    """A server: its URL, a token, and how long to try to reach it."""

    def __init__(self, url: str, token: str | None, transport: Transport, *, patience: float, read_only: bool) -> None:
        self.url = url
        self.transport = transport
        self.read_only = read_only
        self.closed = False
        self._patience = patience
        self._headers = {"Accept": EXACT, "Content-Type": EXACT}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    async def get(self, path: str, **query: Any) -> Any:
        """The JSON of a resource."""
        return await self._call("GET", path, query, None, again=True)

    async def ask(self, path: str, body: Any, **query: Any) -> Any:
        """The answer to a question that takes a body and changes nothing."""
        return await self._call("POST", path, query, body, again=True)

    async def change(self, method: str, path: str, body: Any = None, *, again: bool = True, **query: Any) -> Any:
        """Change something. `again` says that it is safe to send it again when no answer came."""
        if self.read_only and not self.closed:
            raise ReadOnlyError(self.url)
        return await self._call(method, path, query, body, again=again)

    async def _call(self, method: str, path: str, query: Mapping[str, Any], body: Any, *, again: bool) -> Any:
        content = None if body is None else dumps(freeze(body), exact=True)
        request = Outgoing(method, self._address(path, query), self._headers, content)
        patience = _Patience(self._patience)
        while True:
            self.check()
            try:
                reply = await self.transport.send(request)
            except (httpx.TransportError, RuntimeError) as error:
                if self.closed:
                    raise StoreClosedError(self.url) from None
                if isinstance(error, RuntimeError):
                    raise
                unsent = isinstance(error, _UNSENT)
                pause = patience.pause() if unsent or again else None
                if pause is None:
                    raise UnreachableError(self.url, _words(error), uncertain=not unsent) from error
            else:
                refusal = self._refusal(reply)
                if refusal is None:
                    return loads(reply.content)
                pause = patience.pause(refusal) if isinstance(refusal, (StoppingError, LimitError)) else None
                if pause is None:
                    raise refusal
            await self.transport.pause(pause)

    async def events(self, path: str, **query: Any) -> AsyncIterator[Event]:
        """The events of one stream, until it ends or breaks."""
        headers = self._headers | {"Accept": f"{EVENTS}, {EXACT}"}
        request = Outgoing("GET", self._address(path, query), headers)
        pieces = self.transport.stream(request)
        rest = b""
        async with aclosing(cast("Any", pieces)):
            async for piece in pieces:
                *whole, rest = (rest + piece).split(b"\n\n")
                for text in whole:
                    fields = dict(line.partition(b": ")[::2] for line in text.split(b"\n"))
                    if b"event" in fields:
                        yield Event(fields[b"event"].decode(), fields.get(b"data", b""))

    async def follow(self, path: str, after: int, **query: Any) -> AsyncIterator[Event]:
        """The events of a stream after a position, taken up again wherever it broke.

        Whoever reads them moves on with `asend(position)`: the one that the stream is taken up after.
        """
        patience = _Patience(self._patience)
        while True:
            self.check()
            pause: float | None = FIRST_PAUSE
            try:
                async with aclosing(cast("Any", self.events(path, after=after, **query))) as events:
                    async for event in events:
                        patience = _Patience(self._patience)
                        if event.kind == "end":
                            break
                        sent = yield event
                        after = after if sent is None else sent
            except Refused as refused:
                refusal = self._refusal(refused.reply)
                pause = patience.pause(refusal) if isinstance(refusal, (StoppingError, LimitError)) else None
                if pause is None and refusal is not None:
                    raise refusal from None
            except (httpx.TransportError, httpx.StreamError) as error:
                if self.closed:
                    raise StoreClosedError(self.url) from None
                pause = patience.pause()
                if pause is None:
                    raise UnreachableError(self.url, _words(error)) from error
            await self.transport.pause(pause or FIRST_PAUSE)

    def _address(self, path: str, query: Mapping[str, Any]) -> str:
        given: dict[str, str] = {}
        for key, value in query.items():
            if value is not None and not isinstance(value, (str, int)):
                raise TypeError(f"{key} must be a str or an int, not {type(value).__name__}")
            if value is not None:
                given[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return f"{self.url}/v1{path}" + (f"?{urlencode(given, errors='surrogatepass')}" if given else "")

    def _refusal(self, reply: Reply) -> Exception | None:
        if 200 <= reply.status < 300:
            return None
        try:
            problem = loads(reply.content)
        except RequestError:
            problem = None
        error = error_of(problem, self.url) if isinstance(problem, Mapping) else None
        return error or UnreachableError(self.url, f"it answered {reply.status}, and not as msglog does")

    def check(self) -> None:
        """Raise where the store was closed."""
        if self.closed:
            raise StoreClosedError(self.url)

    async def close(self) -> None:
        """Let go of the connections. Whoever follows is told."""
        self.closed = True
        await self.transport.close()


class _Patience:
    """The pauses between tries, until the time is over."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._next = FIRST_PAUSE

    def pause(self, refusal: Exception | None = None) -> float | None:
        """Seconds until the next try; None where the time is over."""
        pause, self._next = self._next, min(self._next * 2, LONGEST_PAUSE)
        if isinstance(refusal, LimitError):
            if refusal.retry_after is None:
                return None
            pause = refusal.retry_after
        return pause if time.monotonic() + pause <= self._ends else None


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
