"""What a provider accepts, as checks that know nothing of the adapters.

Sources: the rules of each format as collected by the project (reported 400 answers and the vendors' documentation),
in the strictest form known, and the vendors' own types.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from anthropic.types import MessageParam
from google.genai import types as gemini
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam

from tests.adapters.vendor import Json, strict

NAME = re.compile("[a-zA-Z0-9_-]{1,64}")


def sendable(value: Any) -> None:
    """A body that can be put on the wire: strict JSON in UTF-8."""
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def dumped(value: Any) -> Any:
    """LangChain's objects as JSON; other values as they are."""
    return [m.model_dump() if isinstance(m, BaseMessage) else m for m in value] if isinstance(value, list) else value


def check_openai(messages: list[Json], *, own: bool = False) -> None:
    """Chat Completions; `own`: the conversation came from there, so keys that the type lacks are let through."""
    sendable(messages)
    for message in messages:
        assert "content" in message
        if not own:
            strict(ChatCompletionMessageParam).validate_python(message)
        assert message["content"] != []
        if message["content"] is None:
            assert message["role"] == "assistant"
            assert any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
        assert message.get("tool_calls") != []
        if "name" in message and message["role"] != "tool":
            assert NAME.fullmatch(message["name"]) or own
        for call in message.get("tool_calls", ()):
            assert 1 <= len(call["id"]) <= 40
            if call["type"] == "function":
                assert NAME.fullmatch(call["function"]["name"])
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
    _check_runs(messages)


def _check_runs(messages: Sequence[Json]) -> None:
    """Each call has exactly one result, in the run of tool messages right after its message."""
    place = 0
    while place < len(messages):
        called = [call["id"] for call in messages[place].get("tool_calls", ())]
        assert len(called) == len(set(called))
        assert messages[place]["role"] != "tool", "a result without its call"
        place += 1
        answered = []
        while place < len(messages) and messages[place]["role"] == "tool":
            answered.append(messages[place]["tool_call_id"])
            place += 1
        assert sorted(answered) == sorted(called)


def check_responses(items: list[Json], *, own: bool = False) -> None:
    """Responses input items."""
    sendable(items)
    called: dict[str, str] = {}
    answered = set()
    for item, following in zip(items, [*items[1:], {}], strict=False):
        if not own:
            strict(ResponseInputItemParam).validate_python(item)
        kind = item.get("type", "message")
        if kind in {"function_call", "custom_tool_call"}:
            assert 1 <= len(item["call_id"]) <= 64
            assert re.fullmatch("[a-zA-Z0-9_-]{1,128}", item["name"])
            assert item["call_id"] not in called
            called[item["call_id"]] = kind
            if kind == "function_call":
                assert isinstance(json.loads(item["arguments"]), dict)
                assert item.get("id", "fc").startswith("fc")
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            assert called[item["call_id"]] + "_output" == kind
            assert item["call_id"] not in answered
            answered.add(item["call_id"])
        elif kind == "reasoning":
            assert following.get("role") == "assistant" or following.get("type", "").endswith(("_call", "reasoning"))
    assert answered == set(called)


def check_anthropic(request: Json, *, own: bool = False) -> None:
    """A request of the Messages API: its turns and its system."""
    sendable(request)
    turns, system = request["messages"], request.get("system")
    assert set(request) <= {"system", "messages"}
    blocks = [*_blocks(system or ()), *(block for turn in turns for block in _blocks(turn["content"]))]
    inner = [part for block in blocks if isinstance(block.get("content"), list) for part in block["content"]]
    for block in [*blocks, *inner]:
        assert block["type"] != "text" or block["text"].strip()
    assert sum(bool(block.get("cache_control")) for block in [*blocks, *inner]) <= 4
    roles = [turn["role"] for turn in turns if own is False or turn["role"] != "system"]
    assert set(roles) <= {"user", "assistant"}
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    for turn in turns:
        assert turn["content"]
        if not own:
            strict(MessageParam).validate_python(turn)
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert len(ids) == len(set(ids))
    for turn, before in zip([*turns, {"content": ()}], [{"content": ()}, *turns], strict=True):
        _check_results(_blocks(turn["content"]), _blocks(before["content"]))
    if turns and turns[-1]["role"] == "assistant":
        last = _blocks(turns[-1]["content"])[-1]
        assert last["type"] != "text" or last["text"] == last["text"].rstrip()


def _blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _check_results(blocks: Sequence[Json], before: Sequence[Json]) -> None:
    calls = [block for block in before if block["type"] == "tool_use"]
    results = [block for block in blocks if block["type"] == "tool_result"]
    assert sorted(block["tool_use_id"] for block in results) == sorted(block["id"] for block in calls)
    assert list(blocks[: len(results)]) == results, "results come first"
    for call in calls:
        assert re.fullmatch("[a-zA-Z0-9_-]+", call["id"])
        assert NAME.fullmatch(call["name"])
        assert isinstance(call["input"], dict)
    for result in results:
        assert result.get("content", "x")
        assert not isinstance(result.get("content"), str) or result["content"].strip()
        if result.get("is_error"):
            assert all(part["type"] == "text" for part in _blocks(result.get("content", ())))


def check_gemini(contents: list[Json], *, own: bool = False) -> None:
    """Contents of a generateContent request."""
    sendable(contents)
    before: Json = {"role": None, "parts": []}
    for content in [*contents, {"role": "user", "parts": []}]:
        calls = [part["functionCall"] for part in before["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [call.get("name") for call in calls] == [result.get("name") for result in results] or (
            sorted(str(call.get("id")) for call in calls) == sorted(str(result.get("id")) for result in results)
        )
        assert len(calls) == len(results)
        if any("functionCall" in part for part in content["parts"]):
            assert before["role"] == "user"
        for call in calls:
            assert re.fullmatch("[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", call["name"])
            assert isinstance(call.get("args", {}), dict)
        for result in results:
            assert isinstance(result["response"], dict)
        before = content
    for content in contents:
        assert content["parts"]
        assert content.get("role") in {"user", "model"} or own
        assert {"text": ""} not in content["parts"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of types that it converts
            gemini.Content.model_validate(content)
    assert not contents or contents[0]["role"] == "user"


def check_langchain(messages: Iterable[BaseMessage]) -> None:
    """LangChain's message objects: whole exchanges in one piece."""
    waiting: list[str | None] = []
    for message in messages:
        assert isinstance(message, BaseMessage)
        sendable(message.model_dump())
        if isinstance(message, ToolMessage):
            waiting.remove(message.tool_call_id)
            continue
        assert waiting == []
        if isinstance(message, AIMessage):
            waiting = [call["id"] for call in message.tool_calls]
            waiting += [call["id"] for call in message.invalid_tool_calls]
            assert len(waiting) == len(set(waiting))
    assert waiting == []


def check_role_and_content(messages: Sequence[Json]) -> None:
    """LangChain's dicts of role and content."""
    for message in messages:
        sendable(message)
        assert set(message) == {"role", "content"}
        assert message["role"] in {"user", "assistant", "system"}
        assert message["content"] is not None
    convert_to_messages(list(messages))
