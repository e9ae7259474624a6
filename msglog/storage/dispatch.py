"""Which request is carried out by what."""

from __future__ import annotations

from typing import Any

from msglog.storage.branching import fork, rewind
from msglog.storage.catalog import describe
from msglog.storage.commits import commit
from msglog.storage.erasure import purge, redact
from msglog.storage.requests import Append, Commit, Describe, Fork, Redact, Request, Rewind
from msglog.storage.transaction import Transaction


def carry_out(transaction: Transaction, request: Request) -> Any:
    """Carry out one request. A `MsgLogError` leaves the transaction as it was."""
    if isinstance(request, Append):
        return transaction.append(request)
    transaction.flush()  # the others read what is written
    if isinstance(request, Commit):
        return commit(transaction, request)
    if isinstance(request, Fork):
        return fork(transaction, request)
    if isinstance(request, Rewind):
        return rewind(transaction, request)
    if isinstance(request, Redact):
        return redact(transaction, request)
    if isinstance(request, Describe):
        return describe(transaction, request)
    return purge(transaction, request)
