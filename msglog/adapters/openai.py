"""OpenAI's Chat Completions format (https://platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msglog.codec import encode, thaw
from msglog.errors import InvalidMessageError
from msglog.message import Message, ToolCall


def to_openai(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Messages in the Chat Completions format: plain dicts, whose content key is always there."""
    return [_to_message(message) for message in messages]


def _to_message(message: Message) -> dict[str, Any]:
    content = message.content
    if message.role == "tool" and not isinstance(content, str):
        content = "" if content is None else encode(content)
    data: dict[str, Any] = {"role": message.role, "content": thaw(content)}
    if message.name is not None and message.role != "tool":
        data["name"] = message.name
    if message.tool_calls:
        data["tool_calls"] = [_to_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        data["tool_call_id"] = message.tool_call_id
    data.update(thaw(message.extra))
    return data


def _to_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function, **thaw(call.extra)}


def from_openai(messages: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Messages of the Chat Completions format. Keys that are not known stay in `extra`."""
    return [_from_message(message) for message in messages]


def _from_message(data: Mapping[str, Any]) -> Message:
    if not isinstance(data, Mapping):
        raise InvalidMessageError("", f"expected a dict, not {type(data).__name__}")
    fields = dict(data)
    calls = fields.pop("tool_calls", None)
    if calls:
        fields["tool_calls"] = tuple(_from_call(call, i) for i, call in enumerate(calls))
    return Message(**fields)


def _from_call(data: Mapping[str, Any], index: int) -> ToolCall:
    fields = dict(data)
    function = fields.pop("function", None)
    if not isinstance(function, Mapping):
        raise InvalidMessageError(f"tool_calls[{index}].function", "a call must have a function")
    if fields.get("type") == "function":
        del fields["type"]
    extra = {key: value for key, value in fields.items() if key != "id"}
    return ToolCall.from_text(fields.get("id", ""), function.get("name", ""), function.get("arguments"), **extra)
