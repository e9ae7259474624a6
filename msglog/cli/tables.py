"""Tables for people: aligned columns without rules, that fit a narrow terminal by leaving columns out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from msglog.cli.output import width
from msglog.cli.visible import exact_line

GAP = 2
_LEAST = 12
"""Columns that a text keeps."""


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
    widths = _shrunk(columns, wide, kept)
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for at in kept:
        column = columns[at]
        justify: Literal["left", "right"] = "right" if column.right else "left"
        made.add_column(
            column.title, justify=justify, style=column.style, no_wrap=True, overflow="ellipsis", width=widths[at]
        )
    for row in cells:
        made.add_row(*(row[at] for at in kept))
    return made


def _fitting(columns: Sequence[Column], wide: Sequence[int]) -> list[int]:
    """The columns for which there is space, where texts are shortened."""
    kept = list(range(len(columns)))
    while sum(min(wide[at], 24) for at in kept) + GAP * (len(kept) - 1) > width():
        most = max(kept, key=lambda at: columns[at].spare)
        if not columns[most].spare:
            break
        kept.remove(most)
    return kept


def _shrunk(columns: Sequence[Column], wide: Sequence[int], kept: Sequence[int]) -> dict[int, int]:
    """The widths of the columns: the widest texts are shortened until all fit."""
    widths = {at: min(wide[at], width()) for at in kept}
    texts = [at for at in kept if not columns[at].right]
    over = sum(widths.values()) + GAP * (len(kept) - 1) - width()
    while over > 0 and texts:
        widest = max(texts, key=lambda at: widths[at])
        if widths[widest] <= _LEAST:
            break
        widths[widest] -= 1
        over -= 1
    return widths


def facts(pairs: Sequence[tuple[str, str]]) -> Table:
    """Names and values, one pair a line."""
    made = Table.grid(padding=(0, GAP, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        made.add_row(name, Text(exact_line(value)))
    return made
