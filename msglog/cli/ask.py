"""`sql`, `schema`, `stats`: questions to the file."""

from __future__ import annotations

from typing import Annotated

import typer

from msglog.cli.app import command
from msglog.cli.opening import chosen, reading
from msglog.cli.options import AsJson, StoreFile, WholeStore
from msglog.cli.output import show, show_json

VIEWS = {
    "active_entries": "what a branch shows now: one row for each place; ask for one log and branch",
    "revision_entries": "what any revision showed; ask for one log and revision",
    "lineage": "every revision: its parent, what made it, the branches whose head it is",
    "log_stats": "every log: how much there is in it, and since when",
}
"""The views for people. Their columns do not change."""

TABLES = {
    "logs": "a log; a purged one has no name, only its receipt",
    "entries": "every message ever stored; n counts over the whole store, times are microseconds since 1970",
    "revisions": "every revision: its parent, its operation, and its sequence as spans of seqs",
    "chunks": "spans that revisions share",
    "branches": "the head of each branch",
    "marks": "what the store has to remember of itself",
    "alembic_version": "the version of the tables",
}
"""The tables behind them, which a later release may change."""


@command("sql", "msglog sql 'SELECT role, count(*) FROM active_entries GROUP BY role'")
def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT, WITH, VALUES or EXPLAIN statement.")],
    whole_store: WholeStore = None,
    *,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Ask the store in SQL, read-only. `msglog schema` tells what can be asked."""
    with reading(chosen(store, whole_store)) as opened:
        rows = opened.sql(query)
    if as_json:
        for row in rows:
            show_json(row)
    elif rows:
        from msglog.cli.tables import Column, table

        numbers = {name for name in rows[0] if all(isinstance(row[name], (int, float, type(None))) for row in rows)}
        columns = [Column(name, right=name in numbers) for name in rows[0]]
        show(table(columns, [[_cell(value) for value in row.values()] for row in rows]))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value.hex() if isinstance(value, bytes) else str(value)


@command("schema", "msglog schema")
def schema(whole_store: WholeStore = None, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """List the views and tables that `msglog sql` can ask."""
    with reading(chosen(store, whole_store)) as opened:
        found = {
            name: [row["name"] for row in opened.sql("SELECT name FROM pragma_table_info(?)", (name,))]
            for name in (*VIEWS, *TABLES)
        }
    for kind, described in (("view", VIEWS), ("table", TABLES)):
        for name, about in described.items():
            if not found[name]:
                continue  # a table of another release
            if as_json:
                show_json({"name": name, "kind": kind, "about": about, "columns": found[name]})
            else:
                _describe(kind, name, about, found[name])


def _describe(kind: str, name: str, about: str, columns: list[str]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    show(
        Text.assemble((name, "bold"), "  ", (kind, "dim")),
        Padding(Text(about), (0, 0, 0, 2), expand=False),
        Padding(Text(", ".join(columns), style="cyan"), (0, 0, 1, 2), expand=False),
    )


@command("stats", "msglog stats")
def stats(whole_store: WholeStore = None, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """Tell how much a store holds, and how large its file is."""
    path = chosen(store, whole_store)
    with reading(path) as opened:
        found = opened.stats()
    if as_json:
        show_json(found, store=path)
        return
    from msglog.cli.tables import facts
    from msglog.cli.words import size

    log = f" and {size(found.wal_bytes)} in its write-ahead log" if found.wal_bytes else ""
    show(
        facts(
            [
                ("store", path),
                ("size", size(found.bytes) + log),
                ("logs", f"{found.logs:,}"),
                ("messages", f"{found.entries:,}"),
                ("revisions", f"{found.revisions:,}"),
            ]
        )
    )
