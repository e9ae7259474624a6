"""What a schema holds beside its tables: triggers, views and indexes. They hold nothing that is not elsewhere."""

from __future__ import annotations

from msglog.storage.engine import Connection
from msglog.storage.migrate import object_statements
from msglog.storage.statements import INDEXES


def wanted() -> dict[str, str]:
    """The statement that makes each, by its kind and name, such as `TRIGGER entries_delete`."""
    statements = [*INDEXES, *(statement.rstrip(";") for statement in object_statements())]
    return {" ".join(statement.split()[1:3]): statement for statement in statements}


def missing(connection: Connection) -> list[str]:
    """The kinds and names of those that are not there as they should be."""
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    return [name for name, statement in wanted().items() if statement not in found]


def strange_triggers(connection: Connection) -> list[tuple[str, str]]:
    """Triggers that are not of this schema, each with its table."""
    known = {name.split()[1] for name in wanted()}
    rows = connection.execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
    return [(name, table) for name, table in rows if name not in known]


def drop(connection: Connection, names: list[str]) -> None:
    """Take away those of the names that are there, in whatever form."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    for kind, name in (each.split() for each in dict.fromkeys(names)):
        if name in there:
            connection.execute(f'DROP {kind} "{name}"')


def create(connection: Connection) -> None:
    """Make all that are missing."""
    statements = wanted()
    for name in missing(connection):
        connection.execute(statements[name])
