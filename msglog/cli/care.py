"""`verify`, `backup`: whether a store is whole, and how it is kept so."""

from __future__ import annotations

from typing import Annotated

import typer

from msglog.cli.app import command, no
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, OneLog, StoreFile, WholeStore
from msglog.cli.output import say, show, show_json
from msglog.cli.visible import exact_line


@command("verify", "msglog verify", "msglog verify agent.db --log customer-123")
def verify(
    whole_store: WholeStore = None, *, log: OneLog = None, store: StoreFile = None, as_json: AsJson = False
) -> None:
    """Walk every hash and recompute every view. Exit code 1 where something does not add up."""
    with reading(chosen(store, whole_store)) as opened:
        report = opened.verify(log)
    if as_json:
        show_json(report, ok=report.ok)
    else:
        for problem in report.problems:
            show(exact_line(str(problem)))
        if report.truncated:
            show("… and more")
        looked = f"{report.logs:,} logs, {report.entries:,} messages, {report.revisions:,} revisions"
        say(f"{'all is well' if report.ok else 'PROBLEMS FOUND'}: {looked}")
    if not report.ok:
        no()


@command("backup", "msglog backup agent-monday.db")
def backup(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The file to make; nothing may be there yet.")],
    whole_store: WholeStore = None,
    *,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Copy a store as it is at one moment, while writers go on. Never copy the file itself."""
    path = chosen(store, whole_store)
    with reading(path) as opened:
        opened.backup(target)
    if as_json:
        show_json({"store": path, "backup": target})
    else:
        say(f"{target} holds what {path} held")
