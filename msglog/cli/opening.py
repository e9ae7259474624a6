"""Which store a command works on, and how it is opened: for reading, unless the command is there to write.

The file is the one that `--store` names, else `$MSGLOG_STORE`, else `agent.db` in the current folder; a URL names the
store of a server, which `$MSGLOG_TOKEN` opens. A command about a whole store takes it as its last argument too.
Nothing makes a file but `import` and `append --create`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from msglog.sync import Store

DEFAULT = "agent.db"


def chosen(option: str | None, argument: str | None = None) -> str:
    """The store's path, of the option and the argument that a command was given."""
    if option is not None and argument is not None and option != argument:
        raise typer.BadParameter("two different stores are named, one as the last argument and one by --store")
    named = argument if argument is not None else option
    return named if named is not None else os.environ.get("MSGLOG_STORE") or DEFAULT


def is_remote(path: str) -> bool:
    """Whether a store is that of a server."""
    return path.lower().startswith(("http://", "https://"))


def _token(path: str) -> str | None:
    """The token for the store of a server: that of `$MSGLOG_TOKEN`."""
    return os.environ.get("MSGLOG_TOKEN") if is_remote(path) else None


@contextmanager
def reading(path: str) -> Iterator[Store]:
    """The store, open for reading."""
    import msglog.sync

    with msglog.sync.open(path, read_only=True, token=_token(path)) as store:
        yield store


@contextmanager
def writing(path: str, *, create: bool = False) -> Iterator[Store]:
    """The store, open for writing."""
    import msglog.sync

    with msglog.sync.open(path, create=create, token=_token(path)) as store:
        yield store


@contextmanager
def searching(path: str) -> Iterator[Store]:
    """The store, for a search: it may write its index, where the file may be written, and nothing else."""
    import msglog.sync
    from msglog.errors import CannotOpenError, ReadOnlyError

    with reading(path):  # an older file is told of: a look at it must not migrate it
        pass
    try:
        opened = msglog.sync.open(path, create=False, token=_token(path))
    except (CannotOpenError, ReadOnlyError):
        opened = msglog.sync.open(path, read_only=True, token=_token(path))
    with opened as store:
        yield store
