"""What no provider sends is refused with its place, whatever it is: never with another error than msglog's own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from msglog.adapters import from_anthropic, from_gemini, from_langchain_dicts, from_openai, from_openai_responses
from msglog.errors import MsgLogError

JUNK: list[Any] = [None, 7, True, 1.5, "", "x", [], {}, [7], [[]], {"a": 1}, {"type": {}}]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SENT: list[tuple[Callable[[Any], Any], Any]] = [
    (from_openai, [{"role": "assistant", "content": [{"type": "text", "text": "x"}], "tool_calls": [CALL]}]),
    (from_openai, [{"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}]),
    (from_openai_responses, [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]),
    (from_openai_responses, [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}]),
    (from_openai_responses, [{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "x"}]}]),
    (from_anthropic, [{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}]),
    (from_anthropic, [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]}]),
    (from_gemini, [{"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]}]),
    (
        from_langchain_dicts,
        [{"type": "ai", "data": {"content": "", "tool_calls": [{"name": "f", "args": {}, "id": "c"}]}}],
    ),
]  # fmt: skip


def spoilt(value: Any) -> Iterator[Any]:
    """The value with junk in each place in it, in turn."""
    yield from JUNK
    for key in value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        for item in spoilt(value[key]):
            copy = value.copy()
            copy[key] = item
            yield copy


@pytest.mark.parametrize(("read", "sent"), SENT)
def test_junk_in_any_place_is_refused_or_kept(read: Callable[[Any], Any], sent: list[Any]) -> None:
    for message in spoilt(sent[0]):
        with contextlib.suppress(MsgLogError):
            read([message])
