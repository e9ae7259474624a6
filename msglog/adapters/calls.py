"""The arguments of tool calls as providers take them: an object, or the text of one."""

from __future__ import annotations

from typing import Any

from msglog.adapters.steps import Step
from msglog.codec import EMPTY, decode, encode
from msglog.message import ToolCall


def object_of(step: Step, k: int) -> dict[str, Any]:
    """The arguments of a step's call number `k` as an object.

    Blank text and null are no arguments. Anything else that is no object is wrapped: `{"arguments": value}`, with
    the text itself as the value where the text is not JSON.
    """
    call = step.calls[k]
    value = _value(call)
    if isinstance(value, dict):
        return value
    step.note("wrapped", "arguments must be an object", f"tool_calls[{k}].args")
    return EMPTY if value is None else {"arguments": value}


def text_of_arguments(step: Step, k: int) -> str:
    """The arguments of a step's call number `k` as text that parses to an object: as they came, where they do."""
    call = step.calls[k]
    arguments = object_of(step, k)
    if call.raw is None:
        return encode(arguments)
    if not call.raw.strip():
        step.note("wrapped", "arguments must be an object", f"tool_calls[{k}].args")
        return "{}"
    return call.raw if isinstance(_value(call), dict) else encode(arguments)


def _value(call: ToolCall) -> Any:
    if call.raw is None:
        return call.args
    if not call.raw.strip():
        return EMPTY
    return call.raw if call.broken else decode(call.raw)


def call_from_text(call_id: Any, name: Any, arguments: Any, extra: dict[str, Any]) -> ToolCall:
    """A call as OpenAI's formats write it: its arguments are text. What is no text is kept as it is."""
    if arguments is None or isinstance(arguments, str):
        return ToolCall.from_text(call_id, name, arguments, **extra)
    return ToolCall(id=call_id, name=name, args=arguments, extra=extra)
