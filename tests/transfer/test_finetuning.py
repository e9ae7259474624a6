"""The training example of a view: what OpenAI's API description calls a `FineTuneChatRequestInput`."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

from msglog.adapters import Repair, from_openai
from msglog.message import Message
from msglog.transfer import to_finetuning
from tests.adapters.conversations import conversations
from tests.adapters.vendor import strict
from tests.strategies import Json, calls, reply, result, user


def example(*given: Json | Message, **options: Any) -> Json:
    [line] = to_finetuning(given, **options)
    assert line.count("\n") == 1
    assert line.endswith("\n")
    check(line)
    read: Json = json.loads(line)
    return read


def check(line: str) -> None:
    line.encode()
    read = json.loads(line)
    assert read.keys() <= {"messages", "tools"}
    assert read["messages"][-1]["role"] == "assistant"
    for message in read["messages"]:
        assert message["role"] in {"system", "user", "assistant", "tool"}
        strict(ChatCompletionMessageParam).validate_python(message)
        if isinstance(message["content"], list):
            assert {part["type"] for part in message["content"]} <= {"text", "image_url", "refusal"}
    named = {call["function"]["name"] for m in read["messages"] for call in m.get("tool_calls", ())}
    assert named <= {tool["function"]["name"] for tool in read.get("tools", ())}
    for tool in read.get("tools", ()):
        strict(ChatCompletionFunctionToolParam).validate_python(tool)


def test_an_exchange_of_tools_is_an_example_with_its_tools() -> None:
    read = example(user("hi"), calls("c1"), result("c1", {"x": 1}), reply("so"), user("thanks"))
    assert [message["role"] for message in read["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert read["tools"] == [
        {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {}}}}}
    ]


def test_tools_may_be_given() -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}
    assert example(user("hi"), calls("c1"), tools=[tool])["tools"] == [tool]


def test_a_call_at_the_end_is_what_is_learned() -> None:
    report: list[Repair] = []
    read = example(user("hi"), calls("c1"), report=report)
    assert [message["role"] for message in read["messages"]] == ["user", "assistant"]
    assert [repair.what for repair in report] == ["answered"]


def test_where_the_assistant_says_nothing_there_is_nothing_to_learn() -> None:
    assert list(to_finetuning([user("hi")])) == []
    assert list(to_finetuning([])) == []


def test_instructions_are_the_system_s_and_sounds_are_named() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}}
    read = example({"role": "developer", "content": "Be brief."}, {"role": "user", "content": [sound]}, reply("ok"))
    assert read["messages"][0] == {"role": "system", "content": "Be brief."}
    assert read["messages"][1]["content"] == [{"type": "text", "text": "[audio audio/wav]"}]


def test_custom_and_old_calls_become_calls_of_functions() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "run", "input": "ls"}}
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}}
    sent: list[Json] = [
        {"role": "assistant", "content": None, "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
        old,
        {"role": "function", "name": "f", "content": "1"},
        {"role": "assistant", "content": "done"},
    ]
    read = example(user("hi"), *from_openai(sent))
    assert [call["type"] for m in read["messages"] for call in m.get("tool_calls", ())] == ["function", "function"]
    assert {tool["function"]["name"] for tool in read["tools"]} == {"run", "f"}


@given(conversations)
def test_any_conversation_makes_a_valid_example_or_none(conversation: list[Message]) -> None:
    for line in to_finetuning(conversation):
        check(line)
