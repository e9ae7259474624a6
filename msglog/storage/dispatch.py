"""Which request is carried out by what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msglog.storage.branching import fork, rewind
from msglog.storage.catalog import describe
from msglog.storage.commits import commit
from msglog.storage.erasure import purge, redact
from msglog.storage.receiving import receive
from msglog.storage.repair import repair
from msglog.storage.requests import (
    Append,
    Commit,
    Describe,
    Fork,
    IndexWords,
    Purge,
    Receive,
    Redact,
    Repair,
    Request,
    Rewind,
)
from msglog.storage.search_index import bring_in
from msglog.storage.transaction import Transaction

_BY_KIND: dict[type[Request], Callable[[Transaction, Any], Any]] = {
    Commit: commit,
    Fork: fork,
    Rewind: rewind,
    Redact: redact,
    Purge: purge,
    Describe: describe,
    Repair: repair,
    Receive: receive,
    IndexWords: bring_in,
}


def carry_out(transaction: Transaction, request: Request) -> Any:
    """Carry out one request. A `MsgLogError` leaves the transaction as it was."""
    if isinstance(request, Append):
        return transaction.append(request)
    transaction.flush()  # the others read what is written
    return _BY_KIND[type(request)](transaction, request)
