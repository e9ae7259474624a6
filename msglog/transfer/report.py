"""What an import did, or would do: one report for bundles and for other stores' files."""

from __future__ import annotations

from dataclasses import dataclass, field

LISTED = 1000
"""Losses that a report lists; more of them are only counted."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of the source that did not come over: `where` it stands there, and `what` was left out and why.

    It never holds text of a message, and nothing that a terminal would not print.
    """

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """What came into one log: entries that are new in it, entries that it had already, and new branches."""

    name: str
    entries_new: int = 0
    entries_known: int = 0
    branches_new: int = 0


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import brought in, or would have with `dry_run`.

    `losses_unlisted` counts those beyond the first 1,000.
    """

    format: str
    logs: tuple[ImportedLog, ...] = ()
    losses: tuple[Loss, ...] = ()
    losses_unlisted: int = 0
    dry_run: bool = False

    @property
    def entries_new(self) -> int:
        """Entries that were not in the store."""
        return sum(log.entries_new for log in self.logs)

    @property
    def entries_known(self) -> int:
        """Entries that were in the store already."""
        return sum(log.entries_known for log in self.logs)


@dataclass(slots=True)
class Losses:
    """Collects losses while a source is read."""

    listed: list[Loss] = field(default_factory=list)
    unlisted: int = 0

    def add(self, where: str, what: str) -> None:
        """Note a loss."""
        if len(self.listed) < LISTED:
            self.listed.append(Loss(printable(where), what))
        else:
            self.unlisted += 1


def printable(text: str, most: int = 200) -> str:
    """A name from a source as it can be shown: what does not print is escaped, and what is long is cut."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
