"""What Gemini asks for beyond whole exchanges."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from msglog import adapters
from msglog.adapters import Repair
from msglog.adapters.stand_ins import BEGINNING, INTERRUPTED, UNSIGNED
from msglog.errors import InvalidMessageError
from tests.adapters import checks
from tests.strategies import Json, calls, reply, result, user


def sent(messages: list[Any], **options: Any) -> tuple[list[Json], list[tuple[str, int, str]]]:
    """The contents, checked, and what was repaired."""
    report: list[Repair] = []
    contents = adapters.to_gemini(messages, report, **options)
    checks.check_gemini(contents)
    return contents, [(repair.what, repair.index, repair.path) for repair in report]


def parts_of(messages: list[Any]) -> list[Json]:
    return [part for content in sent(messages)[0] for part in content["parts"]]


def test_what_gemini_did_not_sign_is_signed_at_the_first_call_only() -> None:
    contents, repairs = sent([user("q"), calls("a", "b"), result("a"), result("b")])
    assert [part.get("thoughtSignature") for part in contents[1]["parts"]] == [UNSIGNED, None]
    assert repairs == [("added", 1, "tool_calls[0]")]
    assert "thoughtSignature" not in str(sent([user("q"), calls("a")], unsigned=None))


def test_results_stand_together_and_apart_from_what_the_user_says_next() -> None:
    contents, _ = sent([user("q"), calls("a", "b"), result("b", {"n": 1}), user("and?")])
    assert [content["role"] for content in contents] == ["user", "model", "user", "user"]
    assert [part["functionResponse"] for part in contents[2]["parts"]] == [
        {"id": "b", "name": "look", "response": {"n": 1}},
        {"id": "a", "name": "look", "response": {"error": INTERRUPTED}},
    ]


def test_neighbours_of_the_model_are_one_content_and_the_user_is_first() -> None:
    contents, repairs = sent([reply("Hello."), reply("Well?")])
    assert contents == [
        {"role": "user", "parts": [{"text": BEGINNING}]},
        {"role": "model", "parts": [{"text": "Hello."}, {"text": "Well?"}]},
    ]
    assert repairs == [("added", 0, ""), ("merged", 1, "")]


def test_a_result_of_any_value_is_an_object() -> None:
    values: list[Any] = ["x", None, 3.5, ["a", 1], {"k": 1}]
    responses = [
        part["functionResponse"]["response"]
        for value in values
        for part in parts_of([user("q"), calls("c"), result("c", value)])[2:]
    ]
    assert responses == [{"output": "x"}, {}, {"output": 3.5}, {"output": ["a", 1]}, {"k": 1}]


def test_images_of_a_result_stand_beside_its_words() -> None:
    image = {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="}
    (part,) = parts_of([user("q"), calls("c"), result("c", [{"type": "text", "text": "seen"}, image])])[2:]
    assert part["functionResponse"]["response"] == {"output": "seen"}
    assert part["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]


def test_a_request_goes_there_and_back_and_snake_case_is_read() -> None:
    request = {
        "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "And kind."}]},
        "contents": [{"role": "user", "parts": [{"text": "q"}]}, {"parts": [{"text": "no role"}]}],
    }
    assert adapters.to_gemini_request(adapters.from_gemini(request)) == request
    snake = [
        {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}]},
        {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": "c2ln"}]},
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"c_d": 1}}}]},
    ]
    first, called, answered = adapters.to_gemini(adapters.from_gemini({"contents": snake}))
    assert first["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]
    assert called["parts"] == [{"functionCall": {"name": "f", "args": {"a_b": 1}}, "thoughtSignature": "c2ln"}]
    assert answered["parts"] == [{"functionResponse": {"name": "f", "response": {"c_d": 1}}}]


def test_system_messages_stand_in_the_instruction_wherever_they_were() -> None:
    report: list[Repair] = []
    request = adapters.to_gemini_request([user("q"), {"role": "developer", "content": "Be brief."}], report)
    assert request == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "q"}]}],
    }
    assert [(repair.what, repair.index) for repair in report] == [("moved", 1)]


def test_calls_without_ids_are_known_by_the_name_of_their_function() -> None:
    call, response = {"functionCall": {"name": "f", "args": {}}}, {"functionResponse": {"name": "f", "response": {}}}
    turns = [{"role": "model", "parts": [call, call]}, {"role": "user", "parts": [response, response]}]
    model, *results = adapters.from_gemini(turns)
    assert [call.id for call in model.tool_calls] == ["f", "f#2"] == [result.tool_call_id for result in results]
    later = adapters.from_gemini(turns[1:])
    assert [result.tool_call_id for result in later] == ["f", "f#2"], "read in two goes, it is the same"


def test_the_objects_of_the_package_are_read() -> None:
    content = types.Content(role="model", parts=[types.Part(text="x", thought_signature=b"\xfb\xff")])
    (message,) = adapters.from_gemini([content])
    sent_back = adapters.to_gemini([user("q"), message])[1]
    assert types.Content.model_validate(sent_back) == content


def test_one_content_alone_is_not_taken_for_a_request() -> None:
    with pytest.raises(InvalidMessageError, match="contents"):
        adapters.from_gemini({"role": "user", "parts": [{"text": "one content, not a list"}]})


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (5, "[0]"),
        ({"role": "user", "parts": "x"}, "[0].parts"),
        ({"role": "model", "parts": [{"functionCall": {"args": {}}}]}, "[0].id"),
    ],
)
def test_what_is_no_content_is_refused_with_its_path(content: Any, path: str) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        adapters.from_gemini([content])
    assert caught.value.path == path
