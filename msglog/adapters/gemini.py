"""Gemini's contents (https://ai.google.dev/api/caching#Content), as REST writes them: camelCase, base64."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from msglog.adapters.blocks import folded, is_plain, placed
from msglog.adapters.gemini_parts import INPUT, WORDS, function_call, function_response
from msglog.adapters.media import Json
from msglog.adapters.names import ANY, Renaming
from msglog.adapters.origin import GEMINI, record
from msglog.adapters.pairing import closed
from msglog.adapters.parts import translated
from msglog.adapters.reading import Sent, as_object, as_objects, at
from msglog.adapters.stand_ins import BEGINNING, UNSIGNED
from msglog.adapters.steps import Given, Report, Step, steps
from msglog.checks import checked_list
from msglog.errors import InvalidMessageError
from msglog.message import Message, ToolCall

_NAME = "[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
_OWN_NAME = "[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"
_NESTED = frozenset({"functionCall", "functionResponse", "inlineData", "fileData"})


# From


def from_gemini(contents: Mapping[str, Any] | Iterable[Sent]) -> list[Message]:
    """Messages of Gemini's contents, or of a request (`{"systemInstruction": …, "contents": […]}`).

    Dicts in camelCase or snake_case (which comes back as camelCase), or the objects of `google.genai.types`. Parts
    get a `type`, the name of what they hold; calls without an id get the function's name as their id, which is not
    sent back. A response of one `output` or `error` becomes that value. Signatures and further keys are kept.
    Raises `InvalidMessageError` and `CodecError` with the path to the fault.
    """
    found: list[Message] = []
    turns: Any = contents
    if isinstance(contents, Mapping):
        if "contents" not in contents:
            raise InvalidMessageError("contents", "a request must have them; contents alone are given as a list")
        with at("contents"):
            turns = checked_list(contents["contents"], "contents")
        system = contents.get("systemInstruction", contents.get("system_instruction"))
        if system is not None:
            with at("systemInstruction"):
                found.append(_system({"parts": [{"text": system}]} if isinstance(system, str) else as_object(system)))
    for i, turn in enumerate(checked_list(turns, "contents")):
        with at(f"[{i}]"):
            found += _messages(as_object(turn))
    return found


def _parts(content: Json) -> list[Json]:
    found = []
    for i, part in enumerate(as_objects(content.pop("parts", None) or [], "parts")):
        with at(f"parts[{i}]"):
            found.append({to_camel(key): _camel(to_camel(key), value) for key, value in part.items()})
    return found


def _camel(key: str, value: Any) -> Any:
    if key not in _NESTED:
        return value
    if not isinstance(value, Mapping):
        raise InvalidMessageError(key, f"must be an object, not {type(value).__name__}")
    return {to_camel(inner): item for inner, item in value.items()}


def _system(rest: Json) -> Message:
    return _message("system", [_stored(part) for part in _parts(rest)], rest)


def _messages(rest: Json) -> list[Message]:
    parts = _parts(rest)
    if rest.get("role") != "model":
        if rest.get("role") == "user":
            del rest["role"]
        else:
            rest.setdefault("role", None)
        return list(_of_user(parts, rest))
    del rest["role"]
    unnamed: Counter[str] = Counter()
    content, calls = folded([_call(p, unnamed) if "functionCall" in p else _stored(p) for p in parts])
    return [_message("assistant", content, rest, calls)]


def _message(role: Any, content: list[Any], rest: Json, calls: Iterable[ToolCall] = ()) -> Message:
    calls = tuple(calls)
    is_text = len(content) == 1 and is_plain(content)
    said = content[0]["text"] if is_text else content or None
    return Message(
        role=role, content=said, tool_calls=calls, extra=record(GEMINI, rest, native=not is_plain(said) or bool(calls))
    )


def _of_user(parts: list[Json], rest: Json) -> Iterator[Message]:
    unnamed: Counter[str] = Counter()
    said: list[Any] = []
    joined: Json = {}
    for part in [*parts, None]:
        if part is not None and "functionResponse" not in part:
            said.append(_stored(part))
            continue
        if said or not parts:
            yield _message("user", said, rest | joined)
            said = []
        if part is not None:
            yield _result(part, unnamed, rest)
            joined = {"joined": True}


def _stored(part: Json) -> Json:
    """A part with a `type`: what it holds."""
    kind = "text" if "text" in part else next((key for key in part if isinstance(part[key], dict)), "part")
    return part | {"type": "thought" if kind == "text" and part.get("thought") else kind}


def _identified(held: Json, unnamed: Counter[str], *optional: str) -> tuple[Any, Json]:
    """The id of a call or response, and a record of which keys it came without."""
    absent = [key for key in optional if held.get(key) is None]
    call_id = held.pop("id", None)
    if call_id is None:
        name = held.get("name")
        unnamed[str(name)] += 1
        call_id = name if unnamed[str(name)] == 1 else f"{name}#{unnamed[str(name)]}"
    return call_id, {"absent": absent} if absent else {}


def _call(part: Json, unnamed: Counter[str]) -> ToolCall:
    call = part.pop("functionCall")
    call_id, rest = _identified(call, unnamed, "id", "args")
    name, args = call.pop("name", None), call.pop("args", None)
    rest |= {"call": call} if call else {}
    rest |= {"part": part} if part else {}
    return ToolCall(id=call_id, name=name, args={} if args is None else args, extra=record(GEMINI, rest))


def _result(part: Json, unnamed: Counter[str], of_content: Json) -> Message:
    response = part.pop("functionResponse")
    call_id, _ = _identified(response, unnamed)
    name, content = response.pop("name", None), response.pop("response", None)
    common = {}
    for key in ("output", "error"):
        if (
            isinstance(content, Mapping)
            and content.keys() == {key}
            and not isinstance(content[key], (dict, type(None)))
        ):
            content = content[key]
            common = {"isError": True} if key == "error" else {}
            break
    rest = of_content | ({"response": response} if response else {}) | ({"part": part} if part else {})
    extra = record(GEMINI, rest, native=not is_plain(content), **common)
    return Message(role="tool", content=content, name=name, tool_call_id=call_id, extra=extra)


# To


def to_gemini(messages: Iterable[Given], report: Report = None, *, unsigned: str | None = UNSIGNED) -> list[Json]:
    """The contents of a conversation; system and developer messages are left out: see `to_gemini_request`.

    A call's content has the results of all its calls right after it, stands after the user or a result, and
    the user comes first. What the model did not sign is signed with `unsigned` where Gemini 3 insists: at the first
    call of each message that did not come from Gemini. None leaves that out. Repairs are appended to `report`.
    """
    return _rendered(messages, report, unsigned)[1]


def to_gemini_request(messages: Iterable[Given], report: Report = None, *, unsigned: str | None = UNSIGNED) -> Json:
    """`{"systemInstruction": …, "contents": […]}`: the contents, and the system and developer messages in order."""
    system, contents = _rendered(messages, report, unsigned, with_system=True)
    return ({"systemInstruction": system} if system else {}) | {"contents": contents}


def _rendered(
    messages: Iterable[Given], report: Report, unsigned: str | None, *, with_system: bool = False
) -> tuple[Json, list[Json]]:
    names = Renaming(_NAME, own=_OWN_NAME)
    system: Json = {}
    turns: list[tuple[Step, Json]] = []
    for step in closed(steps(messages, GEMINI, report), Renaming(ANY + "+"), unique=False):
        content = step.sent(_content(step, names, unsigned))
        if not content["parts"]:
            step.note("dropped", "without parts, which is refused")
        elif step.message.role in {"system", "developer"}:
            if with_system and turns:
                step.note("moved", "system messages stand in the request's systemInstruction")
            system = content | system | {"parts": [*system.get("parts", ()), *content["parts"]]}
        else:
            turns.append((step, content))
    return system, _joined(turns)


def _joined(turns: Iterable[tuple[Step, Json]]) -> list[Json]:
    """The contents, with the results of one content and neighbours of the model in one each, and the user first."""
    contents: list[Json] = []
    before: Step | None = None
    for step, content in turns:
        if before is None and content.get("role") == "model":
            step.note("added", "the user speaks first")
            contents.append({"role": "user", "parts": [{"text": BEGINNING}]})
        if before is not None and _continues(before, step):
            contents[-1] = content | contents[-1] | {"parts": contents[-1]["parts"] + content["parts"]}
        else:
            contents.append(content)
        before = step
    return contents


def _continues(before: Step, step: Step) -> bool:
    pair = before.message.role, step.message.role
    if pair == ("assistant", "assistant"):
        step.note("merged", "neighbours of one role are one content")
        return True
    return pair == ("tool", "tool") or (pair == ("tool", "user") and bool(step.own.get("joined")))


def _content(step: Step, names: Renaming, unsigned: str | None) -> Json:
    step.note_name()
    role = step.message.role
    rest = {key: value for key, value in step.own.items() if key not in {"joined", "response", "part"}}
    if role == "tool":
        parts = [function_response(step, names)]
    else:
        parts = _said(step)
        calls = [function_call(step, k, names, unsigned) for k in range(len(step.call_ids))]
        parts = [_untyped(part) for part in placed(parts, step.calls, calls)]
        parts = [part for part in parts if part != {"text": ""}]
    if role not in {"system", "developer"}:
        rest = {"role": "model" if role == "assistant" else "user"} | rest
    return {key: value for key, value in rest.items() if value is not None} | {"parts": parts}


def _said(step: Step) -> list[Json]:
    content = step.message.content
    if not isinstance(content, list):
        return [{"text": content}] if content else []
    return translated(step, INPUT if step.message.role == "user" else WORDS, places=True)


def _untyped(part: Json) -> Json:
    return {key: value for key, value in part.items() if key != "type"}
