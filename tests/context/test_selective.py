"""The selective strategy: a summary of what a selector picks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from msglog import MessageHistory
from msglog.strategies import HistoryReadContext, selective_summary_history_strategy
from msglog.strategies.selective import SelectiveSummaryHistoryStrategy
from tests.context.models import READ, HeldModel, Memory, ScriptedModel, fill, heads, talk
from tests.strategies import calls, reply, result, user


def picking(*places: int) -> Any:
    """A selector of the entries at places of the view."""

    def select(history: MessageHistory, ctx: HistoryReadContext) -> Iterable[str]:
        refs = history.refs()
        return [refs[place].id for place in places if place < len(refs)]

    return select


def strategy_of(selector: Any, *messages: Any, model: Any = None, **options: Any) -> SelectiveSummaryHistoryStrategy:
    """A strategy with messages in it."""
    history = MessageHistory().append(*messages)
    return selective_summary_history_strategy(model or ScriptedModel(), selector, "sum up", history=history, **options)


async def test_the_summary_stands_at_the_first_of_what_was_selected() -> None:
    model = ScriptedModel()
    strategy = strategy_of(picking(2, 5), *talk(3), model=model)
    sources = [strategy.history.refs()[place].id for place in (2, 5)]
    view = await strategy.on_read(READ)
    assert heads(strategy) == ["q1", "a1", "[Selected history summary]", "a2", "q3"]
    assert view.messages[2].text == "[Selected history summary]\nshort"
    assert strategy.history.refs()[2].sources == tuple(sources)
    assert (len(model.requests), model.requests[0].system) == (1, "sum up")


async def test_the_order_of_the_selection_does_not_matter() -> None:
    model = ScriptedModel()
    strategy = strategy_of(picking(5, 2, 5), *talk(3), model=model)
    await strategy.on_read(READ)
    assert heads(strategy)[2] == "[Selected history summary]"
    assert model.requests[0].messages[0].text.index("q2") < model.requests[0].messages[0].text.index("a3")


async def test_the_selector_may_be_a_coroutine_function_and_gets_history_and_context() -> None:
    seen = []

    async def select(history: MessageHistory, ctx: HistoryReadContext) -> list[str]:
        await asyncio.sleep(0)
        seen.append((history, ctx))
        return [history.refs()[0].id]

    strategy = strategy_of(select, *talk(2))
    before = strategy.history
    await strategy.on_read(READ)
    assert heads(strategy)[0] == "[Selected history summary]"
    assert seen == [(before, READ)]


@pytest.mark.parametrize("selection", [[], (), ["unknown"]], ids=repr)
async def test_an_empty_selection_changes_nothing_and_calls_no_model(selection: Iterable[str]) -> None:
    model = ScriptedModel()
    strategy = strategy_of(lambda _history, _ctx: selection, *talk(2), model=model)
    before = strategy.history
    view = await strategy.on_read(READ)
    assert view.history is strategy.history is before
    assert model.requests == []


async def test_a_selection_that_parts_an_exchange_is_widened_to_all_of_it() -> None:
    long = "r" * 200
    messages = [*talk(1), calls("c1", "c2"), result("c1", long), result("c2", long), reply("a2")]
    strategy = strategy_of(picking(4), *messages)
    await strategy.on_read(READ)
    assert heads(strategy) == ["q1", "a1", "[Selected history summary]", "a2"]
    assert len(strategy.history.refs()[2].sources) == 3


async def test_system_developer_and_pinned_are_left_out_of_a_selection() -> None:
    messages = [
        {"role": "system", "content": "S" * 200},
        {"role": "developer", "content": "D" * 200},
        *talk(1),
        {"message": user("P" * 200), "meta": {"labels": ["pinned"]}},
    ]
    model = ScriptedModel()
    strategy = strategy_of(picking(0, 1, 2, 3, 4), *messages, model=model)
    before = strategy.history.render()
    view = await strategy.on_read(READ)
    assert [view.messages[place] for place in (0, 1, 3)] == [before[place] for place in (0, 1, 4)]
    assert heads(strategy)[2] == "[Selected history summary]"
    assert not {"S" * 9, "D" * 9, "P" * 9} & set(model.requests[0].messages[0].text.split())


async def test_a_pinned_result_keeps_its_whole_exchange_out_of_a_selection() -> None:
    model = ScriptedModel()
    pinned = {"message": result("c1", "r" * 200), "meta": {"labels": ["pinned"]}}
    strategy = strategy_of(picking(0), calls("c1"), pinned, model=model)
    await strategy.on_read(READ)
    assert model.requests == []


async def test_one_summary_alone_is_not_summarised_again() -> None:
    model = ScriptedModel()
    strategy = strategy_of(picking(0, 1), *talk(1), model=model)
    await strategy.on_read(READ)
    await strategy.on_read(READ)
    assert (heads(strategy), len(model.requests)) == (["[Selected history summary]"], 1)


async def test_the_memory_store_gets_each_summary() -> None:
    memory = Memory()
    await strategy_of(picking(0, 1), *talk(2), memory_store=memory).on_read(READ)
    assert memory.items == [{"text": "short", "metadata": {"kind": "selected_history_summary"}}]


async def test_a_selector_that_raises_changes_nothing() -> None:
    def select(history: MessageHistory, ctx: HistoryReadContext) -> list[str]:
        raise LookupError("no idea")

    strategy = strategy_of(select, *talk(2))
    before = strategy.history
    with pytest.raises(LookupError):
        await strategy.on_read(READ)
    assert strategy.history is before


async def test_what_is_appended_while_the_model_works_is_kept() -> None:
    model = HeldModel()
    strategy = strategy_of(picking(0, 1), *talk(2), model=model)
    reading = asyncio.create_task(strategy.on_read(READ))
    await model.called.wait()
    await fill(strategy, user("late"))
    model.let_go.set()
    await reading
    assert heads(strategy) == ["[Selected history summary]", "q2", "a2", "late"]
