"""Messages in OpenAI's chat format as plain JSON: a list of them, conversations of them, or either as lines."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msglog.adapters import from_openai
from msglog.codec import freeze
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Entry
from msglog.transfer.importers.conversation import Conversation, entries_of
from msglog.transfer.importers.json_values import Found, values
from msglog.transfer.importers.reading import Reading


def is_message(value: Any) -> bool:
    """Whether a value looks like a message."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "messages" not in value


def is_conversation(value: Any) -> bool:
    """Whether a value is a list of messages, or an object that holds such a list."""
    messages = value.get("messages") if isinstance(value, dict) else value
    return isinstance(messages, list) and (not messages or is_message(messages[0]))


def read(reading: Reading) -> Iterator[Conversation]:
    """The conversations of a file: one for each list of messages, and one for all messages that stand alone."""
    reading.total = os.stat(reading.path).st_size
    alone: str | None = None
    places = itertools.count(1)
    numbers = itertools.count(1)
    for kind, group in itertools.groupby(values(reading.path, reading.losses), lambda found: _kind(found.value)):
        if kind == "message":
            alone = alone or reading.name(reading.stem, "")
            yield Conversation(alone, _alone(reading, group, places))
            continue
        for found in group:
            reading.done = found.read
            if kind == "conversation":
                yield _conversation(reading, found, next(numbers))
            else:
                reading.losses.add(found.where, "is neither a message nor a conversation")


def _kind(value: Any) -> str:
    if is_message(value):
        return "message"
    return "conversation" if is_conversation(value) else "other"


def _alone(reading: Reading, group: Iterable[Found], places: Iterator[int]) -> Iterator[Entry]:
    for found in group:
        reading.done = found.read
        yield from _entries(reading, found.where, next(places), found.value)


def _conversation(reading: Reading, found: Found, number: int) -> Conversation:
    value: Any = found.value
    whole = value if isinstance(value, Mapping) else {}
    single = found.where == "the document"
    name = reading.name(whole.get("id"), reading.stem if single else f"{reading.stem}-{number}")
    rest = {key: item for key, item in whole.items() if key not in {"id", "messages"}}
    messages = whole["messages"] if whole else value

    def entries() -> Iterator[Entry]:
        for n, message in enumerate(messages, 1):
            yield from _entries(reading, f"{found.where}, message {n}", n, message)

    return Conversation(name, entries(), facts=rest)


def _entries(reading: Reading, where: str, place: int, value: Any) -> list[Entry]:
    try:
        return entries_of(str(place), from_openai([value]), freeze(value))
    except (CodecError, InvalidMessageError) as error:
        reading.losses.add(where, f"is no message that can be kept: {error}")
        return []
