"""`logs`, `describe`: what conversations there are, and what people say of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from msglog.cli.app import command
from msglog.cli.opening import chosen, reading, writing
from msglog.cli.options import AsJson, LogName, StoreFile, WholeStore
from msglog.cli.output import instant, say, show, show_json

if TYPE_CHECKING:
    from msglog.storage.catalog import LogInfo


@command("logs", "msglog logs", "msglog logs agent.db --tag refund --order entries", "msglog logs --prefix customer-")
def logs(
    whole_store: WholeStore = None,
    *,
    prefix: Annotated[str, typer.Option("--prefix", metavar="TEXT", help="Whose names begin with this.")] = "",
    tag: Annotated[str | None, typer.Option("--tag", metavar="TAG", help="That have this tag.")] = None,
    order: Annotated[
        Literal["activity", "name", "entries"],
        typer.Option("--order", metavar="ORDER", help="activity, name or entries."),
    ] = "activity",
    last: Annotated[int | None, typer.Option("--last", "-n", metavar="N", min=0, help="Only the last N.")] = None,
    sizes: Annotated[bool, typer.Option("--sizes", help="With their bytes: reads all messages.")] = False,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """List the conversations of a store, the most recent one last."""
    with reading(chosen(store, whole_store)) as opened:
        found = opened.logs(prefix=prefix, tag=tag, order=order, sizes=sizes)
    if last is not None:
        found = found[-last:] if last else []
    if as_json:
        for info in found:
            show_json(info)
    elif found:
        _table(found, sizes=sizes)
    else:
        say("no such log" if prefix or tag or last is not None else "no logs yet; a log exists from its first append")


def _table(found: list[LogInfo], *, sizes: bool) -> None:
    from rich.text import Text

    from msglog.cli.tables import Column, table
    from msglog.cli.visible import one_line
    from msglog.cli.words import size

    columns = [
        Column("log"),
        Column("messages", right=True),
        Column("branches", right=True, spare=3),
        *([Column("size", right=True, spare=2)] if sizes else []),
        Column("last message", spare=1, style="dim"),
        *([Column("title", spare=4)] if any(info.title or info.tags for info in found) else []),
    ]
    rows: list[list[str | Text]] = []
    for info in found:
        title = Text(one_line(info.title or "", 60))
        for tag in info.tags:
            title.append(f"{'  ' if title else ''}#{one_line(tag, 30)}", "cyan")
        rows.append(
            [
                info.name,
                f"{info.entries:,}",
                f"{info.branches:,}",
                *([size(info.bytes or 0)] if sizes else []),
                f"{info.last_at:%Y-%m-%d %H:%M}" if info.last_at else "",
                *([title] if len(columns) > 4 + sizes else []),
            ]
        )
    show(table(columns, rows))


@command(
    "describe",
    "msglog describe customer-123",
    "msglog describe customer-123 --title 'The late train' --tag refund --meta priority=2",
)
def describe(
    log: LogName,
    *,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Give it a title; '' for none.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Add a tag; may be repeated.")] = None,
    untag: Annotated[list[str] | None, typer.Option("--untag", metavar="TAG", help="Take a tag away.")] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option("--meta", metavar="KEY=VALUE", help="Set metadata, to JSON or else text."),
    ] = None,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Tell of a log, or change its title, tags and metadata."""
    path = chosen(store)
    changes: dict[str, Any] = {}
    if title is not None:
        changes["title"] = title or None
    if meta:
        changes["meta"] = dict(_pair(given) for given in meta)
    if not (changes or tag or untag):
        with reading(path) as opened:
            info = opened.describe(log, sizes=True)
    else:
        with writing(path) as opened:
            if tag or untag:
                kept = [one for one in opened.describe(log).tags if one not in (untag or ())]
                changes["tags"] = list(dict.fromkeys([*kept, *(tag or ())]))
            info = opened.describe(log, sizes=True, **changes)
    if as_json:
        show_json(info)
    else:
        _facts(info)


def _pair(given: str) -> tuple[str, Any]:
    key, equals, value = given.partition("=")
    if not key or not equals:
        raise typer.BadParameter("metadata is given as KEY=VALUE")
    if not value:
        return key, None
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _facts(info: LogInfo) -> None:
    from msglog.cli.tables import facts
    from msglog.cli.words import size

    pairs = [
        ("log", info.name),
        ("title", info.title or ""),
        ("tags", ", ".join(info.tags)),
        ("metadata", json.dumps(info.meta, ensure_ascii=False) if info.meta else ""),
        ("messages", f"{info.entries:,}"),
        ("revisions", f"{info.revisions:,}"),
        ("branches", f"{info.branches:,}"),
        ("size", size(info.bytes or 0)),
        ("first made", instant(info.created_at)),
        ("last message", instant(info.last_at) if info.last_at else ""),
    ]
    show(facts([pair for pair in pairs if pair[1]]))
