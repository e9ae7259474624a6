"""`show`: a conversation as a transcript, or as it is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, cast

import typer

from msglog.cli.app import command
from msglog.cli.messages import json_line
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, BranchName, LogName, StoreFile
from msglog.cli.output import instant, show_json, tell
from msglog.cli.output import show as put
from msglog.cli.revisions import found_revision
from msglog.cli.visible import exact_line, visible
from msglog.errors import UnknownLogError

if TYPE_CHECKING:
    from msglog.message import StoredMessage
    from msglog.storage.reader import View
    from msglog.sync import MessageLog, Store

PAGE = 200
"""Messages that are read at once."""


@command(
    "show",
    "msglog show customer-123",
    "msglog show customer-123 --last 5 --full",
    "msglog show customer-123 --at main~3",
)
def show(
    log: LogName,
    *,
    branch: BranchName = "main",
    at: Annotated[
        str | None, typer.Option("--at", metavar="REV", help="As this revision showed it: an id, a number, main~3.")
    ] = None,
    last: Annotated[int | None, typer.Option("--last", "-n", metavar="N", min=0, help="Only the newest N.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Fold nothing: whole instructions, arguments, results.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="The whole log as stored: every entry, of all branches.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Read a conversation as a transcript.

    It is what a branch shows a model now. Results of tools stand beneath their calls, shortened; summaries say how
    many messages they stand for. On a terminal Markdown is drawn. Times are in UTC.
    """
    if raw and at is not None:
        raise typer.BadParameter("--raw is the whole log, so there is no --at for it")
    with reading(chosen(store)) as opened:
        on = opened.log(log, branch)
        if not on.seq():
            raise UnknownLogError(log)
        view = on.view(None if at is None else found_revision(opened, log, at), limit=0)
        messages = _raw(on, last) if raw else _shown(on, view, last)
        if as_json:
            for message in messages:
                show_json(json_line(log, message))
        elif raw:
            for message in messages:
                tell(_stored(message))
        else:
            where = f"branch {branch}" if at is None else f"revision {view.revision}"
            _head(log, where, view.size)
            _transcribe(opened, log, messages, full=full)


def _shown(log: MessageLog, view: View, last: int | None) -> Iterator[StoredMessage]:
    """What a view shows, page by page."""
    for start in range(0 if last is None else max(0, view.size - last), view.size, PAGE):
        yield from log.view(view.revision, start, PAGE).messages


def _raw(log: MessageLog, last: int | None) -> Iterable[StoredMessage]:
    return log.raw.iterate() if last is None else log.raw.last(last)


def _head(log: str, where: str, size: int) -> None:
    from rich.text import Text

    from msglog.cli.words import many

    put(Text.assemble((exact_line(log), "bold"), (f"  {exact_line(where)}, {many(size, 'message')}", "dim")))


def _transcribe(store: Store, log: str, messages: Iterable[StoredMessage], *, full: bool) -> None:
    from rich.text import Text

    from msglog.cli.sources import originals
    from msglog.cli.transcript import Transcript, turns

    transcript = Transcript(lambda summary: originals(store, log, summary), full)
    day = None
    for turn in turns(messages):
        at = cast("StoredMessage", turn.message).at
        if at.date() != day:
            day = at.date()
            put("", Text(f"{day:%A, %d %B %Y}", style="dim"))
        put("", transcript.drawn(turn))


def _stored(message: StoredMessage) -> str:
    """An entry as it is stored, in words: nothing drawn, nothing shortened."""
    facts = [str(message.seq), instant(message.at), message.role, message.kind, message.entry_id]
    lines = ["  ".join(exact_line(fact) for fact in (*facts, *(["redacted"] if message.redacted else [])))]
    data = message.message.to_json()
    for name, value in (("", data.pop("content")), *data.items(), *_beside(message)):
        if name == "role" or value is None:
            continue
        words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(visible(f"{name}: {words}" if name else words))
    return "\n    ".join("\n".join(lines).split("\n")) + "\n"


def _beside(message: StoredMessage) -> list[tuple[str, object]]:
    meta = None if message.meta is None else message.meta.to_json()
    return [("meta", meta), ("sources", list(message.sources) or None)]
