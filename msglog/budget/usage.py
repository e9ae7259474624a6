"""What providers report of a response: tokens, read from any of their forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, each counted once: `input_tokens` are those that neither came from a cache nor went into one."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """All tokens, in and out."""
        return self.all_input_tokens + self.output_tokens

    @property
    def all_input_tokens(self) -> int:
        """All tokens that went in, cached or not."""
        return self.input_tokens + self.cache_read_input_tokens + self.cache_creation_input_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def to_json(self) -> dict[str, int]:
        """The counts as a JSON object, in the form that Anthropic reports them in."""
        return {name: getattr(self, name) for name in self.__slots__}


def read_usage(usage: Any) -> tuple[Usage, bool]:
    """The tokens of a reported usage, and whether its input count had cached tokens in it.

    `usage` is a dict or an object. Anthropic reports cached tokens beside `input_tokens`. OpenAI counts
    them in, and tells in the details how many they are; so does LangChain. What is missing or no number is 0.
    """
    details: Any = next((found for name in _DETAILS if (found := _field(usage, name)) is not None), None)
    read = _count(details, "cached_tokens", "cache_read") or _count(usage, "cache_read_input_tokens", "cached_tokens")
    write = _count(details, "cache_write_tokens", "cache_creation") or _count(usage, "cache_creation_input_tokens")
    given = _count(usage, "input_tokens", "prompt_tokens")
    output = _count(usage, "output_tokens", "completion_tokens")
    within = details is not None or any(_field(usage, name) is not None for name in ("prompt_tokens", "cached_tokens"))
    return Usage(max(0, given - read - write) if within else given, output, read, write), within


def as_usage(usage: Any) -> Usage:
    """The tokens of a reported usage; see `read_usage`."""
    return usage if isinstance(usage, Usage) else read_usage(usage)[0]


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _count(value: Any, *names: str) -> int:
    """The first of these fields that is a number."""
    for name in names:
        found = _field(value, name)
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return int(found)
    return 0
