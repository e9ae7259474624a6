"""Anthropic's Messages format (https://docs.anthropic.com/en/api/messages)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msglog.adapters.anthropic_parts import (
    ASSISTANT,
    RESULT,
    SYSTEM,
    USER,
    as_blocks,
    without_blanks,
    without_old_marks,
)
from msglog.adapters.blocks import is_plain, placed, unfolded
from msglog.adapters.calls import object_of
from msglog.adapters.media import Json
from msglog.adapters.names import NAME, Renaming
from msglog.adapters.origin import ANTHROPIC
from msglog.adapters.pairing import closed
from msglog.adapters.parts import Dialect, as_text, result_content, text_part, translated
from msglog.adapters.reading import Sent, as_object, at
from msglog.adapters.stand_ins import BEGINNING
from msglog.adapters.steps import Given, Report, Step, steps
from msglog.checks import checked_list
from msglog.codec import EMPTY
from msglog.errors import InvalidMessageError
from msglog.message import Message

_OWN_NAME = "[a-zA-Z0-9_-]{1,200}"  # what Anthropic itself takes; others that speak its format stop at 64
_CALL_ID = "[a-zA-Z0-9_-]+"
# What a response has beside role and content, and our own mark of a system turn.
_NOT_SENT = frozenset(
    {"id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container", "turn"}
)

Turn: TypeAlias = tuple[Step, Json]

# From


def from_anthropic(messages: Mapping[str, Any] | Iterable[Sent]) -> list[Message]:
    """Messages of Anthropic's turns, or of a whole request (`{"system": …, "messages": […]}`).

    Dicts, or the objects of the `anthropic` package. A turn of the user becomes one tool message for each result
    and a user message for the rest; calls go to `tool_calls`. What the common fields cannot tell (thinking,
    cache marks, unknown keys and blocks, …) is kept: blocks in the content, further keys under
    `extra["anthropic"]`. Raises `InvalidMessageError` and `CodecError` with the path to the fault.
    """
    found: list[Message] = []
    turns: Any = messages
    if isinstance(messages, Mapping):
        if "messages" not in messages:
            raise InvalidMessageError("messages", "a request must have them; turns alone are given as a list")
        with at("messages"):
            turns = checked_list(messages["messages"])
        if messages.get("system"):
            with at("system"):
                found.append(_settled(Message(role="system", content=messages["system"], extra={ANTHROPIC: {}})))
    for i, turn in enumerate(checked_list(turns)):
        with at(f"[{i}]"):
            found += _messages(as_object(turn))
    return found


def _messages(rest: Json) -> list[Message]:
    role, content = rest.pop("role", None), rest.pop("content", None)
    if role not in ("user", "assistant", "system"):  # it may be anything, so that it is looked for by comparing
        raise InvalidMessageError("role", "a turn is of the user, the assistant or the system")
    if role == "system":
        return [Message(role=role, content=content, extra={ANTHROPIC: {**rest, "turn": True}})]
    return [_settled(message) for message in unfolded(Message(role=role, content=content, extra={ANTHROPIC: rest}))]


def _settled(message: Message) -> Message:
    """The message without an empty record, where the common fields tell it all."""
    if message.role == "tool" or message.extra[ANTHROPIC]:
        return message
    plain = is_plain(message.content) and all(re.fullmatch(NAME, call.name) for call in message.tool_calls)
    return message.model_copy(update={"extra": EMPTY}) if plain else message


# To


def to_anthropic(messages: Iterable[Given], report: Report = None) -> list[Json]:
    """The turns of a conversation; system and developer messages are left out: they belong in the request's `system`.

    Roles alternate and the user comes first. All results of an assistant's calls stand at the head of the next turn,
    each call has one and an id of its own, arguments are objects, no text is blank, and at most the four newest cache
    marks stay. A conversation of nothing but blanks has no turns. Repairs are appended to `report`.
    """
    return _rendered(messages, report)[1]


def to_anthropic_request(messages: Iterable[Given], report: Report = None) -> Json:
    """`{"system": …, "messages": […]}`: the turns, and the system and developer messages in order.

    One system message of a string stays one; others are a list of text blocks. Without any, there is no `system`.
    """
    system, turns = _rendered(messages, report, with_system=True)
    return ({"system": system} if system else {}) | {"messages": turns}


def _rendered(
    messages: Iterable[Given], report: Report, *, with_system: bool = False
) -> tuple[str | list[Json], list[Json]]:
    names = Renaming(NAME, own=_OWN_NAME)
    turns: list[Turn] = []
    systems: list[Turn] = []
    for step in closed(steps(messages, ANTHROPIC, report), Renaming(_CALL_ID)):
        turn = step.sent(_turn(step, names))
        if not turn["content"]:
            step.note("dropped", "blank, which is refused")
        elif turn["role"] != "system" or step.own.get("turn"):
            turns.append((step, turn))
        else:
            if with_system and turns:
                step.note("moved", "system messages stand in the request's system")
            systems.append((step, turn))
    turns, misplaced = _with_legal_systems(turns)
    systems = sorted(systems + misplaced, key=lambda each: each[0].index)
    without_old_marks([*turns, *systems] if with_system else turns)
    return _joined([turn["content"] for _, turn in systems]), _alternating(turns)


def _turn(step: Step, names: Renaming) -> Json:
    step.note_name()
    rest = {key: value for key, value in step.own.items() if key not in _NOT_SENT}
    role = step.message.role
    if role == "tool":
        return {"role": "user", "content": [_result(step)]}
    if role in {"system", "developer"}:
        return {"role": "system", "content": _content(step, SYSTEM), **rest}
    content = _content(step, USER if role == "user" else ASSISTANT)
    calls = [_tool_use(step, k, names) for k in range(len(step.call_ids))]
    if calls or isinstance(content, list):
        content = placed(as_blocks(content) if content else [], step.calls, calls)
    return {"role": role, "content": content, **rest}


def _content(step: Step, dialect: Dialect) -> str | list[Json]:
    content = step.message.content
    if isinstance(content, list):
        return without_blanks(step, translated(step, dialect, places=True))
    return content if content and content.strip() else ""


def _tool_use(step: Step, k: int, names: Renaming) -> Json:
    name = step.named(k, names, own=step.came_from_provider)
    call = {"type": "tool_use", "id": step.call_ids[k], "name": name, "input": object_of(step, k)}
    return call | step.own_of(step.calls[k])


def _result(step: Step) -> Json:
    content = result_content(step, RESULT)
    if isinstance(content, list):
        if step.is_error:  # which allows nothing but text
            content = [
                part if part["type"] == "text" else text_part(as_text(step, part, "content")) for part in content
            ]
        content = without_blanks(step, content)
    elif content and not content.strip():
        step.note("dropped", "blank text, which is refused", "content")
        content = None
    block: Json = {"type": "tool_result", "tool_use_id": step.call_id}
    if content:
        block["content"] = content
    if "isError" in step.message.extra:
        block["is_error"] = step.is_error
    return block | step.own


def _with_legal_systems(turns: Sequence[Turn]) -> tuple[list[Turn], list[Turn]]:
    """The turns, with those of the system only where the API takes them, and the system's other turns.

    That is after the user or a result of a server's tool, and before the assistant or at the end.
    """
    legal: list[Turn] = []
    others: list[Turn] = []
    for i, (step, turn) in enumerate(turns):
        if turn["role"] == "system" and not (_lets_system_speak(legal) and _is_reply(turns[i + 1 :])):
            step.note("moved", "a turn of the system cannot stand here")
            others.append((step, turn))
        else:
            legal.append((step, turn))
    return legal, others


def _lets_system_speak(turns: Sequence[Turn]) -> bool:
    if not turns or turns[-1][1]["role"] == "system":
        return False
    role, content = turns[-1][1]["role"], turns[-1][1]["content"]
    return role == "user" or str(as_blocks(content)[-1]["type"]).endswith("_tool_result")


def _is_reply(turns: Sequence[Turn]) -> bool:
    return not turns or turns[0][1]["role"] == "assistant"


def _joined(contents: Sequence[str | list[Json]]) -> str | list[Json]:
    if len(contents) == 1:
        return contents[0]
    return [block for content in contents for block in as_blocks(content)]


def _alternating(turns: Sequence[Turn]) -> list[Json]:
    """The turns with neighbours of one role joined, the user first, and no blanks at the very end."""
    found: list[Json] = []
    before: Step | None = None
    for step, turn in turns:
        if before is None or found[-1]["role"] != turn["role"]:
            found.append(turn)
        else:
            if before.message.role != "tool":
                step.note("merged", "neighbours of one role are one turn")
            found[-1] = turn | found[-1] | {"content": as_blocks(found[-1]["content"]) + as_blocks(turn["content"])}
        before = step
    if before is not None and found[0]["role"] != "user":
        turns[0][0].note("added", "the user speaks first")
        found.insert(0, {"role": "user", "content": BEGINNING})
    if before is not None and found[-1]["role"] == "assistant":
        _strip_end(before, found[-1])
    return found


def _strip_end(step: Step, turn: Json) -> None:
    content = turn["content"]
    last = turn if isinstance(content, str) else content[-1]
    key = "content" if isinstance(content, str) else "text"
    if last.get("type", "text") == "text" and last[key] != last[key].rstrip():
        last[key] = last[key].rstrip()
        step.note("dropped", "blanks at the end of the last text, which are refused", "content")
