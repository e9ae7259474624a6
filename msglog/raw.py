"""`RawLog`: a whole log as it is stored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, overload

from msglog.checks import checked_count
from msglog.message import StoredMessage
from msglog.search import Hit

if TYPE_CHECKING:
    from msglog.log import MessageLog

PAGE = 200
"""Messages that an iteration reads at once; no read holds a snapshot for longer."""


class Missing:
    """Tells `last()` from `last(None)`."""


MISSING = Missing()


class RawLog:
    """A log as it is stored: every entry of every branch, by seq. Read-only."""

    def __init__(self, log: MessageLog) -> None:
        self._log = log

    def __repr__(self) -> str:
        return f"<RawLog {self._log.name!r} in {self._log.store.path}>"

    async def all(self) -> list[StoredMessage]:
        """Every message."""
        return [message async for message in self.iterate()]

    async def iterate(self, page_size: int = PAGE) -> AsyncIterator[StoredMessage]:
        """Every message, page by page, up to the end as it is when the last page is read."""
        checked_count(page_size, "page_size", least=1)
        after = 0
        while page := await self.read(after, page_size):
            for message in page:
                yield message
            after = page[-1].seq

    @overload
    async def last(self) -> StoredMessage | None: ...
    @overload
    async def last(self, n: int) -> list[StoredMessage]: ...
    async def last(self, n: int | Missing = MISSING) -> list[StoredMessage] | StoredMessage | None:
        """The newest message, or None; with `n`, the newest `n`, oldest first."""
        wanted = 1 if isinstance(n, Missing) else checked_count(n, "n")
        newest = await self.read(max(0, await self.count() - wanted), wanted)
        if isinstance(n, Missing):
            return newest[0] if newest else None
        return newest

    async def count(self) -> int:
        """How many messages the log holds."""
        return await self._log.seq()

    async def get(self, key: int | str) -> StoredMessage:
        """The message of a seq or of an entry id."""
        return await self._log.get(key)

    async def read(self, after: int = 0, limit: int = PAGE) -> list[StoredMessage]:
        """At most `limit` messages after a seq, in order."""
        return await self._log._read_after(after, limit, None)  # noqa: SLF001 the two are one

    async def search(
        self, words: str, *, role: str | None = None, since: datetime | None = None, limit: int = 20
    ) -> list[Hit]:
        """The newest messages of the log, of any branch, that hold all words: `Store.search` in this log."""
        return await self._log.store.search(words, log=self._log.name, role=role, since=since, limit=limit)

    def follow(self, after: int = 0) -> AsyncIterator[StoredMessage]:
        """Every message after a seq, of any branch, once, in order: what is stored, then what comes."""
        return self._log._follow(after, None)  # noqa: SLF001 the two are one
