"""Files of programs that are on no package index, written by hand in the shapes that their users describe."""

from __future__ import annotations

from typing import Any

WHEN = 1_700_000_000.5


def chatgpt_node(key: str, parent: str | None, role: str | None, content: Any = None, **fields: Any) -> dict[str, Any]:
    """A node of a conversation's mapping; without a role, one that has no message."""
    message = None
    if role is not None:
        if not isinstance(content, dict):
            content = {"content_type": "text", "parts": [content]}
        message = {
            "id": key,
            "author": {"role": role, "name": fields.pop("name", None), "metadata": {}},
            "create_time": WHEN,
            "update_time": None,
            "content": content,
            "status": "finished_successfully",
            "end_turn": None,
            "weight": 1.0,
            "metadata": {"model_slug": fields.pop("model", None)},
            "recipient": fields.pop("recipient", "all"),
            "channel": None,
        } | fields
    return {"id": key, "message": message, "parent": parent, "children": []}


def chatgpt_conversation(
    *nodes: dict[str, Any], current: str | None, name: str = "conv-1", **fields: Any
) -> dict[str, Any]:
    """A conversation of an export, whose nodes know their children."""
    mapping = {node["id"]: node for node in nodes}
    for node in nodes:
        if node["parent"] in mapping:
            mapping[node["parent"]]["children"].append(node["id"])
    return {
        "title": "Trains",
        "create_time": WHEN,
        "update_time": WHEN,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": current,
        "conversation_id": name,
        "default_model_slug": "gpt-5",
        "id": name,
    } | fields


CHATGPT = chatgpt_conversation(
    chatgpt_node("root", None, None),
    chatgpt_node("hidden", "root", "system", "", weight=0.0),
    chatgpt_node("ask", "hidden", "user", "Is the 7:58 on time?"),
    chatgpt_node("old answer", "ask", "assistant", "I do not know.", model="gpt-4"),
    chatgpt_node("old thanks", "old answer", "user", "A pity."),
    chatgpt_node(
        "think",
        "ask",
        "assistant",
        {"content_type": "thoughts", "thoughts": [{"summary": "Trains", "content": "Look it up."}]},
    ),
    chatgpt_node(
        "call",
        "think",
        "assistant",
        {"content_type": "code", "language": "unknown", "text": '{"departs": "7:58"}'},
        recipient="trains.status",
    ),
    chatgpt_node("result", "call", "tool", {"content_type": "execution_output", "text": "late"}, name="trains.status"),
    chatgpt_node("answer", "result", "assistant", "It is late.", model="gpt-5"),
    current="answer",
)


def claude_line(uuid: str, parent: str | None, kind: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    """A line of a session of Claude Code; the lines of one response share their `response`."""
    line: dict[str, Any] = {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ann/trains",
        "sessionId": "session-1",
        "version": "2.1.9",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid,
        "timestamp": "2026-11-30T12:00:00.123Z",
    }
    if kind == "assistant":
        line["message"] = {
            "id": fields.pop("response", f"msg_{uuid}"),
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5",
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": fields.pop("output", 5)},
        }
        line["requestId"] = "req_1"
    elif kind == "user":
        line["message"] = {"role": "user", "content": content}
    return line | fields


def claude_call(call: str, path: str = "a.txt") -> list[dict[str, Any]]:
    """The content of a line that calls a tool."""
    return [{"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}]


def claude_result(call: str, text: str) -> list[dict[str, Any]]:
    """The content of a line that answers a call."""
    return [{"type": "tool_result", "tool_use_id": call, "content": text}]


CLAUDE_CODE = [
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}, "isSnapshotUpdate": False},
    claude_line("u1", None, "user", "Compare a and b."),
    claude_line("n1", "u1", "system", subtype="informational", content="A notice"),
    claude_line(
        "a1", "n1", "assistant", [{"type": "thinking", "thinking": "Both.", "signature": "Eq"}], response="m1", output=1
    ),
    claude_line("a2", "a1", "assistant", claude_call("toolu_1"), response="m1", output=1),
    claude_line("a3", "a2", "assistant", claude_call("toolu_2", "b.txt"), response="m1", output=40),
    claude_line("r1", "a2", "user", claude_result("toolu_1", "one"), toolUseResult={"file": {"content": "one"}}),
    claude_line("r2", "a3", "user", claude_result("toolu_2", "two")),
    claude_line("a4", "r2", "assistant", [{"type": "text", "text": "They differ."}]),
    claude_line("s1", None, "user", "Look for c.", isSidechain=True, agentId="f00"),
    claude_line("s2", "s1", "assistant", [{"type": "text", "text": "No c."}], isSidechain=True, agentId="f00"),
    claude_line("u2", "a4", "user", "How?"),
    claude_line("a5", "u2", "assistant", [{"type": "text", "text": "In one line."}]),
    claude_line("u3", "a4", "user", "Thanks."),
    {"type": "summary", "summary": "Two files compared", "leafUuid": "u3"},
]
