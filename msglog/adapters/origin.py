"""Where a message came from: `extra` holds, under the name of a provider, what only that provider understands.

A message or a call that is wholly told by the common fields has no such record. An empty record says that the
parts are in the provider's own words and go back to it as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msglog.codec import EMPTY
from msglog.message import Message, ToolCall

ANTHROPIC = "anthropic"
GEMINI = "gemini"
LANGCHAIN = "langchain"
OPENAI = "openai"
RESPONSES = "openai_responses"

_PROVIDERS = frozenset({ANTHROPIC, GEMINI, LANGCHAIN, OPENAI, RESPONSES})
_COMMON = frozenset({"isError"})
_NOTES = frozenset({"absent", "bare", "items", "joined", "turn"})  # what the adapters note for themselves
_NOTHING: tuple[Any, ...] = (None, [], {})


def record(provider: str, rest: Mapping[str, Any], *, native: bool = False, **common: Any) -> dict[str, Any]:
    """The `extra` of a message or call: `rest` under the name of the provider, and `common` facts beside it."""
    return common | ({provider: dict(rest)} if rest or native else {})


def came_from(extra: Mapping[str, Any], provider: str) -> bool:
    """Whether `extra` says that the provider sent it."""
    return isinstance(extra.get(provider), dict)


def own(extra: Mapping[str, Any], provider: str) -> dict[str, Any]:
    """What `extra` holds for a provider."""
    found = extra.get(provider)
    return found if isinstance(found, dict) else EMPTY


def unclaimed(extra: Mapping[str, Any]) -> bool:
    """Whether `extra` names no provider."""
    return not any(came_from(extra, provider) for provider in _PROVIDERS)


def foreign(held: Message | ToolCall, provider: str) -> bool:
    """Whether the `extra` of a message or call tells anything that is neither the provider's nor common."""
    for key, value in held.extra.items():
        if key in _COMMON or value is None or (key == provider and isinstance(value, dict)):
            continue
        if key not in _PROVIDERS or not isinstance(value, dict):
            return True
        if any(name not in _NOTES and _is_lost(held, name, item) for name, item in value.items()):
            return True
    return False


def _is_lost(held: Message | ToolCall, name: str, item: Any) -> bool:
    return item not in _NOTHING and getattr(held, name, None) != item
