"""LangChain's message objects there and back, and what they cannot hold."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)

from msglog import adapters
from msglog.adapters import Repair
from msglog.codec import decode, encode
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Message
from tests.adapters import checks

CALL: Any = {"name": "look", "args": {"at": "x"}, "id": "c1", "type": "tool_call"}
INVALID: Any = {"name": "look", "args": '{"at": ', "id": "c2", "error": "cut off", "type": "invalid_tool_call"}
USAGE: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}

CONVERSATION: list[BaseMessage] = [
    SystemMessage("Be brief.", additional_kwargs={"__openai_role__": "developer", "more": 1}),
    SystemMessage("And kind."),
    HumanMessage(["hi", {"type": "text", "text": "there"}, {"no_type": 1}], id="m1", name="ada"),
    AIMessage(
        [
            {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
            {"type": "tool_use", "id": "c1", "name": "look"},
        ],
        tool_calls=[CALL],
        invalid_tool_calls=[INVALID],
        usage_metadata=USAGE,
        response_metadata={"model_name": "m"},
        id="run-1",
    ),
    ToolMessage("seen", tool_call_id="c1", artifact={"rows": [1, 2]}, name="look"),
    ToolMessage("bad arguments", tool_call_id="c2", status="error"),
    AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": None}], additional_kwargs={"parsed": None}),
    ToolMessage([{"type": "text", "text": "x"}, "y"], tool_call_id="look"),
    AIMessageChunk(content="Done", chunk_position="last"),
    ChatMessage(content="Well.", role="critic"),
    FunctionMessage(content="5", name="old"),
    RemoveMessage(id="m1"),
    AIMessage([]),
]


def test_objects_go_there_and_back_equal() -> None:
    report: list[Repair] = []
    messages = adapters.from_langchain_messages(CONVERSATION)
    stored = [Message(**decode(encode(message.to_json()))) for message in messages]
    sent = adapters.to_langchain_messages(stored, report)
    assert sent == CONVERSATION
    assert [type(message) for message in sent] == [type(message) for message in CONVERSATION]
    assert report == []
    checks.check_langchain(sent[:6])


def test_what_the_common_fields_tell_is_told_by_them() -> None:
    developer, _, user, assistant, seen, failed, *_ = adapters.from_langchain_messages(CONVERSATION)
    assert (developer.role, developer.text) == ("developer", "Be brief.")
    assert (user.name, user.text) == ("ada", "hi\nthere\n[non_standard]")
    assert [(call.id, call.broken) for call in assistant.tool_calls] == [("c1", False), ("c2", True)]
    assert (seen.tool_call_id, seen.name, failed.extra["isError"]) == ("c1", "look", True)
    plain = [HumanMessage("hi"), AIMessage("", tool_calls=[CALL]), ToolMessage("x", tool_call_id="c1")]
    assert all(not message.extra for message in adapters.from_langchain_messages(plain))


def test_thinking_that_langchain_holds_reaches_anthropic_with_its_signature() -> None:
    turns = adapters.to_anthropic(adapters.from_langchain_messages(CONVERSATION))
    checks.check_anthropic({"messages": turns})
    (blocks,) = [turn["content"] for turn in turns if "Hm." in str(turn)]
    assert [block["type"] for block in blocks] == ["thinking", "tool_use", "tool_use"]
    assert blocks[0] == {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}


def test_arguments_that_are_no_object_are_wrapped_so_that_langchain_sends_them_on() -> None:
    call = {"id": "c1", "name": "look", "args": [1, 2]}
    report: list[Repair] = []
    sent = adapters.to_langchain_messages(
        [{"role": "assistant", "toolCalls": [call]}, {"role": "tool", "toolCallId": "c1"}], report
    )
    assert isinstance(sent[0], AIMessage)
    assert sent[0].tool_calls[0]["args"] == {"arguments": [1, 2]}
    assert [(repair.what, repair.path) for repair in report] == [("wrapped", "tool_calls[0].args")]
    assert convert_to_openai_messages(sent)[1] == {"role": "tool", "content": "", "tool_call_id": "c1"}


def test_an_image_is_a_standard_block() -> None:
    image = {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="}
    (sent,) = adapters.to_langchain_messages([Message(role="user", content=[image])])
    assert sent.content_blocks == [{"type": "image", "mime_type": "image/png", "base64": "iVBORw0KGgo="}]


def test_what_json_cannot_hold_is_refused_with_its_path() -> None:
    with pytest.raises(CodecError) as caught:
        adapters.from_langchain_messages([HumanMessage("hi"), ToolMessage("x", tool_call_id="c", artifact=object())])
    assert caught.value.path == "[1].extra.langchain.artifact"
    with pytest.raises(InvalidMessageError, match=r"\[0\]"):
        adapters.from_langchain_messages([{"role": "user"}])  # type: ignore[list-item] # that is the point


def test_no_provider_s_package_is_imported_until_objects_are_asked_for() -> None:
    code = """if True:
        import sys, msglog
        from msglog import adapters
        from msglog.message import Message
        messages = [Message(role="user", content="hi")]
        for name in adapters.__all__:
            if name.startswith("to_") and name != "to_langchain_messages":
                getattr(adapters, name)(messages)
        vendors = {"openai", "anthropic", "langchain_core", "google"}
        assert not vendors & {name.partition(".")[0] for name in sys.modules}
        adapters.to_langchain_messages(messages)
        assert "langchain_core" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
