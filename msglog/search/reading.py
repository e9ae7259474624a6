"""What of a message can be searched: its words, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msglog.codec import encode

UNREAD = frozenset(
    {"type", "mediaType", "media_type", "mimeType", "mime_type", "data", "signature", "thoughtSignature"}
    | {"encrypted_content", "encryptedContent", "cache_control", "cacheControl"}
)
"""Keys of parts under which no words stand: kinds, encoded bytes, signatures."""


def readable_texts(name: str | None, content: Any, calls: list[Mapping[str, Any]]) -> list[str]:
    """The texts of a message: content, name, and of each tool call its name and its arguments, value by value."""
    texts: list[str] = []
    if isinstance(content, str):
        texts.append(content)
    elif content is not None:
        texts.extend(_leaves(content, ""))
    if name is not None:
        texts.append(name)
    for call in calls:
        texts.append(call["name"])
        texts.extend(_leaves(call["args"], ""))
        if call.get("raw") and not call["args"]:
            texts.append(call["raw"])  # arguments that are no JSON
    return [text for text in texts if text]


def _leaves(value: Any, key: str) -> Iterator[str]:
    """The values of a JSON value, each with its key before it, `city: Paris`; texts of parts without."""
    waiting = [(key, value)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(k, v) for k, v in reversed(value.items()) if k not in UNREAD]
        elif isinstance(value, list):
            waiting += [(key, item) for item in reversed(value)]
        elif isinstance(value, str):
            if not value.startswith("data:"):
                yield value if key in ("", "text") else f"{key}: {value}"
        elif value is not None:
            yield encode(value) if not key else f"{key}: {encode(value)}"
