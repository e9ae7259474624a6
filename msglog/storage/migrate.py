"""Opening a file: what it is, and what it becomes. A current one is recognised without importing alembic."""

from __future__ import annotations

import io
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TypeVar

from msglog.errors import NewerStoreError, NotAStoreError, OlderStoreError, StoreBusyError
from msglog.storage.engine import Connection, DriverError, explained
from msglog.storage.statements import TABLES
from msglog.storage.turnstile import Turnstile
from msglog.storage.version import APPLICATION_ID, VERSION

T = TypeVar("T")

KNOWN = ("0001",)
"""Every version that this release can migrate from, oldest first; the last is the current one."""

_COLUMNS = (
    "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c"
    " WHERE m.type = 'table' AND m.rootpage > 0"  # a virtual table may be one that this library cannot read
)


def version_of(connection: Connection, path: str) -> str | None:
    """The schema version of a file; None for an empty one.

    Raises `NotAStoreError` for anything that is no msglog store, and `NewerStoreError`.
    """
    application, objects = connection.execute(
        "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"
    )[0]
    if application == 0 and objects == 0:
        return None
    if application != APPLICATION_ID:
        raise NotAStoreError(path, "it is a database of another application")
    try:
        version = str(connection.execute("SELECT version_num FROM alembic_version")[0][0])
    except (DriverError, IndexError) as error:
        if isinstance(error, DriverError) and error.primary != "SQLITE_ERROR":
            raise
        raise NotAStoreError(path, "it has no schema version") from error
    if version not in KNOWN:
        raise NewerStoreError(path, version, VERSION)
    if version == VERSION:
        _check_columns(connection, path)
    return version


def _check_columns(connection: Connection, path: str) -> None:
    found = {(table, column) for table, column in connection.execute(_COLUMNS)}
    for table, columns in TABLES.items():
        for column in columns:
            if (table, column) not in found:
                raise NotAStoreError(path, f"it lacks the column {table}.{column}")


def prepare(connection: Connection, path: str, *, read_only: bool, create: bool, patience: float) -> None:
    """Make a file current: migrate an older one, create the schema in an empty one if asked to, refuse all others."""
    deadline = time.monotonic() + patience
    version = patiently(lambda: version_of(connection, path), path, patience, deadline)
    if version == VERSION:
        return
    if version is None and (read_only or not create):
        raise NotAStoreError(path, "it is empty")
    if version is not None and read_only:
        raise OlderStoreError(path, version, VERSION)
    turnstile = Turnstile(path)
    try:
        if not turnstile.enter(deadline):
            raise StoreBusyError(path, patience)
        patiently(lambda: _upgrade(connection, path), path, patience, deadline)
    finally:
        turnstile.close()


def patiently(attempt: Callable[[], T], path: str, patience: float, deadline: float) -> T:
    """Try again while the file is locked, until the deadline."""
    while True:
        try:
            return attempt()
        except DriverError as error:
            if error.primary not in ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"):
                raise explained(error, path) from error
            if time.monotonic() >= deadline:
                raise StoreBusyError(path, patience) from error
        time.sleep(0.002)


def _upgrade(connection: Connection, path: str) -> None:
    connection.execute("BEGIN EXCLUSIVE")
    try:
        version = version_of(connection, path)  # another process may have come first
        if version != VERSION:
            _change_tables(connection, version)
            _make_objects(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(DriverError):  # what failed may have ended the transaction already
            connection.execute("ROLLBACK")
        raise


def _change_tables(connection: Connection, version: str | None) -> None:
    for name, kind in connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('trigger', 'view') AND sql LIKE 'CREATE %'"
    ):
        if name in _own_objects():
            connection.execute(f'DROP {kind} "{name}"')
    for statement in migration_statements(version):
        connection.execute(statement)


def _make_objects(connection: Connection) -> None:
    for statement in object_statements():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def migrations_path() -> Path:
    """Where the migrations lie: in the wheel within the package, in a checkout beside it."""
    package = Path(__file__).resolve().parents[1]
    shipped = package / "_migrations"
    return shipped if shipped.is_dir() else package.parent / "migrations"


def migration_statements(version: str | None) -> list[str]:
    """The statements that alembic would run to bring a schema from `version` to the current one."""
    from alembic.config import Config  # noqa: PLC0415 only a file that is not current needs it
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(migrations_path()).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    output = io.StringIO()

    def upgrade(revision: object, _context: object) -> object:
        return script._upgrade_revs(VERSION, revision)  # type: ignore[arg-type]  # noqa: SLF001 as alembic's own command does

    with EnvironmentContext(
        config, script, fn=upgrade, as_sql=True, starting_rev=version, destination_rev=VERSION, output_buffer=output
    ):
        script.run_env()
    return [statement for statement in _split(output.getvalue()) if statement not in ("BEGIN;", "COMMIT;")]


def object_statements() -> list[str]:
    """The statements that create the triggers and views."""
    return list(_split(resources.files("msglog.storage").joinpath("objects.sql").read_text("utf-8")))


def _own_objects() -> set[str]:
    return {statement.split()[2] for statement in object_statements()}


def _split(script: str) -> Iterator[str]:
    """The statements of a script, without comments between them."""
    statement = ""
    for line in script.splitlines():
        if not statement and (not line.strip() or line.startswith("--")):
            continue
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
