from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import msglog
from msglog import ConflictError, MessageHistory, MessageLog, Store
from msglog.strategies import durable_history_strategy, summarizing_history_strategy
from tests.concurrency.processes import Process
from tests.context.models import READ, HeldModel, ScriptedModel, talk
from tests.context.workers import summarise_and_hang
from tests.strategies import user

pytestmark = pytest.mark.every_engine


@pytest.mark.parametrize("how", ["at once", "later", "by cancellation", "by kill"])
async def test_fai_1_the_history_is_intact_when_the_summariser_fails(path: Path, how: str) -> None:
    async with msglog.open(path) as store:
        log = store.log("talk")
        await log.append_many(talk(25))
        before, revisions = await log.all(), [revision async for revision in log.revisions()]
        model = HeldModel([RuntimeError("down")])
        strategy = durable_history_strategy(log, summarizing_history_strategy(model, 1, 2))
        if how == "at once":
            model.let_go.set()
        if how != "by kill":
            reading = asyncio.create_task(strategy.on_read(READ))
            await model.called.wait()
            if how == "by cancellation":
                reading.cancel()
            model.let_go.set()
            with pytest.raises((RuntimeError, asyncio.CancelledError)):
                await reading
            assert strategy.history.render() == [message.message for message in before]
    if how == "by kill":
        with Process(summarise_and_hang, str(path)) as process:
            assert process.hear() == "called"
            process.kill()
    async with msglog.open(path) as store:
        log = store.log("talk")
        assert await log.all() == before
        assert [revision async for revision in log.revisions()] == revisions
        again = durable_history_strategy(log, summarizing_history_strategy(ScriptedModel(), 1, 2))
        view = await again.on_read(READ)
        assert [message.text[:5] for message in view.messages] == ["[Conv", "q25 x", "a25 y"]


@pytest.mark.parametrize("answer", [RuntimeError("down"), "", None], ids=repr)
async def test_fai_2_on_failure_the_view_is_the_old_view(answer: object) -> None:
    history = MessageHistory().append(*talk(5))
    strategy = summarizing_history_strategy(ScriptedModel([answer]), 1, 2, history=history)
    if isinstance(answer, Exception):
        with pytest.raises(type(answer)):
            await strategy.on_read(READ)
    else:
        view = await strategy.on_read(READ)
        assert view.history is history  # which says that there is no summary
        assert view.messages == history.render()
    assert strategy.history is history
    assert len(strategy.history.render()) == 10


async def test_fai_4_what_arrives_while_the_summariser_runs_is_kept(log: MessageLog, store: Store) -> None:
    model = HeldModel()
    await log.append_many(talk(10))
    originals = [message.entry_id for message in await log.all()]
    strategy = durable_history_strategy(log, summarizing_history_strategy(model, 1, 2))
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    await store.log("talk").append(user("late"))
    model.let_go.set()
    view = await reading
    assert [message.text[:5] for message in view.messages] == ["[Conv", "q10 x", "a10 y", "late"]
    shown = await log.all()
    assert [message.text for message in shown] == [message.text for message in view.messages]
    assert list(shown[0].sources) == originals[:18]


async def test_fai_4_a_conversation_deleted_meanwhile_stays_deleted(log: MessageLog, store: Store) -> None:
    model = HeldModel()
    await log.append_many(talk(10))
    strategy = durable_history_strategy(log, summarizing_history_strategy(model, 1, 2))
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    await store.purge("talk")
    model.let_go.set()
    with pytest.raises(ConflictError):
        await reading
    assert await store.logs() == []
    assert await log.all() == []


async def summarised(log: MessageLog) -> MessageHistory:
    history = await log.history()
    sources = [entry.id for entry in history]
    return history.edit({"op": "summary", "sourceIds": sources, "entry": user("summary"), "replace": True})


async def test_fai_4_what_arrives_while_a_summary_is_made_by_hand_is_kept(log: MessageLog) -> None:
    await log.append_many(user(f"{i}") for i in range(20))
    history = await summarised(log)
    await log.append(user("late"))
    with pytest.raises(ConflictError):
        await log.commit(history)
    await log.commit(history, on_conflict="rebase")
    assert [message.text for message in await log.all()] == ["summary", "late"]


async def test_fai_4_a_summary_made_by_hand_of_a_log_that_was_purged_is_not_stored(log: MessageLog) -> None:
    await log.append_many(user(f"{i}") for i in range(20))
    history = await summarised(log)
    await log.store.purge(log.name)
    for on_conflict in ("raise", "rebase"):
        with pytest.raises(ConflictError):
            await log.commit(history, on_conflict)
    assert await log.store.logs() == []


async def test_fai_4_a_log_that_was_purged_stays_purged_though_somebody_holds_all_of_it(log: MessageLog) -> None:
    await log.append_many(user(f"{i}") for i in range(20))
    history = (await log.history(full=True)).append(user("more"))
    await log.store.purge(log.name)
    with pytest.raises(ConflictError):
        await log.commit(history)
