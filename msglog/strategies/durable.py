"""Keeping a strategy's history in a log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Set as AbstractSet

from msglog.errors import ConflictError
from msglog.history import MessageHistory
from msglog.log import MessageLog
from msglog.message import Entry, EntryInput
from msglog.strategies.protocol import HistoryAppendContext, HistoryReadContext, HistoryStrategy, HistoryView

_logger = logging.getLogger("msglog")


class DurableHistoryStrategy:
    """See `durable_history_strategy`."""

    def __init__(self, log: MessageLog, inner: HistoryStrategy) -> None:
        self._log = log
        self._inner = inner
        self._stored: MessageHistory | None = None  # the inner history, when log and strategy last agreed
        self._step = asyncio.Lock()

    @property
    def history(self) -> MessageHistory:
        """The inner strategy's history: the log's, from the first step on. The next step stores what is assigned."""
        return self._inner.history

    @history.setter
    def history(self, history: MessageHistory) -> None:
        self._inner.history = history

    async def on_append(self, message: EntryInput, ctx: HistoryAppendContext) -> None:
        """Append and commit. When this returns, the message is stored; where it raises, it is not in the history."""
        async with self._step:
            if self._stored is None:
                await self._refresh()
            before = self._inner.history
            await self._inner.on_append(message, ctx)
            after = self._inner.history
            try:
                await self._store()
            except BaseException:
                if self._inner.history is after:
                    self._inner.history = before
                raise

    async def on_read(self, ctx: HistoryReadContext) -> HistoryView:
        """Take over what others stored, read, and commit what the reading changed."""
        async with self._step:
            await self._refresh()
        while True:
            view = await self._inner.on_read(ctx)  # no lock is held, so that appends need not wait for a model
            async with self._step:
                if not await self._store():
                    return view

    async def _refresh(self) -> None:
        """Take over the log's history, unless something of our own is to be stored first."""
        stored, history = self._stored, self._inner.history
        if history is not stored and not (stored is None and _is_new(history)):
            return
        if stored is not None:
            head = await self._log.head()
            if head == stored.revision_id or (head is None and _is_new(stored)):
                return
            if head is None:
                raise ConflictError(stored.revision_id, None, reason="the log is gone")
        loaded = await self._log.history()
        if self._inner.history is history:
            self._inner.history = self._stored = loaded

    async def _store(self) -> bool:
        """Commit what the log lacks. Says whether the branch had moved, so that there is another view to be read."""
        moved = False
        known = set() if self._stored is None else {self._stored.revision_id}
        while (history := self._inner.history) is not self._stored:
            committed = await self._committed(history, known)
            known |= {history.revision_id, committed.revision_id}
            self._stored = committed
            # What was appended during the commit builds on `history`, and is rebased in the next round.
            if self._inner.history is history and committed is not history:
                self._inner.history = committed
                same = committed.revision_id == history.revision_id and committed.refs() == history.refs()
                moved = moved or not same
        return moved

    async def _committed(self, history: MessageHistory, known: AbstractSet[str]) -> MessageHistory:
        """The history as it is stored, with what others stored meanwhile."""
        try:
            committed = await self._log.commit(history, on_conflict="rebase")
        except ConflictError as conflict:
            if conflict.actual is None:  # the log was purged, and stays so
                raise
            _logger.warning("log %r: a change was dropped that does not fit what others made of it", self._log.name)
            appended = (await self._log.history()).append(*_appended(history, known))
            committed = await self._log.commit(appended, on_conflict="rebase")
        # A history that lacks its beginning cannot be committed to a log that is not there: so it is never
        # our commit that brings back what somebody purged.
        return committed if committed.is_partial else await self._log.history(at=committed.revision_id)


def _is_new(history: MessageHistory) -> bool:
    return history.head.parent is None and history.size == 0


def _appended(history: MessageHistory, known: AbstractSet[str]) -> list[Entry]:
    """What was appended since the revisions that are known to be stored."""
    entries: list[Entry] = []
    for revision in history.loaded_lineage():
        if revision.id in known:
            break
        if revision.operation is not None and revision.operation.type == "append":
            entries[:0] = [history.entry(entry_id) for entry_id in revision.operation.entry_ids or ()]
    return entries


def durable_history_strategy(log: MessageLog, inner: HistoryStrategy) -> DurableHistoryStrategy:
    """`inner` with its history kept in a log: loaded at the first step, committed after every step that changed it.

    Where another writer moved the branch, what was appended here is rebased onto it, and so are edits whose
    entries are all still shown; an edit that no longer fits, a summary of what another process has
    summarised say, is dropped for the branch's. Each read begins with what others have stored meanwhile. A log that was
    purged stays so: `ConflictError`.

    A history that `inner` holds already is committed at the first step.
    """
    return DurableHistoryStrategy(log, inner)
