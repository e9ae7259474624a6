"""The revision graph as a drawing for the terminal: the oldest step above, a line for each, branches side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from msglog.cli.graph import Step
from msglog.cli.output import on_terminal, width
from msglog.cli.visible import exact_line

_COLOURS = ("green", "cyan", "magenta", "yellow", "blue", "red")
_WORDS = 28
"""Columns that the words of a step get at least; lanes beyond what that leaves are drawn in one."""


def drawing(steps: Sequence[Step]) -> Iterator[Text]:
    """The lines."""
    most = max(1, (width() - _WORDS) // 2)
    lanes = min(most, 1 + max((lane for step in steps for lane in (step.lane, *step.through)), default=0))
    numbers = max((len(step.numbers) for step in steps), default=0)
    before: tuple[int, ...] = ()
    for step in steps:
        line = _lanes({*before, step.lane}, lanes, {min(step.lane, lanes - 1): _mark(step)})
        yield _cut(line + _words(step, numbers))
        for fork in step.forks:
            yield _branching(step.lane, fork, {*before, *step.through} - {f for f in step.forks if f > fork}, lanes)
        before = step.through


def _mark(step: Step) -> str:
    if step.operation is None:
        return "●"
    return "○" if step.operation["type"] == "root" else "◆"


def _lanes(active: set[int], lanes: int, marks: dict[int, str]) -> Text:
    line = Text()
    for lane in range(lanes):
        sign = marks.get(lane, "│" if lane in active else " ")
        line.append(f"{sign} ", _colour(lane))
    return line


def _branching(start: int, end: int, active: set[int], lanes: int) -> Text:
    """The line on which a lane branches off: `├─╮`."""
    left, right = min(start, end), min(max(start, end), lanes - 1)
    line = Text()
    for lane in range(lanes):
        goes_on = "│" if lane in active else " "
        if lane == left:
            sign = "├─" if end > start else "╭─"
        elif left < lane < right:
            sign = "┼─" if lane in active else "──"
        elif lane == right:
            sign = "╮ " if end > start else "┤ "
        else:
            sign = f"{goes_on} "
        line.append(sign, _colour(end if left <= lane <= right and lane != start else lane))
    return line


def _words(step: Step, numbers: int) -> Text:
    line = Text(f"{step.numbers:<{numbers}}  ", style="dim")
    for head in step.heads:
        line.append(f"[{exact_line(head)}] ", f"bold {_colour(step.lane)}")
    line.append(step.what, "none")
    if step.operation is None or step.operation["type"] != "root":
        line.append(f" → {step.size:,}", "dim")
    return line


def _cut(line: Text) -> Text:
    if on_terminal():
        line.truncate(width(), overflow="ellipsis")
    return line


def _colour(lane: int) -> str:
    return _COLOURS[lane % len(_COLOURS)]
