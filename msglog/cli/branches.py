"""`branches`, `fork`, `rewind`: where a conversation's branches are, and how they are moved."""

from __future__ import annotations

from typing import Annotated

import typer

from msglog.cli.app import command
from msglog.cli.opening import chosen, reading, writing
from msglog.cli.options import AsJson, BranchName, LogName, Revision, StoreFile
from msglog.cli.output import show, show_json, tell
from msglog.cli.revisions import found_revision
from msglog.cli.words import many
from msglog.errors import UnknownLogError


@command("branches", "msglog branches customer-123")
def branches(log: LogName, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """List the branches of a log, oldest first."""
    with reading(chosen(store)) as opened:
        found = opened.log(log).branches()
        if not found:
            raise UnknownLogError(log)
        counts = [
            (opened.log(log, branch.name).count(), opened.log(log, branch.name).history(last=0).size)
            for branch in found
        ]
    if as_json:
        for branch, (count, active) in zip(found, counts, strict=True):
            show_json(branch, messages=active, appended=count)
        return
    from msglog.cli.tables import Column, table

    columns = (
        Column("branch"),
        Column("messages", right=True),
        Column("head", style="dim"),
        Column("forked from", spare=1, style="dim"),
        Column("made", spare=2, style="dim"),
    )
    rows = [
        (branch.name, f"{active:,}", branch.head, branch.forked_from or "", f"{branch.created_at:%Y-%m-%d %H:%M}")
        for branch, (_, active) in zip(found, counts, strict=True)
    ]
    show(table(columns, rows))


@command("fork", "msglog fork customer-123 what-if", "msglog fork customer-123 what-if --at 12")
def fork(
    log: LogName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the new branch.")],
    *,
    branch: BranchName = "main",
    at: Annotated[
        str | None, typer.Option("--at", metavar="REV", help="From this revision, not from the branch's head.")
    ] = None,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Make a new branch of a log. Both share everything up to there, and nothing after it."""
    with writing(chosen(store)) as opened:
        revision = None if at is None else found_revision(opened, log, at)
        made = opened.log(log, branch).fork(name, revision)
        head = made.head()
    if as_json:
        show_json({"log": log, "branch": name, "head": head})
    else:
        tell(f"branch {name!r} of {log!r} is at {head}")


@command("rewind", "msglog rewind customer-123 main~3")
def rewind(
    log: LogName,
    revision: Revision,
    *,
    branch: BranchName = "main",
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Show again what a revision showed.

    This is a new revision of the branch. Nothing is lost by it: what the branch showed before stays reachable.
    """
    with writing(chosen(store)) as opened:
        on = opened.log(log, branch)
        before = on.head()
        head = on.rewind(found_revision(opened, log, revision))
        shown = on.history(last=0).size
    if as_json:
        show_json({"log": log, "branch": branch, "head": head, "before": before, "messages": shown})
    else:
        tell(f"branch {branch!r} of {log!r} shows {many(shown, 'message')} again; what it showed before is {before}")
