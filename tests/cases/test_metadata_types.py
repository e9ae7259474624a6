from __future__ import annotations

import enum
import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any
from uuid import UUID

import pytest

import msglog
from msglog import MessageHistory, MessageLog
from msglog.errors import CodecError
from tests.concurrency.workers import LOG, user
from tests.transfer.bundles import exported, taken_in

pytestmark = pytest.mark.every_engine


INFINITY = float("inf")
NAN = float("nan")


class Plain(enum.Enum):
    RED = "red"


class Word(enum.StrEnum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


class Ratio(float):
    """As numpy's float64 is one."""


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"message": user("x"), "meta": {"score": NAN}}, "meta.score"),
        ({"message": user("x"), "meta": {"usage": {"input_tokens": NAN}}}, "meta.usage.input_tokens"),
        ({"role": "tool", "toolCallId": "c", "content": {"x": INFINITY}}, "content.x"),
        ({"role": "tool", "toolCallId": "c", "content": {"rows": [1, -INFINITY]}}, "content.rows[1]"),
        ({"role": "assistant", "toolCalls": [{"id": "c", "name": "f", "args": {"y": NAN}}]}, "tool_calls[0].args.y"),
    ],
)
async def test_met_1_nan_and_infinities_are_refused_with_their_path(
    log: MessageLog, entry: dict[str, Any], place: str
) -> None:
    with pytest.raises(CodecError) as caught:
        await log.append_many([user("before"), entry])
    assert caught.value.path == f"[1].{place}"
    with pytest.raises(CodecError):
        MessageHistory().append(entry)
    assert await log.count() == 0


async def test_met_1_a_provider_s_text_of_arguments_is_kept_whatever_it_says(log: MessageLog) -> None:
    call = msglog.ToolCall.from_text("c", "f", '{"x": NaN}')
    await log.append(msglog.Message(role="assistant", tool_calls=(call,)))
    (message,) = await log.all()
    assert message.tool_calls[0].broken
    assert message.tool_calls[0].arguments == '{"x": NaN}'


async def test_met_2_big_integers_keep_every_digit(path: Path) -> None:
    numbers = {"id": 9007199254740993, "big": 12345678901234567890123, "min": -(2**63), "long": 10**4000 + 7}
    call = {"id": "c", "name": "f", "args": numbers}
    async with msglog.open(path) as store:
        await store.log(LOG).append({"role": "assistant", "toolCalls": [call]}, meta=numbers)
    async with msglog.open(path) as store:
        (message,) = await store.log(LOG).all()
        history = await store.log(LOG).history(full=True)
        async with msglog.open(":memory:") as other:
            await taken_in(other, await exported(store))
            (copied,) = await other.log(LOG).all()
    (entry,) = MessageHistory.from_json(json.loads(json.dumps(history.to_json())))
    for held in (message.entry, entry, copied.entry):
        assert held.message.tool_calls[0].args == numbers
        assert held.meta is not None
        assert held.meta.model_extra == numbers


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 3, 8, 2, 30),  # noqa: DTZ001 naive it is
        datetime(2026, 3, 8, 2, 30, tzinfo=timezone(timedelta(hours=2))),
        date(2026, 3, 8),
        Decimal("1.10"),
        UUID(int=7),
        b"\x00\xd6",
        bytearray(b"x"),
        {1, 2},
        frozenset({1}),
        Plain.RED,
        PurePath("a/b"),
        object(),
        1j,
        {1: "a key that is no str"},
        range(3),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_met_4_what_json_has_no_form_for_is_refused_on_every_way_in(log: MessageLog, value: object) -> None:
    entry = {"message": user("x"), "meta": {"key": {"inner": value}}}
    for attempt in (log.append(entry), log.append(user("x"), meta=entry["meta"]), log.append_many([entry])):
        with pytest.raises(TypeError, match=r"meta\.key\.inner"):
            await attempt
    with pytest.raises(TypeError, match=r"meta\.key\.inner"):
        MessageHistory().append(entry)
    assert await log.count() == 0


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ((1, (2,)), [1, [2]]),
        (Word.RED, "red"),
        (Number.ONE, 1),
        (Ratio(0.5), 0.5),
        (True, True),
        (1.0, 1.0),
        (-0.0, -0.0),
        (None, None),
        ({"b": 1, "a": [2]}, {"b": 1, "a": [2]}),
    ],
)
async def test_met_4_what_has_a_json_form_is_held_as_it_is_read(path: Path, value: object, kept: object) -> None:
    entry = {"message": user("x"), "meta": {"key": value}}
    (held,) = MessageHistory().append(entry)
    async with msglog.open(path) as store:
        await store.log(LOG).append(entry)
        (stored,) = await store.log(LOG).all()
    for meta in (held.meta, stored.meta):
        assert meta is not None
        assert meta.model_extra is not None
        assert json.dumps(meta.model_extra["key"]) == json.dumps(kept)
        assert isinstance(meta.model_extra["key"], type(kept))


@pytest.mark.parametrize("aware", [datetime(2026, 3, 8, 2, 30, tzinfo=UTC), "2026-03-08T02:30:00Z", 1772937000000])
def test_met_4_the_time_of_a_message_has_a_field_of_its_own(aware: object) -> None:
    meta = msglog.MessageMeta(created_at=aware)
    assert meta.created_at == datetime(2026, 3, 8, 2, 30, tzinfo=UTC)
