"""The durable strategy: its history in a log, whatever happens to either."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import ConflictError, Entry, Message, MessageHistory, MessageLog, Store
from msglog.errors import StoreClosedError, TooLargeError
from msglog.message import make_entry
from msglog.strategies import (
    HistoryStrategy,
    append_only_history_strategy,
    durable_history_strategy,
    selective_summary_history_strategy,
    signal_history_strategy,
    summarizing_history_strategy,
)
from tests.context.models import APPEND, READ, HeldModel, ScriptedModel, fill, heads, talk
from tests.strategies import reply, user

pytestmark = pytest.mark.every_engine


def durable(log: MessageLog, inner: HistoryStrategy | None = None) -> HistoryStrategy:
    """A durable strategy."""
    return durable_history_strategy(log, inner or append_only_history_strategy())


def summarizing(log: MessageLog, model: Any, trigger: int = 1) -> HistoryStrategy:
    """A durable summarising strategy, at every chance."""
    return durable(log, summarizing_history_strategy(model, trigger, 2))


async def texts(log: MessageLog) -> list[str]:
    """What the branch shows, by first words."""
    return [message.text.split("\n")[0].split(" x")[0].split(" y")[0] for message in await log.all()]


async def test_what_is_appended_is_stored_when_the_call_returns(log: MessageLog) -> None:
    strategy = durable(log)
    for number, message in enumerate([user("a"), reply("b"), user("c")], 1):
        await strategy.on_append(message, APPEND)
        assert await log.count() == number
        assert strategy.history.revision_id == await log.head()
    assert await texts(log) == ["a", "b", "c"]


async def test_each_step_is_one_revision(log: MessageLog) -> None:
    strategy = summarizing(log, ScriptedModel(), trigger=150)
    for message in talk(4):
        await strategy.on_append(message, APPEND)
        await strategy.on_read(READ)
    kinds = [revision.operation.type async for revision in log.revisions() if revision.operation]
    assert kinds.count("append") == 8
    assert kinds.count("edit") >= 1
    assert (await log.history()).refs() == strategy.history.refs()


async def test_it_loads_the_branch_at_its_first_step(log: MessageLog) -> None:
    await log.append_many(talk(2))
    strategy = durable(log)
    assert len(strategy.history) == 0
    view = await strategy.on_read(READ)
    assert [message.text[:2] for message in view.messages] == ["q1", "a1", "q2", "a2"]
    appending = durable(log)
    await fill(appending, user("q3"))
    assert heads(appending) == ["q1", "a1", "q2", "a2", "q3"]


async def test_it_keeps_to_its_branch(log: MessageLog) -> None:
    await log.append_many(talk(1))
    what_if = await log.fork("what-if")
    strategy = durable(what_if)
    await fill(strategy, user("else"))
    assert await texts(what_if) == ["q1", "a1", "else"]
    assert await texts(log) == ["q1", "a1"]


async def test_a_history_that_the_inner_strategy_brings_is_committed_first(log: MessageLog) -> None:
    await log.append(user("there before"))
    strategy = durable(log, append_only_history_strategy(MessageHistory().append(user("brought"))))
    await fill(strategy, user("new"))
    assert await texts(log) == ["there before", "brought", "new"]
    assert heads(strategy) == ["there before", "brought", "new"]


async def test_restarts_agree_and_a_stored_summary_is_not_paid_for_again(path: Path) -> None:
    model = ScriptedModel()
    async with msglog.open(path) as store:
        strategy = summarizing(store.log("talk"), model)
        await fill(strategy, *talk(4))
        before = await strategy.on_read(READ)
    async with msglog.open(path) as store:
        again = summarizing(store.log("talk"), model)
        after = await again.on_read(READ)
        assert after.messages == before.messages
        assert after.history.revision_id == before.history.revision_id
        assert len(await store.log("talk").restore()) == 8
    assert len(model.requests) == 1


async def test_a_history_that_is_assigned_is_stored_by_the_next_step(log: MessageLog) -> None:
    strategy = durable(log)
    await fill(strategy, *talk(2))
    strategy.history = strategy.history.edit({"op": "remove", "id": strategy.history.refs()[0].id})
    await strategy.on_read(READ)
    assert await texts(log) == ["a1", "q2", "a2"]


# A branch moved by another writer


async def test_appends_are_rebased_onto_what_another_writer_appended(log: MessageLog, store: Store) -> None:
    strategy = durable(log)
    await fill(strategy, user("mine 1"))
    await store.log("talk").append(user("theirs"))
    await fill(strategy, user("mine 2"))
    assert await texts(log) == heads(strategy) == ["mine 1", "theirs", "mine 2"]
    assert strategy.history.revision_id == await log.head()


async def test_a_read_shows_what_another_writer_appended(log: MessageLog, store: Store) -> None:
    strategy = durable(log)
    await fill(strategy, user("mine"))
    await store.log("talk").append(user("theirs"))
    view = await strategy.on_read(READ)
    assert [message.text for message in view.messages] == ["mine", "theirs"]


async def test_what_another_writer_appends_while_the_model_works_stands_behind_the_summary(
    log: MessageLog, store: Store
) -> None:
    model = HeldModel()
    strategy = summarizing(log, model)
    await fill(strategy, *talk(4))
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    await store.log("talk").append(user("theirs"))
    await fill(strategy, user("mine"))
    model.let_go.set()
    view = await reading
    expected = ["[Conversation summary]", "q4", "a4", "theirs", "mine"]
    assert await texts(log) == heads(strategy) == expected
    assert [message.text for message in view.messages][3:] == ["theirs", "mine"]
    assert view.history.revision_id == await log.head()
    assert len(model.requests) == 1


async def test_two_writers_that_summarise_at_once_leave_one_summary(
    log: MessageLog, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    await log.append_many(talk(4))
    models = [HeldModel(["first"]), HeldModel(["second"])]
    strategies = [summarizing(store.log("talk"), model) for model in models]
    readings = [asyncio.create_task(strategy.on_read(READ)) for strategy in strategies]
    for model in models:
        await model.called.wait()
    for model, reading in zip(models, readings, strict=True):
        model.let_go.set()
        await reading
    assert await texts(log) == ["[Conversation summary]", "q4", "a4"]
    assert readings[1].result().messages[0].text == "[Conversation summary]\nfirst"
    assert heads(strategies[0]) == heads(strategies[1])
    assert "dropped" in caplog.text
    assert (await store.verify()).ok


async def test_an_append_survives_where_an_edit_beside_it_no_longer_fits(log: MessageLog, store: Store) -> None:
    strategy = durable(log)
    await fill(strategy, *talk(2))
    target = strategy.history.refs()[0].id
    strategy.history = strategy.history.edit({"op": "replace", "id": target, "entries": [user("mine")]})
    await store.log("talk").edit({"op": "remove", "id": target})
    await fill(strategy, user("q3"))
    assert await texts(log) == heads(strategy) == ["a1", "q2", "a2", "q3"]


async def test_writers_that_take_turns_see_one_conversation(store: Store) -> None:
    strategies = [durable(store.log("talk")) for _ in range(3)]
    for number in range(12):
        await fill(strategies[number % 3], user(f"m{number}"))
    expected = [f"m{number}" for number in range(12)]
    for strategy in strategies:
        assert [message.text for message in (await strategy.on_read(READ)).messages] == expected


async def test_writers_at_once_lose_nothing(store: Store) -> None:
    strategies = [durable(store.log("talk")) for _ in range(4)]

    async def write(writer: int) -> None:
        for number in range(10):
            await fill(strategies[writer], user(f"{writer}:{number}"))
            await strategies[writer].on_read(READ)

    await asyncio.gather(*map(write, range(4)))
    shown = await texts(store.log("talk"))
    assert len(shown) == len(set(shown)) == 40
    for writer in range(4):
        assert [text for text in shown if text.startswith(f"{writer}:")] == [f"{writer}:{n}" for n in range(10)]
    for strategy in strategies:
        await strategy.on_read(READ)
        assert heads(strategy) == shown
    assert (await store.verify()).ok


async def test_many_tasks_may_append_through_one_strategy(log: MessageLog) -> None:
    strategy = durable(log)
    await asyncio.gather(*(fill(strategy, user(f"m{number}")) for number in range(20)))
    assert sorted(await texts(log)) == sorted(f"m{number}" for number in range(20))
    assert await texts(log) == heads(strategy)


# A log that is gone


async def test_a_purged_log_is_not_written_again(log: MessageLog, store: Store) -> None:
    model = HeldModel()
    strategy = summarizing(log, model)
    await fill(strategy, *talk(4))
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    await store.purge("talk")
    model.let_go.set()
    with pytest.raises(ConflictError):
        await reading
    with pytest.raises(ConflictError):
        await strategy.on_append(user("more"), APPEND)
    assert [info.name for info in await store.logs()] == []


async def test_a_read_of_a_purged_log_says_so(log: MessageLog, store: Store) -> None:
    strategy = durable(log)
    await fill(strategy, *talk(1))
    await store.purge("talk")
    with pytest.raises(ConflictError, match="the log is gone"):
        await strategy.on_read(READ)


# Failing


async def test_an_append_that_is_refused_is_not_in_the_history(path: Path) -> None:
    async with msglog.open(path, max_message_bytes=1000) as store:
        strategy = durable(store.log("talk"))
        await fill(strategy, user("a"))
        with pytest.raises(TooLargeError):
            await strategy.on_append(user("x" * 2000), APPEND)
        await fill(strategy, user("b"))
        assert await texts(store.log("talk")) == heads(strategy) == ["a", "b"]


async def test_an_append_to_a_closed_store_is_not_in_the_history(path: Path) -> None:
    store = await msglog.open(path)
    strategy = durable(store.log("talk"))
    await fill(strategy, user("a"))
    await store.close()
    with pytest.raises(StoreClosedError):
        await strategy.on_append(user("b"), APPEND)
    assert heads(strategy) == ["a"]


async def test_the_same_entry_may_be_appended_again(log: MessageLog) -> None:
    strategy = durable(log)
    entry = {"id": "turn-1", "message": user("a")}
    await fill(strategy, entry, user("b"), entry)
    assert await texts(log) == heads(strategy) == ["a", "b"]


async def test_a_cancelled_append_leaves_log_and_history_in_agreement(log: MessageLog) -> None:
    strategy = durable(log)
    await fill(strategy, user("a"))
    for turns in range(6):
        appending = asyncio.create_task(strategy.on_append(user(f"c{turns}"), APPEND))
        for _ in range(turns):
            await asyncio.sleep(0)
        appending.cancel()
        await asyncio.wait([appending])
    await fill(strategy, user("b"))
    await strategy.on_read(READ)
    assert await texts(log) == heads(strategy)
    assert heads(strategy)[0] == "a"
    assert "b" in heads(strategy)


# Around and inside other things


async def test_what_the_hook_of_the_store_changes_is_what_is_shown(path: Path) -> None:
    def redacted(entry: Entry) -> Entry:
        text = entry.message.text.replace("sk-1", "***")
        return (
            entry
            if text == entry.message.text
            else make_entry(entry.id, Message(role=entry.message.role, content=text))
        )

    async with msglog.open(path, before_store=redacted) as store:
        strategy = durable(store.log("talk"))
        await fill(strategy, user("key sk-1"), reply("fine"))
        view = await strategy.on_read(READ)
        assert [message.text for message in view.messages] == ["key ***", "fine"]


async def test_the_signal_may_be_inside_or_outside(store: Store) -> None:
    inside, signal = signal_history_strategy(append_only_history_strategy())
    seen: list[int] = []
    signal.subscribe(lambda history: seen.append(len(history)))
    await fill(durable(store.log("inside"), inside), user("a"), user("b"))
    assert seen[-1] == 2
    outside, signal = signal_history_strategy(durable(store.log("outside")))
    await fill(outside, user("a"))
    assert signal.get().revision_id == await store.log("outside").head()


async def test_a_selected_summary_is_stored_too_and_its_selector_asked_once_a_read(log: MessageLog) -> None:
    asked = []

    def select(history: MessageHistory, ctx: object) -> list[str]:
        asked.append(len(history))
        return [entry.id for entry in history.refs()[:2]] if len(history) == 4 else []

    strategy = durable(log, selective_summary_history_strategy(ScriptedModel(), select, "sum up"))
    await fill(strategy, *talk(2))
    await strategy.on_read(READ)
    assert await texts(log) == ["[Selected history summary]", "q2", "a2"]
    assert asked == [4]


async def test_a_commit_costs_no_more_revisions_in_memory_than_were_made(log: MessageLog) -> None:
    strategy = durable(log)
    await fill(strategy, *talk(10))
    assert len(list(strategy.history.loaded_lineage())) <= 21
