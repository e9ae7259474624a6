"""Messages of any form, as far as counting and pairing need them.

Read are our own messages and entries; dicts of them; dicts of OpenAI's Chat Completions and of Anthropic's
Messages; and objects with the same attributes, LangChain's for instance. What has no such shape is read as a
message that says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msglog.codec import EMPTY
from msglog.message import Entry, Message, ToolCall
from msglog.model import construct

AnyMessage: TypeAlias = Any
"""A message of any form."""

PINNED = "pinned"
"""The label, in an entry's metadata, of what must neither be trimmed nor summarised."""

_ROLES = {"human": "user", "ai": "assistant"}  # as LangChain's objects say in `type`


def spoken(value: AnyMessage) -> list[Message]:
    """The messages that a value holds, in our form and unchecked: fit to be counted and paired, not to be stored.

    They are several where a turn carries the results of several calls, as Anthropic's do.
    """
    if isinstance(value, Message):
        return [value]
    if isinstance(value, Entry):
        return [value.message]
    get = _getter(value)
    if get("message") is not None and get("role") is None:
        return spoken(get("message"))
    role, content = get("role") or get("type"), get("content")
    calls = [_call(call) for call in get("tool_calls") or get("toolCalls") or ()]
    turns: list[Message] = []
    if isinstance(content, (list, tuple)):
        blocks, content = content, []
        for block in blocks:
            kind = block.get("type") if isinstance(block, Mapping) else None
            if kind == "tool_use":
                calls += [] if any(call.id == block.get("id") for call in calls) else [_call(block)]
            elif kind == "tool_result":
                turns.append(_message("tool", block.get("content"), (), block.get("tool_use_id")))
            else:
                content.append(block)
    if content or calls or not turns:
        call_id = get("tool_call_id") or get("toolCallId")
        turns.append(_message(_ROLES.get(str(role), str(role)), content, tuple(calls), call_id))
    return turns


def is_kept(value: AnyMessage) -> bool:
    """Whether a message stays whatever is cut: one of the system or developer, or one that is labelled `pinned`."""
    if spoken(value)[0].role in ("system", "developer"):
        return True
    meta = _getter(value)("meta")
    return meta is not None and PINNED in (_getter(meta)("labels") or ())


def _getter(value: Any) -> Callable[[str], Any]:
    return value.get if isinstance(value, Mapping) else lambda name: getattr(value, name, None)


def _call(value: Any) -> ToolCall:
    get = _getter(value)
    function = get("function")
    if function is not None:
        arguments = _getter(function)("arguments")
    else:
        arguments = get("input") if get("args") is None else get("args")
    raw = arguments if isinstance(arguments, str) else get("raw")
    args = EMPTY if arguments is None else arguments
    return construct(ToolCall, {"id": str(get("id")), "name": "", "args": args, "raw": raw, "extra": EMPTY})


def _message(role: str, content: Any, calls: tuple[ToolCall, ...], call_id: Any) -> Message:
    call_id = None if call_id is None else str(call_id)
    fields = {"role": role, "content": content, "name": None, "tool_calls": calls, "tool_call_id": call_id}
    return construct(Message, {**fields, "extra": EMPTY})
