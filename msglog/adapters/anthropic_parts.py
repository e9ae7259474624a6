"""The blocks of Anthropic's Messages format: which stand where, and what is refused about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msglog.adapters.media import IMAGE_TYPES, Json, Media, Part, media_of
from msglog.adapters.parts import Dialect, shaped, text_part
from msglog.adapters.steps import Step

_MAX_MARKS = 4

_INPUT: Mapping[str, Mapping[str, type]] = {
    "image": {"source": dict},
    "document": {"source": dict},
    "search_result": {"source": str, "title": str, "content": list},
}
_IN_RESULTS: Mapping[str, Mapping[str, type]] = {"tool_reference": {"tool_name": str}}
_OF_USER: Mapping[str, Mapping[str, type]] = {"container_upload": {"file_id": str}}
_SERVER_TOOLS = ("web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution")
_OF_ASSISTANT: Mapping[str, Mapping[str, type]] = {
    "thinking": {"thinking": str, "signature": str},
    "redacted_thinking": {"data": str},
    "server_tool_use": {"id": str, "name": str, "input": dict},
    **{f"{tool}_tool_result": {"tool_use_id": str, "content": object} for tool in (*_SERVER_TOOLS, "tool_search")},
}


def as_blocks(content: str | list[Json]) -> list[Json]:
    """A content as blocks: a string is short for one of text."""
    return [text_part(content)] if isinstance(content, str) else content


def is_blank(block: Part) -> bool:
    """Whether a block is text without any characters to see, which is refused."""
    return shaped(block, {"text": {"text": str}}) and not block["text"].strip()


def without_blanks(step: Step, blocks: list[Json]) -> list[Json]:
    """The blocks that are not blank text."""
    kept = [block for block in blocks if not is_blank(block)]
    if len(kept) < len(blocks):
        step.note("dropped", "blank text, which is refused", "content")
    return kept


def without_old_marks(turns: Iterable[tuple[Step, Json]]) -> None:
    """Take all but the four newest cache marks away (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching).

    The marks of the system messages count as the newest, since they cover what never changes.
    """
    marked = [(step, block) for step, turn in turns for block in _all_blocks(turn["content"])]
    for step, block in [(step, block) for step, block in marked if block.get("cache_control")][:-_MAX_MARKS]:
        del block["cache_control"]
        step.note("dropped", "at most four cache marks are accepted; the newest stay", "content")


def _all_blocks(content: str | list[Json]) -> list[Json]:
    found: list[Json] = []
    for block in () if isinstance(content, str) else content:
        inner = block.get("content") if block["type"] == "tool_result" else None
        found += [*(inner if isinstance(inner, list) else ()), block]
    return found


def _is_text(part: Part) -> bool:
    return shaped(part, {"text": {"text": str}}) and part.keys() <= {"type", "text", "cache_control", "citations"}


def _is_source(part: Part) -> bool:
    """Whether an image or document has a source that can be sent."""
    source = part["source"]
    if source.get("type") == "file":
        return isinstance(source.get("file_id"), str)
    if source.get("type") == "text":
        return isinstance(source.get("data"), str) and source.get("media_type") == "text/plain"
    media = media_of(part) if source.get("type") in ("base64", "url") else None
    return media is not None and _media(media) is not None


def _native(*shapes: Mapping[str, Mapping[str, type]]) -> Callable[[Part], bool]:
    known = {kind: shape for table in shapes for kind, shape in table.items()}

    def native(part: Part) -> bool:
        if not shaped(part, known):
            return _is_text(part)
        return part["type"] not in {"image", "document"} or _is_source(part)

    return native


def _media(media: Media) -> Json | None:
    is_image = media.kind == "image" and (media.media_type in IMAGE_TYPES or media.web_url)
    is_document = media.kind == "file" and (media.media_type == "application/pdf" or media.web_url)
    if not is_image and not is_document:
        return None
    kind = "image" if is_image else "document"
    title = {"title": media.name} if media.name and is_document else {}
    if media.data:
        source = {"type": "base64", "media_type": media.media_type, "data": media.data}
    elif media.web_url:
        source = {"type": "url", "url": media.web_url}
    else:
        return None
    return {"type": kind, "source": source, **title}


def _nothing(_media: Media) -> None:
    return None


USER = Dialect(_native(_INPUT, _OF_USER), text_part, _media)
ASSISTANT = Dialect(_native(_OF_ASSISTANT), text_part, _nothing, frozenset(_OF_ASSISTANT))
RESULT = Dialect(_native(_INPUT, _IN_RESULTS), text_part, _media)
SYSTEM = Dialect(_is_text, text_part, _nothing)
