"""What the writer knows of a file between transactions, so that an append need not ask for it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from msglog.storage.spans import Run, decode_spans


@dataclass(slots=True)
class Head:
    """What is known of the revision that a branch is at."""

    number: int
    id: str
    hash: bytes
    anchor: int
    tail: list[Run]
    size: int
    appended: int
    chunks: list[list[int]]  # the anchor's: [chunk, position]


@dataclass(slots=True)
class LogState:
    """What is known of a log."""

    id: int
    uid: bytes
    entry_count: int
    revision_count: int
    chain_hash: bytes
    heads: dict[str, Head] = field(default_factory=dict)
    next_chunk: int | None = None


@dataclass(slots=True)
class Ledger:
    """What the writer knows of the file between transactions; nothing, once another connection wrote."""

    version: int = -1
    last_n: int | None = None
    logs: dict[str, LogState] = field(default_factory=dict)

    def forget(self) -> None:
        """Know nothing."""
        self.version = -1
        self.last_n = None
        self.logs.clear()


def now_us() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def head_of(row: tuple[Any, ...]) -> Head:
    """The head of a row of `REVISION_STATE`."""
    number, revision_id, hashed, anchor, tail, size, appended, _branch, _parent, chunks = row
    return Head(number, revision_id, hashed, anchor, decode_spans(tail), size, appended, json.loads(chunks))
