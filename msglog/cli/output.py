"""What commands print: for people through Rich, for programs as JSON. All of it goes through here.

On a terminal there is colour and the terminal's width; anywhere else plain text, whose lines are never wrapped.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from msglog.cli.visible import exact_line, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment

ENDLESS = 1_000_000
"""Columns of a line that nobody wraps."""


def on_terminal() -> bool:
    """Whether a person sees what is printed."""
    return sys.stdout.isatty()


@cache
def screen() -> Console:
    """The console that standard output is."""
    from rich.console import Console

    if on_terminal():
        return Console(highlight=False, markup=False, emoji=False)
    return Console(width=ENDLESS, force_terminal=False, color_system=None, highlight=False, markup=False, emoji=False)


def width() -> int:
    """The columns that there are."""
    return screen().width


def show(*renderables: RenderableType) -> None:
    """Print for people. Nothing that is in a text steers the terminal, whatever the text is."""
    from rich.segment import Segments

    console = screen()
    for renderable in renderables:
        shown = console.render_str(renderable) if isinstance(renderable, str) else renderable
        lines = _safe(console.render(shown))
        console.print(Segments(lines if on_terminal() else _stripped(lines)), end="", crop=False)


def _safe(segments: Iterable[Segment]) -> Iterator[Segment]:
    from rich.segment import Segment

    for text, style, control in segments:
        if control:
            continue
        yield Segment(visible(text), style.clear_meta_and_links() if style and style.link else style)


def _stripped(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Lines without the spaces that fill up the last column of a table."""
    from rich.segment import Segment

    for line in Segment.split_lines(segments):
        yield Segment("".join(segment.text for segment in line).rstrip(" ") + "\n")


def show_json(value: Any, **more: Any) -> None:
    """Print one line of JSON, in ASCII, and hand it on at once: a value of the library, as the server would send it."""
    from msglog.wire.values import plain

    data = plain(value) | plain(more) if more else plain(value)
    sys.stdout.write(json.dumps(data, default=_as_json) + "\n")
    sys.stdout.flush()


def _as_json(value: object) -> str:
    if isinstance(value, bytes):  # a hash, say, that a query asked for
        return value.hex()
    raise TypeError(f"no JSON of a {type(value).__name__}")


def instant(moment: datetime) -> str:
    """A time in ISO 8601, UTC, as the SQL views show it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")[:-4] + "Z"


def tell(message: str) -> None:
    """Print a sentence or a word as it is, unwrapped: the answer of a command that has no more to show."""
    sys.stdout.write(f"{visible(message)}\n")
    sys.stdout.flush()


def say(message: str) -> None:
    """Tell a person something beside the output, on standard error."""
    sys.stderr.write(f"{visible(message)}\n")
    sys.stderr.flush()


def complain(message: str) -> None:
    """Tell of a failure, on standard error, in one line."""
    say(f"msglog: {exact_line(message)}")


def _unseen(done: int, total: int | None = None) -> None: ...


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A function `(done, total | None)` that draws a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total=None: bar.update(task, completed=done, total=total)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A sign of life on standard error, if that is a terminal, for what does not say how far it is."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        yield


def silence() -> None:
    """Let whatever is still printed go nowhere: the reader at the other end has left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
