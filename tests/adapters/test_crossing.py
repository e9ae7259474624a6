"""What came from one provider is accepted by every other, and loses nothing silently."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog import adapters
from msglog.adapters import Repair
from msglog.message import Message
from tests.adapters import checks, natives
from tests.strategies import Json

SOURCES: dict[str, tuple[Callable[..., list[Message]], st.SearchStrategy[list[Json]]]] = {
    "anthropic": (adapters.from_anthropic, natives.anthropic()),
    "gemini": (adapters.from_gemini, natives.gemini()),
    "openai": (adapters.from_openai, natives.openai()),
    "responses": (adapters.from_openai_responses, natives.responses()),
}
TARGETS: dict[str, tuple[Callable[..., Any], Callable[[Any], None]]] = {
    "anthropic": (adapters.to_anthropic_request, checks.check_anthropic),
    "gemini": (adapters.to_gemini_request, lambda request: checks.check_gemini(request["contents"])),
    "langchain": (adapters.to_langchain_messages, checks.check_langchain),
    "openai": (adapters.to_openai, checks.check_openai),
    "responses": (adapters.to_openai_responses, checks.check_responses),
}
PAIRS = [(source, target) for source in SOURCES for target in TARGETS if source != target]


def leaves(value: Any) -> list[str]:
    """The strings of a JSON value, but for the names of types; text that is itself JSON is looked into."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() if key != "type" for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return leaves(json.loads(value))
        except ValueError:
            return [value]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_crossing_is_accepted_and_loses_nothing_silently(source: str, target: str) -> None:
    read, conversations = SOURCES[source]
    write, check = TARGETS[target]

    @given(conversations)
    def crossing(conversation: list[Json]) -> None:
        report: list[Repair] = []
        messages = read(conversation)
        sent = write(messages, report)
        check(sent)
        repaired = {repair.index for repair in report}
        found = leaves(checks.dumped(sent))
        for index, message in enumerate(messages):
            told = [message.content, *(call.args for call in message.tool_calls)]
            for leaf in leaves(told) if index not in repaired else ():
                assert any(leaf in text for text in found), (message, leaf)

    crossing()
