"""What an adapter had to change: one record for each repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

What: TypeAlias = Literal[
    "added", "answered", "as-text", "dropped", "merged", "moved", "renamed", "replaced", "wrapped"
]
"""The kinds of repairs.

`added`: something that the format asks for and the conversation lacks. `answered`: an open tool call got an
error result. `as-text`: a part that the provider does not know stands as text. `dropped`: left out. `merged`:
neighbours of one role became one. `moved`: stands elsewhere than it was stored. `renamed`: an id or a name in
another spelling. `replaced`: lone surrogates became U+FFFD. `wrapped`: arguments that are no object became one.
"""


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair: what was done, to which message, and why. It never holds text of a message.

    `index` counts the messages given to the adapter from 0; `entry_id` is the entry's id where a stored message or
    an entry was given; `path` leads into the message (`content[2]`, `tool_calls[0].id`), and is empty for the whole.
    """

    what: What
    why: str
    index: int
    path: str = ""
    entry_id: str | None = None
