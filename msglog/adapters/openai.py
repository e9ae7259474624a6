"""OpenAI's Chat Completions format (https://platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from msglog.adapters.blocks import is_plain
from msglog.adapters.calls import call_from_text, text_of_arguments
from msglog.adapters.media import IMAGE_TYPES, Json, Media, Part, media_of
from msglog.adapters.names import ANY, NAME, Renaming
from msglog.adapters.origin import OPENAI, record
from msglog.adapters.pairing import closed
from msglog.adapters.parts import Dialect, result_content, shaped, text_part, translated
from msglog.adapters.reading import Sent, as_object, as_objects, at
from msglog.adapters.steps import Given, Report, Step, steps
from msglog.checks import checked_list
from msglog.errors import InvalidMessageError
from msglog.message import Message, ToolCall

_PARTICIPANT = r"[^\s<|\\/>]{1,64}"  # the names that OpenAI takes today; the narrow form is safe everywhere
_INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")
_CALL_ID = ANY + "{1,40}"


def from_openai(messages: Iterable[Sent]) -> list[Message]:
    """Messages of the Chat Completions format: dicts, or the objects of the `openai` package.

    What the common fields cannot tell (a refusal, unknown keys and parts, …) is kept under `extra["openai"]`. The
    deprecated `function_call` and `function` messages become a call and its result; a custom tool's call has a
    string as its arguments. Raises `InvalidMessageError` for what has not the shape of a message, and `CodecError`
    for values that JSON cannot hold, with the path to it.
    """
    found = []
    for i, message in enumerate(checked_list(messages)):
        with at(f"[{i}]"):
            found.append(_message(as_object(message)))
    return found


def _message(rest: Json) -> Message:
    role, content, name = rest.pop("role", None), rest.pop("content", None), rest.pop("name", None)
    if role == "function":
        return Message(role="tool", content=content, name=name, tool_call_id=name, extra=record(OPENAI, rest))
    calls = []
    for i, call in enumerate(as_objects(rest.pop("tool_calls", None) or [], "tool_calls")):
        with at(f"tool_calls[{i}]"):
            calls.append(_call(call))
    if isinstance(rest.get("function_call"), Mapping):
        calls.append(_function_call(as_object(rest.pop("function_call"))))
    if calls and content == "":
        rest["content"] = ""  # a turn of calls alone is sent with null, unless it came so
    tool_call_id = rest.pop("tool_call_id", None) if role == "tool" else None
    if role == "tool" and name is not None:
        rest["name"] = name  # the format has no such key, but it came so
    native = not is_plain(content) or (isinstance(name, str) and not re.fullmatch(NAME, name))
    return Message(
        role=role,
        content=content,
        name=name,
        tool_calls=tuple(calls),
        tool_call_id=tool_call_id,
        extra=record(OPENAI, rest, native=native),
    )


def _call(rest: Json) -> ToolCall:
    call_id, kind = rest.pop("id", None) or "", rest.get("type")
    function = rest.get("function")
    if not isinstance(kind, str | None):
        raise InvalidMessageError("type", f"must be a text, not {type(kind).__name__}")
    if kind in {None, "function"} and isinstance(function, Mapping):
        rest = {key: value for key, value in rest.items() if key not in {"type", "function"}}
        function = dict(function)
        name, arguments = function.pop("name", None), function.pop("arguments", None)
        if function:
            rest["function"] = function
        return call_from_text(call_id, name, arguments, record(OPENAI, rest))
    payload = rest.get(kind) if isinstance(kind, str) else None
    if not isinstance(payload, Mapping):
        raise InvalidMessageError("", "a call must have a function, or what its type names")
    name, arguments = payload.get("name", kind), payload.get("input", payload)
    return ToolCall(id=call_id, name=name, args=arguments, extra=record(OPENAI, rest))


def _function_call(rest: Json) -> ToolCall:
    name, arguments = rest.pop("name", None), rest.pop("arguments", None)
    return call_from_text(name, name, arguments, record(OPENAI, {"type": "function_call", **rest}))


def to_openai(
    messages: Iterable[Given], report: Report = None, *, call_only_content: Literal[""] | None = None
) -> list[Json]:
    """Messages in the Chat Completions format: plain dicts, whose content key is always there.

    `call_only_content` is the content of an assistant message that only calls tools: null, or `""` for services
    that insist on a string. Arguments are always text that parses to an object. A tool's content that is no string
    is sent as compact JSON, none as `""`. Call ids have 1 to 40 characters, and a message none twice; an id that a
    provider used again in a later message stays. Repairs are appended to `report`.
    """
    names = Renaming(NAME)
    participants = Renaming(NAME, own=_PARTICIPANT)
    found = []
    for step in closed(steps(messages, OPENAI, report), Renaming(_CALL_ID, 40), unique=False):
        data = _result(step, names) if step.message.role == "tool" else _said(step, participants)
        if step.call_ids:
            data |= _calls(step, names)
            data["content"] = data["content"] or call_only_content
        data |= step.own
        if data["content"] is None and not any(data.get(key) for key in _INSTEAD_OF_CONTENT):
            data["content"] = ""
        found.append(step.sent(data))
    return found


def _said(step: Step, participants: Renaming) -> Json:
    name = step.message.name
    data: Json = {"role": step.message.role, "content": _content(step)}
    if name is not None:
        data["name"] = participants(name, own=step.came_from_provider)
        if data["name"] != name:
            step.note("renamed", "the name is not one that OpenAI takes", "name")
    return data


def _content(step: Step) -> str | list[Json] | None:
    message = step.message
    if not isinstance(message.content, list):
        return message.content if message.role == "assistant" else message.content or ""
    return translated(step, _DIALECTS.get(message.role, _WORDS)) or (None if message.role == "assistant" else "")


def _calls(step: Step, names: Renaming) -> Json:
    calls: list[Json] = []
    data: Json = {}
    for k, (call, call_id) in enumerate(zip(step.calls, step.call_ids, strict=True)):
        own = dict(step.own_of(call))
        kind = own.get("type", "function")
        if kind not in ("function", "function_call"):  # it may be anything
            calls.append({"id": call_id, **own})
            continue
        function = {"name": step.named(k, names), "arguments": text_of_arguments(step, k)}
        if kind == "function_call":
            del own["type"]
            data["function_call"] = function | own
        else:
            function |= own.pop("function", {})
            calls.append({"id": call_id, "type": "function", "function": function, **own})
    return data | {"tool_calls": calls} if calls else data


def _result(step: Step, names: Renaming) -> Json:
    step.note_error()
    if "name" not in step.own:
        step.note_name()
    content = result_content(step, _WORDS) or ""
    if step.call is not None and step.own_of(step.call).get("type") == "function_call":
        return {"role": "function", "name": names(step.call.name), "content": content}
    return {"role": "tool", "content": content, "tool_call_id": step.call_id}


_FIELDS = {
    "image_url": {"url", "detail"},
    "input_audio": {"data", "format"},
    "file": {"file_data", "file_id", "filename"},
}
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_MARK = "prompt_cache_breakpoint"


def _is_text(part: Part) -> bool:
    return shaped(part, {"text": {"text": str}}) and part.keys() <= {"type", "text", _MARK}


def _is_reply(part: Part) -> bool:
    return _is_text(part) or (shaped(part, {"refusal": {"refusal": str}}) and len(part) == 2)


def _is_input(part: Part) -> bool:
    kind = part["type"]
    inner = part.get(kind)
    if kind not in _FIELDS or not isinstance(inner, dict):
        return _is_text(part)
    media = media_of(part)
    known = part.keys() <= {"type", kind, _MARK} and inner.keys() <= _FIELDS[kind]
    return known and (isinstance(inner.get("file_id"), str) or (media is not None and _media(media) is not None))


def _media(media: Media) -> Json | None:
    if media.kind == "image" and (media.web_url or (media.data and media.media_type in IMAGE_TYPES)):
        return {"type": "image_url", "image_url": {"url": media.web_url or media.data_url}}
    if media.kind == "audio" and media.data and media.media_type in _SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _SOUNDS[media.media_type]}}
    if media.kind == "file" and media.data:
        return {"type": "file", "file": {"file_data": media.data_url, "filename": media.name or "file"}}
    return None


_WORDS = Dialect(_is_text, text_part, lambda _: None)
_DIALECTS = {
    "user": Dialect(_is_input, text_part, _media),
    "assistant": Dialect(_is_reply, text_part, lambda _: None),
}
