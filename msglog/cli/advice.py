"""Errors of the library in the words of the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msglog import errors

_WORDS: dict[type[errors.MsgLogError], Callable[[Any], str]] = {
    errors.StoreNotFoundError: lambda e: (
        f"{e.path}: no such file. Name a store with --store FILE or $MSGLOG_STORE; `msglog append --create` makes one"
    ),
    errors.OlderStoreError: lambda e: f"{e.path}: written by an older msglog; `msglog migrate` brings it up to date",
    errors.UnknownLogError: lambda e: f"no log {e.log!r} in this store; `msglog logs` lists them",
    errors.UnknownBranchError: lambda e: f"log {e.log!r} has no branch {e.branch!r}; `msglog branches` lists them",
    errors.UnknownRevisionError: lambda e: f"no revision {e.revision!r} in {e.where}; `msglog lineage` shows them",
    errors.BranchExistsError: lambda e: f"log {e.log!r} already has a branch {e.branch!r}; pick another name",
    errors.CorruptStoreError: lambda e: f"{e.path}: {e.where}: {e.reason}; `msglog verify` gives a full report",
    errors.StoreBusyError: lambda e: f"{e.path}: locked by another process for {e.waited:.1f} s; nothing was written",
    errors.TooLargeError: lambda e: f"{e.size:,} bytes are over the limit of {e.limit:,}; nothing was stored",
}
"""Where an error's own advice speaks of Python, what it says here instead."""


def explained(error: errors.MsgLogError) -> str:
    """What happened, to what, and what to do here. Never holds message text, as no error does."""
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return words(error)
    return str(error)
