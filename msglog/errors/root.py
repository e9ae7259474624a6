"""The root of all errors, and how they name what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class MsgLogError(Exception):
    """The root of all errors of msglog. Facts given by keyword become attributes."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.__dict__.update(facts)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(cls: type[MsgLogError], args: tuple[Any, ...], facts: dict[str, Any]) -> MsgLogError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


def named(ids: Sequence[str], most: int = 5) -> str:
    """Ids as an error's sentence shows them: the first few, and how many more there are."""
    shown = ", ".join(repr(i) for i in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most} more"
