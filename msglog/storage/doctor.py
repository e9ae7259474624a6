"""`doctor`: what is unsafe, or soon will be, about a store, its library and the place where it lies.

It looks around the content, which is for `verify`. The file itself is never opened here but through SQLite.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from msglog.codec import FrozenDict
from msglog.errors import MsgLogError
from msglog.storage import catalog, library, objects, surroundings, turnstile
from msglog.storage.catalog import LogInfo
from msglog.storage.engine import Connection
from msglog.storage.erasure import ERASURE, IN_FILE
from msglog.storage.file import StoreFile
from msglog.storage.findings import Finding, error, ok, warning
from msglog.storage.migrate import version_of
from msglog.storage.requests import Checkpointed
from msglog.storage.rows import moment
from msglog.storage.search_index import has_fts5, lacking
from msglog.storage.surroundings import FileState
from msglog.storage.upkeep import WAL_BYTES

MOST_WAL_BYTES = 8 * WAL_BYTES
"""A write-ahead log of this size has outgrown what the writer's checkpoints keep it to."""

DAYS = 30
"""How long a failure of the disk is worth a word."""


@dataclass(frozen=True, slots=True)
class Content:
    """What the file says of itself."""

    journal_mode: str
    page_size: int
    pages: int
    free_pages: int
    schema_version: str | None
    compile_options: tuple[str, ...]
    marks: FrozenDict
    unindexed: int | None  # entries that the search index does not hold yet; None without FTS5
    logs: tuple[LogInfo, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A store, its library and its surroundings; `findings` say what is wrong with them, and what to do.

    `content` is None where the file could not be read, `checkpoint` where this store may not write, and
    `processes` (other ones that have the file open, as far as it shows) and `file_system` where the system
    does not tell. Sizes are bytes.
    """

    path: str
    library: str
    version: str
    synchronous: str
    files: tuple[FileState, ...]
    file_system: str | None
    free_bytes: int
    processes: tuple[int, ...] | None
    checkpoint: Checkpointed | None
    content: Content | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong: no warning, no error."""
        return all(finding.severity == "ok" for finding in self.findings)


def diagnose(file: StoreFile, checkpoint: Checkpointed | MsgLogError | None, patience: float) -> Diagnosis:
    """Look at everything; `checkpoint` is what a passive one came to, None where none was possible. Blocks."""
    path = file.path
    findings: list[Finding] = []
    content: Content | None = None
    try:
        content = file.read(lambda connection: _content(connection, path), patience)
    except MsgLogError as problem:
        findings.append(error("the content", str(problem), "See what verify() says, and repair() or a backup"))
    found = surroundings.files(path)
    kind = surroundings.file_system(path)
    others = surroundings.processes(path)
    free = surroundings.free_bytes(path)
    options = () if content is None else content.compile_options
    turns = turnstile.fcntl is not None
    findings += library.examine(file.driver.name, file.driver.version, options, takes_turns=turns)
    findings += surroundings.examine_files(path, found, file.identity)
    findings += surroundings.examine_copies(path)
    findings.append(surroundings.examine_file_system(kind))
    findings.append(surroundings.examine_space(sum(each.bytes for each in found), free))
    findings += _write_ahead_log(path, found, checkpoint, others)
    findings += _writer(file)
    if content is not None:
        findings += _examine_content(content)
        findings += file.read(lambda connection: list(_objects(connection)), patience)
    return Diagnosis(
        path,
        file.driver.name,
        ".".join(map(str, file.driver.version)),
        "full" if file.writer.full else "normal",
        tuple(found),
        kind,
        free,
        None if others is None else tuple(others),
        checkpoint if isinstance(checkpoint, Checkpointed) else None,
        content,
        tuple(findings),
    )


def _content(connection: Connection, path: str) -> Content:
    def pragma(name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}")[0][0])

    return Content(
        journal_mode=str(connection.execute("PRAGMA journal_mode")[0][0]),
        page_size=pragma("page_size"),
        pages=pragma("page_count"),
        free_pages=pragma("freelist_count"),
        schema_version=version_of(connection, path),
        compile_options=tuple(option for (option,) in connection.execute("PRAGMA compile_options")),
        marks=FrozenDict(connection.execute("SELECT name, value FROM marks")),
        unindexed=lacking(connection) if has_fts5(connection) else None,
        logs=tuple(catalog.logs(connection, path, "name", sizes=True)),
    )


def _write_ahead_log(
    path: str, found: list[FileState], checkpoint: Checkpointed | MsgLogError | None, others: list[int] | None
) -> Iterator[Finding]:
    about = "the write-ahead log"
    size = next((each.bytes for each in found if each.path == f"{path}-wal"), 0)
    if isinstance(checkpoint, MsgLogError):
        yield error(about, f"it cannot be brought into the file: {checkpoint}", "Mend that; until then it grows")
        return
    held = 0 if checkpoint is None else max(0, checkpoint.frames - checkpoint.moved)
    by = f"; other processes with the file open: {', '.join(map(str, others))}" if others else ""
    if held and size > WAL_BYTES:
        yield warning(
            about,
            f"{size:,} bytes, and a reader or a writer keeps {held:,} of its pages from going into the file{by}",
            "End what reads for so long: a query of Store.sql, a verify, another program's transaction",
        )
    elif size > MOST_WAL_BYTES:
        yield warning(about, f"{size:,} bytes{by}", "compact() takes it in, once no long read is going on")
    else:
        yield ok(about, f"{size:,} bytes, {held:,} pages not in the file yet{by}")


def _writer(file: StoreFile) -> Iterator[Finding]:
    if file.writer.broken is not None:
        yield error("the writer", f"it gave up: {file.writer.broken}", "Close the store and open it again")
    if file.writer.full:
        yield ok("durability", 'full: what was acknowledged survives loss of power, on a disk that honours "sync"')
    else:
        yield ok("durability", "normal: loss of power may take the last moments, and leaves the file sound")


def _examine_content(content: Content) -> Iterator[Finding]:
    if content.journal_mode == "wal":
        yield ok("the journal", "a write-ahead log")
    else:
        yield warning(
            "the journal",
            f"{content.journal_mode}: without a write-ahead log readers and writers wait for each other",
            "Move the store to where shared memory works: a local disk",
        )
    yield ok("the schema", f"version {content.schema_version}")
    free, size = content.free_pages * content.page_size, content.pages * content.page_size
    if free > max(2**20, size // 4):
        yield warning("unused space", f"{free:,} of {size:,} bytes", "compact() gives it back")
    if content.unindexed is not None:
        yield ok("the search index", f"{content.unindexed:,} entries are not in it yet; a search brings them in")
    erasure = content.marks.get(ERASURE)
    if erasure is not None:
        where = "the file and its write-ahead log" if erasure == IN_FILE else "the write-ahead log"
        yield warning(
            "erasure",
            f"what was redacted or purged may still lie in {where}: a reader kept the writer from finishing",
            "End what reads for so long; then compact(), or the writer's next checkpoint, finishes it",
        )
    barrier = content.marks.get("barrier")
    if barrier is not None and time.time() - barrier / 1e6 < DAYS * 86400:
        yield warning(
            "the disk",
            f"a commit failed with an I/O error, last on {moment(barrier).isoformat(timespec='seconds')}",
            "Look at the system's log, and check the disk",
        )


def _objects(connection: Connection) -> Iterator[Finding]:
    for name in objects.missing(connection):
        yield error("the schema", f"{name} is missing, or another one", "repair() creates it again")
    for name, table in objects.strange_triggers(connection):
        yield warning("the schema", f"a trigger {name!r} on {table!r} is none of msglog's", "See what it does")
