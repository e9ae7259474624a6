"""Where a message came from: `extra` holds, under the name of a provider, what only that provider understands.

A message or a call that is wholly told by the common fields has no such record. An empty record says that the
parts are in the provider's own words and go back to it as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msglog.codec import EMPTY
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Message, ToolCall

ANTHROPIC = "anthropic"
GEMINI = "gemini"
LANGCHAIN = "langchain"
OPENAI = "openai"
RESPONSES = "openai_responses"

_PROVIDERS = frozenset({ANTHROPIC, GEMINI, LANGCHAIN, OPENAI, RESPONSES})
_COMMON = frozenset({"isError"})
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
        if key == provider or key in _COMMON or value is None:
            continue
        if key not in _PROVIDERS or not isinstance(value, dict):
            return True
        if any(item not in _NOTHING and getattr(held, name, None) != item for name, item in value.items()):
            return True
    return False


def as_object(value: Any) -> dict[str, Any]:
    """A dict of what a provider sent: of a mapping, or of an object of the provider's own package."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        made: dict[str, Any] = dump(mode="json", by_alias=True, exclude_unset=True)
        return made
    raise InvalidMessageError("", f"expected a dict, not {type(value).__name__}")


def as_objects(value: Any, path: str) -> list[dict[str, Any]]:
    """A list of dicts, from a list of what `as_object` takes."""
    if not isinstance(value, (list, tuple)):
        raise InvalidMessageError(path, f"expected a list, not {type(value).__name__}")
    found = []
    for i, item in enumerate(value):
        with at(f"{path}[{i}]"):
            found.append(as_object(item))
    return found


@contextmanager
def at(path: str) -> Iterator[None]:
    """Errors from inside name their place below `path`."""
    try:
        yield
    except (CodecError, InvalidMessageError) as error:
        raise error.under(path) from None
