"""What Anthropic's Messages API asks for beyond whole exchanges."""

from __future__ import annotations

from typing import Any

import pytest

from msglog import adapters
from msglog.adapters import Repair
from msglog.adapters.stand_ins import BEGINNING
from msglog.errors import InvalidMessageError
from tests.adapters import checks
from tests.strategies import Json, calls, reply, result, user


def sent(messages: list[Any]) -> tuple[list[Json], list[tuple[str, int, str]]]:
    """The turns, checked, and what was repaired."""
    report: list[Repair] = []
    turns = adapters.to_anthropic(messages, report)
    checks.check_anthropic({"messages": turns})
    return turns, [(repair.what, repair.index, repair.path) for repair in report]


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def test_a_string_stays_a_string_and_neighbours_become_blocks_of_one_turn() -> None:
    assert sent([user("a"), reply("b"), user("c"), user("d")]) == (
        [user("a"), reply("b"), {"role": "user", "content": [text("c"), text("d")]}],
        [("merged", 3, "")],
    )


def test_the_user_speaks_first() -> None:
    assert sent([reply("Welcome!"), user("hi")]) == (
        [user(BEGINNING), reply("Welcome!"), user("hi")],
        [("added", 0, "")],
    )


def test_blanks_at_the_very_end_are_taken_off_and_nowhere_else() -> None:
    assert sent([user("q \n"), reply("a \n"), user("r"), reply("b \n")]) == (
        [user("q \n"), reply("a \n"), user("r"), reply("b")],
        [("dropped", 3, "content")],
    )


def test_nothing_but_blanks_is_no_turn_at_all() -> None:
    assert sent([user(""), reply(" \n"), {"role": "user", "content": [text("\t")]}])[0] == []
    assert sent([]) == ([], [])


def test_only_the_four_newest_cache_marks_stay_and_those_of_the_system() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    turns = [{"role": role, "content": [text(str(i), **mark)]} for i, role in enumerate(["user", "assistant"] * 3)]
    request = {"system": [text("s", **mark)], "messages": turns}
    report: list[Repair] = []
    made = adapters.to_anthropic_request(adapters.from_anthropic(request), report)
    checks.check_anthropic(made)
    assert made["system"] == request["system"]
    assert ["cache_control" in turn["content"][0] for turn in made["messages"]] == [False] * 3 + [True] * 3
    assert [(repair.what, repair.index) for repair in report] == [("dropped", 1), ("dropped", 2), ("dropped", 3)]


def test_cache_marks_inside_results_count() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    inside = {"type": "tool_result", "tool_use_id": "t", "content": [text(str(i), **mark) for i in range(5)]}
    used = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    turns = [user("q"), {"role": "assistant", "content": [used]}, {"role": "user", "content": [inside]}]
    sent_turns, repairs = sent(adapters.from_anthropic(turns))
    assert ["cache_control" in block for block in sent_turns[2]["content"][0]["content"]] == [False] + [True] * 4
    assert repairs == [("dropped", 2, "content")]


def test_thinking_without_a_signature_is_left_out() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, text("hi")]
    assert sent([user("q"), {"role": "assistant", "content": parts}]) == (
        [user("q"), {"role": "assistant", "content": [text("hi")]}],
        [("dropped", 1, "content[0]")],
    )


def test_beside_thinking_even_what_nobody_knows_is_its_own() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s", "new": 1}
    blocks = [thinking, text("hi", new=2), {"type": "a_new_block", "x": 1}]
    message = {"role": "assistant", "content": blocks}
    assert adapters.to_anthropic([user("q"), message])[1] == message
    without = adapters.to_anthropic([user("q"), message | {"content": blocks[1:]}])[1]
    assert without["content"] == [text("hi"), text('{"type":"a_new_block","x":1}')]


