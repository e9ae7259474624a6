"""Tool exchanges: which results answer which calls, and edits that keep them whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.errors import PatchError
from msglog.history import InsertAfter, MessageHistory, Remove
from msglog.history.pairs import broken_pairs, exchanges, widened
from msglog.message import Entry, as_entry
from tests.strategies import Json, calls, entry, patches, reply, result, shown, user


def entries(*messages: Json) -> list[Entry]:
    return [as_entry({"id": str(n), "message": message}) for n, message in enumerate(messages)]


def talk(*messages: tuple[str, Json]) -> MessageHistory:
    return MessageHistory().append(*({"id": name, "message": message} for name, message in messages))


# Which belong together


def test_an_exchange_is_a_call_and_the_results_that_answer_it() -> None:
    assert exchanges(entries(user("u"), calls("c1", "c2"), result("c2"), result("c1"), reply("x"))) == [[1, 2, 3]]


def test_a_call_without_results_is_an_exchange_of_its_own() -> None:
    assert exchanges(entries(calls("c1"), user("u"), calls("c2"), result("c2"))) == [[0], [2, 3]]


def test_a_message_without_calls_is_no_exchange() -> None:
    assert exchanges(entries(user("u"), reply("x"), calls())) == []


def test_call_ids_used_again_in_a_later_turn_pair_with_the_nearest_open_call() -> None:
    messages = [calls("c"), result("c", "A"), user("u"), calls("c"), result("c", "B")]
    assert exchanges(entries(*messages)) == [[0, 1], [3, 4]]


def test_a_result_answers_the_nearest_of_several_open_calls() -> None:
    assert exchanges(entries(calls("c"), user("u"), calls("c"), result("c"))) == [[0], [2, 3]]


def test_an_id_used_twice_in_one_message_takes_two_results() -> None:
    assert exchanges(entries(calls("c", "c"), result("c"), result("c"), result("c"))) == [[0, 1, 2]]


def test_a_result_before_its_call_answers_nothing() -> None:
    assert exchanges(entries(result("c"), calls("c"))) == [[1]]


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([calls("a", "b"), result("b"), result("a")], {}),
        ([calls("a", "b"), result("b")], {"0": "a call without its result"}),
        ([result("a")], {"0": "a result without its call"}),
        ([calls("a"), result("a"), result("a")], {"2": "a result without its call"}),
        ([calls("a"), user("u"), result("a")], {"0": "a call apart from its result"}),
        ([{"role": "tool", "content": "x"}], {"0": "a result without its call"}),
        ([user("u"), reply("x")], {}),
    ],
)
def test_what_stands_apart_from_its_other_half_is_named(messages: list[Json], broken: dict[str, str]) -> None:
    assert broken_pairs(entries(*messages)) == broken


def test_a_choice_is_widened_to_whole_exchanges_in_their_order() -> None:
    talked = entries(user("u"), calls("a", "b"), result("a"), result("b"), calls("c"), result("c"))
    assert widened(["3"], talked) == ("1", "2", "3")
    assert widened(["5", "0"], talked) == ("0", "4", "5")
    assert widened(["gone", "3", "0"], talked) == ("0", "1", "2", "3", "gone")
    assert widened([], talked) == ()


# EDT-3

EXCHANGE = (("U", user("u")), ("A", calls("c1", "c2")), ("1", result("c1")), ("2", result("c2")), ("x", reply("x")))

PARTING: dict[str, Json] = {
    "remove T(c2)": {"op": "remove", "id": "2"},
    "remove A(calls)": {"op": "remove", "id": "A"},
    "move T(c1) after A('x')": {"op": "move", "ids": ["1"], "after": "x"},
    "insertAfter T(c1)": {"op": "insertAfter", "id": "1", "entries": [entry("h")]},
}
KEPT = {
    "remove T(c2)": "Ux",
    "remove A(calls)": "Ux",
    "move T(c1) after A('x')": "UxA12",
    "insertAfter T(c1)": "UA12hx",
}


@pytest.mark.parametrize("case", PARTING)
def test_edt_3_an_edit_that_would_split_a_tool_pair_is_completed(case: str) -> None:
    history = talk(*EXCHANGE)
    edited = history.edit(PARTING[case], keep_pairs=True)
    assert shown(edited) == KEPT[case]
    assert broken_pairs(edited.refs()) == {}
    assert shown(MessageHistory.from_json(edited.to_json())) == KEPT[case]


@pytest.mark.parametrize(
    ("patch", "named"),
    [
        ({"op": "insertBefore", "id": "1", "entries": [entry("h")]}, "A"),
        ({"op": "insertBefore", "id": "2", "entries": [entry("h")]}, "A"),
        ({"op": "move", "ids": ["x"], "before": "2"}, "A"),
        ({"op": "move", "ids": ["x"], "after": "A"}, "A"),
        ({"op": "replace", "id": "A", "entries": [entry("h")]}, "1"),
        ({"op": "split", "id": "2", "entries": [entry("h"), entry("i")]}, "A"),
        ({"op": "replace", "id": "1", "entries": []}, "A"),
        ({"op": "insertAfter", "id": "x", "entries": [{"id": "n", "message": result("c9")}]}, "n"),
        ({"op": "insertAfter", "id": "x", "entries": [{"id": "n", "message": calls("c9")}]}, "n"),
    ],
)
def test_edt_3_an_edit_that_would_split_a_tool_pair_and_cannot_be_completed_is_refused(patch: Json, named: str) -> None:
    history = talk(*EXCHANGE)
    with pytest.raises(PatchError) as refused:
        history.edit([{"op": "remove", "id": "U"}, patch], keep_pairs=True)
    assert named in refused.value.ids
    assert shown(history) == "UA12x"


def test_edt_3_what_touches_no_pair_is_allowed() -> None:
    assert shown(talk(*EXCHANGE).edit({"op": "remove", "id": "U"}, keep_pairs=True)) == "A12x"


def test_edt_3_a_summary_takes_whole_exchanges() -> None:
    history = talk(*EXCHANGE)
    edited = history.edit(
        {"op": "summary", "sourceIds": ["U", "1"], "entry": entry("S"), "replace": True}, keep_pairs=True
    )
    assert shown(edited) == "Sx"
    assert edited.entry("S").sources == ("U", "A", "1", "2")


def test_without_keep_pairs_an_edit_is_literal() -> None:
    assert shown(talk(*EXCHANGE).edit({"op": "remove", "id": "2"})) == "UA1x"


def test_a_pair_that_was_broken_before_hinders_no_edit() -> None:
    history = talk(("U", user("u")), ("A", calls("c1", "c2")), ("1", result("c1")), ("x", reply("x")))
    edited = history.edit(
        [{"op": "remove", "id": "U"}, {"op": "insertAfter", "id": "A", "entries": [entry("h")]}], keep_pairs=True
    )
    assert shown(edited) == "A1hx"


def test_a_broken_pair_may_be_mended() -> None:
    history = talk(("A", calls("c1", "c2")), ("1", result("c1")), ("x", reply("x")))
    mended = history.edit(
        {"op": "insertAfter", "id": "1", "entries": [{"id": "2", "message": result("c2")}]}, keep_pairs=True
    )
    assert broken_pairs(mended.refs()) == {}


def test_typed_patches_are_widened_too() -> None:
    history = talk(*EXCHANGE)
    assert shown(history.edit(Remove(id="1"), keep_pairs=True)) == "Ux"
    assert shown(history.edit(InsertAfter(id="A", entries=(as_entry(entry("h")),)), keep_pairs=True)) == "UA12hx"


@given(st.data())
def test_no_edit_that_keeps_pairs_leaves_a_new_half(data: st.DataObject) -> None:
    messages: list[tuple[str, Any]] = []
    for turn in range(data.draw(st.integers(1, 4))):
        made = [f"{turn}c{n}" for n in range(data.draw(st.integers(0, 2)))]
        messages.append((f"{turn}u", user("u")))
        messages.append((f"{turn}a", calls(*made) if made else reply("x")))
        answered = made if turn % 2 else made[: data.draw(st.integers(0, len(made)))]
        messages += [(f"{turn}t{call}", result(call)) for call in answered]
    history = talk(*messages)
    before = broken_pairs(history.refs())
    try:
        edited = history.edit(data.draw(patches([ref.id for ref in history], ["n1", "n2"])), keep_pairs=True)
    except PatchError:
        return
    assert set(broken_pairs(edited.refs())) <= set(before)
