from __future__ import annotations

from typing import Any

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
