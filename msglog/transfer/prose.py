"""What a message says, for people: the pieces of its content, and texts cut into prose and blocks of code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from msglog.adapters.media import Media, media_of
from msglog.codec import readable, thaw
from msglog.message import Message, StoredMessage

LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line in Markdown."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")
_SAID = {"text", "input_text", "output_text"}
_THOUGHT = {"thinking": "thinking", "reasoning": "text", "thought": "text"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a content: words, what a model thought, media, or JSON that is none of these."""

    kind: Literal["text", "thought", "media", "json"]
    text: str
    media: Media | None = None


def pieces(message: Message) -> Iterator[Piece]:
    """The pieces of a message's content, in order."""
    content = message.content
    if content is None:
        return
    if isinstance(content, str):
        yield Piece("text", shown(content))
    elif _is_parts(content):
        for part in content:
            yield _piece(part)
    else:
        yield Piece("json", json_text(content))


def _is_parts(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(p, dict) and isinstance(p.get("type"), str) for p in content)


def _piece(part: dict[str, Any]) -> Piece:
    kind = part["type"]
    if kind in _SAID and isinstance(part.get("text"), str):
        return Piece("text", shown(part["text"]))
    if kind in _THOUGHT and isinstance(part.get(_THOUGHT[kind]), str):
        return Piece("thought", shown(part[_THOUGHT[kind]]))
    media = media_of(part)
    if media is not None:
        return Piece("media", in_line(" ".join(filter(None, (media.kind, media.media_type, media.name)))), media)
    return Piece("json", json_text(part))


def shown(text: str) -> str:
    """A text without what no page can hold: surrogates, NUL and other control characters have stand-ins."""
    return _CONTROL.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "\ufffd", readable(text))


def in_line(text: str) -> str:
    """A name or a title as words of a line of ours, whose direction it must not turn."""
    return " ".join(_TURNING.sub("", shown(text)).split())


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def json_text(value: Any) -> str:
    """A JSON value over several lines."""
    return shown(json.dumps(thaw(value), ensure_ascii=False, indent=2))


def facts(message: Message) -> str:
    """When a message was stored, and its seq; empty for one that is not stored."""
    if not isinstance(message, StoredMessage):
        return ""
    return f"{message.at:%Y-%m-%d %H:%M:%S} UTC · seq {message.seq}"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a text: prose, or code in a language that the text named."""

    lines: list[str]
    code: bool
    language: str = ""


def blocks(text: str) -> Iterator[Block]:
    """A text cut where Markdown's fences of code begin and end. A fence that is left open ends with the text."""
    fence, language = "", ""
    lines: list[str] = []
    for line in LINE_END.split(text):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                yield Block(lines, code=True, language=language)
                fence, lines = "", []
            else:
                lines.append(line)
        elif found:
            if lines:
                yield Block(lines, code=False)
            named = _LANGUAGE.match(found[2].lstrip())
            fence, language, lines = found[1], named[0] if named else "", []
        else:
            lines.append(line)
    if lines or fence:
        yield Block(lines, code=bool(fence), language=language)
