"""Trimming: what is kept, what fits, and that no tool call is ever parted from its results."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog import Entry, Message
from msglog.budget import BudgetTooSmall, estimate_tokens, trim
from msglog.codec import encode
from msglog.history.pairs import broken_pairs, exchanges
from msglog.message import as_entry
from tests.budget.conversations import conversations
from tests.strategies import Json, calls, reply, result, user

SYSTEM: Json = {"role": "system", "content": "S"}
DEVELOPER: Json = {"role": "developer", "content": "D"}


def one(_message: object) -> int:
    return 1


def texts(messages: Sequence[Any]) -> list[Any]:
    return [message["content"] for message in messages]


# What is kept


def test_the_newest_that_fit_are_kept_in_their_order() -> None:
    turns = [user(f"{n}") for n in range(6)]
    assert texts(trim(turns, 3, one)) == ["3", "4", "5"]
    assert texts(trim(turns, 6, one)) == ["0", "1", "2", "3", "4", "5"]
    assert trim(turns, 0, one) == []


def test_it_stops_at_the_first_that_does_not_fit_even_if_an_older_one_would() -> None:
    turns = [user("1"), user("22"), user("333"), user("4")]
    assert texts(trim(turns, 3, lambda m: len(m["content"]))) == ["4"]


def test_system_and_developer_messages_are_kept_wherever_they_stand() -> None:
    turns = [SYSTEM, user("1"), DEVELOPER, user("2"), user("3")]
    assert texts(trim(turns, 3, one)) == ["S", "D", "3"]


def test_the_newest_others_are_pinned_by_keep_recent() -> None:
    turns = [user("1"), user("2" * 9), user("3" * 9), SYSTEM]
    measured = len(turns[1]["content"])
    assert measured == 9
    assert texts(trim(turns, 5, lambda m: len(m["content"]), keep_recent=2)) == ["2" * 9, "3" * 9, "S"]
    assert texts(trim(turns, 5, one, keep_recent=99)) == texts(turns)


def test_what_is_labelled_pinned_is_kept_in_every_form_that_has_labels() -> None:
    entries: list[Any] = [as_entry({"message": user("1"), "meta": {"labels": ["pinned"]}}), as_entry(user("2"))]
    assert trim(entries, 1, one) == entries[:1]
    dicts: list[Any] = [{"message": user("1"), "meta": {"labels": ["pinned"]}}, user("2")]
    assert trim(dicts, 1, one) == dicts[:1]


def test_required_messages_over_the_budget_come_back_alone_or_raise() -> None:
    turns = [SYSTEM, user("1"), user("2")]
    assert texts(trim(turns, 1, one, keep_recent=1)) == ["S", "2"]
    with pytest.raises(BudgetTooSmall) as caught:
        trim(turns, 1, one, keep_recent=1, overflow="throw")
    assert (caught.value.deficit, caught.value.budget) == (1, 1)
    assert texts(trim(turns, 2, one, keep_recent=1, overflow="throw")) == ["S", "2"]


def test_a_pin_that_would_cut_an_exchange_takes_all_of_it() -> None:
    turns = [user("1"), calls("c1", "c2"), result("c1"), result("c2")]
    assert trim(turns, 1, one, keep_recent=1) == turns[1:]


def test_what_goes_in_comes_back_as_it_was_given() -> None:
    class Odd:
        pass

    given_: list[Any] = [Message(role="user", content="a"), user("b"), Odd(), 7, as_entry(user("c"))]
    kept = trim(given_, 10, one)
    assert all(a is b for a, b in zip(kept, given_, strict=True))
    assert trim((message for message in given_), 2, one) == given_[3:]


@pytest.mark.parametrize(
    "options",
    [{"overflow": "drop"}, {"keep_recent": -1}, {"measure": one, "measure_list": len}],
    ids=["overflow", "keep_recent", "two counters"],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        trim([user("a")], 5, **options)


# Where the window begins


def test_the_window_may_be_made_to_begin_with_a_role() -> None:
    turns = [SYSTEM, user("1"), reply("a1"), user("2"), reply("a2"), user("3")]
    assert texts(trim(turns, 5, one)) == ["S", "a1", "2", "a2", "3"]
    assert texts(trim(turns, 5, one, start_on="user")) == ["S", "2", "a2", "3"]
    assert texts(trim(turns, 6, one, start_on="user")) == texts(turns)


def test_what_is_required_stays_before_the_begin_of_the_window() -> None:
    turns = [reply("a1"), user("2"), reply("a2")]
    assert texts(trim(turns, 3, one, keep_recent=3, start_on="user")) == ["a1", "2", "a2"]


def test_without_a_message_of_that_role_nothing_is_dropped() -> None:
    turns = [user("1"), calls("c1"), result("c1"), reply("a")]
    assert trim(turns, 3, one, start_on="user") == turns[1:]


# Forms


class ChainMessage(SimpleNamespace):
    """What LangChain's messages look like from outside."""


