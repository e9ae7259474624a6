"""Taking entries out of the view and putting a summary of them in, by a model: what summarising strategies share."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from msglog.budget import estimate_tokens
from msglog.budget.forms import is_kept
from msglog.budget.tokens import MEDIA_TOKENS
from msglog.budget.usage import as_usage
from msglog.history import MessageHistory
from msglog.history.pairs import exchanges, widened
from msglog.message import Entry, Message, MessageMeta
from msglog.strategies.append_only import AppendOnlyHistoryStrategy
from msglog.strategies.protocol import HistoryReadContext, HistoryView, MemoryStore, Model, ModelRequest

MeasureList: TypeAlias = Callable[[Sequence[Message]], int]

estimate: MeasureList = partial(estimate_tokens, media=MEDIA_TOKENS)
"""The counter by which strategies decide, unless they are given another."""

_logger = logging.getLogger("msglog")


@dataclass(frozen=True, slots=True)
class Summariser:
    """How summaries are made: by which model, on which instructions, under which heading, and who is told.

    `kind` is what memory stores, and the revisions in the log, know the summaries by.
    """

    model: Model
    prompt: str
    heading: str
    kind: str
    memory_store: MemoryStore | None = None
    measure_list: MeasureList = estimate

    async def summary_of(self, entries: Sequence[Entry], signal: Any) -> tuple[str, Any] | None:
        """The text of a summary and what it took; None where the model gave none, or none that is smaller."""
        request = ModelRequest(self.prompt, (Message(role="user", content=transcript(entries)),), signal)
        result = await self.model.generate(request)
        text = getattr(result, "text", None)
        if not isinstance(text, str) or not text.strip():
            _logger.warning("the model %s gave no summary; the next read tries again", self.model.name)
            return None
        if self.measure_list([self.message(text)]) >= self.measure_list([entry.message for entry in entries]):
            _logger.warning("a summary no smaller than what it replaces was discarded; the next read tries again")
            return None
        return text, getattr(result, "usage", None)

    def message(self, text: str) -> Message:
        """The message of a summary."""
        return Message(role="user", content=f"{self.heading}\n{text}")

    def replaced(self, history: MessageHistory, ids: Sequence[str], text: str, usage: Any) -> MessageHistory:
        """The history with a summary where the first of `ids` stood."""
        counted = None if usage is None else as_usage(usage).to_json()
        entry = {"message": self.message(text), "meta": MessageMeta(model=self.model.name, usage=counted)}
        patch = {"op": "summary", "sourceIds": ids, "entry": entry, "replace": True}
        return history.edit(patch, meta={"reason": self.kind, "model": self.model.name})

    async def remember(self, text: str) -> None:
        """Give a summary to the memory store. What that raises is logged: the history has the summary already."""
        if self.memory_store is None:
            return
        try:
            await self.memory_store.ingest([{"text": text, "metadata": {"kind": self.kind}}])
        except Exception:
            _logger.exception("the memory store did not take a summary in")


class CompactingHistoryStrategy(AppendOnlyHistoryStrategy, ABC):
    """A strategy that, when it is read, may put a summary in the place of entries.

    The history changes in one step, when the summary is there. Until then, and where the model's call comes
    to nothing, it is the old one, and the next read tries again. What is appended during the call stays
    behind the summary, in order. Reads wait for one another: the second of two finds the summary of the first.
    """

    def __init__(self, summariser: Summariser, history: MessageHistory | None) -> None:
        super().__init__(history)
        self._summariser = summariser
        self._reading = asyncio.Lock()

    async def on_read(self, ctx: HistoryReadContext) -> HistoryView:
        """The view, with a summary where one was due. What the model raises is raised here, and changes nothing."""
        async with self._reading:
            entries = await self._due(ctx)
            if len(entries) > 1 or any(entry.kind != "summary" for entry in entries):
                await self._compact(entries, ctx)
        return await super().on_read(ctx)

    @abstractmethod
    async def _due(self, ctx: HistoryReadContext) -> list[Entry]:
        """The entries that a summary is to replace now. One that is a summary itself is left alone."""

    async def _compact(self, entries: Sequence[Entry], ctx: HistoryReadContext) -> None:
        made = await self._summariser.summary_of(entries, ctx.signal)
        if made is None:
            return
        ids = [entry.id for entry in entries]
        if [entry.id for entry in summarisable(ids, self.history.refs())] != ids:
            _logger.warning("a summary was discarded: what it was to replace was changed during the call")
            return
        self.history = self._summariser.replaced(self.history, ids, *made)
        await self._summariser.remember(made[0])


def summarisable(ids: Iterable[str], entries: Sequence[Entry]) -> list[Entry]:
    """Those of `entries` that a summary of `ids` may replace, in order.

    That is whole tool exchanges: where it begins one, it takes all of it. What must stay is left out, with the
    exchange that it belongs to; and so are calls that wait for a result, which would come to nothing.
    """
    heads = [(entries[places[0]], len(places) - 1) for places in exchanges(entries)]
    waiting = [entry.id for entry, results in heads if results < len(entry.message.tool_calls)]
    kept = set(widened([*waiting, *(entry.id for entry in entries if is_kept(entry))], entries))
    wanted = set(widened(list(ids), entries)) - kept
    return [entry for entry in entries if entry.id in wanted]


def transcript(entries: Collection[Entry]) -> str:
    """What entries say, as one text: so the model needs no tools to be sent it, and has nothing to answer in it."""
    return "\n\n".join(f"{entry.message.role}: {_told(entry.message)}" for entry in entries)


def _told(message: Message) -> str:
    calls = [f"[calls {call.name}({call.arguments})]" for call in message.tool_calls]
    return "\n".join([message.text, *calls] if message.text else calls)
