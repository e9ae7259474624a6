from __future__ import annotations

from typing import Any

import pytest

from msglog import Message
from msglog.adapters import to_anthropic
from msglog.budget import trim
from msglog.strategies import HistoryReadContext, summarizing_history_strategy
from tests.context.models import ScriptedModel
from tests.strategies import Json, calls, reply, result, user

SYSTEM: Json = {"role": "system", "content": "S"}


def one(_message: object) -> int:
    return 1


def test_trm_1_an_exchange_is_whole_or_wholly_absent() -> None:
    exchange = [calls("c1", "c2", "c3"), result("c1"), result("c2"), result("c3")]
    turns = [SYSTEM, user("U1"), *exchange, reply("done"), user("U2"), reply("ok")]
    for budget in range(1, 10):
        kept = trim(turns, budget, one)
        assert len(kept) <= budget
        assert kept[0] is SYSTEM
        assert sum(message in kept for message in exchange) in (0, 4)
    assert trim(turns, 9, one) == turns
    assert trim(turns, 8, one) == [SYSTEM, *turns[2:]]
    assert trim(turns, 7, one) == [SYSTEM, *turns[6:]]


@pytest.mark.parametrize("options", [{}, {"keep_recent": 2}, {"overflow": "throw"}, {"start_on": "user"}], ids=str)
def test_trm_2_dropping_never_orphans_a_result(options: dict[str, Any]) -> None:
    turns = [user("U1"), reply("x"), user("U2"), calls("c1"), result("c1"), reply("y"), user("U3")]
    for counter in ({"measure": one}, {"measure_list": len}):
        kept = trim(turns, 6, **counter, **options)
        assert len(kept) <= 6
        assert (turns[3] in kept) == (turns[4] in kept)
        assert kept[-1] == user("U3")


async def test_trm_2_nor_does_summarising() -> None:
    model = ScriptedModel(["s"])
    strategy = summarizing_history_strategy(model, 0, 2, measure_list=lambda part: sum(len(m.text) + 40 for m in part))
    turns = [user("U1"), reply("x"), user("U2"), calls("c1"), result("c1"), reply("y"), user("U3")]
    strategy.history = strategy.history.append(*turns)
    view = await strategy.on_read(HistoryReadContext("m", 6))
    assert [message.text for message in view.messages[1:]] == ["U2", "", "done", "y", "U3"]


@pytest.mark.parametrize("options", [{}, {"keep_recent": 3}, {"overflow": "throw"}, {"start_on": "user"}], ids=str)
@pytest.mark.parametrize("turns", [[], [SYSTEM], [SYSTEM, user("")]], ids=len)
def test_trm_4_empty_and_tiny_histories_are_left_as_they_are(turns: list[Json], options: dict[str, Any]) -> None:
    for counter in ({}, {"measure": one}, {"measure_list": len}):
        assert trim(turns, 10, **counter, **options) == turns


def test_trm_5_the_window_begins_with_a_users_turn_where_that_is_demanded() -> None:
    turns = [Message(**m) for m in (user("U1"), reply("A1"), user("U2"), reply("A2"), user("U3"))]
    assert [message.text for message in trim(turns, 4, one)] == ["A1", "U2", "A2", "U3"]
    kept = trim(turns, 4, one, start_on="user")
    assert [message.text for message in kept] == ["U2", "A2", "U3"]
    assert [turn["role"] for turn in to_anthropic(kept)] == ["user", "assistant", "user"]
