"""What a row of another store may hold: hashes tell that it is what was stored once, not that a store can hold it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from msglog.checks import checked_name
from msglog.codec import is_plain
from msglog.errors import BundleError, MsgLogError
from msglog.message import Entry, Kind, Role, as_entry
from msglog.storage.catalog import described
from msglog.storage.copies import BRANCH, ENTRY, FIRST_CONTENT, REDACTED_AT, REVISION
from msglog.storage.engine import Row
from msglog.storage.rows import CONTENT, moment, stored_entry, stored_revision
from msglog.storage.rows import REVISION as READ_REVISION

_PARENT, _AT = REVISION.index("parent"), ENTRY.index("at")
_READ_REVISION = tuple(REVISION.index(name) for name in READ_REVISION)
_ROLES, _KINDS = get_args(Role), get_args(Kind)


@contextmanager
def _checking(what: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, MsgLogError):
        raise BundleError(f"it is no {what} that a store can hold") from None


def check_log(name: str, created_at: int, meta: str | bytes | None) -> None:
    """`BundleError` where these cannot be a log's."""
    with _checking("log"):
        checked_name(name, "the name of a log")
        moment(created_at)
        described(meta)


def check_branch(row: Row) -> None:
    """`BundleError` where a row is no branch."""
    with _checking("branch"):
        checked_name(row[0], "the name of a branch")
        moment(row[BRANCH.index("created_at")])


def entry_of(row: Row) -> Entry:
    """The entry of a row."""
    content = row[FIRST_CONTENT : FIRST_CONTENT + len(CONTENT)]
    return stored_entry((row[0], row[1], *content, row[_AT], row[REDACTED_AT]), "", "")


def check_entry(row: Row) -> int:
    """The bytes of an entry's content; `BundleError` where the row holds no message."""
    content = row[FIRST_CONTENT : FIRST_CONTENT + len(CONTENT)]
    kind, role, name, text, parts, calls, _, *further = content
    with _checking("entry"):
        checked_name(row[1], "the id of an entry")
        moment(row[_AT])
        if role not in _ROLES or kind not in _KINDS:
            raise ValueError("neither kind nor role")
        if any(value is not None for value in (name, parts, calls, *further)) or not isinstance(text, str | None):
            for source in as_entry(entry_of(row).to_json()).sources:
                checked_name(source, "the id of a source")
        elif text is not None and not is_plain(text):
            raise ValueError("no plain text")
    return sum(len(value) if isinstance(value, bytes) else len(value.encode()) for value in content if value)


def check_revision(row: Row) -> None:
    """`BundleError` where a row is no revision."""
    with _checking("revision"):
        if not row[1] or (row[_PARENT] is None and row[0] != 0):
            raise ValueError("no id, or no parent")
        read = tuple(row[i] for i in _READ_REVISION)
        stored_revision(read, None if row[_PARENT] is None else "parent", (), "", "")
        moment(row[REVISION.index("at")])
