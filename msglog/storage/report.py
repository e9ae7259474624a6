"""What `verify` found: problems, each with the place that it is at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

MOST_PROBLEMS = 1000
"""Problems that a report lists; beyond, it only says that there are more."""

Kind: TypeAlias = Literal["entry", "revision", "branch", "log", "table", "object", "file", "search"]

_PLACES: dict[Kind, str] = {
    "entry": "seq {}",
    "revision": "revision {}",
    "branch": "branch {!r}",
    "log": "{}",
    "table": "table {}",
    "object": "{}",
    "file": "the file",
    "search": "the search index",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that does not add up: in which log, what kind of thing, which one of its kind, and what is wrong.

    `key` is the seq of an `entry`, the number of a `revision`, the name of a `branch`, a `table` or an `object` (a
    trigger, a view, an index), or the part of a `log`: a counter, its description, itself. A `search` problem loses
    nothing: the search index is derived, and its table `key` is made anew by a repair, or once it is dropped.
    """

    log: str | None
    kind: Kind
    key: int | str
    what: str

    @property
    def seq(self) -> int | None:
        """The seq of the entry, where it is one."""
        return self.key if self.kind == "entry" and isinstance(self.key, int) else None

    @property
    def where(self) -> str:
        """The place in words, such as `seq 5`."""
        return _PLACES[self.kind].format(self.key)

    def __str__(self) -> str:
        return f"log {self.log!r}, {self.where}: {self.what}" if self.log else f"{self.where}: {self.what}"


@dataclass(slots=True)
class Report:
    """What `verify` found. `ok` where nothing is wrong; the counts say how much was looked at."""

    logs: int = 0
    entries: int = 0
    redacted: int = 0
    revisions: int = 0
    problems: list[Problem] = field(default_factory=list)
    truncated: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def add(self, log: str | None, kind: Kind, key: int | str, what: str) -> None:
        """Note a problem."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(log, kind, key, what))
        else:
            self.truncated = True
