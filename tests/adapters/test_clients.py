"""The vendors' own clients send what the adapters give, and what they return is read: one tool loop a format."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import anthropic
import openai
import pytest
from google import genai

from msglog import adapters
from msglog.message import Message
from tests.adapters import checks
from tests.adapters.vendor import Json

QUESTION = Message(role="user", content="Which is the next train? \ud83d")
RESULT = {"departs": "7:58"}


class Server(HTTPServer):
    """Answers requests with what stands in `answers`, in order, and keeps their bodies."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Json] = []
        self.bodies: list[Json] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        answer = json.dumps(self.server.answers.pop(0)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class's name
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def answered(messages: list[Message]) -> Message:
    """The result of the one call of the last message."""
    return Message(role="tool", content=RESULT, tool_call_id=messages[-1].tool_calls[0].id)


def test_chat_completions(server: Server) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "next_train", "arguments": '{"to": "Basel"}'}}
    message: Json = {"role": "assistant", "content": None, "refusal": None, "annotations": [], "tool_calls": [call]}
    completion = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    for reply in (message, {"role": "assistant", "content": "7:58", "refusal": None}):
        choice = {"index": 0, "finish_reason": "stop", "message": reply, "logprobs": None}
        server.answers.append(completion | {"choices": [choice]})
    history = [QUESTION]
    with openai.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0) as client:
        for _ in range(2):
            sent: Any = adapters.to_openai(history)
            history += adapters.from_openai(
                [client.chat.completions.create(model="m", messages=sent).choices[0].message]
            )
            if history[-1].tool_calls:
                history.append(answered(history))
    checks.check_openai(server.bodies[1]["messages"], own=True)
    assert server.bodies[1]["messages"] == [
        {"role": "user", "content": "Which is the next train? \ufffd"},
        message,
        {"role": "tool", "content": '{"departs":"7:58"}', "tool_call_id": "call_1"},
    ]
    assert history[-1].text == "7:58"


def test_responses(server: Server) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "next_train", "status": "completed"}
    call["arguments"] = '{"to": "Basel"}'
    text = {"type": "output_text", "text": "7:58", "annotations": []}
    reply = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    response: Json = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    response |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    server.answers = [response | {"output": [reasoning, call]}, response | {"output": [reply]}]
    history = [QUESTION]
    with openai.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0) as client:
        for _ in range(2):
            items: Any = adapters.to_openai_responses(history)
            output: Any = client.responses.create(model="m", input=items).output
            history += adapters.from_openai_responses(output)
            if history[-1].tool_calls:
                history.append(answered(history))
    checks.check_responses(server.bodies[1]["input"])
    assert server.bodies[1]["input"] == [
        {"role": "user", "content": "Which is the next train? \ufffd"},
        reasoning,
        call,
        {"type": "function_call_output", "call_id": "call_1", "output": '{"departs":"7:58"}'},
    ]
    assert history[-1].text == "7:58"


def test_messages(server: Server) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
        {"type": "tool_use", "id": "toolu_1", "name": "next_train", "input": {"to": "Basel"}},
    ]
    message: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    message["usage"] = {"input_tokens": 1, "output_tokens": 1}
    server.answers = [
        message | {"stop_reason": "tool_use", "content": blocks},
        message | {"stop_reason": "end_turn", "content": [{"type": "text", "text": "7:58"}]},
    ]
    history = [Message(role="system", content="Be brief."), QUESTION]
    with anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0) as client:
        for _ in range(2):
            request = adapters.to_anthropic_request(history)
            history += adapters.from_anthropic([client.messages.create(model="m", max_tokens=9, **request)])
            if history[-1].tool_calls:
                history.append(answered(history))
    body = {key: server.bodies[1][key] for key in ("system", "messages")}
    checks.check_anthropic(body)
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": '{"departs":"7:58"}'}
    assert body == {
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Which is the next train? \ufffd"},
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": [result]},
        ],
    }
    assert history[-1].text == "7:58"


def test_generate_content(server: Server) -> None:
    call = {"functionCall": {"name": "next_train", "args": {"to": "Basel"}}, "thoughtSignature": "c2ln"}
    for part in (call, {"text": "7:58"}):
        server.answers.append({"candidates": [{"content": {"role": "model", "parts": [part]}}]})
    history = [Message(role="system", content="Be brief."), QUESTION]
    options = genai.types.HttpOptions(base_url=server.url)
    with genai.Client(api_key="none", http_options=options) as client:
        for _ in range(2):
            request = adapters.to_gemini_request(history)
            config: Any = {"system_instruction": request["systemInstruction"]}
            answer = client.models.generate_content(model="m", contents=request["contents"], config=config)
            assert answer.candidates
            content = answer.candidates[0].content
            assert content
            history += adapters.from_gemini([content])
            if history[-1].tool_calls:
                history.append(answered(history))
    response = {"functionResponse": {"name": "next_train", "response": RESULT}}
    assert server.bodies[1]["contents"] == [
        {"role": "user", "parts": [{"text": "Which is the next train? \ufffd"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [response]},
    ]
    assert history[-1].text == "7:58"
