"""What is done to a whole file: copies of it, and looks at it in SQL."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

from msglog.errors import CannotOpenError, SqlError
from msglog.ids import new_id
from msglog.storage.engine import DriverError, dismiss, explained
from msglog.storage.file import StoreFile

_ONE_READING = "only one SELECT, WITH, VALUES or EXPLAIN statement that reads can be run"
_READING = re.compile(r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*(select|with|values|explain)\b", re.IGNORECASE | re.DOTALL)


def query(file: StoreFile, text: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of one reading statement, on a connection of its own."""
    if not isinstance(text, str) or not _READING.match(text):
        raise SqlError(file.path, _ONE_READING)
    try:
        connection = file.driver.connect(file.path, read_only=True)
    except DriverError as error:
        raise explained(error, file.path) from error
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA busy_timeout = 5000")
        names, rows = connection.describe(text, parameters)  # type: ignore[arg-type]
    except DriverError as error:
        writes = error.primary == "SQLITE_READONLY"
        raise (SqlError(file.path, _ONE_READING) if writes else explained(error, file.path)) from error
    finally:
        dismiss(connection)
    return [dict(zip(names, row, strict=True)) for row in rows]


def backup(file: StoreFile, target: str) -> None:
    """Copy the file as it is at one moment; the copy gets its name when it is whole and synced."""
    with appearing(target) as partial:
        _copy(file, partial)


def _copy(file: StoreFile, target: str) -> None:
    try:
        connection = file.driver.connect(file.path, read_only=True)
        try:
            connection.execute("PRAGMA busy_timeout = 5000")
            connection.execute("VACUUM INTO ?", (target,))
        finally:
            dismiss(connection)
    except DriverError as error:
        raise explained(error, file.path) from error


def name_beside(path: str, why: str) -> str:
    """A name for a copy beside a file, which says when it was made; nothing has it yet."""
    name = f"{path}.{why}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    numbered = (name if i == 1 else f"{name}-{i}" for i in count(1))
    return next(each for each in numbered if not os.path.lexists(each))


@contextlib.contextmanager
def appearing(target: str) -> Iterator[str]:
    """A new private file to be filled under another name; it gets its own when it is whole and synced.

    Raises `FileExistsError` where there is one already, `CannotOpenError`.
    """
    target = os.path.abspath(target)
    if os.path.lexists(target):
        raise FileExistsError(f"{target} exists already, and is never overwritten")
    partial = f"{target}.partial-{new_id()}"  # a cancelled backup may still be at work on its own
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise CannotOpenError(partial, error.strerror or str(error)) from error
    try:
        yield partial
        _sync(partial)
        os.link(partial, target)  # unlike a rename, it never replaces a file that came meanwhile
        _sync(os.path.dirname(target))
    finally:
        with contextlib.suppress(OSError):
            os.unlink(partial)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
