"""Tool exchanges are sent whole and in one piece, whatever the order they are stored in."""

from __future__ import annotations

from typing import Any

from msglog import adapters
from msglog.adapters import Repair
from msglog.adapters.stand_ins import INTERRUPTED
from msglog.message import Entry, Message
from tests.strategies import Json, calls, reply, result, user


def sent(messages: list[Json]) -> tuple[list[tuple[str, Any]], list[tuple[str, int, str]]]:
    """What Chat Completions gets, in short, and what was repaired."""
    report: list[Repair] = []
    found: list[tuple[str, Any]] = []
    for message in adapters.to_openai(messages, report):
        called = [call["id"] for call in message.get("tool_calls", ())]
        found.append((message.get("tool_call_id") or message["role"], called or message["content"]))
    return found, [(repair.what, repair.index, repair.path) for repair in report]


def test_whole_exchanges_stay_as_they_are() -> None:
    messages = [user("q"), calls("a", "b"), result("b", "1"), result("a", "2"), reply("x")]
    assert sent(messages) == (
        [("user", "q"), ("assistant", ["a", "b"]), ("b", "1"), ("a", "2"), ("assistant", "x")],
        [],
    )


def test_a_result_that_came_late_stands_right_after_its_call() -> None:
    messages = [calls("a", "b"), result("a", "1"), user("hey"), result("b", "2")]
    assert sent(messages) == (
        [("assistant", ["a", "b"]), ("a", "1"), ("b", "2"), ("user", "hey")],
        [("moved", 3, "")],
    )


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    messages = [calls("a", "b"), result("a", "1"), user("still there?")]
    assert sent(messages) == (
        [("assistant", ["a", "b"]), ("a", "1"), ("b", INTERRUPTED), ("user", "still there?")],
        [("answered", 0, "tool_calls[1]")],
    )


def test_a_result_without_a_call_is_left_out() -> None:
    messages = [result("a", "early"), calls("a"), result("a", "1"), result("a", "again"), result("b", "stray")]
    assert sent(messages) == (
        [("assistant", ["a"]), ("a", "1")],
        [("dropped", 0, ""), ("dropped", 3, ""), ("dropped", 4, "")],
    )


def test_an_id_used_again_belongs_to_the_nearest_call_before() -> None:
    messages = [calls("a"), calls("a"), result("a", "second"), result("a", "first")]
    assert sent(messages)[0] == [("assistant", ["a"]), ("a", "first"), ("assistant", ["a"]), ("a", "second")]


def test_an_id_twice_in_one_message_is_two_ids_answered_in_order() -> None:
    found, repairs = sent([calls("a", "a"), result("a", "1"), result("a", "2")])
    _, ids = found[0]
    assert ids[0] == "a" != ids[1]
    assert found[1:] == [("a", "1"), (ids[1], "2")]
    assert repairs == [("renamed", 0, "tool_calls[1].id")]


def test_calls_of_others_than_the_assistant_are_left_out() -> None:
    strange = [user("q") | {"toolCalls": calls("a")["toolCalls"], "toolCallId": "z"}, result("a")]
    assert sent(strange) == (
        [("user", "q")],
        [("dropped", 0, "tool_calls"), ("dropped", 0, "tool_call_id"), ("dropped", 1, "")],
    )


def test_the_report_names_the_entry() -> None:
    report: list[Repair] = []
    entry = Entry(id="e7", message=Message(role="tool", content="x", tool_call_id="a"))
    assert adapters.to_openai([entry], report) == []
    (repair,) = report
    assert (repair.what, repair.index, repair.entry_id) == ("dropped", 0, "e7")
