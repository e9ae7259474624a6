"""Images, sounds and files, read from the parts of any provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from msglog.codec import encode

Part: TypeAlias = Mapping[str, Any]
Json: TypeAlias = dict[str, Any]

_KINDS = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "document": "file",
    "file": "file",
    "input_file": "file",
    "inlineData": "",
    "fileData": "",
}

_TYPES = ("mediaType", "media_type", "mime_type", "mimeType")
_URLS = ("url", "image_url", "file_url", "fileUri")
_DATA = ("data", "base64", "file_data")
_NAMES = ("filename", "name", "displayName", "title")
_FIELDS = {"type", "format", "source_type", *_TYPES, *_URLS, *_DATA, *_NAMES}

MEDIA_PARTS = frozenset(_KINDS)
"""The types of parts that hold media, in any provider's words."""

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The image formats that OpenAI and Anthropic take."""


class Media(NamedTuple):
    """An image, audio, video or file of a part: its base64 `data` with a media type, or its `url`."""

    kind: str
    media_type: str | None
    data: str | None
    url: str | None
    name: str | None

    @property
    def data_url(self) -> str:
        """The data as a data: URL."""
        return f"data:{self.media_type};base64,{self.data}"

    @property
    def web_url(self) -> str | None:
        """The URL, if it is one that a provider can fetch."""
        return self.url if self.url and re.match("https?://[^/]", self.url) else None


def media_of(part: Part) -> Media | None:
    """The media of a part, in any provider's form; None for other parts and for media that cannot be passed on."""
    kind = _KINDS.get(part["type"])
    if kind is None:
        return None
    inner = _inner(part)
    media_type = _first(inner, *_TYPES)
    url = _first(inner, *_URLS)
    data = _first(inner, *_DATA)
    if isinstance(inner.get("format"), str):
        media_type = f"audio/{inner['format']}"
    for given in (url, data):
        found = re.fullmatch(r"data:([^;,]+);base64,(.*)", given or "", re.DOTALL)
        if found:
            media_type, data, url = found[1], found[2], None
    data = _standard(data) if media_type else None
    if data is None and url is None:
        return None
    if not kind:
        top = (media_type or "").partition("/")[0]
        kind = top if top in {"image", "audio", "video"} else "file"
    if media_type == "image/jpg":
        media_type = "image/jpeg"
    return Media(kind, media_type, data, None if data else url, _first(inner, *_NAMES) or _first(part, *_NAMES))


def stand_in(part: Part) -> str:
    """What is said in place of a part that cannot be sent: `[image image/png]`, or JSON, without what media weighs."""
    media = media_of(part)
    if media is not None:
        return f"[{media.kind} {media.media_type or media.url}]"
    return encode(_without_data(part) if part["type"] in MEDIA_PARTS else part)


def _without_data(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_data(item) for key, item in value.items() if key not in _DATA}


def _inner(part: Part) -> Part:
    """Where a part says what its media is: an object inside it, or the part itself."""
    for key in ("source", part["type"]):
        if isinstance(part.get(key), dict):
            inner: Part = part[key]
            return inner
    return part


def unread_fields(part: Part) -> set[str]:
    """The fields of a part of media that `media_of` does not read."""
    inner = _inner(part)
    outer = set() if inner is part else set(part) - {"source", part["type"]}
    return (set(inner) | outer) - _FIELDS


def _first(fields: Part, *keys: str) -> str | None:
    return next((fields[key] for key in keys if isinstance(fields.get(key), str) and fields[key]), None)


def _standard(data: str | None) -> str | None:
    """Base64 in the standard alphabet, padded; None for what is none."""
    bare = "".join((data or "").split()).rstrip("=").replace("-", "+").replace("_", "/")
    if not re.fullmatch("[A-Za-z0-9+/]+", bare) or len(bare) % 4 == 1:
        return None
    return bare + "=" * (-len(bare) % 4)
