"""Models for tests: they say what they are told to, fail when they are told to, and wait where they are held."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, cast

from msglog.strategies import HistoryAppendContext, HistoryReadContext, HistoryStrategy, ModelRequest
from tests.strategies import Json, reply, user

READ = HistoryReadContext("claude-haiku-4-5", 8000)
APPEND = HistoryAppendContext("claude-haiku-4-5", 8000, run_id="run", step_index=0)
USAGE = {"input_tokens": 900, "output_tokens": 40}


@dataclass
class Answer:
    """What a model answered."""

    text: Any
    usage: Any = None


@dataclass
class ScriptedModel:
    """Answers from its script, one item a call, the last one ever after; exceptions are raised."""

    script: list[Any] = field(default_factory=lambda: ["short"])
    name: str = "claude-haiku-4-5"
    requests: list[ModelRequest] = field(default_factory=list)

    async def generate(self, request: ModelRequest) -> Answer:
        self.requests.append(request)
        item = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(item, BaseException):
            raise item
        return cast("Answer", item) if item is None or isinstance(item, Answer) else Answer(item, USAGE)


@dataclass
class HeldModel(ScriptedModel):
    """A slow model: says when it was called, and answers when it is let go."""

    called: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def generate(self, request: ModelRequest) -> Answer:
        self.called.set()
        await self.let_go.wait()
        return await super().generate(request)


@dataclass
class Memory:
    """A memory store that keeps what it is given, or fails."""

    items: list[Any] = field(default_factory=list)
    error: Exception | None = None

    async def ingest(self, items: Any) -> None:
        if self.error is not None:
            raise self.error
        self.items += items


def talk(pairs: int, start: int = 1) -> list[Json]:
    """Questions and answers of some length: `q1`, `a1`, `q2`, ….."""
    turns = []
    for number in range(start, start + pairs):
        turns += [user(f"q{number} {'x' * 100}"), reply(f"a{number} {'y' * 100}")]
    return turns


async def fill(strategy: HistoryStrategy, *messages: Any) -> None:
    """Append messages, one after another."""
    for message in messages:
        await strategy.on_append(message, APPEND)


def heads(strategy: HistoryStrategy) -> list[str]:
    """What the view shows, each message by its first word or line."""
    return [message.text.split("\n")[0].split(" x")[0].split(" y")[0] for message in strategy.history.render()]
