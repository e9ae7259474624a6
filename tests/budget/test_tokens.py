"""The estimate of tokens: characters by four, and media by a figure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog import Message, MessageHistory
from msglog.budget import estimate_tokens
from msglog.codec import encode
from tests.strategies import calls, messages, reply, result, user


@pytest.mark.parametrize(
    ("given_", "tokens"),
    [
        ([], 0),
        ([user("")], 0),
        ([user("a")], 1),
        ([user("abcd")], 1),
        ([user("abcde")], 2),
        ([user("a"), user("b"), user("c"), user("d")], 1),  # rounded up over all, not one by one
        ([user("\N{GRINNING FACE}" * 4)], 1),
        ([{"role": "user", "content": [{"type": "text", "text": "hi"}]}], 8),  # 29 characters of JSON
        ([{"role": "assistant", "content": None}], 0),
        ([calls("c1")], 3),  # {"at":"c1"}
        ([result("c1", {"ok": True})], 3),
        ([{"role": "user", "content": "abcd", "name": "somebody", "x": "extra"}], 1),
    ],
)
def test_a_quarter_of_the_characters_rounded_up_over_all(given_: list[Any], tokens: int) -> None:
    assert estimate_tokens([Message(**message) for message in given_]) == tokens
    assert estimate_tokens(given_) == tokens
    assert MessageHistory().append(*given_).estimate_tokens() == tokens


@given(st.lists(messages(), max_size=5))
def test_it_is_the_characters_of_contents_and_arguments_by_four(given_: list[Any]) -> None:
    models = [Message(**message) for message in given_]
    characters = 0
    for model in models:
        content = model.content
        characters += len(content) if isinstance(content, str) else 0 if content is None else len(encode(content))
        characters += sum(len(encode(call.args)) for call in model.tool_calls)
    assert estimate_tokens(models) == -(-characters // 4)


@given(st.lists(st.text(max_size=40).map(user) | st.text(max_size=40).map(reply), max_size=6))
def test_media_make_no_difference_to_text(given_: list[Any]) -> None:
    assert estimate_tokens(given_, media=1500) == estimate_tokens(given_)


PAYLOAD = "QUJD" * 100_000
MEDIA: list[dict[str, Any]] = [
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PAYLOAD}"}},
    {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    {"type": "image", "mediaType": "image/png", "data": PAYLOAD},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PAYLOAD}},
    {"type": "input_image", "image_url": f"data:image/png;base64,{PAYLOAD}", "detail": "high"},
    {"type": "input_audio", "input_audio": {"data": PAYLOAD, "format": "wav"}},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PAYLOAD}"}},
    {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PAYLOAD}},
]


@pytest.mark.parametrize("part", MEDIA, ids=lambda part: part["type"])
def test_a_part_of_media_counts_its_figure_whatever_its_size(part: dict[str, Any]) -> None:
    message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "look"}, part]}
    text = {"role": "user", "content": [{"type": "text", "text": "look"}]}
    assert estimate_tokens([message], media=700) == 700 + estimate_tokens([text])
    assert estimate_tokens([Message(**message)], media=700) == 700 + estimate_tokens([text])


def test_media_in_a_tools_result_count_their_figure() -> None:
    shot = {"type": "image", "mediaType": "image/png", "data": PAYLOAD}
    assert estimate_tokens([result("c1", [shot])], media=700) == 700 + 1
    block = {"type": "tool_result", "tool_use_id": "c1", "content": [shot]}
    assert estimate_tokens([{"role": "user", "content": [block]}], media=700) == 700 + 1


@pytest.mark.parametrize(
    "part",
    [
        {"type": "novelty", "payload": f"data:application/x-new;base64,{PAYLOAD}"},
        {"type": "novelty", "deep": [{"er": PAYLOAD}]},
        {"type": "redacted_thinking", "data": PAYLOAD},
    ],
    ids=["url", "base64", "thinking"],
)
def test_an_unknown_part_counts_without_its_payload(part: dict[str, Any]) -> None:
    assert estimate_tokens([{"role": "assistant", "content": [part]}], media=700) < 20


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "x" * 5000}],
        [{"type": "novelty", "prose": "one word after another " * 200}],
        [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "some words " * 200}}],
        [{"type": "file", "name": f"{n}.txt", "size": n} for n in range(100)],
        {"image": f"data:image/png;base64,{'QUJD' * 400}"},
    ],
    ids=["text", "prose", "document", "files of a listing", "a tool's JSON"],
)
def test_what_a_provider_reads_as_text_counts_as_text(content: Any) -> None:
    assert estimate_tokens([result("c1", content)], media=700) == estimate_tokens([result("c1", content)])