def test_exchanges_are_known_in_every_form() -> None:
    openai = [
        user("1"),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        user("2"),
    ]
    anthropic = [
        user("1"),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]},
        user("2"),
    ]
    langchain = [
        ChainMessage(type="human", content="1"),
        ChainMessage(type="ai", content="", tool_calls=[{"id": "c1", "name": "f", "args": {}}]),
        ChainMessage(type="tool", content="r", tool_call_id="c1"),
        ChainMessage(type="human", content="2"),
    ]
    snake = [user("1"), {**openai[1], "tool_calls": [{"id": "c1", "name": "f", "args": {}}]}, openai[2], user("2")]
    ours = [user("1"), calls("c1"), result("c1"), user("2")]
    for turns in (openai, anthropic, langchain, snake, ours, [Message(**m) for m in ours], [as_entry(m) for m in ours]):
        sizes = [len(trim(turns, budget, one)) for budget in range(5)]
        assert sizes == [0, 1, 1, 3, 4], turns


def test_results_of_two_calls_in_one_turn_hold_all_three_together() -> None:
    turns = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c2", "name": "f", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c2", "content": "2"},
                {"type": "tool_result", "tool_use_id": "c1", "content": "1"},
                {"type": "text", "text": "go on"},
            ],
        },
    ]
    assert [len(trim(turns, budget, one)) for budget in range(4)] == [0, 0, 0, 3]


def test_an_id_used_again_pairs_with_the_nearest_call() -> None:
    turns = [calls("c"), result("c", "A"), calls("c"), result("c", "B")]
    assert trim(turns, 3, one) == turns[2:]


def test_a_second_result_goes_with_its_call() -> None:
    turns = [calls("c"), result("c", "A"), result("c", "again"), user("x")]
    assert trim(turns, 2, one) == turns[3:]


# Counters


def test_the_built_in_counter_is_the_estimate() -> None:
    turns = [user("a" * 40), user("b" * 40), user("c" * 41)]
    assert texts(trim(turns, 21, None)) == ["b" * 40, "c" * 41]
    assert texts(trim(turns, 20)) == ["c" * 41]


def test_a_counter_of_lists_is_asked_about_a_few_well_formed_lists() -> None:
    turns = [SYSTEM, *(turn for n in range(100) for turn in (user(f"{n}"), calls(f"c{n}"), result(f"c{n}")))]
    asked: list[list[Any]] = []

    def count(messages: list[Any]) -> int:
        asked.append(messages)
        return len(messages) + 3

    kept = trim(turns, 100, measure_list=count)
    assert len(kept) + 3 in (99, 100)
    assert kept[0] is SYSTEM
    assert len(asked) <= 10
    for messages in asked:
        assert messages
        assert broken_pairs([as_entry(message) for message in messages]) == {}


def test_a_counter_of_lists_is_never_asked_about_nothing() -> None:
    def count(messages: list[Any]) -> int:
        assert messages
        return len(messages)

    assert trim([], 5, measure_list=count) == []
    assert trim([user("a")], 0, measure_list=count) == []


def test_a_counter_is_asked_once_about_each_message_at_most() -> None:
    asked: list[int] = []
    turns = [user(f"{n}") for n in range(1000)]
    trim(turns, 10, lambda m: asked.append(int(m["content"])) or 1)  # type: ignore[func-returns-value]
    assert asked == list(range(999, 988, -1))


