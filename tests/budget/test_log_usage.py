"""`log.usage()`: what a log's model responses took, each counted once."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import msglog.sync
from msglog import MessageLog, Store
from msglog.budget import Pricing, UsageTotal
from tests.strategies import reply, user

pytestmark = pytest.mark.every_engine


USAGE = {"input_tokens": 1000, "output_tokens": 100}


def response(text: str, model: str | None = "claude-haiku-4-5", **more: Any) -> dict[str, Any]:
    """A model's response with what it took."""
    return {"message": reply(text), "meta": {"usage": USAGE, **({} if model is None else {"model": model}), **more}}


async def test_it_adds_up_by_branch_and_model(log: MessageLog) -> None:
    await log.append_many([user("q"), response("a"), user("q"), response("b", "claude-sonnet-4-6")])
    what_if = await log.fork("what-if")
    await what_if.append(response("c"))
    await log.append(response("d", None))
    usage = await log.usage()
    assert usage == await what_if.usage()
    assert {part[:2]: total.responses for part, total in usage.parts.items()} == {
        ("main", "claude-haiku-4-5"): 1,
        ("main", "claude-sonnet-4-6"): 1,
        ("main", None): 1,
        ("what-if", "claude-haiku-4-5"): 1,
    }
    assert usage.by_branch["what-if"].cost == Decimal("0.0015")
    assert usage.by_model["claude-haiku-4-5"].cost == Decimal("0.003")
    assert usage.total.cost == Decimal("0.0075")
    assert (usage.total.tokens.input_tokens, usage.total.tokens.output_tokens) == (4000, 400)
    assert (usage.total.partial, usage.total.unpriced) == (True, frozenset([None]))
    assert usage.by_branch["what-if"].partial is False


async def test_a_response_belongs_to_the_day_of_its_storing_in_utc(log: MessageLog) -> None:
    await log.append(response("a"))
    message = await log.last()
    assert message is not None
    usage = await log.usage()
    assert usage.by_day == {message.at.astimezone(UTC).date(): usage.total}


async def test_a_response_is_counted_once_however_it_is_shown(log: MessageLog) -> None:
    await log.append_many([user("q"), response("a"), user("q2"), response("b")])
    before = await log.head()
    assert before is not None
    refs = (await log.history()).refs()
    await log.edit({"op": "move", "ids": [refs[1].id], "after": refs[3].id})
    await log.edit({"op": "remove", "id": refs[1].id})
    entry = {"message": user("s"), "meta": {"usage": USAGE, "model": "claude-haiku-4-5"}}
    await log.edit({"op": "summary", "sourceIds": [e.id for e in refs], "entry": entry, "replace": True})
    await log.rewind(before)
    await (await log.fork("again", at=before)).append(user("x"))
    assert (await log.usage()).total.responses == 3  # the two, and the one that wrote the summary


async def test_parts_of_one_response_are_told_by_its_id(log: MessageLog) -> None:
    of_one = [response("a", response_id="r1"), response("b", response_id="r1")]
    await log.append_many([*of_one, response("c", responseId="r2")])
    first = (await log.history()).refs()[0].id
    await log.edit({"op": "replace", "id": first, "entries": [response("A", response_id="r1")]})
    assert (await log.usage()).total.responses == 2


async def test_prices_may_be_given(log: MessageLog) -> None:
    await log.append(response("a", "mine"))
    assert (await log.usage({"mine": Pricing(1, 10)})).total.cost == Decimal("0.002")
    assert (await log.usage()).total.unpriced == {"mine"}


async def test_more_than_a_page_of_responses_and_odd_metadata_add_up(log: MessageLog) -> None:
    odd: list[Any] = [
        {"message": user("q"), "meta": {"labels": ["\ud83d"]}},
        {"message": reply("a"), "meta": {"usage": {"input_tokens": "many"}, "model": "m\udc97"}},
        {"message": reply("a"), "meta": {"usage": {}}},
    ]
    await log.append_many([*(response(f"{n}") for n in range(450)), *odd])
    usage = await log.usage()
    assert usage.total.responses == 452
    assert usage.by_model["claude-haiku-4-5"].tokens.input_tokens == 450_000


async def test_a_log_that_does_not_exist_yet_has_used_nothing(store: Store) -> None:
    usage = await store.log("new").usage()
    assert (usage.log, usage.parts, usage.total) == ("new", {}, UsageTotal())


async def test_what_was_redacted_counts_no_more(log: MessageLog) -> None:
    await log.append_many([response("a"), response("b")])
    await log.redact(1)
    assert (await log.usage()).total.responses == 1


def test_the_blocking_face_has_it(path: Path) -> None:
    with msglog.sync.open(path) as store:
        store.log("talk").append(response("a"))
        assert store.log("talk").usage().total.responses == 1
