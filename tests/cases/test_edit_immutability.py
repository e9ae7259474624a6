from __future__ import annotations

import copy
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import MessageHistory, MessageLog
from msglog.errors import PatchError
from msglog.history.pairs import broken_pairs
from tests.concurrency.workers import LOG, user

pytestmark = pytest.mark.every_engine


def spoil(value: Any) -> None:
    """Change a JSON value wherever it lets itself be changed."""
    for item in list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else ():
        spoil(item)
    with suppress(TypeError):
        if isinstance(value, dict):
            value.update(dict.fromkeys(value, "spoilt"))
        elif isinstance(value, list):
            value[:] = ["spoilt"]


async def test_edt_1_nothing_that_goes_in_or_out_is_shared_with_the_store(path: Path) -> None:
    given: dict[str, Any] = {
        "message": {"role": "user", "content": [{"type": "text", "text": "a"}], "extra": {"seen": {"by": ["x"]}}},
        "meta": {"k": [1]},
    }
    expected = copy.deepcopy(given)
    history = MessageHistory().append(given)
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append(given)
        spoil(given)
        spoil(history.to_json())
        spoil(await log.to_openai())
        for message in await log.all():
            spoil(message.to_json())
            spoil(message.content)
            spoil(message.extra)
        entries = [*history, *(message.entry for message in await log.all())]
    async with msglog.open(path) as store:
        entries += [message.entry for message in await store.log(LOG).all()]
    assert len(entries) == 3
    for entry in entries:
        assert entry.to_json() == {"id": entry.id, "kind": "turn", **expected}


def test_edt_1_appending_to_a_history_leaves_it_as_it_was() -> None:
    history = MessageHistory().append(user("a"))
    longer = history.append(user("b"))
    assert longer is not history
    assert (len(history), len(longer)) == (1, 2)


EXCHANGE = [
    ("u1", {"role": "user", "content": "q"}),
    ("calls", {"role": "assistant", "toolCalls": [{"id": i, "name": "f", "args": {}} for i in ("c1", "c2")]}),
    ("t1", {"role": "tool", "toolCallId": "c1", "content": "1"}),
    ("t2", {"role": "tool", "toolCallId": "c2", "content": "2"}),
    ("x", {"role": "assistant", "content": "x"}),
]


@pytest.fixture
def exchange() -> MessageHistory:
    return MessageHistory().append(*({"id": i, "message": message} for i, message in EXCHANGE))


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        ({"op": "remove", "id": "t2"}, ["u1", "x"]),
        ({"op": "remove", "id": "calls"}, ["u1", "x"]),
        ({"op": "move", "ids": ["t1"], "after": "x"}, ["u1", "x", "calls", "t1", "t2"]),
        (
            {"op": "insertAfter", "id": "t1", "entries": [{"id": "new", "message": user("hey")}]},
            ["u1", "calls", "t1", "t2", "new", "x"],
        ),
        ({"op": "remove", "id": "u1"}, ["calls", "t1", "t2", "x"]),
    ],
)
def test_edt_3_an_edit_that_would_split_an_exchange_takes_the_whole_of_it(
    exchange: MessageHistory, patch: dict[str, Any], shown: list[str]
) -> None:
    edited = exchange.edit(patch, keep_pairs=True)
    assert [entry.id for entry in edited] == shown
    assert broken_pairs(edited.refs()) == {}
    assert [entry.id for entry in exchange] == [i for i, _ in EXCHANGE]


@pytest.mark.parametrize(
    "patch",
    [
        {"op": "insertBefore", "id": "t2", "entries": [user("hey")]},
        {"op": "replace", "id": "t1", "entries": [user("hey")]},
        {"op": "move", "ids": ["x"], "after": "t1"},
        {"op": "split", "id": "calls", "entries": [user("a"), user("b")]},
    ],
)
def test_edt_3_an_edit_that_cannot_keep_an_exchange_whole_is_refused(
    exchange: MessageHistory, patch: dict[str, Any]
) -> None:
    with pytest.raises(PatchError) as caught:
        exchange.edit([{"op": "remove", "id": "u1"}, patch], keep_pairs=True)
    assert set(caught.value.ids) & {"calls", "t1", "t2"}
    assert [entry.id for entry in exchange] == [i for i, _ in EXCHANGE]


async def test_edt_4_edits_are_records_and_the_first_text_can_still_be_read(log: MessageLog) -> None:
    await log.append_many({"id": f"m{i}", "message": user(f"m{i}")} for i in range(1, 6))
    start = await log.head()
    assert start is not None
    await log.edit({"op": "replace", "id": "m3", "entries": [user("new")]}, meta={"reason": "a typo"})
    removed = await log.edit({"op": "remove", "id": "m4"}, meta={"reason": "off topic"})
    summary = {"op": "summary", "sourceIds": ["m1", "m2"], "entry": user("summary"), "replace": True}
    await log.edit(summary, meta={"reason": "too long"})
    await log.rewind(removed.revision_id, meta={"reason": "on second thought"})

    assert [message.text for message in await log.all()] == ["m1", "m2", "new", "m5"]
    raw = await log.raw.all()
    assert [message.text for message in raw] == ["m1", "m2", "m3", "m4", "m5", "new", "summary"]
    assert [message.seq for message in raw] == list(range(1, 8))
    edits = [revision async for revision in log.lineage()][:4]
    reasons = [revision.meta["reason"] for revision in edits]
    assert reasons == ["on second thought", "too long", "off topic", "a typo"]
    assert all(revision.created_at > 0 for revision in edits)
    await log.rewind(start)
    assert [message.text for message in await log.all()] == ["m1", "m2", "m3", "m4", "m5"]
