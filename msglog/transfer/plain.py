"""A view as a JSON array of its messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from msglog.codec import encode, to_column
from msglog.message import Message, StoredMessage
from msglog.transfer.turns import Given, Turn, rendered


def to_json(messages: Iterable[Given]) -> Iterator[str]:
    """The pieces of a JSON array of messages: one object a line, with what is known of where each is stored."""
    return rendered(Plain, messages)


class Plain:
    """Writes messages as a JSON array."""

    def __init__(self) -> None:
        self._first = True

    def begin(self) -> str:
        """Its bracket."""
        return "["

    def turn(self, turn: Turn) -> str:
        """A message and the results that followed it."""
        found = []
        for message in (turn.message, *filter(None, turn.results)):
            found.append(f"{'' if self._first else ','}\n{json_line(_object(message))}")
            self._first = False
        return "".join(found)

    def end(self) -> str:
        """Its bracket."""
        return "\n]\n"


def _object(message: Message) -> dict[str, Any]:
    if not isinstance(message, StoredMessage):
        return message.to_json()
    data: dict[str, Any] = {"seq": message.seq, "id": message.entry_id, "at": message.at.isoformat()}
    if message.kind != "turn":
        data["kind"] = message.kind
    if message.sources:
        data["sources"] = list(message.sources)
    if message.meta is not None:
        data["meta"] = message.meta.to_json()
    if message.redacted:
        data["redacted"] = True
    return data | message.message.to_json()


def json_line(value: Any) -> str:
    """Compact JSON that UTF-8 can hold: surrogates stand as escapes, where there are any."""
    text = encode(value)
    return text if isinstance(to_column(text), str) else json.dumps(value, separators=(",", ":"))
