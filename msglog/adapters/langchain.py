"""LangChain's messages: objects, and role and content dicts (https://docs.langchain.com/oss/python/langchain/messages)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msglog.adapters.blocks import is_plain
from msglog.adapters.calls import object_of
from msglog.adapters.media import Json, Media, Part
from msglog.adapters.names import ANY, Renaming
from msglog.adapters.origin import LANGCHAIN, record
from msglog.adapters.pairing import closed
from msglog.adapters.parts import Dialect, result_content, shaped, text_part, translated
from msglog.adapters.reading import as_object, as_objects, at
from msglog.adapters.steps import Given, Report, Step, steps
from msglog.checks import checked_list
from msglog.codec import EMPTY
from msglog.errors import InvalidMessageError
from msglog.message import Message, ToolCall

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_ROLES: dict[str, Any] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_CHUNKS = {
    "HumanMessageChunk": "human",
    "AIMessageChunk": "ai",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
}
_TYPES = {"user": "human", "assistant": "ai", "system": "system", "developer": "system", "tool": "tool"}
_DEFAULTS: tuple[tuple[str, Any], ...] = (
    ("tool_calls", []),
    ("invalid_tool_calls", []),
    ("example", False),
    ("status", "success"),
)
_OPENAI_ROLE = "__openai_role__"  # LangChain's own key for the developer role


def from_langchain_messages(messages: Iterable[BaseMessage]) -> list[Message]:
    """Messages of LangChain's message objects, tool calls and results included.

    What the common fields cannot tell (ids, response metadata, artifacts, …) is kept under `extra["langchain"]`.
    Calls whose arguments LangChain could not read are calls with broken arguments. Raises `InvalidMessageError` for
    what is no message, and `CodecError` for what JSON cannot hold, an artifact say, with the path to it.
    """
    found = []
    for i, message in enumerate(checked_list(messages)):
        with at(f"[{i}]"):
            found.append(_message(message))
    return found


def _message(given: Any) -> Message:
    kind, dump = getattr(given, "type", None), getattr(given, "model_dump", None)
    if not isinstance(kind, str) or dump is None:
        raise InvalidMessageError("", f"expected a LangChain message, not {type(given).__name__}")
    return _read(kind, dump(exclude_defaults=True))


def from_langchain_dicts(stored: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Messages of the form in which LangChain stores them: `{"type": "ai", "data": {…}}`, as `messages_to_dict` gives.

    The same as `from_langchain_messages` of the objects, without LangChain's package.
    """
    found = []
    for i, item in enumerate(checked_list(stored)):
        with at(f"[{i}]"):
            kind, data = as_object(item).get("type"), item.get("data")
            if not isinstance(kind, str) or not isinstance(data, Mapping):
                raise InvalidMessageError("", "a stored message must have a type and data")
            found.append(_read(kind, {key: value for key, value in data.items() if not _is_default(key, value)}))
    return found


def _is_default(key: str, value: Any) -> bool:
    return value is None or value == {} or (key, value) in _DEFAULTS


def _read(kind: str, rest: Json) -> Message:
    rest.pop("type", None)
    role = _ROLES.get(_CHUNKS.get(kind, kind), "user")
    kwargs = rest.get("additional_kwargs", {})
    if role == "system" and isinstance(kwargs, Mapping) and kwargs.get(_OPENAI_ROLE) == "developer":
        role = "developer"
        rest["additional_kwargs"] = {key: value for key, value in kwargs.items() if key != _OPENAI_ROLE}
    if kind != _TYPES[role]:
        rest["type"] = kind
    content = rest.pop("content", "")
    native = not is_plain(content)
    if isinstance(content, list):
        content, bare = _typed(content)
        rest |= {"bare": bare} if bare else {}
    calls = [_call(call) for call in as_objects(rest.pop("tool_calls", []), "tool_calls")]
    calls += [_invalid(call) for call in as_objects(rest.pop("invalid_tool_calls", []), "invalid_tool_calls")]
    common = {"isError": True} if rest.pop("status", None) == "error" else {}
    return Message(
        role=role,
        content=content,
        name=rest.pop("name", None),
        tool_call_id=rest.pop("tool_call_id", None),
        tool_calls=tuple(calls),
        extra=record(LANGCHAIN, {k: v for k, v in rest.items() if v != {}}, native=native, **common),
    )


def _typed(content: list[Any]) -> tuple[list[Any], list[int]]:
    """The parts of a content, each an object with a type, and the numbers of those that were none."""
    found, bare = [], []
    for i, part in enumerate(content):
        if isinstance(part, dict) and isinstance(part.get("type"), str):
            found.append(part)
            continue
        found.append(
            {"type": "text", "text": part} if isinstance(part, str) else {"type": "non_standard", "value": part}
        )
        bare.append(i)
    return found, bare


