"""Tool calls and results that stand among the parts of a content, as some providers write them.

A message holds its calls in `tool_calls`. A part such as `{"type": "tool_use", "id": …}` whose id is among them
marks the place of that call between other parts; it is there only where parts follow a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msglog.adapters.origin import ANTHROPIC, record
from msglog.message import Message, ToolCall

_CALL_ID = {"tool_use": "id", "tool_call": "id", "function_call": "call_id"}


def place_of(part: Mapping[str, Any], calls: Sequence[ToolCall]) -> str | None:
    """The id of the call among `calls` that a part stands for, or None."""
    key = _CALL_ID.get(part["type"])
    found = part.get(key) if key else None
    return found if isinstance(found, str) and any(call.id == found for call in calls) else None


def folded(items: Sequence[Mapping[str, Any] | ToolCall]) -> tuple[list[Mapping[str, Any]], list[ToolCall]]:
    """The parts and the calls of a sequence of both; a call before the last part leaves a part in its place."""
    last = max((i for i, item in enumerate(items) if not isinstance(item, ToolCall)), default=-1)
    parts = [{"type": "tool_use", "id": item.id} if isinstance(item, ToolCall) else item for item in items[: last + 1]]
    return parts, [item for item in items if isinstance(item, ToolCall)]


def placed(parts: Sequence[Any], calls: Sequence[ToolCall], rendered: Sequence[Any]) -> list[Any]:
    """The rendered parts with the rendered calls in their places; those without a place come last."""
    waiting = list(zip(calls, rendered, strict=True))
    found: list[Any] = []
    for part in parts:
        if part.get("type") != "tool_use":
            found.append(part)
            continue
        at = next((i for i, (call, _) in enumerate(waiting) if call.id == part.get("id")), None)
        if at is not None:
            found.append(waiting.pop(at)[1])
    return found + [made for _, made in waiting]


def is_plain(content: Any) -> bool:
    """Whether a content is text that every provider takes in the same form: a string, or text parts and no more."""
    if isinstance(content, (list, tuple)):
        return bool(content) and all(
            isinstance(part, dict) and part.keys() == {"type", "text"} and part["type"] == "text" for part in content
        )
    return content is None or isinstance(content, str)


def unfolded(message: Message) -> list[Message]:
    """The messages that one of Anthropic's blocks is made of: calls in `tool_calls`, each result on its own."""
    if not isinstance(message.content, list):
        return [message]
    if message.role == "assistant":
        return [_with_calls(message)]
    if message.role == "user" and any(_is_result(part) for part in message.content):
        return list(_results(message))
    return [message]


def _with_calls(message: Message) -> Message:
    known = {call.id for call in message.tool_calls}
    items = [_call(part) if _is_call(part) and part["id"] not in known else part for part in message.content]
    parts, calls = folded(items)
    if not calls:
        return message
    return Message(
        role="assistant",
        content=parts or None,
        name=message.name,
        tool_calls=(*message.tool_calls, *calls),
        extra=message.extra,
    )


def _is_call(part: Mapping[str, Any]) -> bool:
    return part["type"] == "tool_use" and all(isinstance(part.get(key), str) for key in ("id", "name"))


def _call(part: Mapping[str, Any]) -> ToolCall:
    rest = {key: value for key, value in part.items() if key not in {"type", "id", "name", "input"}}
    return ToolCall(id=part["id"], name=part["name"], args=part.get("input", {}), extra=record(ANTHROPIC, rest))


def _is_result(part: Mapping[str, Any]) -> bool:
    if part["type"] != "tool_result" or not isinstance(part.get("tool_use_id"), str):
        return False
    content = part.get("content")
    if isinstance(content, list):
        return all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in content)
    return content is None or isinstance(content, str)


def _results(message: Message) -> Iterator[Message]:
    rest: list[Any] = []
    for part in (*message.content, None):
        if part is not None and not _is_result(part):
            rest.append(part)
            continue
        if rest:
            yield Message(role="user", content=rest, name=message.name, extra=message.extra)
            rest = []
        if part is not None:
            yield _result(part)


def _result(part: Mapping[str, Any]) -> Message:
    taken = {"type", "tool_use_id", "content"}
    common = {}
    if isinstance(part.get("is_error"), bool):
        taken.add("is_error")
        common["isError"] = part["is_error"]
    content = part.get("content")
    rest = {key: value for key, value in part.items() if key not in taken}
    extra = record(ANTHROPIC, rest, native=not is_plain(content), **common)
    return Message(role="tool", content=content, tool_call_id=part["tool_use_id"], extra=extra)
