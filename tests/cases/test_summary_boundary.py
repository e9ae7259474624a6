from __future__ import annotations

import pytest

from msglog import MessageHistory, MessageLog
from msglog.history.pairs import broken_pairs
from msglog.strategies import (
    durable_history_strategy,
    selective_summary_history_strategy,
    summarizing_history_strategy,
)
from tests.context.models import READ, ScriptedModel, fill
from tests.strategies import calls, reply, result, user

pytestmark = pytest.mark.every_engine


@pytest.mark.parametrize("keep_recent", range(14))
async def test_sum_1_a_parallel_block_is_kept_or_summarised_whole(keep_recent: int) -> None:
    ids = [f"c{n}" for n in range(1, 11)]
    block = [calls(*ids), *(result(call_id, "r" * 50) for call_id in ids)]
    history = MessageHistory().append(user("q"), *block, reply("all read"))
    strategy = summarizing_history_strategy(ScriptedModel(), 1, keep_recent, history=history)
    view = await strategy.on_read(READ)
    in_block = {entry.id for entry in history.refs()[1:12]}
    assert len(in_block & {entry.id for entry in view.history}) in (0, 11)
    assert broken_pairs(view.history.refs()) == {}
    if keep_recent == 6:
        assert view.history == history  # no safe boundary among the first six


async def test_sum_3_when_no_summary_is_due_nothing_changes() -> None:
    model = ScriptedModel()
    history = MessageHistory().append(user("q"), calls("c1"), result("c1"), reply("x"))
    strategy = summarizing_history_strategy(model, 99, 0, history=history)
    view = await strategy.on_read(READ)
    assert view.history is history  # the same revision: nothing was done
    assert all(a is b for a, b in zip(view.messages, history.render(), strict=True))
    assert model.requests == []


async def test_sum_4_only_the_summarised_range_is_replaced(log: MessageLog) -> None:
    exchanges = [turn for n in range(1, 5) for turn in (calls(f"c{n}"), result(f"c{n}", f"t{n} " + "r" * 60))]

    def first_two(history: MessageHistory, _ctx: object) -> list[str]:
        return [entry.id for entry in history.refs()[1:5]] if len(history) == 9 else []

    inner = selective_summary_history_strategy(ScriptedModel(), first_two, "sum up")
    strategy = durable_history_strategy(log, inner)
    await fill(strategy, {"role": "system", "content": "S"}, *exchanges)
    await strategy.on_read(READ)
    shown = [message.text[:10] for message in await log.all()]
    assert shown == ["S", "[Selected ", "", "t3 rrrrrrr", "", "t4 rrrrrrr"]
    assert [message.text[:2] for message in await log.raw.all() if message.role == "tool"] == ["t1", "t2", "t3", "t4"]
    assert [message.text[:2] for message in await log.restore() if message.role == "tool"] == ["t1", "t2", "t3", "t4"]


async def test_sum_4_nor_is_more_replaced_by_an_edit(log: MessageLog) -> None:
    turns = [turn for n in range(1, 5) for turn in (calls(f"c{n}"), result(f"c{n}", f"t{n}"))]
    await log.append_many([{"role": "system", "content": "S"}, *turns])
    before = await log.all()
    sources = [message.entry_id for message in before[1:5]]
    await log.edit({"op": "summary", "sourceIds": sources, "entry": user("summary"), "replace": True})

    after = await log.all()
    assert after[0] == before[0]
    assert (after[1].text, after[1].kind, list(after[1].sources)) == ("summary", "summary", sources)
    assert after[2:] == before[5:]
    assert (await log.raw.all())[:9] == before
    assert await log.restore() == [message.message for message in before]
