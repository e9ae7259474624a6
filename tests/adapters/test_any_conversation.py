"""Whatever is stored, what is sent is what the provider accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from msglog import adapters
from msglog.adapters import Repair
from msglog.message import Message
from tests.adapters import checks
from tests.adapters.conversations import conversations

Render = Callable[..., Any]


def dumped(messages: list[Any]) -> list[Any]:
    return [message.model_dump() if hasattr(message, "model_dump") else message for message in messages]


@given(conversations)
def test_openai_accepts_it(conversation: list[Message]) -> None:
    checks.check_openai(adapters.to_openai(conversation))


@given(conversations)
def test_openai_accepts_it_as_responses(conversation: list[Message]) -> None:
    checks.check_responses(adapters.to_openai_responses(conversation))


@given(conversations)
def test_anthropic_accepts_it(conversation: list[Message]) -> None:
    request = adapters.to_anthropic_request(conversation)
    checks.check_anthropic(request)
    checks.check_anthropic({"messages": adapters.to_anthropic(conversation)})


@given(conversations)
def test_gemini_accepts_it(conversation: list[Message]) -> None:
    request = adapters.to_gemini_request(conversation)
    checks.check_gemini(request["contents"])
    assert request["contents"] == adapters.to_gemini(conversation)


@given(conversations)
def test_langchain_accepts_it(conversation: list[Message]) -> None:
    checks.check_langchain(adapters.to_langchain_messages(conversation))
    for message in adapters.to_langchain(conversation):
        checks.sendable(message)
        assert message["role"] in {"user", "assistant", "system"}
