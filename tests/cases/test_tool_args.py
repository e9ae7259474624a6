from __future__ import annotations

import pytest

from msglog import Message, MessageLog, ToolCall


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