def _call(call: Json) -> ToolCall:
    name: Any = call.get("name")
    call_id: Any = call.get("id")
    rest = {"id": None} if call_id is None else {}
    return ToolCall(
        id=name if call_id is None else call_id,
        name=name,
        args=call.get("args", EMPTY),
        extra=record(LANGCHAIN, rest),
    )


def _invalid(call: Json) -> ToolCall:
    name, arguments = call.get("name") or "", call.get("args")
    if not isinstance(arguments, str | None):
        raise InvalidMessageError("invalid_tool_calls", "arguments that could not be read are text")
    return ToolCall.from_text(call.get("id") or name, name, arguments, **record(LANGCHAIN, {"invalid": call}))


def to_langchain_messages(messages: Iterable[Given], report: Report = None) -> list[BaseMessage]:
    """LangChain's message objects; needs the package `langchain-core`.

    Every tool exchange is whole and in one piece. Arguments that are no object are wrapped in `{"arguments": …}`,
    except those that LangChain itself called invalid. Developer messages are system messages, marked as LangChain
    marks them. Ids of messages are those that LangChain gave. Repairs are appended to `report`.
    """
    from langchain_core.messages import messages_from_dict  # noqa: PLC0415 needed here only

    ordered = closed(steps(messages, LANGCHAIN, report), Renaming(ANY + "+"), unique=False)
    return messages_from_dict([step.sent(_stored(step)) for step in ordered])


def _stored(step: Step) -> Json:
    """A message in the form in which LangChain stores one."""
    message = step.message
    data = dict(step.own)
    kind = data.pop("type", _TYPES[message.role])
    data.pop("bare", None)
    data["content"] = _content(step)
    if message.name is not None:
        data["name"] = message.name
    if message.role == "developer":
        data["additional_kwargs"] = {**data.get("additional_kwargs", {}), _OPENAI_ROLE: "developer"}
    if message.role == "tool":
        data |= {"tool_call_id": step.call_id, "status": "error" if step.is_error else "success"}
    if step.call_ids:
        data |= _calls(step)
    return {"type": kind, "data": data}


def _content(step: Step) -> str | list[Any]:
    content: Any = step.message.content
    if step.message.role == "tool":
        content = result_content(step, _PARTS)
    elif isinstance(content, list):
        content = translated(step, _PARTS)
    if isinstance(content, list):
        for i in [i for i in step.own.get("bare", ()) if i < len(content)]:
            content[i] = content[i].get("text", content[i].get("value"))
    return "" if content is None else content


def _calls(step: Step) -> Json:
    valid, invalid = [], []
    for k, (call, call_id) in enumerate(zip(step.calls, step.call_ids, strict=True)):
        own = step.own_of(call)
        if "invalid" in own:
            invalid.append(own["invalid"])
        else:
            made = {"name": call.name, "args": object_of(step, k), "id": call_id, "type": "tool_call"}
            valid.append(made | own)
    return {"tool_calls": valid} | ({"invalid_tool_calls": invalid} if invalid else {})


def to_langchain(messages: Iterable[Given], report: Report = None) -> list[Json]:
    """The user, assistant and system messages as dicts of role and content; tool exchanges are left out.

    Developer messages are system messages. Parts are LangChain's content blocks. Repairs are appended to `report`.
    """
    found = []
    for step in steps(messages, LANGCHAIN, report):
        message = step.message
        if message.role == "tool" or message.content is None or (message.tool_calls and not message.content):
            continue
        role = "system" if message.role == "developer" else message.role
        found.append(step.sent({"role": role, "content": _content(step)}))
    return found


_KNOWN: Mapping[str, Mapping[str, type]] = {
    "text": {"text": str},
    "image_url": {"image_url": dict},
    "thinking": {"thinking": str},
    "redacted_thinking": {"data": str},
    "reasoning": {},
}


def _is_known(part: Part) -> bool:
    """Whether LangChain's models read a part as it is: text, images as OpenAI writes them, and reasoning."""
    return shaped(part, _KNOWN)


def _media(media: Media) -> Json:
    """A standard block (https://docs.langchain.com/oss/python/langchain/messages#standard-content-blocks)."""
    block: Json = {"type": media.kind} | ({"mime_type": media.media_type} if media.media_type else {})
    block |= {"base64": media.data} if media.data else {"url": media.url}
    return block | ({"extras": {"filename": media.name}} if media.name else {})


_PARTS = Dialect(_is_known, text_part, _media)