def test_calls_stand_between_blocks_where_they_stood() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    thinking = {"type": "thinking", "thinking": "", "signature": "s"}
    turns = [
        user("q"),
        {"role": "assistant", "content": [thinking, use, text("and"), use | {"id": "toolu_2"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": i} for i in ("toolu_1", "toolu_2")]},
    ]
    messages = adapters.from_anthropic(turns)
    assert [call.id for call in messages[1].tool_calls] == ["toolu_1", "toolu_2"]
    assert sent(messages) == (turns, [])
    report: list[Repair] = []
    assert adapters.to_openai(messages, report)[1]["content"] == [text("and")]
    assert [repair.what for repair in report] == ["dropped"]


def test_blocks_that_were_stored_as_they_came_are_read_as_calls_and_results() -> None:
    raw = [
        user("q"),
        {
            "role": "assistant",
            "content": [text("hm"), {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}, text("thanks")]},
    ]
    assert sent(raw) == (raw, [])
    assert [message["role"] for message in adapters.to_openai(raw)] == ["user", "assistant", "tool", "user"]


def test_an_error_result_holds_only_text() -> None:
    image = {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="}
    turns, repairs = sent([user("q"), calls("c"), result("c", [text("bad"), image]) | {"isError": True}])
    assert turns[-1]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c",
            "content": [text("bad"), text("[image image/png]")],
            "is_error": True,
        }
    ]
    assert repairs == [("as-text", 2, "content")]


def test_null_for_arguments_is_none() -> None:
    call = {"id": "c", "name": "f", "args": None}
    turns, repairs = sent([user("q"), {"role": "assistant", "toolCalls": [call]}, result("c")])
    assert turns[1]["content"][0]["input"] == {}
    assert repairs == [("wrapped", 1, "tool_calls[0].args")]


def test_a_name_has_no_place_but_in_a_call() -> None:
    named = [user("q") | {"name": "ada"}, calls("c"), result("c") | {"name": "look"}]
    turns, repairs = sent([*named, user("r"), calls("d"), result("d") | {"name": "elsewhere"}])
    assert "ada" not in str(turns)
    assert repairs == [("dropped", 0, "name"), ("dropped", 5, "name")]


def test_a_result_that_is_a_list_of_data_is_json_though_its_items_have_types() -> None:
    listing = [{"type": "file", "name": "a.py"}, {"type": "image", "name": "b.png"}]
    turns, _ = sent([user("q"), calls("c"), result("c", listing)])
    assert turns[-1]["content"][0]["content"] == '[{"type":"file","name":"a.py"},{"type":"image","name":"b.png"}]'


def test_a_turn_of_the_system_stays_where_the_api_takes_it_and_else_joins_the_others() -> None:
    instructed = [user("q"), {"role": "system", "content": "be brief"}, reply("a")]
    messages = adapters.from_anthropic(instructed)
    assert adapters.to_anthropic(messages) == instructed
    report: list[Repair] = []
    moved = adapters.to_anthropic_request([messages[1], messages[0], messages[2]], report)
    assert moved == {"system": "be brief", "messages": [user("q"), reply("a")]}
    assert [(repair.what, repair.index) for repair in report] == [("moved", 0)]
    assert adapters.to_anthropic([messages[0], messages[1], user("r")]) == [
        {"role": "user", "content": [text("q"), text("r")]}
    ], "before a turn of the user it is left out with the others"


def test_a_whole_request_goes_there_and_back_equal() -> None:
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    for system in ("Be brief.", [text("Be brief.", **mark), text("And kind.")]):
        request = {"system": system, "messages": [user("q"), reply("a")]}
        assert adapters.to_anthropic_request(adapters.from_anthropic(request)) == request
    assert adapters.to_anthropic_request([user("q")]) == {"messages": [user("q")]}


def test_what_a_response_has_beside_its_content_is_kept_but_not_sent() -> None:
    response = reply("a") | {"id": "msg_1", "type": "message", "model": "m", "usage": {"input_tokens": 1}, "new": 1}
    (message,) = adapters.from_anthropic([response])
    assert message.extra["anthropic"]["usage"] == {"input_tokens": 1}
    assert adapters.to_anthropic([user("q"), message])[1] == reply("a") | {"new": 1}


def test_a_long_name_of_its_own_stays_and_of_others_is_shortened() -> None:
    turn = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x" * 100, "input": {}}]}
    (message,) = adapters.from_anthropic([turn])
    assert adapters.to_anthropic([message])[1]["content"][0]["name"] == "x" * 100
    call = {"id": "t", "name": "x" * 100, "args": {}}
    assert len(sent([{"role": "assistant", "toolCalls": [call]}])[0][1]["content"][0]["name"]) == 64


@pytest.mark.parametrize(
    ("turns", "path"),
    [
        ([user("q"), {"role": "robot", "content": "x"}], "[1].role"),
        ([{"role": "user", "content": [{"text": "x"}]}], "[0].content[0].type"),
        ([5], "[0]"),
        ([{"content": "x"}], "[0].role"),
        (user("one turn, not a list"), "messages"),
    ],
)
def test_what_is_no_turn_is_refused_with_its_path(turns: Any, path: str) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        adapters.from_anthropic(turns)
    assert caught.value.path == path
