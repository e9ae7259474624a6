"""OpenAI's Responses format: a list of input items (https://platform.openai.com/docs/api-reference/responses)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msglog.adapters.blocks import is_plain
from msglog.adapters.calls import call_from_text, text_of_arguments
from msglog.adapters.media import IMAGE_TYPES, Json, Media, Part, media_of
from msglog.adapters.names import ANY, Renaming
from msglog.adapters.origin import RESPONSES, record
from msglog.adapters.pairing import closed
from msglog.adapters.parts import Dialect, result_content, shaped, translated
from msglog.adapters.reading import Sent, as_object, at
from msglog.adapters.steps import Given, Report, Step, steps
from msglog.checks import checked_list
from msglog.errors import InvalidMessageError
from msglog.message import Message, ToolCall

_NAME = "[a-zA-Z0-9_-]{1,128}"
_CALL_ID = ANY + "{1,64}"
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_REFERENCE = "item_reference"
_OF_THE_CALLER = frozenset({_REFERENCE, "additional_tools", "configuration_update", "compaction_trigger"})


# From


def from_openai_responses(items: Iterable[Sent]) -> list[Message]:
    """Messages of the Responses format's items: dicts, or the objects of the `openai` package.

    A message item, with the reasoning and other items that the model made before it and the calls after it, is one
    message: such items are parts of its content, in front. Items that the caller made and that are neither messages
    nor results of calls are messages of the user with that one part. What the common fields cannot tell is kept
    under `extra["openai_responses"]`. Raises `InvalidMessageError` and `CodecError` with the path to the fault.
    """
    reader = ItemReader()
    for i, item in enumerate(checked_list(items, "items")):
        with at(f"[{i}]"):
            reader.read(as_object(item))
    reader.flush()
    return reader.messages


@dataclass
class ItemReader:
    """Joins the items that the model made in one go to messages: `flush` ends the last of them."""

    messages: list[Message] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)
    said: Json | None = None
    calls: list[ToolCall] = field(default_factory=list)
    has_references: bool = False
    seen: set[str] = field(default_factory=set)

    @property
    def is_open(self) -> bool:
        """Whether items were read that are no message yet."""
        return self.said is not None or bool(self.items or self.calls)

    def read(self, item: Json) -> None:
        """Read one more item; `messages` then has what it ended and, if it is a message by itself, that."""
        kind = item.get("type")
        if not isinstance(kind, str | None):
            raise InvalidMessageError("type", f"must be a text, not {type(kind).__name__}")
        if kind in {None, "message"} and "role" in item:
            self._message(item)
        elif kind in {"function_call", "custom_tool_call"}:
            self.calls.append(_call(item))
            self.seen.add(self.calls[-1].id)
        elif kind in _OUTPUTS and isinstance(item.get("call_id"), str) and not self._refers(item):
            self.flush()
            self.messages.append(_result(item))
        elif kind is not None and _is_made_by_model(item):
            if self.said is not None or self.calls:
                self.flush()
            self.items.append(item)
        else:
            if kind is None and "id" not in item:
                raise InvalidMessageError("", "an item must have a role or a type, or refer to another by its id")
            self.flush()
            self.has_references |= kind in {None, _REFERENCE}
            bare = {"bare": True} if "type" not in item else {}
            item = item | {"type": _REFERENCE} if kind is None else item
            extra = record(RESPONSES, {"items": 1, **bare})
            self.messages.append(Message(role="user", content=[item], extra=extra))

    def _refers(self, item: Json) -> bool:
        """Whether an output answers a call that is here only as a reference."""
        return self.has_references and item["call_id"] not in self.seen

    def _message(self, item: Json) -> None:
        by_model = item["role"] == "assistant"
        if not by_model or self.said is not None or self.calls or not isinstance(item.get("content"), list):
            self.flush()  # what stands before it is no part of it, or cannot stand beside a string
        self.said = item
        if not by_model:
            self.flush()

    def flush(self) -> None:
        """End the message that is being read."""
        if not self.is_open:
            return
        said = self.said or {"role": "assistant", "content": None}
        rest = {key: value for key, value in said.items() if key not in {"role", "content"}}
        content = said.get("content")
        if self.items:
            content = [*self.items, *(content or ())]
        record_of: Json = {"items": len(self.items)} if self.items else {}
        if rest or (content == "" and self.calls):
            record_of["message"] = rest
        extra = record(RESPONSES, record_of, native=not is_plain(content))
        self.messages.append(Message(role=said["role"], content=content, tool_calls=tuple(self.calls), extra=extra))
        self.items, self.said, self.calls = [], None, []


def _call(rest: Json) -> ToolCall:
    call_id: Any = rest.pop("call_id", None)
    name: Any = rest.get("name")
    if rest["type"] == "custom_tool_call":
        return ToolCall(id=call_id, name=name, args=rest.get("input"), extra=record(RESPONSES, rest))
    arguments = rest.get("arguments")
    rest = {key: value for key, value in rest.items() if key not in {"type", "name", "arguments"}}
    return call_from_text(call_id, name, arguments, record(RESPONSES, rest))


def _result(rest: Json) -> Message:
    call_id, output = rest.pop("call_id"), rest.pop("output", None)
    del rest["type"]
    extra = record(RESPONSES, rest, native=not is_plain(output))
    return Message(role="tool", content=output, tool_call_id=call_id, extra=extra)


def _is_made_by_model(item: Json) -> bool:
    kind = item.get("type")
    if kind in {None, "message"}:
        return item.get("role") == "assistant"
    return isinstance(kind, str) and kind not in _OF_THE_CALLER and not kind.endswith(("_output", "_response"))


# To


def to_openai_responses(messages: Iterable[Given], report: Report = None) -> list[Json]:
    """Messages as input items of the Responses format.

    Every call has exactly one output somewhere after it, and its own `call_id` of 1 to 64 characters; arguments are
    text that parses to an object; an output that is neither a string nor parts is compact JSON. Reasoning without
    the item that it led to is left out, since it is refused. Repairs are appended to `report`.
    """
    names = Renaming(_NAME)
    sent: list[tuple[Step, Json]] = []
    for step in closed(steps(messages, RESPONSES, report), Renaming(_CALL_ID, 64), adjacent=False):
        if step.message.role == "tool":
            items = [_output(step)]
        else:
            items = _items(step) + [_function_call(step, k, names) for k in range(len(step.call_ids))]
        sent += [(step, step.sent(item)) for item in items]
    return _with_what_follows(sent)


def _with_what_follows(sent: list[tuple[Step, Json]]) -> list[Json]:
    """The items without reasoning that nothing of the model follows."""
    kept: list[Json] = []
    for step, item in reversed(sent):
        if item.get("type") == "reasoning" and not (kept and _is_made_by_model(kept[-1])):
            step.note("dropped", "reasoning without the item that it led to")
        else:
            kept.append(item)
    return kept[::-1]


def _items(step: Step) -> list[Json]:
    """The items of a message, without its calls."""
    step.note_name()
    message, own = step.message, step.own
    said = {"role": message.role, **own.get("message", {})}
    content = message.content
    if not isinstance(content, list):
        if content or "message" in own or not step.call_ids:
            return [said | {"content": content or ""}]
        return []
    count = own.get("items", 0)
    items: list[Json] = [dict(part) for part in content[:count]]
    if items and own.get("bare"):
        del items[0]["type"]
    parts = translated(step, _DIALECTS[message.role], start=count)
    items += [part for part in parts if part["type"] == "reasoning"]
    parts = [part for part in parts if part["type"] != "reasoning"]
    if message.role == "assistant" and not step.came_from_provider:  # a list would have to come from the model
        return items + [{"role": "assistant", "content": part["text"]} for part in parts]
    if parts or "message" in own:
        items.append(said | {"content": parts})
    return items or [said | {"content": ""}]


def _function_call(step: Step, k: int, names: Renaming) -> Json:
    call_id, own = step.call_ids[k], step.own_of(step.calls[k])
    if "type" in own:
        return {"call_id": call_id, **own}
    arguments = text_of_arguments(step, k)
    return {"type": "function_call", "call_id": call_id, "name": step.named(k, names), "arguments": arguments, **own}


def _output(step: Step) -> Json:
    step.note_error()
    step.note_name()
    custom = step.call is not None and "type" in step.own_of(step.call)
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": step.call_id, "output": result_content(step, _INPUT) or "", **step.own}


_FIELDS: Mapping[str, set[str]] = {
    "input_image": {"detail", "image_url", "file_id"},
    "input_file": {"detail", "file_data", "file_id", "file_url", "filename"},
}
_MARK = "prompt_cache_breakpoint"


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _is_text(part: Part) -> bool:
    return shaped(part, {"input_text": {"text": str}}) and part.keys() <= {"type", "text", _MARK}


def _is_input(part: Part) -> bool:
    known = _FIELDS.get(part["type"])
    if known is None:
        return _is_text(part)
    media = media_of(part)
    readable = isinstance(part.get("file_id"), str) or (media is not None and _media(media) is not None)
    detailed = part["type"] == "input_file" or isinstance(part.get("detail"), str)
    return readable and detailed and part.keys() <= {"type", _MARK, *known}


def _media(media: Media) -> Json | None:
    if media.kind == "image" and (media.web_url or (media.data and media.media_type in IMAGE_TYPES)):
        return {"type": "input_image", "detail": "auto", "image_url": media.web_url or media.data_url}
    if media.kind == "file" and media.web_url:
        return {"type": "input_file", "file_url": media.web_url}
    if media.kind == "file" and media.data:
        return {"type": "input_file", "file_data": media.data_url, "filename": media.name or "file"}
    return None


_WORDS = Dialect(_is_text, _text, lambda _: None)
_INPUT = Dialect(_is_input, _text, _media)
_REPLY = Dialect(
    lambda part: shaped(part, {"reasoning": {"id": str, "summary": list}}),
    lambda text: {"type": "output_text", "text": text},
    lambda _: None,
)
_DIALECTS = {"system": _WORDS, "developer": _WORDS, "user": _INPUT, "assistant": _REPLY}
