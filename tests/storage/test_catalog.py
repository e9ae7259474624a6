"""What people say of a log: its title, tags and metadata, and how logs are found by them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import msglog
import msglog.sync
from msglog import MessageLog, Store
from msglog.errors import CodecError, CorruptStoreError, InvalidNameError, ReadOnlyError, TooLargeError, UnknownLogError
from tests.faults.drivers import SpyDriver
from tests.strategies import json_objects, texts

pytestmark = pytest.mark.every_engine


async def filled(store: Store, *names: str) -> None:
    for name in names:
        await store.log(name).add("user", f"hello, {name}")


async def test_a_log_that_nobody_described_has_neither_title_nor_tags_nor_metadata(log: MessageLog) -> None:
    await log.add("user", "hi")
    info = await log.describe()
    assert (info.name, info.title, info.tags, info.meta, info.bytes) == ("talk", None, (), {}, None)
    assert (info.entries, info.revisions, info.branches) == (1, 2, 1)


async def test_a_log_without_an_entry_cannot_be_described(log: MessageLog) -> None:
    with pytest.raises(UnknownLogError):
        await log.describe()
    with pytest.raises(UnknownLogError):
        await log.describe(title="Early")
    assert await log.store.logs() == []


async def test_what_is_given_changes_and_the_rest_stays(log: MessageLog) -> None:
    await log.add("user", "hi")
    await log.describe(title="Trains", tags=["rail", "eu", "rail"], meta={"customer": 7, "plan": "pro"})
    info = await log.describe(meta={"plan": "free", "since": [2024]})
    assert (info.title, info.tags) == ("Trains", ("rail", "eu"))
    assert info.meta == {"customer": 7, "plan": "free", "since": [2024]}
    assert await log.store.describe("talk") == info


async def test_none_takes_away_the_title_the_tags_the_metadata_or_a_key_of_it(log: MessageLog) -> None:
    await log.add("user", "hi")
    await log.describe(title="Trains", tags=["rail"], meta={"a": 1, "b": {"c": None}})
    info = await log.describe(title=None, meta={"a": None})
    assert (info.title, info.tags, info.meta) == (None, ("rail",), {"b": {"c": None}})
    info = await log.describe(tags=None, meta=None)
    assert (info.title, info.tags, info.meta) == (None, (), {})
    assert await log.store.sql("SELECT meta FROM logs") == [{"meta": None}]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=texts, meta=json_objects)
async def test_whatever_goes_in_comes_out_equal(log: MessageLog, title: str, meta: dict[str, Any]) -> None:
    await log.add("user", "hi", id="once")
    await log.describe(meta=None)
    info = await log.describe(title=title, meta=meta)
    assert (info.title, repr(info.meta)) == (title, repr({k: v for k, v in meta.items() if v is not None}))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"title": 5}, TypeError),
        ({"tags": "rail"}, TypeError),
        ({"tags": 5}, TypeError),
        ({"tags": ["rail", ""]}, InvalidNameError),
        ({"tags": ["rail\0"]}, InvalidNameError),
        ({"meta": [1]}, CodecError),
        ({"meta": {"at": b"raw"}}, CodecError),
        ({"meta": {"x": float("nan")}}, CodecError),
    ],
)
async def test_what_cannot_be_kept_exactly_is_refused_and_nothing_changes(
    log: MessageLog, given: dict[str, Any], error: type[Exception]
) -> None:
    await log.add("user", "hi")
    before = await log.describe(title="Trains", tags=["rail"], meta={"a": 1})
    with pytest.raises(error):
        await log.describe(**({"title": "Other"} | given))
    assert await log.describe() == before


async def test_a_description_beyond_the_limit_of_messages_is_refused(path: Path) -> None:
    async with msglog.open(path, max_message_bytes=1000) as store:
        await filled(store, "talk")
        with pytest.raises(TooLargeError, match="a description of"):
            await store.describe("talk", title="x" * 1000)


async def test_a_read_only_store_can_be_asked_but_not_told(path: Path) -> None:
    async with msglog.open(path) as store:
        await filled(store, "talk")
        await store.describe("talk", title="Trains")
    async with msglog.open(path, read_only=True) as store:
        assert (await store.describe("talk")).title == "Trains"
        with pytest.raises(ReadOnlyError):
            await store.describe("talk", title="Other")


async def test_saying_the_same_again_writes_nothing(path: Path) -> None:
    driver = SpyDriver()
    async with msglog.open(path, driver=driver) as store:
        await filled(store, "talk")
        await store.describe("talk", title="Trains")
        driver.forget()
        await store.describe("talk", title="Trains")
    assert driver.count("UPDATE logs") == driver.count("COMMIT") == 0


CHANGES = """
import sys, msglog.sync

