"""`verify`: whether a file still says what was committed to it."""

from __future__ import annotations

from typing import Literal

from msglog.errors import UnknownLogError
from msglog.storage import objects, search_check
from msglog.storage.engine import Connection, DriverError
from msglog.storage.log_check import LOG, Checked, LogCheck
from msglog.storage.report import Report


def verify(
    connection: Connection, log: str | None = None, *, on_disk_error: Literal["report", "raise"] = "report"
) -> Report:
    """Whether the rows, of one log or of all, the triggers and views, and the search index are as they must be.

    A disk that fails says nothing of what is on it: who is to act on the report has the `DriverError` raised.
    """
    report = verify_rows(connection, log, on_disk_error)
    if log is None:
        _check_objects(connection, report)
        if all(problem.kind in ("object", "search") for problem in report.problems):  # else it proves nothing
            for table, what in search_check.check(connection):
                report.add(None, "search", table, what)
    return report


def verify_rows(
    connection: Connection, log: str | None = None, on_disk_error: Literal["report", "raise"] = "report"
) -> Report:
    """Walk the chains of one log or of all, recompute every view, and compare counters and heads."""
    report = Report()
    try:
        if log is None:
            for (line,) in connection.execute("PRAGMA integrity_check(100)"):
                if line != "ok":
                    report.add(None, "search" if "FTS5" in line else "file", "", line)
        rows = connection.execute(
            f"SELECT {LOG} FROM logs WHERE purged_at IS NULL AND (?1 IS NULL OR name = ?1) ORDER BY id",
            (log,),
        )
        if log is not None and not rows:
            raise UnknownLogError(log)
        for row in rows:
            LogCheck(connection, report, row, Checked(0, row[1], -1)).run()
        if log is None:
            _check_strays(connection, report)
    except DriverError as error:
        if on_disk_error == "raise" and error.primary in ("SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CANTOPEN"):
            raise
        report.add(log, "file", "", f"SQLite cannot read on ({error.code})")
    return report


def verify_since(connection: Connection, log_id: int, since: Checked) -> Report:
    """Check what a log holds beyond what was checked before; not its branches, which belong to the whole."""
    report = Report()
    row = connection.execute(f"SELECT {LOG} FROM logs WHERE id = ?", (log_id,))[0]
    LogCheck(connection, report, row, since).walk()
    return report


def _check_objects(connection: Connection, report: Report) -> None:
    """The triggers, views and indexes, which belong to the store as its tables do."""
    for name in objects.missing(connection):
        report.add(None, "object", name, "it is missing, or another one")


def _check_strays(connection: Connection, report: Report) -> None:
    for table in ("entries", "revisions", "chunks", "branches"):
        rows = connection.execute(
            f"SELECT count(*) FROM {table} WHERE log_id NOT IN (SELECT id FROM logs WHERE purged_at IS NULL)"
        )
        if rows[0][0]:
            report.add(None, "table", table, f"{rows[0][0]} rows belong to no log")
    held, last, purged = connection.execute(
        "SELECT count(e.n), coalesce(max(e.n), p.n), p.n FROM (SELECT coalesce(max(purged_n), 0) AS n FROM logs) AS p"
        " LEFT JOIN entries AS e ON e.n > p.n"
    )[0]
    if last > purged and held != last - purged:
        report.add(None, "table", "entries", "the order of commits over the store (n) has gaps that no purge made")
