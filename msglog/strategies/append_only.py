"""The plainest strategy: everything is appended, and everything is shown."""

from __future__ import annotations

from msglog.history import MessageHistory
from msglog.message import EntryInput
from msglog.strategies.protocol import HistoryAppendContext, HistoryReadContext, HistoryView


class AppendOnlyHistoryStrategy:
    """See `append_only_history_strategy`."""

    def __init__(self, history: MessageHistory | None = None) -> None:
        self.history = MessageHistory() if history is None else history

    async def on_append(self, message: EntryInput, ctx: HistoryAppendContext) -> None:  # noqa: ARG002 the protocol's
        """Append the message."""
        self.history = self.history.append(message)

    async def on_read(self, ctx: HistoryReadContext) -> HistoryView:  # noqa: ARG002 the protocol's
        """The whole view."""
        return HistoryView(self.history, self.history.render())


def append_only_history_strategy(history: MessageHistory | None = None) -> AppendOnlyHistoryStrategy:
    """A strategy that appends everything and shows the whole view of the history."""
    return AppendOnlyHistoryStrategy(history)
