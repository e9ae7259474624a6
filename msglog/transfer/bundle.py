"""Bundles: whole logs as lines of JSON, written and read as a stream. The format is told in docs/transfer.md."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from msglog.checks import checked_name
from msglog.opening import opened
from msglog.options import Options
from msglog.storage.copies import Extent, Part, Place, extents, part_after
from msglog.storage.hashes import SIZE
from msglog.storage.receiving import standing
from msglog.storage.requests import Received
from msglog.store import Store
from msglog.transfer import streams
from msglog.transfer.faces import OfStores
from msglog.transfer.intake import Intake, Piece
from msglog.transfer.lines import FORMAT, VERSION, line_of
from msglog.transfer.report import ImportedLog, ImportReport, Losses, printable
from msglog.transfer.streams import Sink

Progress: TypeAlias = "Callable[[int, int | None], object] | None"
"""Is called with how many entries are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote."""

    logs: int
    entries: int
    revisions: int


class _Writing:
    """A bundle as it is written: lines, and the hash over all of them so far."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._hash = blake2b(digest_size=SIZE)

    def begin(self, logs: list[Extent]) -> ExportReport:
        """The first line."""
        report = ExportReport(len(logs), sum(log.entries for log in logs), sum(log.revisions for log in logs))
        self._put(line_of("bundle", (FORMAT, VERSION, report.logs, report.entries, report.revisions)))
        return report

    def add(self, log: Extent | None, part: Part) -> None:
        """A part of a log, with the log itself where it is the first, and what it is checked by."""
        lines = [] if log is None else [line_of("log", (log.uid, log.name, log.created_at, log.meta))]
        lines += [line_of("branch", row) for row in part.branches]
        lines += [line_of("entry", row) for row in part.entries]
        lines += [line_of("chunk", row) for row in part.chunks]
        lines += [line_of("revision", row) for row in part.revisions]
        self._put(b"".join(lines))
        self._put(line_of("check", (self._hash.digest(),)))

    def end(self) -> None:
        """The last line."""
        self._put(line_of("end", (self._hash.digest(),)))

    def _put(self, data: bytes) -> None:
        self._hash.update(data)
        self._sink.write(data)


@OfStores
async def export_bundle(
    store: Store, target: streams.Place, *, logs: Iterable[str] | None = None, progress: Progress = None
) -> ExportReport:
    """Write logs (all, or those of the names) whole into a bundle: a new file, a binary stream, or "-".

    They are written as they are when it begins, with nothing held while it goes on. A name that ends in `.gz` or
    `.zst` compresses; the file appears once it is whole. The same logs give the same bytes.

    Raises `UnknownLogError`, also where a log is purged meanwhile, `FileExistsError`, `CannotOpenError`,
    `MissingExtraError`.
    """
    access = store._access  # noqa: SLF001 what is not public of a store is the library's own
    names = None if logs is None else list(logs)
    found = await access.read(lambda connection: extents(connection, names))
    sink = await access.run(lambda: Sink(target))
    try:
        writing = _Writing(sink)
        report = await access.run(lambda: writing.begin(found))
        done = 0
        for log in found:
            place = Place()
            while place.revision < log.revisions - 1:
                before = place
                part, place = await access.read(lambda c, log=log, p=before: part_after(c, store.path, log, p))  # type: ignore[misc]
                first = log if before == Place() else None
                await access.run(lambda first=first, part=part: writing.add(first, part))  # type: ignore[misc]
                done += len(part.entries)
                if progress is not None:
                    progress(done, report.entries)
        await access.run(writing.end)
        await access.run(sink.finish)
    except BaseException as error:
        sink.abandon(error)
        raise
    return report


@OfStores
async def import_bundle(
    store: Store,
    source: streams.Place,
    *,
    prefix: str = "",
    rename: Mapping[str, str] | None = None,
    dry_run: bool = False,
    progress: Progress = None,
) -> ImportReport:
    """Take the logs of a bundle into a store: a file, compressed or not, a binary stream, or "-".

    What the store holds already is compared and left as it is, so that it can be done again, and goes on where it
    was stopped. Everything is verified before it is stored, part by part. A log that is new gets the name that
    `rename` says, or its own after `prefix`. `dry_run` verifies everything and stores nothing.

    Raises `BundleError`, `BundleVersionError`, `LogExistsError`, `DivergedError`, `TooLargeError`,
    `CannotOpenError`, `MissingExtraError`.
    """
    access = store._access  # noqa: SLF001
    renamed = {old: checked_name(new, "the new name of a log") for old, new in (rename or {}).items()}
    intake = await access.run(lambda: Intake(source, store, lambda name: renamed.get(name, prefix + name)))
    arrivals, losses, done = _Arrivals(), Losses(), 0
    try:
        async with _receiving(store, dry_run=dry_run) as target:
            while piece := await access.run(intake.next_piece):
                with piece.placing_errors():
                    found = await access.read(lambda c, part=piece.part: standing(c, part))  # type: ignore[misc]
                    answer = found.answer
                    if not answer.purged and (dry_run or answer.revisions or answer.branches):
                        received: Received = await target._access.write(piece.part)  # noqa: SLF001
                        answer = answer if dry_run else received
                arrivals.add(answer, piece)
                _note_losses(losses, answer, piece, found.unredacted)
                done += len(piece.part.entries)
                if progress is not None:
                    progress(done, intake.total)
    finally:
        intake.close()
    return ImportReport("bundle", tuple(arrivals.logs.values()), tuple(losses.listed), losses.unlisted, dry_run)


class _Arrivals:
    """What came into each log."""

    def __init__(self) -> None:
        self.logs: dict[str, ImportedLog] = {}

    def add(self, answer: Received, piece: Piece) -> None:
        """Count what came of a piece."""
        if not answer.purged:
            so_far = self.logs.get(answer.log, ImportedLog(answer.log))
            self.logs[answer.log] = ImportedLog(
                answer.log,
                so_far.entries_new + answer.entries,
                so_far.entries_known + len(piece.part.entries) - answer.entries,
                so_far.branches_new + answer.branches,
            )


def _note_losses(losses: Losses, answer: Received, piece: Piece, unredacted: Iterable[int]) -> None:
    where = f"log {printable(piece.part.log)!r}"
    if answer.purged and piece.is_first:
        losses.add(where, "it was purged from this store, and does not come back")
    for seq in unredacted:
        losses.add(f"{where}, seq {seq}", "it is redacted in the bundle, but not here: an import only adds; redact it")


@asynccontextmanager
async def _receiving(store: Store, *, dry_run: bool) -> AsyncIterator[Store]:
    """The store that takes a bundle in: for a dry run one of its own, of which nothing stays."""
    if not dry_run:
        yield store
        return
    access = store._access  # noqa: SLF001
    options = Options("normal", False, True, 10.0, store.max_message_bytes, None, 0.25)
    trial = await access.run(lambda: opened(":memory:", access.file.driver, options, type(access)))
    try:
        yield trial
    finally:
        await trial.close()
