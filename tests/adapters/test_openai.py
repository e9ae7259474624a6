"""What Chat Completions asks for beyond whole exchanges."""

from __future__ import annotations

import json
from typing import Any

import pytest

from msglog import adapters
from msglog.adapters import Repair
from msglog.errors import CodecError, InvalidMessageError
from tests.adapters import checks
from tests.strategies import Json, calls, reply, result, user


def sent(messages: list[Any]) -> tuple[list[Json], list[tuple[str, int, str]]]:
    """The messages, checked, and what was repaired."""
    report: list[Repair] = []
    found = adapters.to_openai(messages, report)
    checks.check_openai(found)
    return found, [(repair.what, repair.index, repair.path) for repair in report]


def test_plain_messages_have_no_record_and_stay_as_they_are() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    plain = [
        {"role": "developer", "content": "d"},
        user("q") | {"name": "ada"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "r", "tool_call_id": "c"},
        {"role": "user", "content": [{"type": "text", "text": "t"}]},
    ]
    messages = adapters.from_openai(plain)
    assert all(not message.extra for message in messages)
    assert sent(messages) == (plain, [])


def test_the_exact_text_of_arguments_stays() -> None:
    for text in ('{ "b":1,"a" : 2 }', '{"x":1.0}', '{"e":"\\u00e9"}', '{"a":1,"a":2}'):
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
        messages = adapters.from_openai([{"role": "assistant", "content": None, "tool_calls": [call]}])
        assert sent(messages)[0][0]["tool_calls"] == [call]


def test_a_text_of_arguments_that_contradicts_them_is_what_counts() -> None:
    call = {"id": "c", "name": "f", "args": {"a": 1}, "raw": "[1]"}
    found, repairs = sent([{"role": "assistant", "toolCalls": [call]}, result("c")])
    assert found[0]["tool_calls"][0]["function"]["arguments"] == '{"arguments":[1]}'
    assert repairs == [("wrapped", 0, "tool_calls[0].args")]


def test_content_is_never_missing_nor_null_without_need() -> None:
    empty: list[Json] = [{"role": role} for role in ("system", "user", "assistant")]
    assert [message["content"] for message in sent(empty)[0]] == ["", "", ""]
    refusal = {"role": "assistant", "content": None, "refusal": "I will not."}
    assert adapters.to_openai(adapters.from_openai([refusal])) == [refusal]


@pytest.mark.parametrize("nothing", [None, []])
def test_null_and_empty_calls_are_not_sent_back(nothing: Any) -> None:
    messages = adapters.from_openai([reply("x") | {"tool_calls": nothing}])
    assert sent(messages) == ([reply("x")], [])


def test_names_of_participants_are_mapped_unless_openai_sent_them() -> None:
    found, repairs = sent([user("q") | {"name": "Ada L."}, user("r") | {"name": "Ada/L."}])
    assert found[0]["name"] != found[1]["name"]
    assert repairs == [("renamed", 0, "name"), ("renamed", 1, "name")]
    own = [user("q") | {"name": "José"}]
    assert adapters.to_openai(adapters.from_openai(own)) == own


def test_parts_that_an_assistant_or_a_tool_cannot_send_go_as_text() -> None:
    image = {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="}
    words = {"type": "text", "text": "[image image/png]"}
    found, repairs = sent(
        [{"role": "assistant", "content": [image], "toolCalls": calls("c")["toolCalls"]}, result("c", [image])]
    )
    assert [message["content"] for message in found] == [[words], [words]]
    assert repairs == [("as-text", 0, "content[0]"), ("as-text", 1, "content[0]")]


def test_an_error_has_no_mark_and_the_report_says_so() -> None:
    assert sent([calls("c"), result("c", "boom") | {"isError": True}])[1] == [("dropped", 1, "extra.isError")]


def test_a_custom_tool_s_call_goes_to_others_as_an_object() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    messages = adapters.from_openai([{"role": "assistant", "content": None, "tool_calls": [call]}])
    report: list[Repair] = []
    (_, turn, _) = adapters.to_anthropic(messages, report)
    assert turn["content"] == [{"type": "tool_use", "id": "c", "name": "sh", "input": {"arguments": "ls"}}]
    assert ("wrapped", "tool_calls[0].args") in [(repair.what, repair.path) for repair in report]


def test_nothing_given_is_nothing_sent() -> None:
    assert adapters.to_openai([]) == []


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("hi", "[0]"),
        ({"role": "robot", "content": "x"}, "[0].role"),
        ({"role": "user", "content": [5]}, "[0].content[0]"),
        ({"role": "assistant", "tool_calls": "x"}, "[0].tool_calls"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "[0].tool_calls[0]"),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {}}]},
            "[0].tool_calls[0].name",
        ),
    ],
)
def test_what_is_no_message_is_refused_with_its_path(message: Any, path: str) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        adapters.from_openai([message])
    assert caught.value.path == path


def test_what_json_cannot_hold_is_refused_with_its_path() -> None:
    with pytest.raises(CodecError) as caught:
        adapters.from_openai([user("q") | {"seen": b"x"}])
    assert caught.value.path == "[0].extra.openai.seen"


def test_a_key_of_lone_surrogates_does_not_swallow_another() -> None:
    call = {"id": "c", "name": "f", "args": dict(zip("\ud83d\ud83e", (1, 2), strict=True))}
    turns = adapters.to_anthropic([{"role": "assistant", "toolCalls": [call]}])
    assert sorted(turns[1]["content"][0]["input"].values()) == [1, 2]
    json.dumps(turns, ensure_ascii=False).encode()
