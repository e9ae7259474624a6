from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msglog
from msglog import MessageHistory, MessageLog, adapters
from msglog.adapters import Repair
from tests.adapters.checks import check_anthropic
from tests.concurrency.workers import LOG
from tests.strategies import user


def listing(path: str) -> dict[str, Any]:
    return {"role": "assistant", "toolCalls": [{"id": "call_0", "name": "ls", "args": {"path": path}}]}


async def test_ids_1_call_ids_that_a_provider_uses_again_pair_rightly(log: MessageLog) -> None:
    answers = [{"role": "tool", "content": text, "toolCallId": "call_0"} for text in "AB"]
    await log.append_many([user("q"), listing("."), answers[0], user("r"), listing("/"), answers[1]])
    report: list[Repair] = []
    turns = adapters.to_anthropic(await log.all(), report)
    check_anthropic({"messages": turns})
    used = [block["id"] for turn in turns for block in turn["content"] if isinstance(block, dict) and "id" in block]
    answered = {
        block["tool_use_id"]: block["content"]
        for turn in turns
        for block in turn["content"]
        if isinstance(block, dict) and "tool_use_id" in block
    }
    assert used[0] == "call_0"
    assert answered == {used[0]: "A", used[1]: "B"}
    assert turns == await log.to_anthropic()
    assert [(repair.what, repair.index, repair.path) for repair in report] == [("renamed", 4, "tool_calls[0].id")]
    assert {call.id for message in await log.all() for call in message.tool_calls} == {"call_0"}


async def test_ids_4_every_adapter_gives_equal_ids_for_equal_messages(path: Path) -> None:
    imported = adapters.from_openai(
        [
            user("q"),
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a.b:c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "content": "r", "tool_call_id": "a.b:c"},
        ]
    )
    renderers = [getattr(adapters, name) for name in adapters.__all__ if name.startswith("to_")]
    seen = [[render(imported) for render in renderers]]
    async with msglog.open(path) as store:
        await store.log(LOG).append_many(imported)
    async with msglog.open(path) as store:
        log = store.log(LOG)
        seen.append([render(await log.all()) for render in renderers])
        history = await log.history(full=True)
    restored = MessageHistory.from_json(json.loads(json.dumps(history.to_json())))
    seen.append([render(restored.render()) for render in renderers])
    seen.append([render(restored.refs()) for render in renderers])
    assert all(each == seen[0] for each in seen)
