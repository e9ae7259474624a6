"""`RemoteStore`: a store on a server."""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any, ClassVar, NoReturn, cast
from urllib.parse import urlsplit

import httpx

from msglog.checks import checked_count, checked_name
from msglog.errors import CannotOpenError, OnlyLocalError, SqlError
from msglog.log import MessageLog
from msglog.options import Options
from msglog.raw import MISSING, PAGE, Missing
from msglog.remote.afar import Afar
from msglog.remote.log import SERVER_PAGE, RemoteLog
from msglog.remote.server import Server
from msglog.remote.transport import BlockingTransport, TaskTransport
from msglog.search import Hit
from msglog.storage import catalog
from msglog.storage.access import Access, finish
from msglog.storage.catalog import LogInfo, LogOrder
from msglog.storage.report import Report
from msglog.storage.requests import PurgeReceipt
from msglog.storage.search import checked_search
from msglog.store import LoggedMessage, Store, StoreStats
from msglog.wire.cells import cell_json, cell_of
from msglog.wire.text import loads, segment
from msglog.wire.values import value_of


class RemoteStore(Store):
    """A store on a server: a `Store`, and used as one. Made by `msglog.open("http://…")`."""

    _log_class: ClassVar[type[MessageLog]] = RemoteLog

    def __init__(self, server: Server, options: Options) -> None:
        self.server = server
        self._access = cast("Access", Afar(server))  # all of one that there can be without a file
        self._options = options
        self._closed = False

    @property
    def path(self) -> str:
        """The URL of the server."""
        return self.server.url

    async def logs(
        self, *, prefix: str = "", tag: str | None = None, order: LogOrder = "activity", sizes: bool = False
    ) -> list[LogInfo]:
        """The logs that the token may read. See `Store.logs`."""
        catalog.check_listing(prefix, order)
        query = {"prefix": prefix or None, "tag": tag, "order": order, "sizes": sizes}
        found: list[LogInfo] = []
        cursor: str | None = None
        while True:
            page = await self.server.get("/logs", cursor=cursor, limit=SERVER_PAGE, **query)
            found += [value_of(LogInfo, info) for info in page["logs"]]
            cursor = page["next"]
            if cursor is None:
                return found

    async def describe(
        self,
        name: str,
        *,
        title: str | Missing | None = MISSING,
        tags: Iterable[str] | Missing | None = MISSING,
        meta: Mapping[str, Any] | Missing | None = MISSING,
        sizes: bool = False,
    ) -> LogInfo:
        """What there is to say of a log, changed first where something is given. See `Store.describe`."""
        path = f"/logs/{segment(checked_name(name, 'the name of a log'))}"
        given = {"title": title, "tags": tags, "meta": meta}
        changes = catalog.checked_changes({k: v for k, v in given.items() if not isinstance(v, Missing)})
        if changes:
            await self.server.change("PATCH", path, changes)
        info: LogInfo = value_of(LogInfo, await self.server.get(path, sizes=sizes))
        return info

    async def stats(self) -> StoreStats:
        """Sizes and counts of the whole store."""
        stats: StoreStats = value_of(StoreStats, await self.server.get("/stats"))
        return stats

    async def verify(self, log: str | None = None) -> Report:
        """Walk every hash and recompute every view, on the server. See `Store.verify`."""
        if log is not None:
            checked_name(log, "the name of a log")
        report: Report = value_of(Report, await self.server.ask("/verify", {}, log=log))
        return report

    async def search(
        self,
        words: str,
        *,
        log: str | None = None,
        prefix: str = "",
        role: str | None = None,
        since: datetime | None = None,
        limit: int = 20,
    ) -> list[Hit]:
        """The newest messages that hold all words, of one log or of all. See `Store.search`."""
        checked_search(words, log, None, role, since, limit)
        at = None if since is None else since.isoformat()
        body = {"words": words, "log": log, "prefix": prefix, "role": role, "since": at, "limit": limit}
        return [value_of(Hit, hit) for hit in (await self.server.ask("/search", body))["hits"]]

    async def backup(self, path: str | os.PathLike[str]) -> NoReturn:  # noqa: ARG002
        """Not from afar: `OnlyLocalError`."""
        raise OnlyLocalError(self.path, "backup")

    async def doctor(self) -> NoReturn:
        """Not from afar: `OnlyLocalError`."""
        raise OnlyLocalError(self.path, "doctor")

    async def repair(self, *, dry_run: bool = True) -> NoReturn:  # noqa: ARG002
        """Not from afar: `OnlyLocalError`."""
        raise OnlyLocalError(self.path, "repair")

    async def compact(self) -> NoReturn:
        """Not from afar: `OnlyLocalError`."""
        raise OnlyLocalError(self.path, "compact")

    async def purge(self, name: str) -> PurgeReceipt:
        """Take a whole log away for good. See `Store.purge`."""
        path = f"/logs/{segment(checked_name(name, 'the name of a log'))}"
        receipt: PurgeReceipt = value_of(PurgeReceipt, await self.server.change("DELETE", path, again=False))
        return receipt

    async def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """The rows of one read-only SQL statement. See `Store.sql`."""
        if not isinstance(query, str):
            raise SqlError(self.path, f"it must be a str, not {type(query).__name__}")
        if isinstance(parameters, str) or not isinstance(parameters, (Sequence, Mapping)):
            raise SqlError(self.path, "parameters must be a sequence, or a mapping by name")
        given: Any
        if isinstance(parameters, Mapping):
            given = {name: cell_json(value) for name, value in parameters.items()}
        else:
            given = [cell_json(value) for value in parameters]
        found = await self.server.ask("/sql", {"query": query, "parameters": given})
        return [{name: cell_of(value) for name, value in row.items()} for row in found["rows"]]

    async def read(self, after: int = 0, limit: int = PAGE) -> list[LoggedMessage]:
        """At most `limit` messages of any log after a number `n`, in commit order."""
        checked_count(after, "after")
        checked_count(limit, "limit")
        found: list[LoggedMessage] = []
        while len(found) < limit:
            size = min(SERVER_PAGE, limit - len(found))
            page = await self.server.get("/messages", after=min(after, 2**63 - 1), limit=size)
            found += [value_of(LoggedMessage, logged) for logged in page["messages"]]
            after = page["next"]
            if len(page["messages"]) < size:
                break
        return found

    async def follow(self, after: int = 0) -> AsyncIterator[LoggedMessage]:
        """Every message of every log after a number `n`, once, in commit order."""
        checked_count(after, "after")
        events = cast("AsyncGenerator[Any, Any]", self.server.follow("/follow", after))
        async with aclosing(events):
            event = await anext(events)
            while True:
                if event.kind == "message":
                    logged: LoggedMessage = value_of(LoggedMessage, loads(event.data))
                    after = logged.n
                    yield logged
                event = await events.asend(after)

    async def close(self) -> None:
        """Let go of the connections. Closing again does nothing."""
        if not self._closed:
            self._closed = True
            await self.server.close()

    def __del__(self) -> None:
        if not self._closed:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)


def opened(url: str, options: Options, token: str | None, *, blocking: bool) -> RemoteStore:
    """Reach a server and make its store. Blocks. `UnreachableError` where it does not answer."""
    address = url.rstrip("/")
    try:
        is_address = httpx.URL(address).host != "" and urlsplit(address).port != 0
    except (httpx.InvalidURL, ValueError):
        is_address = False
    if not is_address:
        raise CannotOpenError(url, "it is no URL of a server")
    how = {"patience": options.busy_timeout, "read_only": options.read_only}
    asking = Server(address, token, BlockingTransport(address), **how)  # type: ignore[arg-type]
    try:
        finish(asking.get("/store"))
    except BaseException:
        finish(asking.close())
        raise
    if blocking:
        return RemoteStore(asking, options)
    finish(asking.close())
    return RemoteStore(Server(address, token, TaskTransport(address), **how), options)  # type: ignore[arg-type]
