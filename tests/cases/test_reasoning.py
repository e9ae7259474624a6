from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import MessageLog
from msglog.adapters import from_openai_responses, to_openai_responses
from tests.concurrency.workers import LOG
from tests.strategies import result, user

pytestmark = pytest.mark.every_engine


BLOCKS: list[dict[str, Any]] = [
    {"type": "redacted_thinking", "data": "QUJD"},
    {"type": "thinking", "thinking": "", "signature": "sig==", "further": {"x": [1]}},
    {"type": "text", "text": "hi"},
]


async def test_rsn_1_thinking_blocks_survive_storage_as_they_are(path: Path) -> None:
    call = {"id": "c1", "name": "f", "args": {}}
    async with msglog.open(path) as store:
        await store.log(LOG).append({"role": "assistant", "content": BLOCKS, "toolCalls": [call]})
    async with msglog.open(path) as store:
        (message,) = await store.log(LOG).all()
    assert message.content == BLOCKS
    assert message.tool_calls[0].to_json() == call


async def test_rsn_1_thinking_blocks_are_sent_as_they_are_and_in_their_order(log: MessageLog) -> None:
    call = {"id": "c1", "name": "f", "args": {}}
    assistant = {"role": "assistant", "content": BLOCKS, "toolCalls": [call]}
    await log.append_many([user("q"), assistant, result("c1")])
    sent = (await log.to_anthropic())[1]["content"]
    assert sent == [*BLOCKS, {"type": "tool_use", "id": "c1", "name": "f", "input": {}}]


async def test_rsn_2_a_reasoning_item_goes_when_the_item_it_belongs_to_goes(log: MessageLog) -> None:
    first, second = ({"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "gA"} for n in (1, 2))
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    text = {"type": "output_text", "text": "x", "annotations": []}
    reply = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    await log.append_many(from_openai_responses([user("q"), first, call, user("r"), second, reply]))
    history = await log.history()
    (calling,) = [entry.id for entry in history if entry.message.tool_calls]
    await log.commit(history.edit({"op": "remove", "id": calling}))
    assert to_openai_responses(await log.all()) == [user("q"), user("r"), second, reply]
