"""How a store is opened: the options that it keeps, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msglog.checks import checked_count
from msglog.message import Entry

Durability: TypeAlias = Literal["full", "normal"]
BeforeStore: TypeAlias = Callable[[Entry], Entry]

MAX_MESSAGE_BYTES = 64 * 2**20
BUSY_TIMEOUT = 10.0
POLL_INTERVAL = 0.25


@dataclass(frozen=True, slots=True)
class Options:
    """How a store was opened."""

    durability: Durability
    read_only: bool
    create: bool
    busy_timeout: float
    max_message_bytes: int
    before_store: BeforeStore | None
    poll_interval: float
    temporary: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        if self.durability not in ("full", "normal"):
            raise ValueError('durability must be "full" or "normal"')
        for name in ("busy_timeout", "poll_interval"):
            seconds = getattr(self, name)
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
                raise TypeError(f"{name} must be seconds, not {type(seconds).__name__}")
            if not seconds >= 0:
                raise ValueError(f"{name} must be at least 0, not {seconds}")
        checked_count(self.max_message_bytes, "max_message_bytes")
        if self.before_store is not None and not callable(self.before_store):
            raise TypeError("before_store must be a function that takes an entry and returns one")
