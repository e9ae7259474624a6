"""Summarising the older part of a conversation once it has grown too long."""

from __future__ import annotations

from collections.abc import Sequence

from msglog.history import MessageHistory
from msglog.history.pairs import exchanges
from msglog.message import Entry
from msglog.strategies.compaction import (
    CompactingHistoryStrategy,
    MeasureList,
    Summariser,
    estimate,
    summarisable,
)
from msglog.strategies.protocol import HistoryReadContext, MemoryStore, Model

SUMMARY_PROMPT = """\
Summarise the conversation below for the assistant that goes on with it and will no longer see it. Keep what was \
asked, found out, decided and promised, and what is still open; keep names, numbers, ids and paths to the letter. \
Write the summary alone."""


class SummarizingHistoryStrategy(CompactingHistoryStrategy):
    """See `summarizing_history_strategy`."""

    def __init__(
        self, summariser: Summariser, trigger_tokens: int, keep_recent: int, history: MessageHistory | None
    ) -> None:
        super().__init__(summariser, history)
        self._trigger_tokens = trigger_tokens
        self._keep_recent = keep_recent

    async def _due(self, ctx: HistoryReadContext) -> list[Entry]:  # noqa: ARG002 the trigger alone decides
        entries = self.history.refs()
        if self._summariser.measure_list([entry.message for entry in entries]) < self._trigger_tokens:
            return []
        older = entries[: safe_cut(entries, self._keep_recent)]
        return summarisable([entry.id for entry in older], entries)


def safe_cut(entries: Sequence[Entry], keep_recent: int) -> int:
    """How many leading entries a summary may take, at least `keep_recent` being left.

    It ends right after the last assistant message without tool calls that no tool exchange reaches
    across; 0 where there is none.
    """
    ends = {exchange[0]: exchange[-1] for exchange in exchanges(entries)}
    reached = cut = 0
    for at, entry in enumerate(entries[: max(0, len(entries) - keep_recent)]):
        reached = max(reached, ends.get(at, at))
        if reached == at and entry.message.role == "assistant" and not entry.message.tool_calls:
            cut = at + 1
    return cut


def summarizing_history_strategy(
    model: Model,
    trigger_tokens: int,
    keep_recent: int,
    memory_store: MemoryStore | None = None,
    history: MessageHistory | None = None,
    *,
    summary_prompt: str = SUMMARY_PROMPT,
    measure_list: MeasureList = estimate,
) -> SummarizingHistoryStrategy:
    """A strategy that summarises the older part of the view, when it is read at `trigger_tokens` or above.

    All but the last `keep_recent` entries go into one summary, which begins `[Conversation summary]`, as far
    as a safe boundary: right after the last assistant message without tool calls among them. Without one
    nothing is summarised. System and developer messages and entries labelled `pinned` stay as they are.
    Between summaries the view only grows at its end, so that a provider's prompt cache keeps its prefix.

    `measure_list` counts the tokens of messages: an estimate, unless you have a better counter.
    """
    if keep_recent < 0:
        raise ValueError(f"keep_recent must not be negative, but is {keep_recent}")
    summariser = Summariser(
        model, summary_prompt, "[Conversation summary]", "conversation_summary", memory_store, measure_list
    )
    return SummarizingHistoryStrategy(summariser, trigger_tokens, keep_recent, history)
