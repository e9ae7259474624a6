"""What strategies, models and memory stores are to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from msglog.history import MessageHistory
from msglog.message import EntryInput, Message


@dataclass(frozen=True, slots=True)
class HistoryReadContext:
    """For which call a history is read: of `model` (its name, or the model), in so many tokens.

    `signal` is whatever the framework cancels by; it is handed on to models that a strategy calls.
    """

    model: Any
    budget_tokens: int | None
    signal: Any = None


@dataclass(frozen=True, slots=True)
class HistoryAppendContext(HistoryReadContext):
    """Where a message comes from: which run of the agent, and which step of it."""

    run_id: str | None = None
    step_index: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryView:
    """What a model is to be shown: `messages`, and the history that they are a view of."""

    history: MessageHistory
    messages: list[Message]


class HistoryStrategy(Protocol):
    """What an agent does with its history before each call of a model.

    `history` is an immutable value, assigned anew by every operation; it may be assigned from outside too.
    A strategy belongs to one conversation, and to one event loop at a time; its methods may be called by
    several tasks at once.
    """

    history: MessageHistory

    async def on_append(self, message: EntryInput, ctx: HistoryAppendContext) -> None:
        """Take a message into the history."""
        ...

    async def on_read(self, ctx: HistoryReadContext) -> HistoryView:
        """What the model is to be shown now."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a strategy asks of a model: instructions, and messages that no tools are needed to send."""

    system: str
    messages: Sequence[Message]
    signal: Any = None


class ModelResult(Protocol):
    """What a model answers: its text, and what its provider reports as used (a dict or an object, or None)."""

    @property
    def text(self) -> str | None:
        """The text."""
        ...

    @property
    def usage(self) -> Any:
        """The tokens, in the form of the provider."""
        ...


class Model(Protocol):
    """A model that writes summaries. What it raises reaches whoever read the history."""

    @property
    def name(self) -> str:
        """The name that prices are known by."""
        ...

    async def generate(self, request: ModelRequest) -> ModelResult:
        """Answer a request."""
        ...


class MemoryStore(Protocol):
    """A long-term memory that is given every summary."""

    async def ingest(self, items: Sequence[Mapping[str, Any]]) -> object:
        """Take in `{"text": …, "metadata": {"kind": …}}` items."""
        ...
