"""Anthropic's Messages format (https://docs.anthropic.com/en/api/messages)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msglog.codec import encode, thaw
from msglog.message import Message


def to_anthropic(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The turns of a conversation: user and assistant messages of blocks, neighbours of one role joined.

    System and developer messages are left out: they belong in the request's `system`.
    """
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role in ("system", "developer"):
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _result(message) if message.role == "tool" else _blocks(message)
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    content = message.content
    blocks: list[dict[str, Any]] = []
    if isinstance(content, str):
        if content.strip():
            blocks.append({"type": "text", "text": content})
    elif content is not None:
        blocks += [thaw(part) for part in content if part["type"] != "text" or part["text"].strip()]
    for call in message.tool_calls:
        arguments = call.args if isinstance(call.args, dict) and not call.broken else {"arguments": call.arguments}
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": thaw(arguments)})
    return blocks


def _result(message: Message) -> list[dict[str, Any]]:
    content = message.content
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": message.tool_call_id}
    text = content if isinstance(content, str) else "" if content is None else encode(content)
    if text.strip():
        block["content"] = text
    return [block]
