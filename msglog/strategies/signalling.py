"""Telling others of every history that a strategy comes to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias
from weakref import WeakSet

from msglog.history import MessageHistory
from msglog.message import EntryInput
from msglog.strategies.protocol import HistoryAppendContext, HistoryReadContext, HistoryStrategy, HistoryView

Callback: TypeAlias = Callable[[MessageHistory], object]

_logger = logging.getLogger("msglog")


class HistorySignal:
    """The history of a strategy, as something to watch.

    Iterated, it yields every history published from then on, in order, without an end.
    """

    def __init__(self, get: Callable[[], MessageHistory]) -> None:
        self._get = get
        self._callbacks: dict[object, Callback] = {}
        self._watchers: WeakSet[_Watcher] = WeakSet()

    def get(self) -> MessageHistory:
        """The history as it is now."""
        return self._get()

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Have `callback` called with each history published from now on; returned is what ends that.

        What it raises is logged and harms nothing.
        """
        key = object()
        self._callbacks[key] = callback

        def unsubscribe() -> None:
            self._callbacks.pop(key, None)

        return unsubscribe

    def __aiter__(self) -> AsyncIterator[MessageHistory]:
        watcher = _Watcher()
        self._watchers.add(watcher)
        return watcher

    def publish(self) -> None:
        """Tell everybody of the history as it is now."""
        history = self._get()
        for watcher in list(self._watchers):
            watcher.histories.put_nowait(history)
        for callback in list(self._callbacks.values()):
            try:
                callback(history)
            except Exception:
                _logger.exception("a subscriber of a history signal failed")


class _Watcher:
    """An iteration over a signal; the signal forgets it once nobody holds it."""

    def __init__(self) -> None:
        self.histories: asyncio.Queue[MessageHistory] = asyncio.Queue()

    def __aiter__(self) -> AsyncIterator[MessageHistory]:
        return self

    async def __anext__(self) -> MessageHistory:
        return await self.histories.get()


class SignalHistoryStrategy:
    """See `signal_history_strategy`."""

    def __init__(self, inner: HistoryStrategy) -> None:
        self._inner = inner
        self.signal = HistorySignal(lambda: inner.history)

    @property
    def history(self) -> MessageHistory:
        """The history of the strategy inside. An assignment is published."""
        return self._inner.history

    @history.setter
    def history(self, history: MessageHistory) -> None:
        self._inner.history = history
        self.signal.publish()

    async def on_append(self, message: EntryInput, ctx: HistoryAppendContext) -> None:
        """Append, then publish."""
        await self._inner.on_append(message, ctx)
        self.signal.publish()

    async def on_read(self, ctx: HistoryReadContext) -> HistoryView:
        """Read, then publish."""
        view = await self._inner.on_read(ctx)
        self.signal.publish()
        return view


def signal_history_strategy(inner: HistoryStrategy) -> tuple[SignalHistoryStrategy, HistorySignal]:
    """`inner` with a signal that publishes its history after each append, read and assignment."""
    strategy = SignalHistoryStrategy(inner)
    return strategy, strategy.signal
