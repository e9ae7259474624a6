"""Summarising what a selector picks out of a conversation."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from msglog.history import MessageHistory
from msglog.message import Entry
from msglog.strategies.compaction import CompactingHistoryStrategy, MeasureList, Summariser, estimate, summarisable
from msglog.strategies.protocol import HistoryReadContext, MemoryStore, Model

Selector: TypeAlias = Callable[[MessageHistory, HistoryReadContext], "Iterable[str] | Awaitable[Iterable[str]]"]
"""Picks the ids of the entries to be summarised now; none, where there is nothing to do."""


class SelectiveSummaryHistoryStrategy(CompactingHistoryStrategy):
    """See `selective_summary_history_strategy`."""

    def __init__(self, summariser: Summariser, selector: Selector, history: MessageHistory | None) -> None:
        super().__init__(summariser, history)
        self._selector = selector

    async def _due(self, ctx: HistoryReadContext) -> list[Entry]:
        selected = self._selector(self.history, ctx)
        ids = await selected if inspect.isawaitable(selected) else selected
        return summarisable(ids, self.history.refs())


def selective_summary_history_strategy(
    model: Model,
    selector: Selector,
    summary_prompt: str,
    memory_store: MemoryStore | None = None,
    history: MessageHistory | None = None,
    *,
    measure_list: MeasureList = estimate,
) -> SelectiveSummaryHistoryStrategy:
    """A strategy that, when it is read, summarises the entries whose ids `selector(history, ctx)` returns.

    One call of the model makes one summary, which begins `[Selected history summary]` and stands at the
    first of them. A selection that parts a tool call from its results is widened to whole exchanges; system
    and developer messages, entries labelled `pinned`, and ids that are not active are left out of it. An
    empty selection changes nothing, nor does one that holds nothing but one summary.
    """
    summariser = Summariser(
        model, summary_prompt, "[Selected history summary]", "selected_history_summary", memory_store, measure_list
    )
    return SelectiveSummaryHistoryStrategy(summariser, selector, history)
