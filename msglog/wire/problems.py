"""Errors as problem details (RFC 9457), and back as the same classes with the same facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msglog import errors
from msglog.codec import freeze
from msglog.errors import (
    AccessDeniedError,
    BatchTooLargeError,
    BranchExistsError,
    CodecError,
    ConflictError,
    DuplicateEntryError,
    LimitError,
    MsgLogError,
    NotLoadedError,
    PositionError,
    ReadOnlyError,
    StoppingError,
    StoreBusyError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    TooLargeError,
)

STATUS: dict[type[Exception], int] = {
    ConflictError: 409,
    DuplicateEntryError: 409,
    BranchExistsError: 409,
    PositionError: 409,
    NotLoadedError: 409,
    AccessDeniedError: 403,
    ReadOnlyError: 403,
    BatchTooLargeError: 413,
    TooLargeError: 413,
    LimitError: 429,
    StoppingError: 503,
    StoreBusyError: 503,
    StoreClosedError: 503,
    StoreFullError: 507,
    errors.SqlError: 400,
    StoreError: 500,
    LookupError: 404,
    ValueError: 400,
    TypeError: 400,
}
"""The status of each class; of a class that is not listed, that of its nearest base."""

_BUILTIN = {"ValueError": ValueError, "TypeError": TypeError, "FileExistsError": FileExistsError}


def status_of(error: BaseException) -> int:
    """The status that an error is answered with."""
    if isinstance(error, AccessDeniedError) and error.needed is None:
        return 401
    return next((STATUS[base] for base in type(error).__mro__ if base in STATUS), 500)


def problem_of(error: Exception) -> dict[str, Any]:
    """An error as a problem: its class in `error`, its sentence in `detail`, its facts in `facts`.

    Where the store lies on the server's disk is nobody's business: the path is left out.
    """
    facts = {name: value for name, value in vars(error).items() if not name.startswith("_")}
    detail = str(error)
    if isinstance(error, StoreError):
        detail = detail.removeprefix(f"{facts.pop('path')}: ")
    return {
        "type": "about:blank",
        "title": type(error).__name__,
        "status": status_of(error),
        "detail": detail,
        "error": type(error).__name__,
        "facts": _as_json(facts),
    }


def _as_json(facts: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in facts.items():
        try:
            kept[name] = freeze(value)
        except CodecError:  # a fact of a kind that JSON has not is told in words only
            continue
    return kept


def error_of(problem: Mapping[str, Any], url: str) -> Exception | None:
    """The error of a problem, or None where it is no problem of ours. `url` stands for the path of the store."""
    name, detail, facts = problem.get("error"), problem.get("detail"), problem.get("facts")
    if not isinstance(name, str) or not isinstance(detail, str) or not isinstance(facts, Mapping):
        return None
    if name in _BUILTIN:
        return _BUILTIN[name](detail)
    kind = getattr(errors, name, None)
    if not isinstance(kind, type) or not issubclass(kind, MsgLogError):
        return None
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}
    if issubclass(kind, StoreError):
        values["path"] = url
        detail = f"{url}: {detail}"
    made = kind.__new__(kind, detail)
    made.args = (detail,)
    made.__dict__.update(values)
    return made
