from __future__ import annotations

import pytest

from msglog import ConflictError, MessageHistory, MessageLog
from tests.concurrency.workers import user


async def summarised(log: MessageLog) -> MessageHistory:
    history = await log.history()
    sources = [entry.id for entry in history]
    return history.edit({"op": "summary", "sourceIds": sources, "entry": user("summary"), "replace": True})


async def test_fai_4_what_arrives_while_the_summary_is_made_is_kept(log: MessageLog) -> None:
    await log.append_many(user(f"{i}") for i in range(20))
    history = await summarised(log)
    await log.append(user("late"))
    with pytest.raises(ConflictError):
        await log.commit(history)
    await log.commit(history, on_conflict="rebase")
    assert [message.text for message in await log.all()] == ["summary", "late"]


async def test_fai_4_a_log_that_was_purged_meanwhile_stays_purged(log: MessageLog) -> None:
    await log.append_many(user(f"{i}") for i in range(20))
    history = await summarised(log)
    await log.store.purge(log.name)
    for on_conflict in ("raise", "rebase"):
        with pytest.raises(ConflictError):
            await log.commit(history, on_conflict)
    assert await log.store.logs() == []
