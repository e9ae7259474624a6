from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import DuplicateEntryError, MessageHistory, MessageLog
from msglog.errors import InvalidMessageError, InvalidNameError
from tests.concurrency.workers import LOG, user

pytestmark = pytest.mark.every_engine


async def test_ids_1_call_ids_that_come_again_are_kept_as_given(log: MessageLog) -> None:
    messages: list[dict[str, Any]] = []
    for place, answer in ((".", "A"), ("/", "B")):
        call = {"id": "call_0", "name": "ls", "args": {"path": place}}
        messages += [
            user("look"),
            {"role": "assistant", "content": None, "toolCalls": [call]},
            {"role": "tool", "content": answer, "toolCallId": "call_0"},
        ]
    assert await log.append_many(messages) == 6
    assert [message.message.to_json() for message in await log.all()] == messages


async def test_ids_3_an_id_of_another_kind_of_thing_does_no_harm(log: MessageLog) -> None:
    await log.append(user("first"), id="taken")
    head = await log.head()
    assert head is not None
    names = [head, LOG, "main", "x" * 300, "1", "0"]
    for name in names:
        await log.append(user(f"as {name}"), id=name)
    assert [message.entry_id for message in await log.all()] == ["taken", *names]
    assert [(await log.get(name)).text for name in names] == [f"as {name}" for name in names]


async def test_ids_3_an_id_that_is_taken_is_refused(log: MessageLog) -> None:
    await log.append(user("first"), id="taken")
    with pytest.raises(DuplicateEntryError) as caught:
        await log.append(user("second"), id="taken")
    assert caught.value.entry_id == "taken"
    with pytest.raises(DuplicateEntryError):
        await log.append_many([{"id": "new", "message": user("a")}, {"id": "new", "message": user("b")}])
    with pytest.raises(DuplicateEntryError):
        MessageHistory().append({"id": "i", "message": user("a")}).append({"id": "i", "message": user("b")})
    assert [message.text for message in await log.all()] == ["first"]


async def test_ids_3_an_empty_id_is_refused(log: MessageLog) -> None:
    with pytest.raises((InvalidMessageError, InvalidNameError)):
        await log.append(user("x"), id="")
    with pytest.raises((InvalidMessageError, InvalidNameError)):
        await log.append({"id": "", "message": user("x")})
    assert await log.count() == 0


async def test_ids_4_ids_are_the_same_each_time_a_history_is_rendered_or_restored(path: Path) -> None:
    call = {"id": "c1", "name": "f", "args": {"a": 1}}
    messages = [
        user("q"),
        {"role": "assistant", "toolCalls": [call]},
        {"role": "tool", "toolCallId": "c1", "content": "r"},
    ]
    seen = []
    for _ in range(2):
        async with msglog.open(path) as store:
            log = store.log(LOG)
            if await log.count() == 0:
                await log.append_many(messages)
            seen += [(await log.to_openai(), await log.to_anthropic(), await log.to_langchain()) for _ in range(2)]
            history = await log.history(full=True)
            ids = [message.entry_id for message in await log.all()]
        restored = MessageHistory.from_json(json.loads(json.dumps(history.to_json())))
        assert ids == [entry.id for entry in history] == [entry.id for entry in restored]
        assert restored.revision_id == history.revision_id
    assert all(rendered == seen[0] for rendered in seen)
