"""`redact`, `purge`: what takes content away for good."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from msglog.cli.app import command
from msglog.cli.opening import chosen, reading, writing
from msglog.cli.options import AsJson, LogName, StoreFile
from msglog.cli.output import say, show_json, tell
from msglog.cli.words import many

_LATER = "; a reader still holds a copy in the write-ahead log, the next checkpoint takes it away"


@command("redact", "msglog redact customer-123 17 --reason 'a card number'")
def redact(
    log: LogName,
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="The seq of a message, or its id.")],
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is stored.")] = "",
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Take the content of one message away for good. Its place, role and call ids stay; summaries over it are named."""
    with writing(chosen(store)) as opened:
        on = opened.log(log)
        is_seq = entry.isascii() and entry.isdigit() and len(entry) < 19 and on.find(entry) is None
        named = int(entry) if is_seq else entry
        already = on.get(named).redacted
        receipt = on.redact(named, reason)
    if as_json:
        show_json(receipt, log=log)
        return
    done = "was redacted already" if already else "is redacted"
    tell(f"message {receipt.seq} of {log!r} {done}{'' if receipt.complete else _LATER}")
    if receipt.summaries:
        tell(f"summaries that may still tell of it: {', '.join(receipt.summaries)}")


@command("purge", "msglog purge customer-123", "msglog purge customer-123 --yes")
def purge(
    log: LogName,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Take a whole log away for good.

    All of its branches go, and its name. It asks first.
    """
    path = chosen(store)
    if not yes:
        with reading(path) as opened:
            info = opened.describe(log)
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise typer.BadParameter("nobody is here to be asked; --yes purges without asking")
        what = f"{many(info.entries, 'message')}, {many(info.branches, 'branch', 'branches')}"
        say(f"log {log!r}: {what}. This cannot be undone.")
        if not typer.confirm("Purge it?", err=True):
            say("nothing was done")
            raise typer.Exit(1)
    with writing(path) as opened:
        receipt = opened.purge(log)
    if as_json:
        show_json(receipt)
    else:
        are = "is" if receipt.entries == 1 else "are"
        tell(f"{many(receipt.entries, 'message')} of {log!r} {are} gone{'' if receipt.complete else _LATER}")
