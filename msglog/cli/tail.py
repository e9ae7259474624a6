"""`tail`: the end of a conversation, and what comes to it from any process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from msglog.cli.app import command
from msglog.cli.messages import json_line
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, BranchName, LogName, StoreFile
from msglog.cli.output import show, show_json
from msglog.errors import UnknownLogError

if TYPE_CHECKING:
    from msglog.message import StoredMessage
    from msglog.sync import MessageLog, RawLog


@command(
    "tail",
    "msglog tail customer-123 -f",
    "msglog tail customer-123 -f --after 41 --json",
)
def tail(
    log: LogName,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until interrupted.")] = False,
    last: Annotated[int, typer.Option("--last", "-n", metavar="N", min=0, help="Begin with the newest N.")] = 10,
    after: Annotated[int | None, typer.Option("--after", metavar="SEQ", min=0, help="Begin after this seq.")] = None,
    branch: BranchName = "main",
    every: Annotated[bool, typer.Option("--all", help="Of all branches.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Print the newest messages, and with -f those that come.

    They are those that a branch brought in, one a line. They may come from any process. The number before each is its
    seq: after an end of any kind, --after takes up there. Each line is handed on at once.
    """
    with reading(chosen(store)) as opened:
        on = opened.log(log, branch)
        if not follow and not on.seq():
            raise UnknownLogError(log)
        from msglog.cli.lines import message_line

        source = on.raw if every else on
        start = _before_last(source, on.seq(), last) if after is None else after
        for message in source.follow(start) if follow else _pages(source, start):
            if as_json:
                show_json(json_line(log, message))
            else:
                show(message_line(message))


def _pages(source: MessageLog | RawLog, after: int) -> Iterator[StoredMessage]:
    while page := source.read(after, 200):
        yield from page
        after = page[-1].seq


def _before_last(source: MessageLog | RawLog, end: int, wanted: int) -> int:
    """The seq after which the newest `wanted` messages come, looked for from the end."""
    if not wanted:
        return end
    start, reach = end, wanted
    while start:
        start, reach = max(0, end - reach), reach * 4
        seqs = [message.seq for message in _pages(source, start)]
        if len(seqs) >= wanted:
            return seqs[-wanted] - 1
    return 0
