"""Whatever is stored, what is sent is what the provider accepts: nasty conversations through every adapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog import adapters
from msglog.adapters import Repair
from msglog.message import Message
from tests.adapters import checks
from tests.adapters.conversations import conversations
from tests.strategies import nested

RENDERERS: dict[str, tuple[Callable[..., Any], Callable[[Any], None]]] = {
    "to_anthropic": (adapters.to_anthropic, lambda turns: checks.check_anthropic({"messages": turns})),
    "to_anthropic_request": (adapters.to_anthropic_request, checks.check_anthropic),
    "to_gemini": (adapters.to_gemini, checks.check_gemini),
    "to_gemini_request": (adapters.to_gemini_request, lambda request: checks.check_gemini(request["contents"])),
    "to_langchain": (adapters.to_langchain, checks.check_role_and_content),
    "to_langchain_messages": (adapters.to_langchain_messages, checks.check_langchain),
    "to_openai": (adapters.to_openai, checks.check_openai),
    "to_openai_responses": (adapters.to_openai_responses, checks.check_responses),
}


def test_every_adapter_is_tried() -> None:
    assert set(RENDERERS) == {name for name in adapters.__all__ if name.startswith("to_")}


@pytest.mark.parametrize("name", RENDERERS)
def test_what_is_sent_is_accepted(name: str) -> None:
    render, check = RENDERERS[name]

    @given(conversations)
    def accepted(conversation: list[Message]) -> None:
        report: list[Repair] = []
        sent = render(conversation, report)
        check(sent)
        assert render(conversation) == sent, "the same each time, with a report or without"
        assert all(0 <= repair.index < len(conversation) for repair in report)

    accepted()


@pytest.mark.parametrize("name", RENDERERS)
def test_a_record_of_a_provider_beside_any_content_does_no_harm(name: str) -> None:
    render, _ = RENDERERS[name]
    providers = st.sampled_from(["anthropic", "gemini", "langchain", "openai", "openai_responses"])

    @given(conversations, providers)
    def rendered(conversation: list[Message], provider: str) -> None:
        marked = [{**message.to_json(), "extra": {provider: {}}} for message in conversation]
        checks.sendable(checks.dumped(render(marked)))

    rendered()


def test_values_as_deep_as_the_log_keeps_them_are_sent() -> None:
    deep = nested(250)
    conversation = [
        {"role": "user", "content": [{"type": "widget", "deep": deep}]},
        {"role": "assistant", "toolCalls": [{"id": "c", "name": "f", "args": {"deep": deep}}]},
        {"role": "tool", "content": deep, "toolCallId": "c"},
    ]
    for render, _ in RENDERERS.values():
        checks.sendable(checks.dumped(render(conversation)))


@pytest.mark.parametrize("name", RENDERERS)
def test_a_report_never_holds_text_of_a_message(name: str) -> None:
    render, _ = RENDERERS[name]
    secret = "QZ\ud83d.QZ"
    call = {"id": secret, "name": secret, "args": secret, secret: secret}
    parts = [{"type": kind, secret: secret, "text": secret, "data": secret} for kind in ("text", "image", secret)]
    conversation = [
        {"role": "system", "content": parts, "name": secret},
        {"role": "assistant", "content": parts, "toolCalls": [call], secret: secret},
        {"role": "tool", "content": parts, "toolCallId": secret, "isError": True},
        {"role": "assistant", "toolCalls": [call, call]},
        {"role": "user", "content": parts, "name": secret},
        {"role": "tool", "content": secret, "toolCallId": "stray"},
    ]
    report: list[Repair] = []
    render(conversation, report)
    assert report
    assert "QZ" not in repr(report)
