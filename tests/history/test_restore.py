"""Restoring: summaries expanded to the turns that they stand for, whatever their sources look like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.history import MessageHistory
from tests.strategies import entry, letters, user


def summary(entry_id: str, *sources: str) -> dict[str, Any]:
    return entry(entry_id) | {"kind": "summary", "sources": list(sources)}


def restored(history: MessageHistory, ids: list[str] | None = None) -> str:
    return "".join(message.content for message in history.restore(ids))


def summed(history: MessageHistory, name: str, *sources: str) -> MessageHistory:
    return history.edit({"op": "summary", "sourceIds": list(sources), "entry": entry(name), "replace": True})


def test_a_view_without_summaries_is_its_own_original() -> None:
    assert restored(letters("abc")) == "abc"


def test_a_summary_gives_way_to_its_sources() -> None:
    assert restored(summed(letters("abcd"), "S", "b", "c")) == "abcd"


def test_summaries_of_summaries_are_expanded_down_to_the_turns() -> None:
    history = summed(summed(letters("abcd"), "S", "a", "b"), "T", "S", "c")
    assert restored(history) == "abcd"


def test_sources_come_in_the_order_in_which_the_summary_names_them() -> None:
    assert restored(summed(letters("abc"), "S", "c", "a")) == "cab"


def test_each_original_comes_once() -> None:
    history = letters("abc").append(summary("S", "a", "b"), summary("T", "b", "c", "S"))
    assert restored(history) == "abc"


def test_chosen_entries_are_restored_alone() -> None:
    history = summed(letters("abcd"), "S", "a", "b")
    assert restored(history, ["S"]) == "ab"
    assert restored(history, ["d", "S"]) == "dab"


def test_a_summary_without_sources_stands_for_itself() -> None:
    assert restored(letters("a").append(summary("S"))) == "aS"


def test_a_summary_that_leads_nowhere_is_left_out() -> None:
    assert restored(letters("a").append(summary("S", "gone"))) == "a"


@pytest.mark.parametrize(
    "cycle",
    [
        [summary("S", "S")],
        [summary("S", "T"), summary("T", "S")],
        [summary("S", "T", "a"), summary("T", "U"), summary("U", "S", "b")],
    ],
)
def test_cycles_end(cycle: list[dict[str, Any]]) -> None:
    assert restored(letters("ab").append(*cycle)) == "ab"


def test_ten_thousand_summaries_of_summaries_are_restored() -> None:
    history = letters("a").append(*(summary(f"s{n}", f"s{n - 1}" if n else "a") for n in range(10_000)))
    top = history.with_view(["s9999"])
    assert restored(top) == "a"
    again = MessageHistory.from_json(top.to_json())
    assert restored(again) == "a"
    assert len(top.changes_since(None).entries) == 10_001


@given(st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 12), min_size=1, max_size=4), max_size=10))
def test_any_web_of_sources_gives_each_turn_that_it_reaches_once(web: dict[int, list[int]]) -> None:
    names = {n: f"n{n}" for n in range(13)}
    history = MessageHistory().append(
        *(summary(names[n], *(names[s] for s in web[n])) if n in web else entry(names[n]) for n in range(10))
    )
    reached: set[int] = set()
    waiting = [0]
    while waiting:
        n = waiting.pop()
        if n not in reached and n < 10:
            reached.add(n)
            waiting += web.get(n, [])
    found = [message.content for message in history.restore(["n0"])]
    assert sorted(found) == sorted(names[n] for n in reached if n not in web)


def test_the_originals_of_an_entry_that_was_replaced_are_its_replacements() -> None:
    history = letters("ab").edit({"op": "replace", "id": "a", "entries": [user("A")]})
    assert restored(history) == "Ab"
