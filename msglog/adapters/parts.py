"""The parts of a content, read in the words of any provider and written in those of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msglog.adapters.blocks import place_of
from msglog.adapters.media import MEDIA_PARTS, Json, Media, Part, media_of, stand_in, unread_fields
from msglog.adapters.origin import unclaimed
from msglog.adapters.steps import Step
from msglog.codec import encode

_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning", "thought"})
_FAMILIAR = frozenset({"input_text", "output_text", "refusal"}) | _REASONING | MEDIA_PARTS


class Dialect(NamedTuple):
    """How one provider writes the parts of one kind of content.

    `native` says whether it takes a part as it is; `text` and `media` write what others say with other words
    (`media` gives None for what it does not take). A native part of a type in `evidence` shows that the message is
    the provider's even without a record of it, so that parts and fields that nobody here knows are its as well.
    """

    native: Callable[[Part], bool]
    text: Callable[[str], Json]
    media: Callable[[Media], Json | None]
    evidence: frozenset[str] = frozenset()


def text_part(text: str) -> Json:
    """A part of text, as msglog and most providers write it."""
    return {"type": "text", "text": text}


def text_of(part: Part) -> str | None:
    """The words of a part of text, in any provider's form; None for other parts."""
    key = "refusal" if part["type"] == "refusal" else "text"
    text = part.get(key)
    known = part["type"] in {"text", "input_text", "output_text", "refusal"}
    return text if known and isinstance(text, str) else None


def result_content(step: Step, dialect: Dialect) -> str | list[Json] | None:
    """The content of a result: a string, or parts where it is a list of them; any other value as compact JSON."""
    content = step.message.content
    if content is None or isinstance(content, str):
        return content
    if step.came_from_provider and isinstance(content, list):
        return list(content)
    return translated(step, dialect) if _is_parts(content, dialect) else encode(content)


def _is_parts(content: Any, dialect: Dialect) -> bool:
    """Whether the content of a result is a list of parts: every item is one that can be read."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(
            isinstance(part, dict)
            and isinstance(part.get("type"), str)
            and (text_of(part) is not None or media_of(part) is not None or dialect.native(part))
            for part in content
        )
    )


def translated(step: Step, dialect: Dialect, *, places: bool = False, start: int = 0) -> list[Json]:
    """The parts of the step's content, from number `start` on, as the provider writes them.

    Its own go as they are. Text and media are rewritten, reasoning of other models is left out, all else goes as
    text: media that it does not take as `[image image/png]`, others as JSON. With `places`, parts that stand for
    a call are kept, as `{"type": "tool_use", "id": …}`.
    """
    content: Sequence[Part] = step.message.content
    recorded = step.came_from_provider
    evident = unclaimed(step.message.extra) and any(
        p["type"] in dialect.evidence and dialect.native(p) for p in content
    )
    found: list[Json] = []
    for i, part in enumerate(content[start:], start):
        call_id = place_of(part, step.calls)
        if recorded or dialect.native(part):
            found.append(dict(part))
        elif call_id is not None:
            found += [{"type": "tool_use", "id": call_id}] if places else []
        elif evident and part["type"] not in _FAMILIAR:
            found.append(dict(part))
        elif part["type"] in _REASONING:
            step.note("dropped", "the reasoning of another model", f"content[{i}]")
        else:
            found.append(_rewritten(step, part, dialect, f"content[{i}]"))
    return found


def _rewritten(step: Step, part: Part, dialect: Dialect, path: str) -> Json:
    text = text_of(part)
    if text is not None:
        if not part.keys() <= {"type", "text", "refusal"}:
            step.note("dropped", "fields of a part that the provider does not know", path)
        return dialect.text(text)
    media = media_of(part)
    written = dialect.media(media) if media else None
    if media is None or written is None:
        return dialect.text(as_text(step, part, path))
    if unread_fields(part) or (media.name and not _holds(written, media.name)):
        step.note("dropped", "fields of a part that the provider does not know", path)
    return written


def as_text(step: Step, part: Part, path: str) -> str:
    """What stands for a part that the provider does not take; the report says so."""
    step.note("as-text", "a part that the provider does not take here", path)
    return stand_in(part)


def shaped(part: Part, shapes: Mapping[str, Mapping[str, type]]) -> bool:
    """Whether a part is of a type in `shapes` and has the fields named there."""
    shape = shapes.get(part.get("type", ""))
    return shape is not None and all(isinstance(part.get(key), kind) for key, kind in shape.items())


def _holds(value: Part, name: str) -> bool:
    return any(item == name or (isinstance(item, dict) and _holds(item, name)) for item in value.values())
