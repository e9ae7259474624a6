"""What the routes of one service share, and how they get at it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from fastapi import Depends, Path, Query
from starlette.requests import Request

from msglog.checks import checked_name
from msglog.errors import RequestError
from msglog.log import MessageLog
from msglog.server.access import Caller, Door
from msglog.server.hub import Hub
from msglog.server.metrics import Metrics
from msglog.server.settings import Settings
from msglog.server.tokens import Right
from msglog.store import Store
from msglog.wire.text import name_of


@dataclass(slots=True)
class Service:
    """A store that is served."""

    store: Store
    settings: Settings
    door: Door
    hub: Hub
    metrics: Metrics
    streams: dict[str, int]


# Dependencies are coroutine functions, since FastAPI calls others on a thread of its pool.


async def service_of(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


async def caller_of(request: Request) -> Caller:
    """Who sent a request."""
    service: Service = request.app.state.service
    caller = service.door.caller(request)
    request.state.caller = caller
    return caller


async def log_name(log: Annotated[str, Path(description="The log's name, percent-encoded as one segment")]) -> str:
    """The name of the log in the path."""
    return checked_name(name_of(log, "the name of a log"), "the name of a log")


Here: TypeAlias = Annotated[Service, Depends(service_of)]
Asking: TypeAlias = Annotated[Caller, Depends(caller_of)]
LogName: TypeAlias = Annotated[str, Depends(log_name)]
Branch: TypeAlias = Annotated[str, Query(description="The branch", min_length=1)]
Count: TypeAlias = Annotated[int, Query(ge=0, le=2**63 - 1)]


async def lift_deadline(request: Request) -> None:
    """Let a request take as long as it takes: for what costs as much as the store is large."""
    deadline: asyncio.Timeout = request.state.deadline
    deadline.reschedule(None)


Unhurried = Depends(lift_deadline)


def _of(right: Right) -> Callable[..., Awaitable[MessageLog]]:
    async def log_on_branch(here: Here, caller: Asking, log: LogName, branch: Branch = "main") -> MessageLog:
        caller.check(right, log)
        return here.store.log(log, branch)

    return log_on_branch


def _whole(right: Right) -> Callable[..., Awaitable[MessageLog]]:
    async def whole_log(here: Here, caller: Asking, log: LogName) -> MessageLog:
        caller.check(right, log)
        return here.store.log(log)

    return whole_log


def _over_all(right: Right) -> Callable[..., Awaitable[Store]]:
    async def whole_store(here: Here, caller: Asking) -> Store:
        caller.check_store(right)
        return here.store

    return whole_store


Reading: TypeAlias = Annotated[MessageLog, Depends(_of("read"))]
"""A log on a branch, which the caller may read."""
Appending: TypeAlias = Annotated[MessageLog, Depends(_of("append"))]
Editing: TypeAlias = Annotated[MessageLog, Depends(_of("edit"))]

ReadingWhole: TypeAlias = Annotated[MessageLog, Depends(_whole("read"))]
"""A log, whichever branch, which the caller may read."""
EditingWhole: TypeAlias = Annotated[MessageLog, Depends(_whole("edit"))]
OwningWhole: TypeAlias = Annotated[MessageLog, Depends(_whole("admin"))]

StoreReading: TypeAlias = Annotated[Store, Depends(_over_all("read"))]
"""The store, all of which the caller may read."""
StoreOwning: TypeAlias = Annotated[Store, Depends(_over_all("admin"))]


async def page_size(here: Here, limit: Annotated[int, Query(ge=1, description="Items of the page")] = 200) -> int:
    """How many items a page is to have."""
    most = here.settings.limits.page
    if limit > most:
        raise RequestError("query.limit", f"a page has at most {most:,} items")
    return limit


PageSize: TypeAlias = Annotated[int, Depends(page_size)]
