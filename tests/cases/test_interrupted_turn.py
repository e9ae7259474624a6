from __future__ import annotations

import asyncio
from typing import Any

import pytest

from msglog import MessageLog
from msglog.adapters.stand_ins import INTERRUPTED
from tests.adapters.checks import check_anthropic, check_openai
from tests.strategies import calls, result, user

pytestmark = pytest.mark.every_engine


STEP: list[dict[str, Any]] = [
    {"role": "assistant", "content": "let me see"},
    {"role": "assistant", "toolCalls": [{"id": i, "name": "f", "args": {}} for i in ("c1", "c2")]},
    {"role": "tool", "content": "1", "toolCallId": "c1"},
    {"role": "tool", "content": "2", "toolCallId": "c2"},
    {"role": "assistant", "content": "done"},
    {"role": "assistant", "content": "more"},
]


async def test_int_4_a_step_of_many_messages_is_stored_completely_and_once(log: MessageLog) -> None:
    entries = [{"id": f"step 1, {i}", "message": message} for i, message in enumerate(STEP)]
    assert await log.append_many(entries[:5]) == 5
    assert await log.append_many(entries) == 6
    assert [message.entry_id for message in await log.all()] == [entry["id"] for entry in entries]


async def test_int_2_nothing_of_a_reply_is_stored_before_it_is_appended(log: MessageLog) -> None:
    await log.add("user", "q")

    async def reply() -> str:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await log.add("assistant", await reply())
    assert [message.text for message in await log.all()] == ["q"]


async def test_int_1_a_session_that_stopped_at_a_tool_call_can_go_on(log: MessageLog) -> None:
    stored = [user("q"), calls("c1", "c2"), result("c1", "1"), user("still there?")]
    await log.append_many(stored)
    for real in (None, "2"):
        if real is not None:
            await log.append(result("c2", real))
        sent, turns = await log.to_openai(), await log.to_anthropic()
        check_openai(sent)
        check_anthropic({"messages": turns})
        assert [message.get("tool_call_id", message["role"]) for message in sent[2:]] == ["c1", "c2", "user"]
        assert sent[3]["content"] == (real or INTERRUPTED)
        blocks = turns[2]["content"]
        assert [block.get("tool_use_id") for block in blocks] == ["c1", "c2", None]
        assert blocks[1].get("is_error", False) == (real is None)
    assert [message.message.to_json() for message in (await log.all())[:4]] == stored
