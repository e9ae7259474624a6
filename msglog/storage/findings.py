"""What a look at a store finds: how bad it is, about what, what was found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `advice` says what to do; it is empty where all is well."""

    severity: Severity
    about: str
    found: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.about}: {self.found}{'. ' if self.advice else ''}{self.advice}"


def ok(about: str, found: str) -> Finding:
    """Nothing wrong."""
    return Finding("ok", about, found)


def warning(about: str, found: str, advice: str) -> Finding:
    """Something that may do harm."""
    return Finding("warning", about, found, advice)


def error(about: str, found: str, advice: str) -> Finding:
    """Something that does harm."""
    return Finding("error", about, found, advice)
