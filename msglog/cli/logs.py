"""`logs`: what conversations there are."""

from __future__ import annotations

from typing import Any

from msglog.cli.app import command
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, StoreFile, WholeStore
from msglog.cli.output import say, show, show_json


@command("logs", "msglog logs", "msglog logs agent.db --json")
def logs(whole_store: WholeStore = None, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """List the conversations of a store, the most recent one last."""
    with reading(chosen(store, whole_store)) as opened:
        found = opened.logs()
    if as_json:
        for info in found:
            show_json(_json(info))
        return
    if not found:
        say("no logs yet; a log exists from its first append")
        return
    from msglog.cli.tables import Column, table

    columns = (
        Column("log"),
        Column("messages", right=True),
        Column("branches", right=True, spare=2),
        Column("revisions", right=True, spare=3),
        Column("last message", spare=1, style="dim"),
    )
    rows = [
        (
            info.name,
            f"{info.entries:,}",
            f"{info.branches:,}",
            f"{info.revisions:,}",
            f"{info.last_at:%Y-%m-%d %H:%M}" if info.last_at else "",
        )
        for info in found
    ]
    show(table(columns, rows))


def _json(info: Any) -> dict[str, Any]:
    return {
        "log": info.name,
        "entries": info.entries,
        "revisions": info.revisions,
        "branches": info.branches,
        "createdAt": info.created_at,
        "lastAt": info.last_at,
    }