@pytest.mark.parametrize("option", ["measure", "measure_list"])
def test_what_a_counter_raises_is_raised(option: str) -> None:
    def fail(_: object) -> int:
        raise TypeError("no counting of lists")

    counter: Any = {option: fail}
    with pytest.raises(TypeError, match="no counting"):
        trim([user("a")], 5, **counter)


# Of any conversation, at every budget


def weigh(entry: Entry) -> int:
    return len(entry.message.text)


@given(
    conversations(), st.integers(0, 3), st.sampled_from(["measure", "measure_list"]), st.sampled_from([None, "user"])
)
def test_at_every_budget_it_fits_and_no_exchange_is_parted(
    given_: list[Json], keep_recent: int, option: str, start_on: str | None
) -> None:
    entries = [as_entry(value) for value in given_]
    place = {id(entry): at for at, entry in enumerate(entries)}
    others = [at for at, e in enumerate(entries) if e.message.role not in ("system", "developer")]
    required = {at for at, e in enumerate(entries) if e.message.role in ("system", "developer")}
    required |= {at for at, e in enumerate(entries) if e.meta is not None and "pinned" in e.meta.labels}
    required |= set(others[max(0, len(others) - keep_recent) :])
    units = [set(exchange) for exchange in exchanges(entries)]
    before = 0
    for budget in range(sum(map(weigh, entries)) + 2):
        counter: Any = {option: weigh if option == "measure" else lambda part: sum(map(weigh, part))}
        kept = trim(entries, budget, keep_recent=keep_recent, start_on=start_on, **counter)
        places = [place[id(entry)] for entry in kept]
        assert places == sorted(set(places))
        assert required <= set(places)
        for unit in units:
            assert unit <= set(places) or unit.isdisjoint(places)
        for at in places:  # not even a second result stands without the call that it was for
            message = entries[at].message
            if message.role == "tool":
                asked = [i for i in range(at) if message.tool_call_id in {c.id for c in entries[i].message.tool_calls}]
                assert not asked or set(asked) & set(places)
        if sum(map(weigh, kept)) > budget:
            alone = trim(entries, -1, weigh, keep_recent=keep_recent)
            assert kept == alone
            with pytest.raises(BudgetTooSmall) as caught:
                trim(entries, budget, weigh, keep_recent=keep_recent, overflow="throw")
            assert caught.value.deficit == sum(map(weigh, kept)) - budget
        if start_on is None:
            assert len(kept) >= before
            before = len(kept)
    if start_on is None:
        assert kept == entries


@given(conversations(), st.integers(0, 40))
def test_both_kinds_of_counters_keep_the_same(given_: list[Json], budget: int) -> None:
    entries = [as_entry({**value, "message": {**value["message"], "name": "x"}}) for value in given_]
    by_message = trim(entries, budget, lambda entry: 1 + weigh(entry))
    by_list = trim(entries, budget, measure_list=lambda part: sum(1 + weigh(entry) for entry in part))
    assert by_message == by_list


@given(conversations(), st.integers(0, 60))
def test_the_form_makes_no_difference(given_: list[Json], budget: int) -> None:
    dicts = [value["message"] for value in given_]
    models = [Message(**message) for message in dicts]
    chat = [in_openais_form(message) for message in dicts]
    kept = [place for place, message in enumerate(dicts) if any(message is other for other in trim(dicts, budget))]
    assert trim(models, budget) == [models[place] for place in kept]
    assert trim(chat, budget) == [chat[place] for place in kept]
    assert estimate_tokens(models) == estimate_tokens(dicts)


def in_openais_form(message: Json) -> Json:
    turned = {key: value for key, value in message.items() if key in ("role", "content")}
    if "toolCallId" in message:
        turned["tool_call_id"] = message["toolCallId"]
    if "toolCalls" in message:
        functions = [
            (call["id"], {"name": call["name"], "arguments": encode(call["args"])}) for call in message["toolCalls"]
        ]
        turned["tool_calls"] = [{"id": i, "type": "function", "function": function} for i, function in functions]
    return turned
