from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msglog
from msglog import MessageHistory, adapters
from msglog.message import Message
from tests.concurrency.workers import LOG, user

MESSAGES: list[dict[str, Any]] = [
    user("  \n leading and trailing \r\n\t "),
    {
        "role": "assistant",
        "content": None,
        "toolCalls": [{"id": "c", "name": "f", "args": {"b": 1, "a": 2, "n": [1.0, 1, True, 1e300, -0.0]}}],
    },
    {"role": "tool", "content": {"z": "e\u0301", "y": "\u00e9"}, "toolCallId": "c"},
]


def rendered(messages: Iterable[Message]) -> bytes:
    return json.dumps([message.to_json() for message in messages], ensure_ascii=False).encode()


async def test_rpl_1_what_is_rendered_after_a_restart_is_byte_for_byte_what_was_before(path: Path) -> None:
    history = MessageHistory().append(*MESSAGES)
    before = rendered(history.render())
    async with msglog.open(path) as store:
        await store.log(LOG).commit(history)
    async with msglog.open(path) as store:
        log = store.log(LOG)
        assert rendered(message.message for message in await log.all()) == before
        assert rendered((await log.history()).render()) == before
        snapshot = json.loads(json.dumps((await log.history(full=True)).to_json()))
        assert rendered(MessageHistory.from_json(snapshot).render()) == before
        await log.append(user("more"))
        assert rendered((await log.history()).render()).startswith(before[:-1])


async def test_rpl_1_what_is_sent_after_a_restart_is_byte_for_byte_what_was_before(path: Path) -> None:
    names = ["to_anthropic", "to_gemini", "to_langchain", "to_openai", "to_openai_responses"]
    history = MessageHistory().append(*MESSAGES)

    def sent(messages: Iterable[Message]) -> list[bytes]:
        given = list(messages)
        return [json.dumps(getattr(adapters, name)(given), ensure_ascii=False).encode() for name in names]

    before = sent(history.render())
    async with msglog.open(path) as store:
        await store.log(LOG).commit(history)
    async with msglog.open(path) as store:
        log = store.log(LOG)
        assert sent(await log.all()) == before
        snapshot = json.loads(json.dumps((await log.history(full=True)).to_json()))
        assert sent(MessageHistory.from_json(snapshot).render()) == before
        await log.append({"role": "assistant", "content": "more"})
        after = sent(await log.all())
    assert all(new.startswith(old[:-1]) for new, old in zip(after, before, strict=True))
