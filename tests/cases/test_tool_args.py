from __future__ import annotations

import json

import pytest

from msglog import Message, MessageLog, ToolCall
from msglog.adapters import Repair, to_anthropic, to_gemini, to_openai
from tests.adapters.checks import check_anthropic, check_openai
from tests.strategies import result, user

pytestmark = pytest.mark.every_engine


@pytest.mark.parametrize("text", ['{"cmd": "echo hi', "[1, 2", "not json", '{"a": NaN}', "\x00"])
async def test_arg_1_the_log_gives_broken_arguments_back_unchanged_and_marked(log: MessageLog, text: str) -> None:
    await log.append(Message(role="assistant", tool_calls=(ToolCall.from_text("c1", "bash", text),)))
    await log.append({"role": "tool", "toolCallId": "c1", "content": "error: bad arguments"})
    call = (await log.all())[0].tool_calls[0]
    assert (call.arguments, call.args, call.broken) == (text, {}, True)


@pytest.mark.parametrize("text", ["", "  ", None])
async def test_arg_2_a_blank_text_of_arguments_means_none(log: MessageLog, text: str | None) -> None:
    await log.append(Message(role="assistant", tool_calls=(ToolCall.from_text("c1", "f", text),)))
    call = (await log.all())[0].tool_calls[0]
    assert (call.args, call.broken) == ({}, False)


@pytest.mark.parametrize("text", ['{"cmd": "echo hi', "[1, 2", "not json", '{"a": NaN}', "\x00"])
async def test_arg_1_broken_arguments_are_sent_as_an_object_and_the_report_says_so(log: MessageLog, text: str) -> None:
    call = Message(role="assistant", tool_calls=(ToolCall.from_text("c1", "bash", text),))
    await log.append_many([user("q"), call, result("c1", "error: bad arguments"), user("again")])
    for render in (to_openai, to_anthropic, to_gemini):
        report: list[Repair] = []
        render(await log.all(), report)
        assert ("wrapped", 1, "tool_calls[0].args") in [(repair.what, repair.index, repair.path) for repair in report]
    sent, turns = await log.to_openai(), await log.to_anthropic()
    check_openai(sent)
    check_anthropic({"messages": turns})
    assert json.loads(sent[1]["tool_calls"][0]["function"]["arguments"]) == {"arguments": text}
    assert turns[1]["content"][0]["input"] == {"arguments": text}
    assert sent[2]["tool_call_id"] == "c1"


async def test_arg_2_blank_arguments_are_sent_as_an_empty_object(log: MessageLog) -> None:
    calls = tuple(ToolCall.from_text(f"c{n}", "f", text) for n, text in enumerate(["", "  ", None]))
    await log.append_many([user("q"), Message(role="assistant", tool_calls=calls), *(result(c.id) for c in calls)])
    assert [call["function"]["arguments"] for call in (await log.to_openai())[1]["tool_calls"]] == ["{}"] * 3
    assert [block["input"] for block in (await log.to_anthropic())[1]["content"]] == [{}] * 3