with msglog.sync.open(sys.argv[1]) as store:
    for i in range(40):
        store.describe("talk", **{sys.argv[2]: eval(sys.argv[3])})
"""


def test_what_processes_change_at_the_same_time_is_not_lost(path: Path) -> None:
    with msglog.sync.open(path) as store:
        store.log("talk").add("user", "hi")
    changes = {"title": "f'title {i}'", "tags": "[f'tag {i}']", "meta": "{f'key {i}': i, 'last': i}"}
    processes = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", CHANGES, str(path), what, value])
        for what, value in changes.items()
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    with msglog.sync.open(path) as store:
        info = store.describe("talk")
    assert (info.title, info.tags) == ("title 39", ("tag 39",))
    assert info.meta == {f"key {i}": i for i in range(40)} | {"last": 39}


async def test_a_purge_takes_the_description_away(store: Store) -> None:
    await filled(store, "talk")
    await store.describe("talk", title="Trains", meta={"customer": "Ms Jane Roe"})
    await store.purge("talk")
    assert await store.sql("SELECT name, meta FROM logs") == [{"name": None, "meta": None}]


async def test_a_fork_of_a_log_has_the_logs_description(log: MessageLog) -> None:
    await log.add("user", "hi")
    await (await log.fork("side")).describe(title="Trains")
    assert (await log.describe()).title == "Trains"


# Finding


async def test_logs_come_by_activity_by_name_or_by_length(store: Store) -> None:
    await filled(store, "b", "a", "c", "a", "a", "b")
    orders = {order: [i.name for i in await store.logs(order=order)] for order in ("activity", "name", "entries")}
    assert orders == {"activity": ["c", "a", "b"], "name": ["a", "b", "c"], "entries": ["c", "b", "a"]}
    assert [info.name for info in await store.logs()] == orders["activity"]


async def test_logs_are_found_by_the_beginning_of_their_names_byte_for_byte(store: Store) -> None:
    await filled(store, "user-1", "User-2", "user%", "user_3", "é", "e\u0301")
    assert [i.name for i in await store.logs(prefix="user", order="name")] == ["user%", "user-1", "user_3"]
    assert [i.name for i in await store.logs(prefix="user%")] == ["user%"]
    assert [i.name for i in await store.logs(prefix="é")] == ["é"]


async def test_logs_are_found_by_tag(store: Store) -> None:
    await filled(store, "a", "b", "c")
    await store.describe("a", tags=["rail", "eu"])
    await store.describe("b", tags=["railway"], title="rail")
    await store.describe("c", tags=["rail"])
    assert [i.name for i in await store.logs(tag="rail")] == ["a", "c"]
    assert await store.logs(tag="nothing") == []


async def test_an_order_or_a_prefix_that_is_none_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="order must be one of activity, name, entries"):
        await store.logs(order="size")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        await store.logs(prefix=None)  # type: ignore[arg-type]


async def test_the_bytes_of_a_log_are_those_that_its_entries_hold(store: Store) -> None:
    empty = msglog.Message(role="user", content="")
    await store.log("a").append(empty, id="1")
    await store.log("b").append({"id": "1", "message": {"role": "user", "content": "é" * 1000}})
    await store.log("c").append({"id": "1", "message": {"role": "user", "content": "\ud800" * 1000}})
    a, b, c = await store.logs(sizes=True)
    assert a.bytes is not None
    assert b.bytes == a.bytes + 2000
    assert c.bytes is not None
    assert c.bytes >= a.bytes + 3000  # in `parts`, and a stand-in to be read
    assert (await store.describe("b", sizes=True)).bytes == b.bytes


async def test_a_description_that_cannot_be_read_is_said_to_be_corrupt(store: Store, path: Path) -> None:
    await filled(store, "talk")
    for column in ("'[1]'", "5", "x'ff'", "'{\"title\":1}'", '\'{"tags":"a"}\'', "'{\"tags\":[1]}'", "'{\"meta\":1}'"):
        await asyncio.to_thread(behind_the_stores_back, path, f"UPDATE logs SET meta = {column}")
        with pytest.raises(CorruptStoreError, match="log 'talk': its title, tags and metadata"):
            await store.describe("talk")
        with pytest.raises(CorruptStoreError):
            await store.describe("talk", title="Trains")


def behind_the_stores_back(path: Path, statement: str) -> None:
    code = "import sys, sqlite3; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()"
    subprocess.run([sys.executable, "-c", code, str(path), statement], check=True)


def test_the_blocking_face_describes_too(path: Path) -> None:
    with msglog.sync.open(path) as store:
        store.log("talk").add("user", "hi")
        assert store.log("talk").describe(title="Trains").title == "Trains"
        assert [info.title for info in store.logs(prefix="t")] == ["Trains"]
