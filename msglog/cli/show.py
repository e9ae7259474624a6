"""`show`: a conversation as a transcript."""

from __future__ import annotations

from typing import Annotated

import typer

from msglog.cli.app import command
from msglog.cli.messages import message_json
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, BranchName, LogName, StoreFile
from msglog.cli.output import show as put
from msglog.cli.output import show_json
from msglog.errors import UnknownLogError


@command("show", "msglog show customer-123", "msglog show customer-123 --last 5")
def show(
    log: LogName,
    *,
    branch: BranchName = "main",
    last: Annotated[
        int | None, typer.Option("--last", "-n", metavar="N", min=0, help="Only the newest N messages.")
    ] = None,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Read a conversation as a transcript: what a branch shows now."""
    with reading(chosen(store)) as opened:
        on = opened.log(log, branch)
        if not on.seq():
            raise UnknownLogError(log)
        messages = on.all() if last is None else on.last(last)
    for message in messages:
        if as_json:
            show_json(message_json(log, message))
        else:
            put(f"{message.seq} {message.role}: {message.text}\n")
