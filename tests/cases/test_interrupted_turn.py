from __future__ import annotations

import asyncio
from typing import Any

import pytest

from msglog import MessageLog

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
