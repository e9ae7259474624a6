"""ChatGPT's export, `conversations.json`: trees of messages, of which one path is the current one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msglog.codec import freeze
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Entry, Message, ToolCall
from msglog.transfer.importers.conversation import Node, Tree, entries_of
from msglog.transfer.importers.json_values import values
from msglog.transfer.importers.links import arranged
from msglog.transfer.importers.reading import Reading, is_name
from msglog.transfer.importers.times import from_seconds

_REASONING = {"thoughts", "reasoning_recap"}
_TEXTS = {"text", "execution_output", "code", "system_error"}
_BESIDE_TEXT = {"text", "language", "response_format_name", "name"}  # of which the text is all that is said
_NOT_FACTS = {"id", "conversation_id", "title", "mapping", "current_node"}


def is_conversation(value: Any) -> bool:
    """Whether a value is a conversation of an export."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(reading: Reading) -> Iterator[Tree]:
    """A tree for each conversation."""
    reading.total = os.stat(reading.path).st_size
    for number, found in enumerate(values(reading.path, reading.losses), 1):
        reading.done = found.read
        if is_conversation(found.value):
            yield _tree(reading, found.value, number)  # type: ignore[arg-type]
        else:
            reading.losses.add(found.where, "is no conversation of an export")


def _tree(reading: Reading, conversation: Mapping[str, Any], number: int) -> Tree:
    given = conversation.get("conversation_id") or conversation.get("id")
    name = reading.name(given, f"{reading.stem}-{number}")
    mapping: dict[str, Mapping[str, Any]] = {}
    for key, node in conversation["mapping"].items():
        if is_name(key) and isinstance(node, Mapping):
            mapping[key] = node
        else:
            reading.losses.add(f"{name}, a node", "is none, or has no name that an id can be")
    parents = _parents(mapping)
    current = conversation.get("current_node")
    if not isinstance(current, str) or current not in mapping:
        current = next(reversed(mapping), None)
    bearing = {key for key, node in mapping.items() if _says_something(node.get("message"))}
    order = list(arranged(parents, bearing, current, reading.losses, name))
    calls = _Calls(mapping, parents)

    def load(node: Node) -> list[Entry]:
        message = mapping[node.id]["message"]
        if _has_asset(message):
            reading.losses.add(f"{name}, node {node.id}", "an image or file of it lies beside the export")
        try:
            return _entries(node.id, message, calls)
        except (CodecError, InvalidMessageError) as error:
            reading.losses.add(f"{name}, node {node.id}", f"is no message that can be kept: {error}")
            return []

    title = conversation.get("title")
    return Tree(
        name,
        [Node(key, before, branch=key) for key, before in order],
        load,
        current=_last_said(current, parents, bearing),
        title=title if isinstance(title, str) and title else None,
        facts={key: value for key, value in conversation.items() if key not in _NOT_FACTS and value not in (None, [])},
    )


def _parents(mapping: Mapping[str, Mapping[str, Any]]) -> dict[str, str | None]:
    """The node before each: the parent that it names, else the one that names it as a child."""
    parents: dict[str, str | None] = {}
    for key, node in mapping.items():
        parent = node.get("parent")
        parents[key] = parent if isinstance(parent, str) else None
    for key, node in mapping.items():
        children = node.get("children")
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str) and parents.get(child, key) is None and child != key:
                parents[child] = key
    return parents


def _last_said(node: str | None, parents: Mapping[str, str | None], bearing: set[str]) -> str | None:
    seen: set[str] = set()
    while node is not None and node not in bearing and node not in seen:
        seen.add(node)
        node = parents.get(node)
    return node if node in bearing else None


def _says_something(message: Any) -> bool:
    """Whether a node has a message; the hidden ones without any text, at the head of every conversation, are none."""
    if not isinstance(message, Mapping):
        return False
    content, author = message.get("content"), message.get("author")
    is_system = isinstance(author, Mapping) and author.get("role") == "system"
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return not (is_system and isinstance(parts, list) and not any(parts))


def _has_asset(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return isinstance(parts, list) and any(isinstance(part, Mapping) and _names_asset(part) for part in parts)


def _names_asset(part: Mapping[str, Any]) -> bool:
    return any(key.endswith("asset_pointer") for key in part)


class _Calls:
    """Which call a tool's message answers: the nearest before it on its path that went to that tool."""

    def __init__(self, mapping: Mapping[str, Mapping[str, Any]], parents: Mapping[str, str | None]) -> None:
        self._mapping = mapping
        self._parents = parents

    def answered_by(self, node: str, tool: Any) -> str | None:
        """The id of the call that a message of `tool` at a node answers, or None."""
        seen = {node}
        at = self._parents[node]
        while at is not None and at in self._mapping and at not in seen:
            seen.add(at)
            message = self._mapping[at].get("message")
            if isinstance(message, Mapping):
                if message.get("recipient") == tool:
                    return at
                author = message.get("author")
                if isinstance(author, Mapping) and author.get("role") == "user":
                    return None
            at = self._parents[at]
        return None


def _entries(key: str, message: Mapping[str, Any], calls: _Calls) -> list[Entry]:
    author, content, told = _object(message, "author"), _object(message, "content"), _object(message, "metadata")
    role: Any = author.get("role")
    recipient = message.get("recipient")
    said = _content(content)
    if role == "tool":
        answered = calls.answered_by(key, author.get("name"))
        made = Message(role=role, content=said, name=author.get("name"), tool_call_id=answered)
    elif role == "assistant" and isinstance(recipient, str) and recipient not in {"", "all"}:
        made = Message(role=role, content=None, tool_calls=(_call(key, recipient, said),))
    else:
        made = Message(role=role, content=said, name=author.get("name") if role == "user" else None)
    beside = {k: v for k, v in message.items() if k not in {"id", "author", "content", "create_time"} and v is not None}
    model = told.get("model_slug")
    meta = {"created_at": from_seconds(message.get("create_time")), "model": model if isinstance(model, str) else None}
    return entries_of(key, [made], freeze([role, recipient, content]), meta | {"chatgpt": beside})


def _object(message: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = message.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidMessageError(key, "must be an object")
    return value


def _content(content: Mapping[str, Any]) -> Any:
    """A text where it is one, else parts; those of kinds not known here keep all their fields."""
    kind = content.get("content_type")
    if not isinstance(kind, str):
        raise InvalidMessageError("content.content_type", "must be a text")
    rest = {key: value for key, value in content.items() if key != "content_type"}
    parts = rest.pop("parts", None)
    if kind in _REASONING:
        return [{"type": "reasoning", "kind": kind, **rest}]
    if isinstance(parts, list) and not rest:
        if len(parts) == 1 and isinstance(parts[0], str):
            return parts[0]
        return [_part(part) for part in parts]
    if kind in _TEXTS and isinstance(rest.get("text"), str) and rest.keys() <= _BESIDE_TEXT:
        return rest["text"]
    return [{"type": kind, **rest} | ({"parts": parts} if parts is not None else {})]


def _part(part: Any) -> Any:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Mapping) and isinstance(part.get("content_type"), str):
        return {"type": part["content_type"]} | {key: item for key, item in part.items() if key != "content_type"}
    raise InvalidMessageError("content.parts", "a part must be a text, or an object with a content_type")


def _call(call_id: str, tool: str, said: Any) -> ToolCall:
    """A call of a tool: its arguments are an object where the text is JSON of one, else what was sent to it."""
    if isinstance(said, str):
        call = ToolCall.from_text(call_id, tool, said)
        if isinstance(call.args, dict) and not call.broken:
            return call
    return ToolCall(id=call_id, name=tool, args=said)
