"""`search`: messages by their words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from msglog.cli.app import command, no
from msglog.cli.messages import json_line
from msglog.cli.opening import chosen, searching
from msglog.cli.options import AsJson, OneLog, RoleName, StoreFile
from msglog.cli.output import say, show, show_json
from msglog.cli.visible import exact_line

if TYPE_CHECKING:
    from rich.text import Text

    from msglog.search import Fragment, Hit

_AGO = re.compile(r"(\d{1,6})([mhdw])\Z", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@command(
    "search",
    "msglog search cancel flight",
    "msglog search '\"cancel my flight\"' --role user --since 7d",
    "msglog search refund* --log customer-123 --branch main",
)
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help='All of them; "a phrase"; beg* for a beginning.')],
    *,
    log: OneLog = None,
    branch: Annotated[
        str | None, typer.Option("--branch", "-b", metavar="NAME", help="Only what this branch of --log shows now.")
    ] = None,
    role: Annotated[RoleName | None, typer.Option("--role", metavar="ROLE", help="Said by this role.")] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="From then on: a date, a time, or 90m, 12h, 7d, 2w ago."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=0, help="At most so many.")] = 20,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Find messages by their words, the newest first.

    The words are looked for in texts, calls of tools and their results. Case and accents make no difference, and no
    input is an error. Everything that was ever appended is searched, or with --branch what a model is shown now.
    Times are in UTC. Exit code 1 where nothing is found.
    """
    if branch is not None and log is None:
        raise typer.BadParameter("--branch is one of a log: name it with --log")
    wanted, start = " ".join(words), None if since is None else _moment(since)
    with searching(chosen(store)) as opened:
        if branch is not None and log is not None:
            found = opened.log(log, branch).search(wanted, role=role, since=start, limit=limit)
        else:
            found = opened.search(wanted, log=log, role=role, since=start, limit=limit)
    for number, hit in enumerate(found):
        if as_json:
            show_json({**json_line(hit.log, hit.message), "context": list(hit.context)})
        else:
            _print(hit, apart=number > 0)
    if not found:
        if not as_json:
            say("nothing found")
        no()


def _moment(given: str) -> datetime:
    """A time, in UTC where it names no zone; or so long ago."""
    try:
        if ago := _AGO.match(given):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        moment = datetime.fromisoformat(given)
    except (ValueError, OverflowError):
        raise typer.BadParameter("--since takes a date or a time in ISO 8601, or 90m, 12h, 7d, 2w") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _print(hit: Hit, *, apart: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from msglog.cli.transcript import ROLES

    message = hit.message
    head = Text.assemble((exact_line(hit.log), "bold"), (f"  {message.seq}", "dim"), "  ")
    head.append(message.role, ROLES[message.role])
    head.append(f"{'  summary' if message.kind == 'summary' else ''}  {message.at:%Y-%m-%d %H:%M}", "dim")
    show(*([""] if apart else []), head, Padding(highlighted(hit.context), (0, 0, 0, 4), expand=False))


def highlighted(context: tuple[Fragment, ...]) -> Text:
    """A context on one line, what matches in bold."""
    from rich.text import Text

    from msglog.cli.visible import visible

    text = Text()
    for fragment in context:
        words = re.sub(r"\s+", " ", visible(fragment.text))
        text.append(words, "bold yellow" if fragment.matched else "")
    return text
