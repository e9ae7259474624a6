"""A stream of server-sent events as an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from msglog.errors import LimitError
from msglog.server.access import LOCAL, Caller
from msglog.server.hub import Bell
from msglog.server.service import Service
from msglog.wire.text import EVENTS


@dataclass(frozen=True, slots=True)
class Step:
    """Something to send; the `last` one ends the stream."""

    chunk: bytes
    last: bool = False


class EventStream(Response):
    """Sends what it is given, at the client's pace, until the client leaves or the last step is sent."""

    media_type = EVENTS

    def __init__(self, here: Service, caller: Caller, log: str, steps: Callable[[Bell], AsyncIterator[Step]]) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})  # asks a proxy to pass on what comes as it comes
        del self.headers["content-length"]
        self._here = here
        self._caller = caller.id
        self._log = log
        self._steps = steps
        limits, open_now = here.settings.limits, here.streams
        if sum(open_now.values()) >= limits.streams:
            raise LimitError("open streams of the service", limits.streams, 5)
        if caller is not LOCAL and open_now.get(caller.id, 0) >= limits.streams_of_caller:
            raise LimitError("open streams of one token", limits.streams_of_caller, advice="close some")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 the protocol's
        """Send the stream."""
        open_now = self._here.streams
        open_now[self._caller] = open_now.get(self._caller, 0) + 1
        self._here.metrics.followers.inc()
        left: asyncio.Task[None] | None = None
        try:
            async with self._here.hub.watch(self._log) as bell:
                left = asyncio.create_task(_left(receive))
                left.add_done_callback(_stopping(asyncio.current_task()))
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                steps = cast("AsyncGenerator[Step, None]", self._steps(bell))
                async with aclosing(steps):
                    async for step in steps:
                        await send({"type": "http.response.body", "body": step.chunk, "more_body": True})
                        if step.last:
                            break
                await send({"type": "http.response.body", "body": b""})
        except asyncio.CancelledError:
            if left is None or not left.done():
                raise
        finally:
            if left is not None:
                left.cancel()
            self._here.metrics.followers.dec()
            open_now[self._caller] -= 1
            if not open_now[self._caller]:
                del open_now[self._caller]


async def _left(receive: Receive) -> None:
    """Return once the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _stopping(task: asyncio.Task[None] | None) -> Callable[[asyncio.Task[None]], None]:
    def stop(left: asyncio.Task[None]) -> None:
        if task is not None and not left.cancelled():
            task.cancel()

    return stop
