"""A view as an example that OpenAI's models are trained with: one line of JSON.

The format is `FineTuneChatRequestInput` of OpenAI's API description: `messages`, and `tools` where some are called.
Messages may hold text and images; there is something to learn only where the assistant speaks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msglog.adapters import Repair, to_openai
from msglog.adapters.media import stand_in
from msglog.checks import checked_list
from msglog.codec import EMPTY
from msglog.message import Message
from msglog.transfer.plain import json_line
from msglog.transfer.turns import Given, message_of

_LEARNED = {"text", "image_url", "refusal"}


def to_finetuning(
    messages: Iterable[Given], *, tools: Sequence[Mapping[str, Any]] | None = None, report: list[Repair] | None = None
) -> Iterator[str]:
    """The line of JSON Lines that a conversation makes; none where the assistant says nothing.

    It ends with the last message of the assistant. `tools` are definitions in OpenAI's form; without them those that
    are called are named, with the arguments that they were given. What had to be repaired is added to `report`.
    """
    sent = [_taught(message) for message in to_openai(map(_without_kinds, checked_list(messages)), report=report)]
    while sent and sent[-1]["role"] != "assistant":
        sent.pop()
    if sent:
        example: dict[str, Any] = {"messages": sent}
        defined = list(tools) if tools is not None else _named(sent)
        if defined:
            example["tools"] = defined
        yield json_line(example) + "\n"


def _without_kinds(given: Given) -> Message:
    """A message whose calls are plain calls of functions, which is all that can be taught."""
    message = message_of(given)
    calls = tuple(call.model_copy(update={"extra": EMPTY}) for call in message.tool_calls)
    return message.model_copy(update={"tool_calls": calls}) if calls else message


_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id", "refusal", "weight")


def _taught(message: dict[str, Any]) -> dict[str, Any]:
    taught = {key: message[key] for key in _KEYS if key in message}
    if taught["role"] == "developer":
        taught["role"] = "system"
    content = taught.get("content")
    if isinstance(content, list):
        taught["content"] = [
            part if part["type"] in _LEARNED else {"type": "text", "text": stand_in(part)} for part in content
        ]
    elif content is None and not taught.get("tool_calls") and not taught.get("refusal"):
        taught["content"] = ""
    return taught


def _named(sent: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Definitions of the tools that are called: their names, and the names of their arguments."""
    arguments: dict[str, dict[str, Any]] = {}
    for message in sent:
        for call in message.get("tool_calls", ()):
            function = call.get("function")
            if function is not None:
                known = arguments.setdefault(function["name"], {})
                known |= {key: {} for key in json.loads(function["arguments"])}
    return [
        {
            "type": "function",
            "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
        }
        for name, properties in arguments.items()
    ]
