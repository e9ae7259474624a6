"""Ids and names in the spelling that a provider takes: an injective mapping."""

from __future__ import annotations

import re
from hashlib import sha256

NAME = "[a-zA-Z0-9_-]{1,64}"
"""The names that every provider takes, in the strictest form known."""

ANY = "[^\ud800-\udfff]"
"""Any character that UTF-8 can hold, for ids that a provider does not look into."""

_DIGITS = 8


class Renaming:
    """Maps each raw id or name to one that is `legal` (a regular expression for the whole), no two to the same.

    A legal one maps to itself unless that is taken. Any other keeps its letters, digits, `_` and `-`, and ends in
    digits of its hash, within `limit` characters. The mapping of one raw value does not depend on those that
    come after it, so that what was rendered stays as it was when a conversation grows.
    """

    def __init__(self, legal: str, limit: int = 64, *, own: str | None = None) -> None:
        self._legal = re.compile(legal)
        self._own = re.compile(own or legal)
        self._limit = limit
        self._given: dict[tuple[str, int], str] = {}
        self._taken: set[str] = set()

    def __call__(self, raw: str, occurrence: int = 0, *, own: bool = False) -> str:
        """The legal form of `raw`; every `occurrence` has its own. `own`: it came from the provider itself."""
        key = raw, occurrence
        if key not in self._given:
            legal = self._own if own else self._legal
            name = raw if occurrence == 0 and legal.fullmatch(raw) else self._made(raw, occurrence, 0)
            attempt = 0
            while name in self._taken:
                attempt += 1
                name = self._made(raw, occurrence, attempt)
            self._taken.add(name)
            self._given[key] = name
        return self._given[key]

    def _made(self, raw: str, occurrence: int, attempt: int) -> str:
        digest = sha256(f"{occurrence}.{attempt}.{raw}".encode("utf-8", "surrogatepass")).hexdigest()
        letters = re.sub(r"[^a-zA-Z0-9_-]", "_", raw).lstrip("_-0123456789") or "x"
        return f"{letters[: self._limit - _DIGITS - 1]}-{digest[:_DIGITS]}"
