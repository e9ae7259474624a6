"""The SQLite library that a store runs on: its version, its known bugs, how it was compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msglog.storage.findings import Finding, error, ok, warning

WAL_RESET_BUG = ((3, 7, 0), (3, 51, 2))
"""The first and the last release that has it; https://sqlite.org/wal.html#walresetbug."""

OLDEST = (3, 35, 0)
"""The first release with all that the statements use (RETURNING)."""


def examine(name: str, version: Sequence[int], options: Sequence[str], *, takes_turns: bool) -> Iterator[Finding]:
    """What is to be said of a library; `takes_turns` says whether the system has `flock`."""
    release = tuple(version)
    about = f"SQLite {'.'.join(map(str, release))} (module {name})"
    if release < OLDEST:
        yield error(about, f"it is older than {'.'.join(map(str, OLDEST))}", "Use a newer Python, or another driver=")
    first, last = WAL_RESET_BUG
    if not first <= release <= last:
        yield ok(about, "no known bug that matters here")
    elif takes_turns:
        yield ok(
            about,
            "it has the WAL-reset bug (3.7.0 to 3.51.2), which processes of msglog avoid by taking turns; other"
            " programs that write to the file, or checkpoint it, do not",
        )
    else:
        yield warning(
            about,
            "it has the WAL-reset bug (3.7.0 to 3.51.2), and without flock processes take no turns around it",
            "Use SQLite 3.51.3 or later, or let one process alone write",
        )
    yield from _compiled(options)


def _compiled(options: Sequence[str]) -> Iterator[Finding]:
    about = "how SQLite was compiled"
    given = set(options)
    if "THREADSAFE=0" in given:
        yield error(about, "THREADSAFE=0", "Use a build for threads: the writer has one of its own")
    if "DISABLE_DIRSYNC" in given:
        yield warning(
            about,
            "DISABLE_DIRSYNC: a new write-ahead log's name may not survive loss of power, nor what is in it",
            "Use a build without it where that matters",
        )
    if "ENABLE_FTS5" not in given:
        yield warning(about, "no ENABLE_FTS5", "Use a build with it to search")
    if given.isdisjoint({"THREADSAFE=0", "DISABLE_DIRSYNC"}) and "ENABLE_FTS5" in given:
        yield ok(about, "for threads, with FTS5")
