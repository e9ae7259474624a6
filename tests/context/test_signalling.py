"""The signal of a strategy: what is published, to whom, and when."""

from __future__ import annotations

import asyncio
import gc

import pytest

from msglog import MessageHistory
from msglog.strategies import append_only_history_strategy, signal_history_strategy, summarizing_history_strategy
from tests.context.models import APPEND, READ, ScriptedModel, fill, talk
from tests.strategies import user


async def test_it_publishes_after_an_append_a_read_and_an_assignment() -> None:
    strategy, signal = signal_history_strategy(append_only_history_strategy())
    seen: list[MessageHistory] = []
    signal.subscribe(seen.append)
    assert seen == []  # not on subscribing
    await strategy.on_append(user("a"), APPEND)
    appended = strategy.history
    await strategy.on_read(READ)
    strategy.history = MessageHistory()
    assert [len(history) for history in seen] == [1, 1, 0]
    assert seen[0] is seen[1] is appended
    assert signal.get() is strategy.history is seen[2]


async def test_a_summary_is_published_with_the_read_that_made_it() -> None:
    strategy, signal = signal_history_strategy(summarizing_history_strategy(ScriptedModel(), 1, 2))
    await fill(strategy, *talk(3))
    seen: list[MessageHistory] = []
    signal.subscribe(seen.append)
    await strategy.on_read(READ)
    assert [history.refs()[0].kind for history in seen] == ["summary"]


async def test_a_step_that_fails_publishes_nothing() -> None:
    strategy, signal = signal_history_strategy(summarizing_history_strategy(ScriptedModel([OSError()]), 1, 2))
    await fill(strategy, *talk(3))
    seen: list[MessageHistory] = []
    signal.subscribe(seen.append)
    with pytest.raises(OSError):
        await strategy.on_read(READ)
    assert seen == []


async def test_unsubscribed_is_not_called_and_the_same_callback_may_be_subscribed_twice() -> None:
    strategy, signal = signal_history_strategy(append_only_history_strategy())
    seen: list[MessageHistory] = []
    first = signal.subscribe(seen.append)
    signal.subscribe(seen.append)
    await fill(strategy, user("a"))
    first()
    first()
    await fill(strategy, user("b"))
    assert [len(history) for history in seen] == [1, 1, 2]


async def test_a_subscriber_that_fails_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    strategy, signal = signal_history_strategy(append_only_history_strategy())

    def fail(history: MessageHistory) -> None:
        raise ValueError("mine")

    seen: list[MessageHistory] = []
    signal.subscribe(fail)
    signal.subscribe(seen.append)
    await fill(strategy, user("a"))
    assert len(seen) == 1
    assert "subscriber" in caplog.text


async def test_a_subscriber_may_unsubscribe_itself_while_it_is_called() -> None:
    strategy, signal = signal_history_strategy(append_only_history_strategy())
    seen: list[MessageHistory] = []

    def once(history: MessageHistory) -> None:
        seen.append(history)
        stop()

    stop = signal.subscribe(once)
    await fill(strategy, user("a"), user("b"))
    assert len(seen) == 1


async def test_an_iteration_yields_every_history_from_its_beginning_on() -> None:
    strategy, signal = signal_history_strategy(append_only_history_strategy())
    await fill(strategy, user("before"))
    histories = aiter(signal)
    await fill(strategy, user("a"), user("b"))
    assert [len(await anext(histories)) for _ in range(2)] == [2, 3]
    waiting = asyncio.ensure_future(anext(histories))
    await fill(strategy, user("c"))
    assert len(await waiting) == 4


async def test_an_iteration_that_nobody_holds_any_more_is_forgotten() -> None:
    strategy, signal = signal_history_strategy(append_only_history_strategy())
    kept, dropped = aiter(signal), aiter(signal)
    del dropped
    gc.collect()
    assert len(signal._watchers) == 1
    await fill(strategy, user("a"))
    assert len(await anext(kept)) == 1
