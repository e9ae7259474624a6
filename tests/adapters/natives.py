"""Conversations as each provider sends them and takes them back, with all that the common fields cannot tell."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.strategies import Json

PNG = "iVBORw0KGgo="
said = st.sampled_from(["hi", "What now?", "a\nb", "e\u0301", "\N{GRINNING FACE}", "0"])
arguments = st.dictionaries(
    st.sampled_from("abc"), st.integers() | said | st.lists(st.floats(0, 1), max_size=2), max_size=2
)
names = st.sampled_from(["look", "book_flight", "calc-2"])
unknown = st.sampled_from([{}, {}, {"from_the_future": {"a": [1, None]}}])
numbers = st.integers(1, 3)


def optional(more: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.just({}) | more


# Anthropic

_mark = st.sampled_from([{}, {}, {}, {"citations": None}])
_text = st.builds(lambda text, mark, more: {"type": "text", "text": text, **mark, **more}, said, _mark, unknown)
_user_blocks = _text | st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}, "transformations": ["x"]},
        {"type": "document", "source": {"type": "url", "url": "https://e.org/a.pdf"}, "citations": {"enabled": True}},
        {"type": "container_upload", "file_id": "file_2"},
        {"type": "a_new_block", "payload": {"x": 1}},
    ]
)
_assistant_blocks = _text | st.sampled_from(
    [
        {"type": "thinking", "thinking": "", "signature": "sig=="},
        {"type": "thinking", "thinking": "Hm.", "signature": "EqQB", "from_the_future": 1},
        {"type": "redacted_thinking", "data": "QUJD"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    ]
)
_result_content = (
    st.none()
    | said
    | st.lists(
        _text | st.sampled_from([{"type": "tool_reference", "tool_name": "t"}, {"type": "a_new_block"}]),
        min_size=1,
        max_size=2,
    )
)


@st.composite
def anthropic(draw: st.DrawFn) -> list[Json]:
    """Turns of the Messages API."""
    turns: list[Json] = [{"role": "user", "content": draw(said | st.lists(_user_blocks, min_size=1, max_size=2))}]
    marks = 4
    for exchange in range(draw(st.integers(0, 3))):
        blocks = draw(st.lists(_assistant_blocks, max_size=3))
        calls = [f"toolu_{exchange}{k}" for k in range(draw(numbers) if not blocks else draw(st.integers(0, 2)))]
        for call_id in calls:
            call = {"type": "tool_use", "id": call_id, "name": draw(names), "input": draw(arguments)}
            call |= draw(st.sampled_from([{}, {"caller": {"type": "direct"}}]))
            blocks.insert(draw(st.integers(0, len(blocks))), call)
        turns.append({"role": "assistant", "content": blocks})
        results: list[Json] = []
        for call_id in draw(st.permutations(calls)):
            content = draw(_result_content)
            result: Json = {"type": "tool_result", "tool_use_id": call_id} | (
                {} if content is None else {"content": content}
            )
            if draw(st.booleans()) and (content is None or isinstance(content, str)):
                result["is_error"] = draw(st.booleans())
            if marks > 0 and draw(st.booleans()):
                result["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
                marks -= 1
            results.append(result | draw(unknown))
        turns.append(
            {"role": "user", "content": results + draw(st.lists(_user_blocks, min_size=not calls, max_size=2))}
        )
    if draw(st.booleans()):
        turns.append({"role": "system", "content": draw(said)})
    if draw(st.booleans()):
        turns.append({"role": "assistant", "content": draw(said | st.lists(_text, min_size=1, max_size=2))})
    return turns


# OpenAI Chat Completions

_chat_parts = st.builds(lambda text, more: {"type": "text", "text": text, **more}, said, unknown) | st.sampled_from(
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
        {
            "type": "image_url",
            "image_url": {"url": "https://e.org/a.png"},
            "prompt_cache_breakpoint": {"mode": "explicit"},
        },
        {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
        {"type": "file", "file": {"file_id": "file_1"}},
        {"type": "a_new_part", "payload": 1},
    ]
)
_reply: st.SearchStrategy[Json] = st.sampled_from(
    [{}, {"refusal": None, "annotations": []}, {"reasoning_content": "Hm."}, {"name": "José"}]
)


@st.composite
def openai(draw: st.DrawFn) -> list[Json]:
    """Messages of Chat Completions."""
    messages: list[Json] = [{"role": draw(st.sampled_from(["system", "developer"])), "content": draw(said)}]
    for exchange in range(draw(numbers)):
        content = draw(st.just("") | said | st.lists(_chat_parts, min_size=1, max_size=2))
        messages.append({"role": "user", "content": content} | draw(st.sampled_from([{}, {"name": "ada"}])))
        calls = []
        for k in range(draw(st.integers(0, 2))):
            call: Json = {"id": draw(st.sampled_from([f"call_{exchange}{k}", f"call {k}.ü"]))}
            if draw(st.booleans()):
                text = draw(st.sampled_from(["{}", '{ "a" : 1.0 }', '{"b":1,"a":2}', '{"e":"\\u00e9"}']))
                function = {"name": draw(names), "arguments": text} | draw(unknown)
                call |= {"type": "function", "function": function} | draw(unknown)
            else:
                call |= {"type": "custom", "custom": {"name": draw(names), "input": draw(said)}}
            calls.append(call)
        if calls:
            said_too = draw(st.sampled_from([None, "", "hm"]))
            messages.append({"role": "assistant", "content": said_too, "tool_calls": calls} | draw(_reply))
            for call in draw(st.permutations(calls)):
                result = {"role": "tool", "tool_call_id": call["id"], "content": draw(st.just("") | said)}
                messages.append(result | draw(st.sampled_from([{}, {"name": "look"}, {"from_the_future": 1}])))
        elif draw(st.booleans()):
            function = {"name": draw(names), "arguments": "{}"}
            messages.append({"role": "assistant", "content": None, "function_call": function})
            messages.append({"role": "function", "name": function["name"], "content": draw(said)})
        if draw(st.booleans()):
            parts = draw(
                st.lists(
                    st.sampled_from([{"type": "text", "text": "x"}, {"type": "refusal", "refusal": "no"}]), min_size=1
                )
            )
            messages.append({"role": "assistant", "content": draw(said | st.just(parts))} | draw(_reply))
        elif draw(st.booleans()):
            messages.append({"role": "assistant", "content": None, "refusal": draw(said)})
    return messages


# OpenAI Responses

_input_parts = st.builds(
    lambda text, more: {"type": "input_text", "text": text, **more}, said, unknown
) | st.sampled_from(
    [
        {"type": "input_image", "detail": "high", "image_url": f"data:image/png;base64,{PNG}"},
        {"type": "input_file", "file_id": "file_1"},
        {"type": "a_new_part"},
    ]
)
_of_the_model = [
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "n", "arguments": "{"},
    {"type": "a_new_item_call", "payload": [1]},
    {"type": "compaction", "encrypted_content": "gAAA"},
]
_of_the_caller = [
    {"type": "computer_call_output", "call_id": "cc_1", "output": {"type": "computer_screenshot", "file_id": "f"}},
    {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    {"id": "msg_0"},
    {"type": "item_reference", "id": "rs_0"},
]


@st.composite
def responses(draw: st.DrawFn) -> list[Json]:
    """Input items of the Responses API."""
    items: list[Json] = []
    for exchange in range(draw(numbers)):
        content = draw(said | st.lists(_input_parts, min_size=1, max_size=2))
        items.append(
            {"role": draw(st.sampled_from(["user", "developer"])), "content": content}
            | draw(st.sampled_from([{}, {"type": "message"}]))
        )
        outputs = []
        for k in range(draw(st.integers(0, 3))):
            if draw(st.booleans()):
                reasoning = {"type": "reasoning", "id": f"rs_{exchange}{k}", "summary": [], "encrypted_content": "gAAA"}
                items.append(reasoning | draw(unknown))
            kind = draw(st.sampled_from(["function", "custom", "message", "easy", "other"]))
            call: Json = {"call_id": f"call_{exchange}{k}", "name": draw(names)}
            if kind == "function":
                more = {"id": f"fc_{exchange}{k}", "status": "completed"} | draw(unknown)
                items.append(
                    {"type": "function_call", "arguments": '{"a": 1}', **call, **draw(optional(st.just(more)))}
                )
                output = draw(said | st.lists(_input_parts, min_size=1, max_size=2))
                outputs.append(
                    {"type": "function_call_output", "call_id": call["call_id"], "output": output} | draw(unknown)
                )
            elif kind == "custom":
                items.append({"type": "custom_tool_call", "input": draw(said), **call})
                outputs.append({"type": "custom_tool_call_output", "call_id": call["call_id"], "output": draw(said)})
            elif kind == "message":
                text = {"type": "output_text", "text": draw(said), "annotations": []}
                item = {
                    "type": "message",
                    "id": f"msg_{exchange}{k}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [text],
                }
                items.append(item | draw(st.sampled_from([{}, {"phase": "commentary"}])))
            elif kind == "easy":
                items.append({"role": "assistant", "content": draw(said)})
            else:
                items.append(draw(st.sampled_from(_of_the_model)))
        items += draw(st.permutations(outputs))
        if draw(st.booleans()):
            items.append(draw(st.sampled_from(_of_the_caller)))
    return items


# Gemini

_gemini_parts = st.builds(
    lambda text, more: {"text": text, **more}, said, st.sampled_from([{}, {}, {"thoughtSignature": "c2ln"}])
) | st.sampled_from(
    [
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"fileData": {"fileUri": "https://e.org/files/1", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 1.0}},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"text": "Hm.", "thought": True},
        {"text": "", "thoughtSignature": "c2ln"},
    ]
)
_responses = st.sampled_from(
    [{"output": "x"}, {"error": "x"}, {"a": 1}, {}, {"output": {"a": 1}}, {"output": [1]}, {"output": 1.5, "b": 2}]
)


@st.composite
def gemini(draw: st.DrawFn) -> list[Json]:
    """Contents of generateContent."""
    contents: list[Json] = [{"role": "user", "parts": [{"text": draw(said)}]}]
    for exchange in range(draw(numbers)):
        parts = draw(st.lists(_gemini_parts, max_size=2))
        results = []
        for k in range(draw(st.integers(0 if parts else 1, 3))):
            call_id = draw(st.sampled_from([{}, {"id": f"id-{exchange}{k}"}]))
            name = draw(names)
            call = {"name": name, **call_id, **draw(optional(arguments.map(lambda args: {"args": args})))}
            part = {"functionCall": call} | draw(st.sampled_from([{}, {"thoughtSignature": "c2ln"}]))
            parts.insert(draw(st.integers(0, len(parts))), part)
            results.append((part, {"functionResponse": {"name": name, **call_id, "response": draw(_responses)}}))
        contents.append({"role": "model", "parts": parts})
        results.sort(key=lambda pair: next(i for i, part in enumerate(parts) if part is pair[0]))
        answers = [result for _, result in results]
        if answers:
            more = draw(st.lists(_gemini_parts, max_size=1))
            contents.append({"role": draw(st.sampled_from(["user", "function"])), "parts": answers + more})
        contents.append({"role": "user", "parts": draw(st.lists(_gemini_parts, min_size=1, max_size=2))})
    return contents
