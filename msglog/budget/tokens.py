"""A local estimate of tokens, for decisions that need no tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msglog.budget.forms import AnyMessage, spoken
from msglog.checks import checked_list
from msglog.codec import encode

MEDIA_TOKENS = 1500
"""What an image, a sound or a file counts by default: about what large providers bill for a full-size image."""

_MEDIA = frozenset(
    ("image", "image_url", "input_image", "audio", "input_audio", "video", "document", "pdf", "input_file")
)
_FILE = frozenset(("file", "data", "file_data", "file_id", "base64", "mediaType", "media_type", "mime_type"))
"""What tells an attached file from a tool's JSON about one: both may have `type: "file"`."""

_PAYLOAD = re.compile(r"data:[^,\s]{0,200},|[A-Za-z0-9+/_-]{1024,}={0,2}\Z")
"""A `data:` URL, or base64 of a length that no word has."""


def estimate_tokens(messages: Iterable[AnyMessage], *, media: int | None = None) -> int:
    """A quarter of the characters, rounded up over all.

    Counted are string contents as they are, and other contents and tool arguments as compact JSON; not
    keys or roles. With `media`, a part that is an image, a sound or a file counts so many tokens, whatever
    its size, and other parts count without the `data:` URLs and base64 in them.
    """
    characters = tokens = 0
    for value in checked_list(messages):
        for message in spoken(value):
            content = message.content
            if media is not None and isinstance(content, list):
                rest = [_without_payload(part) for part in content if not _is_media(part)]
                tokens += media * (len(content) - len(rest))
                content = rest
            characters += len(content) if isinstance(content, str) else 0 if content is None else len(encode(content))
            characters += sum(len(call.arguments) for call in message.tool_calls)
    return -(-characters // 4) + tokens


def _is_media(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    kind, source = part.get("type"), part.get("source")
    if isinstance(source, Mapping) and source.get("type") in ("text", "content"):
        return False  # a document that is given as text
    return kind in _MEDIA or (kind == "file" and not _FILE.isdisjoint(part))


def _without_payload(value: Any) -> Any:
    if isinstance(value, str):
        return "" if _PAYLOAD.match(value) else value
    if isinstance(value, Mapping):
        return {key: item if key == "text" else _without_payload(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_payload(item) for item in value]
    return value
