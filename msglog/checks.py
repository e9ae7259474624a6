"""Checks of what callers hand in, where one rule serves many places."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import BaseModel

from msglog.errors import InvalidMessageError, InvalidNameError

T = TypeVar("T")


def refuse_misspelt(given: Iterable[str], options: Iterable[str], caller: str) -> None:
    """`TypeError` where a keyword that would be taken for a field is close to an option of `caller`."""
    for key in given:
        for option in difflib.get_close_matches(key, options, 1, 0.82):
            reason = f"{caller}() has no option {key!r}: {option!r} is meant?"
            raise TypeError(f"{reason} A field of a message that is called so goes into extra={{…}}")


def checked_list(value: Iterable[T], what: str = "messages") -> Iterable[T]:
    """`value`, many of something; `InvalidMessageError` where it is one alone or a text, whose parts are none."""
    if isinstance(value, (Mapping, str, bytes, bytearray, BaseModel)) or not isinstance(value, Iterable):
        raise InvalidMessageError("", f"expected a list of {what}, not {type(value).__name__}")
    return value


def checked_name(value: object, what: str) -> str:
    """`value` as a name or id: a non-empty `str` that UTF-8 can hold, without NUL. Names compare byte for byte."""
    if not isinstance(value, str):
        raise InvalidNameError(what, f"must be a str, not {type(value).__name__}")
    if not value:
        raise InvalidNameError(what, "must not be empty")
    if "\0" in value or (not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value)):
        raise InvalidNameError(what, "must hold neither NUL nor surrogates")
    return str.__str__(value)


def checked_count(value: int, what: str, least: int = 0) -> int:
    """`value` as a count: an int (no bool) of at least `least`; `TypeError` or `ValueError` where it is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{what} must be at least {least}, not {value}")
    return value
