"""Conversations as they should never be stored, but are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from msglog.message import Message, ToolCall
from tests.strategies import json_objects, json_values, texts

Json = dict[str, Any]

PNG = "iVBORw0KGgo="
LONG = "long" * 30

ids = st.sampled_from(["c", "c", "c1", "a.b", "a:b", "a_b", "", "\ud83d", "\ud83e", "x" * 41, "y" * 65, LONG, "n l"])
names = st.sampled_from(["look", "look", "a.b", "a:b", "", "9 lives", "\ud83d", LONG, "_"])
blanks = st.sampled_from(["", " ", "\n\t ", "\u2003"])
words = blanks | texts | st.sampled_from(["said", "said \n", "\ud83d…"])
marks = st.sampled_from([{}, {}, {"cache_control": {"type": "ephemeral"}}, {"unheard_of": 1}])

_NATIVE: list[Json] = [
    {"type": "image", "mediaType": "image/png", "data": PNG},
    {"type": "image", "mediaType": "image/jpg", "data": PNG.rstrip("=")},
    {"type": "image", "mediaType": "image/tiff", "data": PNG},
    {"type": "image", "url": "https://example.org/a.png"},
    {"type": "image", "url": "file:///a.png"},
    {"type": "image", "data": "no base64!"},
    {"type": "image"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    {"type": "image", "source": {"type": "base64"}},
    {"type": "image", "source": {"type": "file", "file_id": "f"}},
    {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PNG}, "title": "t"},
    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
    {"type": "document", "source": 5},
    {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
    {"type": "thinking", "thinking": "hm", "signature": "sig"},
    {"type": "thinking", "thinking": ""},
    {"type": "redacted_thinking", "data": "QUJD"},
    {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
    {"type": "tool_use", "id": "raw", "name": "look", "input": [1]},
    {"type": "tool_use", "id": "c"},
    {"type": "tool_result", "tool_use_id": "raw", "content": [{"type": "text", "text": " "}], "is_error": True},
    {"type": "tool_result", "tool_use_id": "raw", "content": "x"},
    {"type": "tool_result"},
    {"type": "server_tool_use", "id": "s", "name": 5},
    {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,???"}},
    {"type": "image_url", "image_url": 5},
    {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
    {"type": "input_audio", "input_audio": {"data": PNG, "format": "flac"}},
    {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PNG}", "filename": "f.pdf"}},
    {"type": "file", "file": {"file_id": "f"}},
    {"type": "refusal", "refusal": "no"},
    {"type": "refusal"},
    {"type": "input_text", "text": "x"},
    {"type": "output_text", "text": "x", "annotations": []},
    {"type": "input_image", "detail": "auto", "image_url": "https://example.org/a.png"},
    {"type": "input_image", "file_id": "f"},
    {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    {"type": "reasoning", "id": "rs", "summary": []},
    {"type": "reasoning", "reasoning": "hm"},
    {"type": "inlineData", "inlineData": {"mimeType": "video/mp4", "data": PNG}},
    {"type": "fileData", "fileData": {"fileUri": "gs://a/b"}},
    {"type": "thought", "text": "hm", "thought": True},
    {"type": "tool_call", "id": "c", "name": "look", "args": {}},
    {"type": "non_standard", "value": {"a": 1}},
]

parts = (
    st.builds(lambda text, more: {"type": "text", "text": text, **more}, words, marks)
    | st.sampled_from(_NATIVE)
    | st.builds(lambda more: {**more, "type": "widget"}, json_objects)
)


_EVIDENCE = {"thinking", "redacted_thinking"}
_FAMILIAR = {"text", "image", "image_url", "input_audio", "refusal", "input_text", "output_text", "thought", *_EVIDENCE}


def _without_strangers(content: list[Json]) -> list[Json]:
    """Beside blocks that only Anthropic sends, nothing unknown: it would be taken for Anthropic's own."""
    if not any(part["type"] in _EVIDENCE for part in content):
        return content
    return [part for part in content if part["type"] in _FAMILIAR and "unheard_of" not in part]


contents = words | st.lists(parts, max_size=4).map(_without_strangers) | st.none()

_RAW = ["", "  ", "{", '{"a": 1 }', "[1, 2]", "null", '{"a": NaN}', '{"cmd": "echo hi', '{"\\ud83d": "\ud83d"}', '"x"']
extras: st.SearchStrategy[Json] = st.sampled_from(
    [{}, {}, {}, {"isError": True}, {"refusal": None}, {"seen": {"by": [1]}}, {"openai": 5}]
)

calls = st.builds(
    lambda call_id, name, args, raw, extra: ToolCall(id=call_id, name=name, args=args, raw=raw, extra=extra),
    ids,
    names,
    json_objects | json_values,
    st.none() | st.sampled_from(_RAW),
    extras,
)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Any message: of every role, with calls and results where none belong."""
    role: Any = draw(st.sampled_from(["system", "developer", "user", "assistant", "assistant", "tool", "tool"]))
    content = draw(contents | json_values) if role == "tool" else draw(contents)
    return Message(
        role=role,
        content=content,
        name=draw(st.none() | st.none() | names),
        tool_calls=tuple(draw(st.lists(calls, max_size=3)))
        if role == "assistant" or draw(st.integers(0, 9)) == 9
        else (),
        tool_call_id=draw(ids) if role == "tool" else None,
        extra=draw(extras),
    )


conversations = st.lists(messages(), max_size=8)


def texts_of(value: Any) -> list[str]:
    """All strings in a JSON value, keys included; arguments that are JSON text are looked into."""
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        return [value, *texts_of(inner)] if isinstance(inner, (dict, list)) else [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in texts_of(item)]
    return [text for item in value for text in texts_of(item)] if isinstance(value, list) else []
