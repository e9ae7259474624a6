"""The 40 real conversations to every format and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from msglog import adapters
from msglog.adapters import Repair
from msglog.message import Message
from tests.adapters import checks
from tests.strategies import Json

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "airline-conversations.jsonl"
FORMATS: dict[str, tuple[Callable[..., Any], Callable[[Any], list[Message]], Callable[[Any], None]]] = {
    "anthropic": (adapters.to_anthropic_request, adapters.from_anthropic, checks.check_anthropic),
    "gemini": (
        adapters.to_gemini_request,
        adapters.from_gemini,
        lambda request: checks.check_gemini(request["contents"]),
    ),
    "langchain": (adapters.to_langchain_messages, adapters.from_langchain_messages, checks.check_langchain),
    "responses": (adapters.to_openai_responses, adapters.from_openai_responses, checks.check_responses),
}


@pytest.fixture(scope="module")
def conversations() -> list[list[Json]]:
    if not DATA.exists():
        pytest.skip(f"the real conversations are not here: {DATA.name} lies beside the checkout")
    return [json.loads(line)["messages"] for line in DATA.read_text(encoding="utf-8").splitlines()]


def told(messages: list[Message]) -> list[Any]:
    """What a conversation tells, whoever wrote it: words, calls, and the calls that results answer, by place."""
    found: list[Any] = []
    calls: dict[str, int] = {}
    for message in messages:
        for call in message.tool_calls:
            calls[call.id] = len(found)
        place = calls.get(message.tool_call_id or "")
        found.append((message.role, message.text, [(call.name, call.args) for call in message.tool_calls], place))
    return found


def test_openai_gets_them_back_equal(conversations: list[list[Json]]) -> None:
    for conversation in conversations:
        report: list[Repair] = []
        sent = adapters.to_openai(adapters.from_openai(conversation), report)
        assert (sent, report) == (conversation, [])
        checks.check_openai(sent, own=True)


@pytest.mark.parametrize("name", FORMATS)
def test_they_tell_the_same_after_another_format(name: str, conversations: list[list[Json]]) -> None:
    write, read, check = FORMATS[name]
    for conversation in conversations:
        messages = adapters.from_openai(conversation)
        report: list[Repair] = []
        sent = write(messages, report)
        check(sent)
        assert told(read(sent)) == told(messages)
        kinds = {repair.what for repair in report}
        assert kinds <= {"renamed", "added"}, "ids used again, and what Gemini wants signed"


def test_role_and_content_dicts_leave_out_tool_exchanges_alone(conversations: list[list[Json]]) -> None:
    for conversation in conversations:
        kept = [m for m in conversation if m["role"] != "tool" and m["content"] is not None]
        assert adapters.to_langchain(adapters.from_openai(conversation)) == [
            {"role": message["role"], "content": message["content"]} for message in kept
        ]
