from __future__ import annotations

from pathlib import Path

import pytest

import msglog
from msglog import Entry, Message, MessageMeta, Store, ToolCall
from msglog.message import make_entry
from msglog.storage import search
from tests.concurrency.workers import LOG, user
from tests.transfer.bundles import exported

SECRET = "sk-TEST-123"


def hits(path: Path, word: str) -> int:
    """How often a word stands in a store's file or in one beside it."""
    return sum(file.read_bytes().count(word.encode()) for file in path.parent.glob(path.name + "*"))


async def test_prv_1_purged_text_is_not_left_in_the_files(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log("QZERASEME")
        for i in range(200):
            await log.append(user(f"QZERASEME {i} " * 20), meta={"QZERASEME": i}, id=f"QZERASEME {i}")
        await store.log("another").append(user("stays"))
        reader = log.iterate(page_size=1)
        assert (await anext(reader)).seq == 1
        assert hits(path, "QZERASEME") > 0
        receipt = await store.purge("QZERASEME")
        assert (receipt.entries, receipt.complete) == (200, True)
        assert [message.text for message in await store.log("another").all()] == ["stays"]
    assert hits(path, "QZERASEME") == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("u1/main", "u2/main"),
        ("a/b-c", "a-b/c"),
        ("Main", "main"),
        ("caf\u00e9", "cafe\u0301"),
        ("a", "a "),
        ("a", "\uff41"),
    ],
)
async def test_prv_4_names_are_the_same_only_byte_for_byte(store: Store, one: str, other: str) -> None:
    await store.log(one).append(user("private"), id="x")
    assert await store.log(other).all() == []
    assert await store.log(other).find("x") is None
    await store.log(other).append(user("other"), id="x")
    assert [message.text for message in await store.log(one).all()] == ["private"]


def without_secrets(entry: Entry) -> Entry:
    """A hook that takes the secret out wherever an entry holds it."""
    data = entry.to_json()
    if SECRET not in str(data):
        return entry
    message = Message(
        role=entry.message.role,
        content=str(entry.message.content).replace(SECRET, "***") if entry.message.content else None,
        tool_calls=tuple(
            ToolCall(id=call.id, name=call.name, args={"key": "***"}) for call in entry.message.tool_calls
        ),
    )
    return make_entry(entry.id, message, entry.kind, MessageMeta(note="***") if entry.meta else None, entry.sources)


async def test_prv_5_a_hook_sees_every_entry_before_it_reaches_the_disk(path: Path) -> None:
    call = {"id": "c", "name": "login", "args": {"key": SECRET}}
    async with msglog.open(path, before_store=without_secrets) as store:
        log = store.log(LOG)
        await log.append(user(f"it is {SECRET}"), id="first")
        await log.append_many([{"role": "assistant", "toolCalls": [call]}])
        await log.append({"message": user("ok"), "meta": {"note": SECRET}})
        await log.commit((await log.history()).append(user(f"again {SECRET}")))
        await log.edit({"op": "summary", "sourceIds": ["first"], "entry": user(f"told {SECRET}"), "replace": True})
        assert [message.text for message in await log.all()] == ["told ***", "", "ok", "again ***"]
        assert hits(path, SECRET) == 0
        assert SECRET.encode() not in await exported(store)
    assert hits(path, SECRET) == 0


async def test_prv_5_a_hook_that_raises_stops_the_append(path: Path) -> None:
    def refuse(entry: Entry) -> Entry:
        raise PermissionError(entry.id)

    async with msglog.open(path, before_store=refuse) as store:
        log = store.log(LOG)
        with pytest.raises(PermissionError):
            await log.append(user("x"))
        with pytest.raises(PermissionError):
            await log.commit(msglog.MessageHistory().append(user("x")))
        assert await log.count() == 0


async def test_prv_2_purging_a_log_takes_everything_that_came_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "UNINDEXED", 0)
    word = "QZERASEME"
    async with msglog.open(path) as store:
        log = store.log(word)
        await store.log("another").append(user("stays"))
        await log.append_many({"id": f"{word} {i}", "message": user(word)} for i in range(10))
        entry = {"id": f"{word} s", "message": user(word)}
        await log.edit({"op": "summary", "sourceIds": [f"{word} 0"], "entry": entry}, meta={"reason": word})
        await (await log.fork(f"{word} fork")).append(user(word))
        assert len(await store.search(word)) == 12
        assert await store.sql("SELECT count(*) AS n FROM search_0_docsize") == [{"n": 13}]
        await store.purge(word)
        assert await store.search(word) == await store.search(word, log=word) == []
        assert [hit.log for hit in await store.search("stays")] == ["another"]
        for table in await store.sql("SELECT name FROM sqlite_master WHERE type = 'table'"):
            rows = await store.sql(f"SELECT * FROM {table['name']}")
            assert word.lower() not in str(rows).lower()
        assert [message.text for message in await store.log("another").all()] == ["stays"]
        assert (await store.verify()).ok
    assert hits(path, word) == hits(path, word.lower()) == 0
