"""Links from messages to those before them, as sources give them: some lead nowhere, some in circles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msglog.transfer.report import Losses


def arranged(
    parents: Mapping[str, str | None], bearing: Collection[str], first: str | None, losses: Losses, name: str
) -> Iterator[tuple[str, str | None]]:
    """The records that bear messages, each with the nearest such one before it; parents before their children.

    `parents` has every record of the source with its link. The path to the record `first` comes before all others.
    A link that leads nowhere or in a circle is cut, and noted as a loss.
    """
    nearest: dict[str, str | None] = {}
    for start in [*([first] if first in parents else []), *parents]:
        path: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in nearest:
            if at in path or at not in parents:
                why = "the links before it lead in a circle" if at in path else "what is before it is not in the source"
                losses.add(f"{name}, {next(reversed(path))}", f"{why}; it begins a branch of its own")
                at = None
                break
            path[at] = None
            at = parents[at]
        before = None if at is None else nearest[at]
        for record in reversed(path):
            if record in bearing:
                yield record, before
                before = record
            nearest[record] = before
