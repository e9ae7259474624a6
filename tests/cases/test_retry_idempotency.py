from __future__ import annotations

from pathlib import Path

import pytest

import msglog
from msglog import DuplicateEntryError, MessageLog
from tests.concurrency.processes import at_once
from tests.concurrency.workers import LOG, append_with_id

pytestmark = pytest.mark.every_engine


async def test_idm_1_saving_a_turn_stores_only_what_is_new(log: MessageLog) -> None:
    await log.append_many([{"role": "user", "content": "q1"}, {"role": "assistant", "content": "r1"}])
    loaded = await log.history()
    asked = loaded.append({"role": "user", "content": "q2"})
    assert asked.render() == asked.render()
    answered = asked.append({"role": "assistant", "content": "r2"})
    delta = answered.changes_since(loaded.revision_id)
    assert [entry.message.text for entry in delta.entries] == ["q2", "r2"]

    await log.commit(answered)
    revisions = [revision async for revision in log.revisions()]
    assert await log.commit(answered) == answered
    assert [revision async for revision in log.revisions()] == revisions
    assert [message.text for message in await log.all()] == ["q1", "r1", "q2", "r2"]


async def test_idm_2_an_append_may_be_repeated_under_its_id(path: Path) -> None:
    first = at_once(append_with_id, [(str(path), "k1", "hi"), (str(path), "k1", "hi")])
    async with msglog.open(path) as store:
        log = store.log(LOG)
        again = await log.append({"role": "user", "content": "hi"}, id="k1")
        assert [*first, again] == [1, 1, 1]

        with pytest.raises(DuplicateEntryError) as caught:
            await log.append({"role": "user", "content": "other"}, id="k1")
        assert caught.value.entry_id == "k1"

        assert [await log.add("user", "hi"), await log.add("user", "hi")] == [2, 3]
        assert [message.text for message in await log.all()] == ["hi", "hi", "hi"]


async def test_idm_2_a_batch_may_be_repeated_and_extended(log: MessageLog) -> None:
    batch = [{"id": f"e{i}", "message": {"role": "user", "content": f"{i}"}} for i in range(5)]
    assert await log.append_many(batch[:3]) == 3
    assert await log.append_many(batch) == 5
    assert await log.append_many(batch) == 5
    assert [message.entry_id for message in await log.all()] == [f"e{i}" for i in range(5)]


@pytest.mark.parametrize(("stored", "given"), [(1, 1.0), (1, True), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ("e", "é")])
async def test_idm_2_equal_means_the_same_stored_bytes(log: MessageLog, stored: object, given: object) -> None:
    await log.append({"role": "tool", "toolCallId": "c", "content": stored}, id="k")
    with pytest.raises(DuplicateEntryError):
        await log.append({"role": "tool", "toolCallId": "c", "content": given}, id="k")
    assert await log.append({"role": "tool", "toolCallId": "c", "content": stored}, id="k") == 1
