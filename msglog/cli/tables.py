"""Tables for people: aligned columns without rules, that fit a narrow terminal by leaving columns out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from msglog.cli.output import width
from msglog.cli.visible import exact_line

GAP = 2
_LEAST = 12
"""Columns below which a text is not shortened."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Numbers stand to the `right`; `spare` ones go first where space is short, the highest first of all."""

    title: str
    right: bool = False
    spare: int = 0
    style: str = ""


def table(columns: Sequence[Column], rows: Sequence[Sequence[str | Text]]) -> Table:
    """A table of rows, each with a cell for every column. The texts are made visible, on one line each."""
    cells = [[cell if isinstance(cell, Text) else Text(exact_line(cell)) for cell in row] for row in rows]
    wide = [
        max([cell_len(column.title), *(cell_len(row[at].plain) for row in cells)]) for at, column in enumerate(columns)
    ]
    kept = _fitting(columns, wide)
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for at in kept:
        column = columns[at]
        made.add_column(
            column.title,
            justify="right" if column.right else "left",
            style=column.style,
            no_wrap=True,
            overflow="ellipsis",
            min_width=wide[at] if column.right else min(wide[at], _LEAST),
        )
    for row in cells:
        made.add_row(*(row[at] for at in kept))
    return made


def _fitting(columns: Sequence[Column], wide: Sequence[int]) -> list[int]:
    kept = list(range(len(columns)))
    while sum(min(wide[at], 24) for at in kept) + GAP * (len(kept) - 1) > width():
        most = max(kept, key=lambda at: columns[at].spare)
        if not columns[most].spare:
            break
        kept.remove(most)
    return kept


def facts(pairs: Sequence[tuple[str, str]]) -> Table:
    """Names and values, one pair a line."""
    made = Table.grid(padding=(0, GAP, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        made.add_row(name, Text(exact_line(value)))
    return made


def size(count: int) -> str:
    """Bytes, in a unit that people read."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def many(count: int, one: str, more: str | None = None) -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
