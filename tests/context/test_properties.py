"""What holds of summarising strategies whatever is said, whatever the model does, and in whatever order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog import Entry, MessageHistory
from msglog.budget.forms import is_kept
from msglog.history.history import originals
from msglog.history.pairs import broken_pairs
from msglog.message import as_entry
from msglog.strategies import selective_summary_history_strategy, summarizing_history_strategy
from msglog.strategies.compaction import CompactingHistoryStrategy
from tests.budget.conversations import conversations
from tests.context.models import APPEND, READ, ScriptedModel

moods = st.sampled_from(["s", "s", "", "  ", None, "z" * 500, OSError("down"), asyncio.CancelledError()])


@st.composite
def stories(draw: st.DrawFn) -> list[Any]:
    """Entry inputs to be appended, and between them reads: what the model does then."""
    steps: list[Any] = draw(conversations(most=16))
    for at in draw(st.lists(st.integers(0, len(steps)), max_size=6)):
        steps.insert(at, [draw(moods)])
    return [*steps, ["s"]]


async def tell(strategy: CompactingHistoryStrategy, model: ScriptedModel, story: list[Any], keep_recent: int) -> None:
    """Live through a story, and check after each step what must hold."""
    appended: list[Entry] = []
    for step in story:
        before = strategy.history
        if not isinstance(step, list):
            appended.append(as_entry(step))
            await strategy.on_append(appended[-1], APPEND)
            continue
        model.script = step
        if isinstance(step[0], BaseException):
            try:
                await strategy.on_read(READ)
            except type(step[0]):
                assert strategy.history is before
        else:
            view = await strategy.on_read(READ)
            assert view.messages == strategy.history.render()
            if step != ["s"]:
                assert strategy.history is before
        check(strategy.history, appended, keep_recent)


def check(history: MessageHistory, appended: list[Entry], keep_recent: int) -> None:
    """Nothing is lost, nothing that must stay is gone, and no exchange was parted."""
    shown = history.refs()
    everything = {entry.id for entry in appended}
    assert {entry.id for entry in originals([entry.id for entry in shown], history.entry)} == everything
    shown_ids = [entry.id for entry in shown if entry.kind == "turn"]
    assert shown_ids == [entry.id for entry in appended if entry.id in set(shown_ids)]
    assert [entry.id for entry in appended if is_kept(entry)] == [entry.id for entry in shown if is_kept(entry)]
    if keep_recent:
        assert shown_ids[-keep_recent:] == [entry.id for entry in appended][-keep_recent:]
    assert set(broken_pairs(shown)) <= set(broken_pairs(appended))


@given(stories(), st.integers(0, 4), st.sampled_from([0, 20, 60]))
def test_the_summarising_strategy_keeps_what_must_be_kept(story: list[Any], keep_recent: int, trigger: int) -> None:
    model = ScriptedModel()
    strategy = summarizing_history_strategy(model, trigger, keep_recent)
    asyncio.run(tell(strategy, model, story, keep_recent))
    if strategy.history.head.operation is not None and strategy.history.head.operation.type == "edit":
        model.script = [AssertionError("a read right after a summary calls no model")]
        asyncio.run(strategy.on_read(READ))


@given(stories(), st.data())
def test_the_selective_strategy_keeps_what_must_be_kept(story: list[Any], data: st.DataObject) -> None:
    def select(history: MessageHistory, ctx: object) -> list[str]:
        ids = [entry.id for entry in history]
        return data.draw(st.lists(st.sampled_from([*ids, "unknown"]), max_size=5))

    model = ScriptedModel()
    strategy = selective_summary_history_strategy(model, select, "sum up")
    asyncio.run(tell(strategy, model, story, 0))


@given(stories())
def test_what_a_strategy_comes_to_can_be_committed_and_made_again(story: list[Any]) -> None:
    model = ScriptedModel()
    strategy = summarizing_history_strategy(model, 20, 1)
    asyncio.run(tell(strategy, model, story, 1))
    assert MessageHistory.from_json(strategy.history.to_json()) == strategy.history


def test_a_read_needs_nothing_but_what_the_view_shows() -> None:
    history = MessageHistory().append({"role": "user", "content": "a" * 90}, {"role": "assistant", "content": "b" * 90})
    loaded = MessageHistory.loaded(history.head, [e.id for e in history], history.refs())
    strategy = summarizing_history_strategy(ScriptedModel(), 1, 0, history=loaded)
    view = asyncio.run(strategy.on_read(READ))
    assert [message.text for message in view.messages] == ["[Conversation summary]\nshort"]
    with pytest.raises(LookupError):
        list(view.history.lineage())
