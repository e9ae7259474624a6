"""Text and media are understood in every provider's words; what is not goes as text, and the report says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from msglog import adapters
from msglog.adapters import Repair
from msglog.message import Message
from tests.strategies import Json

PNG = "iVBORw0KGgo="
DATA_URL = f"data:image/png;base64,{PNG}"
WEB = "https://e.org/a.png"

IMAGES: dict[str, Json] = {
    "common": {"type": "image", "mediaType": "image/png", "data": PNG},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    "openai": {"type": "image_url", "image_url": {"url": DATA_URL}},
    "responses": {"type": "input_image", "detail": "auto", "image_url": DATA_URL},
    "langchain": {"type": "image", "base64": PNG, "mime_type": "image/png"},
    "langchain, formerly": {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"},
    "gemini": {"type": "inlineData", "inlineData": {"mimeType": "image/png", "data": PNG}},
    "URL-safe and unpadded": {"type": "image", "mediaType": "image/png", "data": PNG.rstrip("=")},
}
WEB_IMAGES: dict[str, Json] = {
    "common": {"type": "image", "url": WEB},
    "anthropic": {"type": "image", "source": {"type": "url", "url": WEB}},
    "openai": {"type": "image_url", "image_url": {"url": WEB}},
    "responses": {"type": "input_image", "detail": "auto", "image_url": WEB},
    "langchain": {"type": "image", "url": WEB},
}
TARGETS: dict[str, tuple[Callable[..., Any], Json, Json]] = {
    "anthropic": (adapters.to_anthropic, IMAGES["anthropic"], WEB_IMAGES["anthropic"]),
    "openai": (adapters.to_openai, IMAGES["openai"], WEB_IMAGES["openai"]),
    "responses": (adapters.to_openai_responses, IMAGES["responses"], WEB_IMAGES["responses"]),
    "gemini": (
        adapters.to_gemini,
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"fileData": {"fileUri": WEB}},
    ),
    "langchain": (adapters.to_langchain, IMAGES["langchain"], WEB_IMAGES["langchain"]),
}


def only_part(target: str, part: Json, **more: Any) -> tuple[Json, list[str]]:
    """What a target makes of one part of a user's message, and the kinds of repairs."""
    report: list[Repair] = []
    (sent,) = TARGETS[target][0]([{"role": "user", "content": [part], **more}], report)
    (found,) = sent.get("content", sent.get("parts"))
    return found, [repair.what for repair in report]


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_in_any_form_is_an_image_in_every_other(target: str) -> None:
    _, inline, web = TARGETS[target]
    for expected, forms in ((inline, IMAGES), (web, WEB_IMAGES)):
        for name, form in forms.items():
            found, repairs = only_part(target, form)
            same = found == expected or (target == "langchain" and found == form and name == "openai")
            assert (same, [what for what in repairs if form.get("detail") is None]) == (True, []), name


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ({"mediaType": "image/jpg", "data": "-_-_"}, "data:image/jpeg;base64,+/+/"),
        ({"mediaType": "image/png", "data": "iVBO\nRw0K\nGgo"}, f"data:image/png;base64,{PNG}"),
        ({"data": PNG, "url": WEB}, WEB),
        ({"mediaType": "image/png", "data": PNG[:9], "url": WEB}, WEB),
    ],
)
def test_data_is_sent_in_the_standard_form_and_only_if_it_is_data(form: Json, data: str) -> None:
    assert only_part("openai", {"type": "image", **form}) == ({"type": "image_url", "image_url": {"url": data}}, [])


def test_what_stands_for_media_does_not_weigh_what_it_weighs() -> None:
    found, _ = only_part("openai", {"type": "image", "alt": "a cat", "data": "A" * 4000})
    assert found["text"] == '{"type":"image","alt":"a cat"}'


@pytest.mark.parametrize("target", TARGETS)
def test_a_document_is_a_document_and_its_name_is_not_lost_silently(target: str) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": PNG}
    found, repairs = only_part(target, {"type": "document", "source": source, "title": "terms.pdf"})
    assert PNG in json.dumps(found)
    assert "terms.pdf" in json.dumps(found) or repairs == ["dropped"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_part_that_nobody_knows_goes_as_text(target: str) -> None:
    found, repairs = only_part(target, {"type": "widget", "colour": "red"})
    assert found["text"] == '{"type":"widget","colour":"red"}'
    assert repairs == ["as-text"]


@pytest.mark.parametrize("target", TARGETS)
def test_the_reasoning_of_another_model_is_left_out(target: str) -> None:
    parts = [{"type": "thought", "text": "Hm.", "thought": True}, {"type": "text", "text": "hi"}]
    report: list[Repair] = []
    sent = TARGETS[target][0]([{"role": "user", "content": "q"}, {"role": "assistant", "content": parts}], report)
    assert "Hm." not in json.dumps(sent)
    assert [(repair.what, repair.path) for repair in report] == [("dropped", "content[0]")]


@pytest.mark.parametrize("target", TARGETS)
def test_fields_of_text_that_the_provider_does_not_know_are_left_out(target: str) -> None:
    part = {"type": "text", "text": "hi", "colour": "red"}
    found, repairs = only_part(target, part)
    if target == "langchain":  # which keeps any field
        assert (found, repairs) == (part, [])
    else:
        assert ("colour" in found, repairs) == (False, ["dropped"])


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "mediaType": "image/tiff", "data": PNG},
        {"type": "image", "mediaType": "image/png", "data": "no base64!"},
        {"type": "image", "mediaType": "image/png"},
        {"type": "image", "url": "file:///a.png"},
        {"type": "video", "mime_type": "video/mp4", "base64": PNG},
    ],
)
def test_media_that_cannot_be_sent_is_never_sent_as_media(part: Json) -> None:
    for target in ("anthropic", "openai", "responses"):
        found, repairs = only_part(target, part)
        assert found["type"] in {"text", "input_text"}
        assert repairs == ["as-text"]


def test_what_a_provider_sent_goes_to_no_other() -> None:
    messages = [
        Message(role="user", content="hi", extra={"langchain": {"id": "secret"}, "own": "secret"}),
        Message(role="assistant", tool_calls=({"id": "c", "name": "f", "x": "secret"},)),  # type: ignore[arg-type]
        Message(role="tool", content="r", tool_call_id="c", extra={"gemini": {"part": {"x": "secret"}}}),
    ]
    for target in ("anthropic", "openai", "responses"):
        report: list[Repair] = []
        assert "secret" not in json.dumps(TARGETS[target][0](messages, report))
        assert [(repair.what, repair.path) for repair in report] == [
            ("dropped", "extra"),
            ("dropped", "tool_calls[0].extra"),
            ("dropped", "extra"),
        ]
