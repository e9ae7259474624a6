"""What the Responses API asks for beyond whole exchanges."""

from __future__ import annotations

from typing import Any

import pytest

from msglog import adapters
from msglog.adapters import Repair
from msglog.errors import InvalidMessageError
from tests.adapters import checks
from tests.strategies import Json, calls, reply, result, user

REASONING: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


def sent(messages: list[Any]) -> tuple[list[Json], list[tuple[str, int, str]]]:
    """The items, checked, and what was repaired."""
    report: list[Repair] = []
    items = adapters.to_openai_responses(messages, report)
    checks.check_responses(items)
    return items, [(repair.what, repair.index, repair.path) for repair in report]


def test_a_reply_with_calls_is_a_message_and_its_calls() -> None:
    items, repairs = sent(
        [user("q"), reply("hm") | {"toolCalls": calls("a", "b")["toolCalls"]}, result("b"), result("a")]
    )
    assert [item.get("type", item.get("role")) for item in items] == [
        "user",
        "assistant",
        *["function_call"] * 2,
        *["function_call_output"] * 2,
    ]
    assert repairs == []
    (_, message, *_) = adapters.from_openai_responses(items)
    assert (message.text, [call.id for call in message.tool_calls]) == ("hm", ["a", "b"])


def test_a_result_at_a_distance_stays_where_it_is() -> None:
    items, repairs = sent([calls("a", "b"), user("hey"), result("a")])
    assert [item.get("call_id", item.get("role")) for item in items] == ["a", "b", "b", "user", "a"]
    assert repairs == [("answered", 0, "tool_calls[1]")]


def test_an_id_that_comes_again_is_another_one() -> None:
    items, _ = sent([calls("a"), result("a", "1"), calls("a"), result("a", "2")])
    ids = [item["call_id"] for item in items]
    assert ids[0] == ids[1] == "a"
    assert ids[2] == ids[3] != "a"


def test_reasoning_stays_with_what_it_led_to() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    items = [user("q"), REASONING, call, output]
    messages = adapters.from_openai_responses(items)
    assert [message.role for message in messages] == ["user", "assistant", "tool"]
    assert sent(messages) == (items, [])
    assert sent([messages[0]])[0] == [user("q")]


def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    items = [REASONING, REASONING | {"id": "rs_2"}, user("stop")]
    assert sent(adapters.from_openai_responses(items)) == ([user("stop")], [("dropped", 0, ""), ("dropped", 0, "")])


def test_an_output_whose_call_is_only_referred_to_stays() -> None:
    items = [{"type": "item_reference", "id": "fc_1"}, {"type": "function_call_output", "call_id": "c", "output": "x"}]
    assert adapters.to_openai_responses(adapters.from_openai_responses(items)) == items


def test_several_texts_of_an_assistant_are_messages_of_their_own() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]
    assert sent([{"role": "assistant", "content": parts}])[0] == [reply("a"), reply("b")]


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ({}, "[0]"),
        (7, "[0]"),
        ({"type": "function_call", "name": "f", "arguments": "{}"}, "[0].id"),
        ({"role": "robot", "content": "x"}, "[0].role"),
        ({"type": 5}, "[0].type"),
    ],
)
def test_what_is_no_item_is_refused_with_its_path(item: Any, path: str) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        adapters.from_openai_responses([item])
    assert caught.value.path == path
