"""The append-only strategy: everything in, everything shown."""

from __future__ import annotations

from msglog import MessageHistory
from msglog.strategies import append_only_history_strategy
from tests.context.models import APPEND, READ
from tests.strategies import reply, user


async def test_what_is_appended_is_shown_whole_and_in_order() -> None:
    strategy = append_only_history_strategy()
    for message in (user("a"), reply("b"), user("c")):
        await strategy.on_append(message, APPEND)
    view = await strategy.on_read(READ)
    assert [message.content for message in view.messages] == ["a", "b", "c"]
    assert view.history is strategy.history


async def test_each_append_assigns_a_new_history_and_a_read_none() -> None:
    strategy = append_only_history_strategy()
    before = strategy.history
    await strategy.on_append(user("a"), APPEND)
    after = strategy.history
    await strategy.on_read(READ)
    assert (len(before), len(after)) == (0, 1)
    assert strategy.history is after


async def test_it_goes_on_from_a_history_that_it_is_given() -> None:
    strategy = append_only_history_strategy(MessageHistory().append(user("before")))
    await strategy.on_append({"id": "e1", "message": reply("after"), "meta": {"model": "m"}}, APPEND)
    assert [entry.message.content for entry in strategy.history] == ["before", "after"]
    assert strategy.history.refs()[1].id == "e1"
