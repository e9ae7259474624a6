"""How anything is measured: subjects in turns, round by round; a row is a figure of one, or its ratio to another's.

A row's figure is the median over the rounds. A ratio is taken within a round, so that it holds where the
machine's speed drifts.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Figures: TypeAlias = Mapping[str, float]
"""What one run of a subject came to, by name: `seconds` (an operation), `rate` (a second), `p99` (ms), `bytes`, …"""
Subject: TypeAlias = Callable[[], Figures]


@dataclass(frozen=True)
class Bound:
    """What a row must hold to."""

    sign: str
    value: float

    def __str__(self) -> str:
        return f"{self.sign} {self.value:,g}"

    def holds(self, figure: float) -> bool:
        """Whether a figure is within it."""
        return figure <= self.value if self.sign == "≤" else figure >= self.value


def at_most(value: float) -> Bound:
    """A bound from above."""
    return Bound("≤", value)


def at_least(value: float) -> Bound:
    """A bound from below."""
    return Bound("≥", value)


@dataclass(frozen=True)
class Row:
    """A line of the report: `figure` of the subject `of`, or where `to` is given its ratio to that one's."""

    point: int
    what: str
    of: str
    to: str | None = None
    figure: str = "seconds"
    bound: Bound | None = None
    scale: float = 1
    """What a plain figure is multiplied with: 1e3 shows seconds as milliseconds."""


@dataclass(frozen=True)
class Measured:
    """A row with what was measured: the median, the lowest and the highest over the rounds."""

    point: int
    what: str
    figure: float
    low: float
    high: float
    bound: str
    holds: bool | None
    detail: str


@dataclass(frozen=True)
class Group:
    """Subjects that are measured in turns, and the rows made of them."""

    subjects: Mapping[str, Subject]
    rows: Sequence[Row]
    rounds: int | None = None
    """Fewer than usual, where a figure is a count that no machine changes."""
    turns: int = 1
    """Turns within a round, whose medians are its figures: for short subjects on a disk whose speed wavers."""


def run(groups: Iterable[Group], rounds: int, wanted: Callable[[str], bool]) -> list[Measured]:
    """Measure the wanted rows. Subjects that none of them needs are not run."""
    measured: list[Measured] = []
    for group in groups:
        rows = [row for row in group.rows if wanted(f"{row.point} {row.what}")]
        if rows:
            measured += _measured(group, rows, min(rounds, group.rounds or rounds))
    return measured


def _measured(group: Group, rows: Sequence[Row], rounds: int) -> list[Measured]:
    needed = {name for row in rows for name in (row.of, row.to) if name is not None}
    subjects = {name: subject for name, subject in group.subjects.items() if name in needed}
    print(f"  {', '.join(subjects)} …", file=sys.stderr, flush=True)
    gc.collect()
    gc.freeze()  # what earlier groups left alive: the collector would walk through it in the middle of this one
    try:
        taken = [_round(subjects, group.turns) for _ in range(rounds)]
    finally:
        gc.unfreeze()
    return [_row(row, taken) for row in rows]


def _round(subjects: Mapping[str, Subject], turns: int) -> dict[str, Figures]:
    done = [{name: subject() for name, subject in subjects.items()} for _ in range(turns)]
    return {
        name: {figure: statistics.median(turn[name][figure] for turn in done) for figure in done[0][name]}
        for name in subjects
    }


def _row(row: Row, taken: Sequence[Mapping[str, Figures]]) -> Measured:
    mine = [done[row.of][row.figure] * row.scale for done in taken]
    values, detail = mine, ""
    if row.to is not None:
        other = [done[row.to][row.figure] * row.scale for done in taken]
        values = [a / b for a, b in zip(mine, other, strict=True)]
        detail = f"{_short(row.figure, mine)} against {_short(row.figure, other)}"
    middle = statistics.median(values)
    holds = None if row.bound is None else row.bound.holds(middle)
    bound = "" if row.bound is None else str(row.bound)
    return Measured(row.point, row.what, middle, min(values), max(values), bound, holds, detail)


def _short(figure: str, values: Sequence[float]) -> str:
    middle = statistics.median(values)
    if figure == "seconds":
        return f"{middle * 1e6:,.1f} µs" if middle < 1e-2 else f"{middle * 1e3:,.1f} ms"
    return f"{middle:,.0f} {'a second' if figure == 'rate' else figure}"


def seconds(work: Callable[[], Any], times: int = 1, per: int = 1) -> Figures:
    """The median seconds of a call, or of one of the `per` operations that it does."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return {"seconds": statistics.median(taken) / per}


def latencies(taken: Sequence[float], wall: float) -> Figures:
    """The figures of many calls at once: `taken` are the seconds of each, `wall` those of all together."""
    ordered = sorted(taken)
    return {
        "seconds": wall / len(ordered),
        "rate": len(ordered) / wall,
        "p50": 1e3 * ordered[len(ordered) // 2],
        "p99": 1e3 * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
        "worst": 1e3 * ordered[-1],
    }
