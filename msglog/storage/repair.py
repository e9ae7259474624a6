"""`repair`: what can be mended of a file without inventing anything, in one transaction; a dry run takes it back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from msglog.storage import integrity, objects
from msglog.storage import statements as sql
from msglog.storage.engine import Connection, DriverError
from msglog.storage.hash_mending import mend_hashes
from msglog.storage.ledger import now_us
from msglog.storage.mending import LogMender, Mend
from msglog.storage.report import Problem, Report
from msglog.storage.requests import Repair
from msglog.storage.search_index import blocks, drop, has_fts5
from msglog.storage.transaction import Transaction

REPAIRED = "repaired"
"""The mark that says when the store was last mended."""


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What `repair` mended, or would in a dry run, and the problems that stay; `backup` is the copy made before.

    Where nothing could be mended there is no backup. `truncated` says that there were too many problems to mend
    rows: restore a backup then.
    """

    dry_run: bool
    mended: tuple[Mend, ...]
    problems: tuple[Problem, ...]
    truncated: bool = False
    backup: str | None = None

    @property
    def ok(self) -> bool:
        """Whether `verify` finds nothing wrong any more."""
        return not self.problems


def repair(transaction: Transaction, request: Repair) -> RepairReport:
    """Mend what can be, and look again."""
    execute = transaction.execute
    execute("SAVEPOINT repair")
    keep, wrote = False, transaction.wrote
    try:
        found = integrity.verify(transaction.connection, on_disk_error="raise")
        mended = _mend(transaction, found)
        left = integrity.verify(transaction.connection, on_disk_error="raise") if mended else found
        keep = bool(mended) and not request.dry_run
        if not keep:
            execute("ROLLBACK TO repair")
        execute("RELEASE repair")
    except BaseException:
        with suppress(DriverError):  # a disk that fails ends the transaction, savepoint and all
            execute("ROLLBACK TO repair")
            execute("RELEASE repair")
        raise
    finally:
        transaction.ledger.forget()
        if not keep:
            transaction.wrote = wrote
    if keep:
        at = now_us()
        execute(sql.SET_MARK, (REPAIRED, at))
        transaction.wrote_what("SELECT 1 FROM marks WHERE name = ? AND value = ?", REPAIRED, at)
    return RepairReport(request.dry_run, tuple(mended), tuple(left.problems), found.truncated)


def _mend(transaction: Transaction, found: Report) -> list[Mend]:
    return list(_mended(transaction, found))


def _mended(transaction: Transaction, found: Report) -> Iterator[Mend]:
    connection = transaction.connection
    yield from _mend_search(connection, found)
    yield from _mend_indexes(connection, found)
    missing = objects.missing(connection)
    of_rows = [] if found.truncated else [p for p in found.problems if p.log is not None]
    if not missing and not of_rows:
        return
    objects.drop(connection, [name for name in objects.wanted() if name.startswith("TRIGGER")] + missing)
    for log in dict.fromkeys(p.log for p in of_rows):
        if log is not None:
            yield from _mend_log(transaction, log, [p for p in of_rows if p.log == log])
    objects.create(connection)
    for name in missing:
        yield Mend(None, "object", name, "created again")


def _mend_log(transaction: Transaction, log: str, problems: list[Problem]) -> Iterator[Mend]:
    connection = transaction.connection
    log_id = connection.execute(sql.LOG, (log,))[0][0]
    hashes = [
        Mend(log, kind, key, "its hash set again, which what comes after it proves")
        for kind, key in mend_hashes(connection, log_id, problems)
    ]
    yield from hashes
    if hashes:
        problems = integrity.verify_rows(connection, log).problems
    yield from LogMender(transaction, log, problems).mend()


def _mend_search(connection: Connection, found: Report) -> Iterator[Mend]:
    """Take away what is damaged of the full-text index: the next search makes it anew."""
    wrong = {p.key for p in found.problems if p.kind == "search"}
    for block in blocks(connection.execute) if has_fts5(connection) else ():  # without it nobody can tell
        table = f"search_{block}"
        if table in wrong or not _is_sound(connection, table):
            drop(connection.execute, block)
            yield Mend(None, "search", table, "taken away; the next search makes it anew")


def _is_sound(connection: Connection, table: str) -> bool:
    try:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    except DriverError as error:
        if error.primary not in ("SQLITE_CORRUPT", "SQLITE_ERROR"):
            raise
        return False
    return True


def _mend_indexes(connection: Connection, found: Report) -> Iterator[Mend]:
    """Make SQLite's indexes anew from the tables, where that helps."""
    before = [p for p in found.problems if p.kind == "file"]
    if not before:
        return
    connection.execute("SAVEPOINT reindex")
    try:
        connection.execute("REINDEX")
        left = [line for (line,) in connection.execute("PRAGMA integrity_check(100)") if line != "ok"]
    except DriverError:
        left = [p.what for p in before]
    helped = len(left) < len(before)
    if not helped:
        connection.execute("ROLLBACK TO reindex")
    connection.execute("RELEASE reindex")
    if helped:
        yield Mend(None, "file", "", "its indexes made anew from the tables")
