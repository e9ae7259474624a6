"""A view as it is read: messages, each with the results of the tools that it called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from msglog.checks import checked_list
from msglog.message import Entry, Message, as_message

Given: TypeAlias = "Message | Entry | Mapping[str, object]"
"""What is taken as a message: messages, stored messages, entries, and dicts of messages."""


@dataclass(slots=True)
class Turn:
    """A message; where it calls tools, `results` holds what came of each call, as far as it follows the message."""

    message: Message
    results: list[Message | None] = field(default_factory=list)


class Turns:
    """Makes turns of messages that come one by one. It holds calls that stand right behind one another."""

    def __init__(self) -> None:
        self._held: list[Turn] = []

    def add(self, message: Message) -> Iterator[Turn]:
        """The turns that are whole now that this message came."""
        if message.role == "tool" and self._answers(message):
            return
        calls = message.role == "assistant" and bool(message.tool_calls)
        if not calls or any(None not in turn.results for turn in self._held):
            yield from self.end()
        turn = Turn(message)
        if calls:  # those made at once may stand in several messages, before the results of all
            turn.results = [None] * len(message.tool_calls)
            self._held.append(turn)
        else:
            yield turn

    def end(self) -> Iterator[Turn]:
        """The turns that are held."""
        held, self._held = self._held, []
        yield from held

    def _answers(self, message: Message) -> bool:
        for turn in self._held:
            for i, call in enumerate(turn.message.tool_calls):
                if call.id == message.tool_call_id and turn.results[i] is None:
                    turn.results[i] = message
                    return True
        return False


class Rendering(Protocol):
    """A view written in some form, piece by piece."""

    def begin(self) -> str:
        """What comes before the messages."""
        ...

    def turn(self, turn: Turn) -> str:
        """A turn."""
        ...

    def end(self) -> str:
        """What comes after them."""
        ...


class Writing:
    """A rendering that is fed with messages."""

    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering
        self._turns = Turns()

    def begin(self) -> str:
        """What comes before the messages."""
        return self._rendering.begin()

    def add(self, messages: Iterable[Given]) -> str:
        """What these messages make whole."""
        return "".join(
            self._rendering.turn(turn) for message in messages for turn in self._turns.add(message_of(message))
        )

    def end(self) -> str:
        """The rest."""
        return "".join(map(self._rendering.turn, self._turns.end())) + self._rendering.end()


def rendered(make: Callable[[], Rendering], messages: Iterable[Given]) -> Iterator[str]:
    """The pieces of a rendering of messages."""
    writing = Writing(make())
    yield writing.begin()
    for message in checked_list(messages):
        if piece := writing.add([message]):
            yield piece
    yield writing.end()


def message_of(given: Given) -> Message:
    """The message of what was given as one."""
    if isinstance(given, Message):
        return given
    if isinstance(given, Entry):
        return given.message
    return as_message(given)
