"""What the tests share: Hypothesis strategies for all that can be put in, and a few words to write messages with.

`HYPOTHESIS_PROFILE=thorough` tries a hundred times as much as the default.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from msglog.history import MessageHistory

settings.register_profile(
    "quick", max_examples=30, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=3000, stateful_step_count=50)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

Json = dict[str, Any]

EMOJI = "\N{GRINNING FACE}"
SPLIT_EMOJI = "\ud83d\ude00"
"""The two halves of an emoji as two characters, which must not become one."""


# Texts and JSON

odd_texts = st.sampled_from(
    ["", "\0", "a\0b", "\ud83d", "\udc97x", SPLIT_EMOJI, EMOJI, "e\u0301", "\r\n", " \t", "\ufeff", "\x7f\x1f", "null"]
)
texts = odd_texts | st.text(st.characters(exclude_categories=()), max_size=12)
words = st.text("abcdefghij", min_size=1, max_size=4)

BIGGEST = 10**4300 - 1
"""The largest int that is kept: 4,300 digits."""

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
odd_numbers = st.sampled_from([-0.0, 0, 1, 1.0, 2**53 + 1, -(2**63), 5e-324, 1.7976931348623157e308, BIGGEST, -BIGGEST])
scalars = st.none() | st.booleans() | numbers | odd_numbers | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
json_objects = st.dictionaries(texts, json_values, max_size=3)


# Messages, as a caller or a provider writes them

_KNOWN = {"role", "content", "name", "toolCalls", "tool_calls", "toolCallId", "tool_call_id", "extra"}
further_fields = st.dictionaries(texts.filter(lambda key: key not in _KNOWN), json_values, max_size=2)

parts = (
    st.builds(lambda text, more: {**more, "type": "text", "text": text}, texts, json_objects)
    | st.builds(lambda data: {"type": "image", "mediaType": "image/png", "data": data}, words)
    | st.builds(lambda kind, more: {**more, "type": kind}, words, json_objects)
)
contents = texts | st.lists(parts, max_size=3)
tool_calls = st.builds(
    lambda call_id, name, args: {"id": call_id, "name": name, "args": args}, texts, words, json_values
)


@st.composite
def messages(draw: st.DrawFn) -> Json:
    """Any message, as a dict with camelCase keys."""
    role = draw(st.sampled_from(["system", "developer", "user", "assistant", "tool"]))
    message: Json = {"role": role}
    if role == "tool":
        message |= {"content": draw(json_values), "toolCallId": draw(texts)}
    elif role == "assistant":
        message |= {"content": draw(contents | st.none()), "toolCalls": draw(st.lists(tool_calls, max_size=2))}
    else:
        message |= {"content": draw(contents)}
    if draw(st.booleans()):
        message["name"] = draw(texts)
    return draw(further_fields) | message


moments = st.builds(
    lambda at, minutes: at.replace(tzinfo=timezone(timedelta(minutes=minutes))),
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)),  # noqa: DTZ001 the zone follows
    st.integers(-14 * 60, 14 * 60),
)

_META = {"turn", "createdAt", "created_at", "labels", "links", "model", "usage"}


@st.composite
def metas(draw: st.DrawFn) -> Json:
    """Metadata of an entry, as a dict."""
    known: Json = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "turn": st.integers(0, 1000),
                "createdAt": moments | moments.map(datetime.isoformat) | st.integers(0, 10**13),
                "labels": st.lists(texts, max_size=2),
                "links": st.lists(json_objects, max_size=2),
                "model": texts,
                "usage": json_objects,
            },
        )
    )
    return draw(st.dictionaries(texts.filter(lambda key: key not in _META), json_values, max_size=2)) | known


@st.composite
def entry_inputs(draw: st.DrawFn) -> Json:
    """A message, or an entry input without an id."""
    message = draw(messages())
    if draw(st.booleans()):
        return message
    return {"message": message} | ({"meta": draw(metas())} if draw(st.booleans()) else {})


# Patches


@st.composite
def patches(draw: st.DrawFn, active: Sequence[str], new_ids: Sequence[str]) -> Json:
    """A patch of a view of `active` ids, or of an id that it lacks; its entries get the first of `new_ids`."""
    target = st.sampled_from([*active, "absent"])
    some = st.lists(target, min_size=1, max_size=4)
    op = draw(st.sampled_from(["remove", "replace", "split", "insertBefore", "insertAfter", "move", "summary"]))
    if op == "remove":
        return {"op": op, "id": draw(target)}
    if op == "move":
        anchor = draw(st.sampled_from([None, "before", "after"]))
        return {"op": op, "ids": draw(some)} | ({} if anchor is None else {anchor: draw(target)})
    if op == "summary":
        entry = {"id": new_ids[0], "message": user(f"summary {new_ids[0]}")}
        return {"op": op, "sourceIds": draw(some), "entry": entry, "replace": draw(st.booleans())}
    count = draw(st.integers(0, min(2, len(new_ids))))
    entries = [{"id": entry_id, "message": user(entry_id)} for entry_id in new_ids[:count]]
    return {"op": op, "id": draw(target), "entries": entries}


# Words


def user(text: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": text}


def reply(text: str) -> Json:
    """An answer of the model."""
    return {"role": "assistant", "content": text}


def calls(*call_ids: str) -> Json:
    """A message of the model that calls tools."""
    return {
        "role": "assistant",
        "content": None,
        "toolCalls": [{"id": call_id, "name": "look", "args": {"at": call_id}} for call_id in call_ids],
    }


def result(call_id: str, content: Any = "done") -> Json:
    """The result of a tool call."""
    return {"role": "tool", "content": content, "toolCallId": call_id}


def entry(entry_id: str) -> Json:
    """An entry input that says its own id."""
    return {"id": entry_id, "message": user(entry_id)}


def letters(text: str = "abcde") -> MessageHistory:
    """A history with an entry for each letter, named by it."""
    return MessageHistory().append(*(entry(letter) for letter in text))


def shown(history: MessageHistory) -> str:
    """The ids of the view, one after the other."""
    return "".join(ref.id for ref in history)


def exact(value: Any) -> str:
    """A text that tells apart what `==` takes for equal: `1`, `1.0` and `True`; `0.0` and `-0.0`; orders of keys."""
    return repr(value)


def nested(depth: int, innermost: Any = None) -> Any:
    """Lists and objects in turns, `depth` deep."""
    value = innermost
    for level in range(depth):
        value = [value] if level % 2 else {"in": value}
    return value


NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
