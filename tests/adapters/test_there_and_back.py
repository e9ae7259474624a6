"""What a provider sent goes back to it equal, and nothing needs a repair."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from msglog import adapters
from msglog.adapters import Repair
from msglog.codec import decode, encode
from msglog.message import Message
from tests.adapters import checks, natives

Json = dict[str, Any]


def stored(messages: list[Message]) -> list[Message]:
    """The messages as they are after they were written to JSON and read."""
    return [Message(**decode(encode(message.to_json()))) for message in messages]


@given(natives.anthropic())
def test_what_anthropic_sent_goes_back_equal(turns: list[Json]) -> None:
    report: list[Repair] = []
    messages = adapters.from_anthropic(turns)
    sent = adapters.to_anthropic(stored(messages), report)
    assert (sent, report) == (turns, [])
    checks.check_anthropic({"messages": sent}, own=True)


@given(natives.openai())
def test_what_openai_sent_goes_back_equal(given_messages: list[Json]) -> None:
    report: list[Repair] = []
    messages = adapters.from_openai(given_messages)
    sent = adapters.to_openai(stored(messages), report)
    assert (sent, report) == (given_messages, [])
    checks.check_openai(sent, own=True)


@given(natives.responses())
def test_what_openai_sent_as_responses_goes_back_equal(items: list[Json]) -> None:
    report: list[Repair] = []
    messages = adapters.from_openai_responses(items)
    sent = adapters.to_openai_responses(stored(messages), report)
    lonely = [repair for repair in report if repair.why.startswith("reasoning without")]
    assert report == lonely
    if not lonely:
        assert sent == items


@given(natives.gemini())
def test_what_gemini_sent_goes_back_equal(contents: list[Json]) -> None:
    report: list[Repair] = []
    messages = adapters.from_gemini(contents)
    sent = adapters.to_gemini(stored(messages), report)
    assert (sent, report) == (contents, [])
    checks.check_gemini(sent, own=True)
