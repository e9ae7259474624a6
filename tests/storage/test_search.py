"""Searching a store: with the index and without, nothing is missed, nothing of others is seen, nothing is paid for."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import msglog
import msglog.sync
from msglog import Store
from msglog.errors import CorruptStoreError, UnknownBranchError
from msglog.search import Hit
from msglog.storage import search, search_index
from msglog.storage.engine import Connection, Row
from msglog.storage.sqlite import SqliteDriver
from tests.concurrency.processes import Process, at_once
from tests.concurrency.workers import hold, search_for, search_until_killed_at, user
from tests.faults.drivers import FaultyDriver, SpyDriver
from tests.strategies import messages, texts

pytestmark = pytest.mark.every_engine


words_or_not = st.text("abcdefghij", min_size=1, max_size=2) | texts | st.sampled_from(["text", "null", "*", "0"])


def seqs(hits: Sequence[Hit]) -> list[int]:
    return [hit.message.seq for hit in hits]


async def said(store: Store, count: int, log: str = "talk") -> None:
    """Messages that all hold `word`, and each its own number."""
    await store.log(log).append_many([user(f"word n{i}") for i in range(1, count + 1)])


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every search bring all into the index first, in small steps and small blocks."""
    monkeypatch.setattr(search, "UNINDEXED", 0)
    monkeypatch.setattr(search_index, "STEP_ROWS", 10)
    monkeypatch.setattr(search_index, "BLOCK", 64)
    monkeypatch.setattr(search, "PAGE", 7)


class Reads(SqliteDriver):
    """Counts the entries that searches look at."""

    looked = 0

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        opened = super().connect(path, read_only=read_only)
        execute = opened.execute

        class Counted:
            close = opened.close
            executemany = opened.executemany
            describe = opened.describe

            @staticmethod
            def execute(sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
                Reads.looked += sql == search._LOOK
                return execute(sql, parameters)

        Reads.looked = 0
        return Counted()


# What is found


async def test_the_newest_come_first_and_no_more_than_the_limit(store: Store) -> None:
    await said(store, 30)
    assert seqs(await store.search("word", limit=5)) == [30, 29, 28, 27, 26]
    assert seqs(await store.search("word n3*")) == [30, 3]
    assert await store.search("word", limit=0) == []


async def test_a_hit_holds_the_log_the_message_and_the_place(store: Store) -> None:
    await store.log("talk").append(user("One\nmore Time"), id="x")
    [hit] = await store.search("more")
    assert (hit.log, hit.message) == ("talk", await store.log("talk").get("x"))
    assert [(part.text, part.matched) for part in hit.context] == [("One\n", False), ("more", True), (" Time", False)]


async def test_roles_and_times_narrow_it_down(store: Store) -> None:
    log = store.log("talk")
    await log.append(user("word"))
    await log.add("assistant", "word")
    second = await log.get(2)
    assert seqs(await log.search("word", role="assistant")) == [2]
    assert seqs(await log.search("word", since=second.at)) == [2] or (await log.get(1)).at == second.at
    assert await log.search("word", since=datetime.now(UTC) + timedelta(hours=1)) == []
    assert await log.search("word", role="system") == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"role": "asistant"}, ValueError),
        ({"since": datetime(2026, 1, 1)}, ValueError),  # noqa: DTZ001 that is the fault
        ({"since": "yesterday"}, TypeError),
        ({"limit": -1}, ValueError),
        ({"limit": True}, TypeError),
    ],
)
async def test_what_is_no_role_no_time_and_no_number_is_refused(
    store: Store, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await store.search("word", **options)
    with pytest.raises(TypeError, match="words must be a str, not bytes"):
        await store.search(b"word")  # type: ignore[arg-type]


async def test_names_tool_calls_and_results_are_searched_and_kinds_data_and_signatures_are_not(store: Store) -> None:
    log = store.log("talk")
    call = {"id": "c", "name": "book_flight", "args": {"to": {"city": "Oslo", "seats": 358}}}
    await log.append({"role": "assistant", "content": None, "toolCalls": [call]})
    broken = {"id": "d", "name": "book_flight", "args": {}, "raw": '{"city": "Bergen'}
    await log.append({"role": "assistant", "content": None, "toolCalls": [broken]})
    await log.append({"role": "tool", "toolCallId": "c", "content": {"said": ["a\nline", True]}})
    parts = [{"type": "image", "mediaType": "image/png", "data": "T3Nsbw"}, {"type": "text", "text": "a fjord"}]
    parts.append({"type": "thinking", "thinking": "pondering", "signature": "c2lnbmVk"})
    await log.append({"role": "user", "name": "Ada", "content": parts})
    found = {
        words: seqs(await log.search(words))
        for words in ("book_flight oslo", "city oslo", "358", "bergen", "line", "said true", "ada fjord", "pondering")
    }
    expected = [[1], [1], [1], [2], [3], [3], [4], [4]]
    assert list(found.values()) == expected, found
    for words in ("T3Nsbw", "png", "thinking text", "c2lnbmVk"):
        assert await log.search(words) == []


async def test_a_branch_searches_its_view_and_raw_the_whole_log(store: Store, indexed: None) -> None:
    log = store.log("talk")
    await said(store, 100)
    branch = await log.fork("other")
    await branch.append(user("word of the branch"))
    ids = [message.entry_id for message in await log.all()]
    await log.edit(*({"op": "remove", "id": entry_id} for entry_id in ids[10:100:2]))
    assert seqs(await log.search("word", limit=200)) == [*range(100, 10, -2), *range(10, 0, -1)]
    assert seqs(await branch.search("word", limit=200)) == list(range(101, 0, -1))
    assert seqs(await log.raw.search("word", limit=200)) == list(range(101, 0, -1))
    with pytest.raises(UnknownBranchError):
        await store.log("talk", "none").search("word")
    assert await store.log("none").search("word") == []


# With the index and without


@settings(max_examples=12)
@given(st.lists(messages(), min_size=1, max_size=12), st.lists(words_or_not, max_size=6))
def test_a_search_finds_the_same_with_the_index_and_without(
    tmp_path_factory: pytest.TempPathFactory, said: list[dict[str, Any]], queries: list[str]
) -> None:
    file = tmp_path_factory.mktemp("search") / "a.db"
    with pytest.MonkeyPatch.context() as patch, msglog.sync.open(file, durability="normal") as store:
        for i, message in enumerate(said):
            store.log(f"log{i % 2}").append(message)
        for message in said:
            if isinstance(message["content"], str):
                queries += [message["content"], message["content"][:2] + "*"]

        def found() -> list[list[Hit]]:
            everywhere = [store.search(words, limit=100) for words in queries]
            return everywhere + [store.log("log0").raw.search(words, limit=100) for words in queries]

        patch.setattr(search, "UNINDEXED", 10**9)
        without = found()
        assert store.sql("SELECT name FROM sqlite_master WHERE name GLOB 'search_*'") == []
        patch.setattr(search, "UNINDEXED", 0)
        patch.setattr(search_index, "BLOCK", 4)
        store.search("the index is made by this")
        assert store.sql("SELECT count(*) AS n FROM search_0_docsize")[0]["n"] == min(3, len(said))
        assert found() == without
        assert store.verify().problems == []


async def test_every_committed_message_is_found_at_every_state_of_the_index(path: Path, indexed: None) -> None:
    chance = random.Random(4)
    async with msglog.open(path, durability="normal") as store:
        count = 0
        for _ in range(12):
            for _ in range(chance.randrange(1, 40)):
                count += 1
                await store.log(f"log{count % 3}").append(user(f"word n{count}"))
            if chance.random() < 0.5:
                assert len(await store.search("word", limit=1000)) == count
            assert len(await store.search(f"n{count}")) == 1
            assert len(await store.search("n1")) == 1
        assert (await store.verify()).ok


@pytest.mark.file_only("it steps in between two reads of the file")
@pytest.mark.parametrize("kept", [0, 1000])
async def test_a_log_that_is_purged_while_it_is_searched_is_found_no_further(
    store: Store, indexed: None, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(search, "UNINDEXED", kept)
    await said(store, 100)
    await store.search("word")
    begun = search.checked_search("word", "talk", None, None, None, 1000)
    await store._access.read(lambda connection: search._look_on(connection, store.path, begun))
    assert len(begun.hits) == search.PAGE
    await store.purge("talk")
    await said(store, 10)
    assert len(await search.search(store._access, begun)) == search.PAGE


async def test_a_read_only_store_is_searched_beyond_its_index(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 100)
        assert len(await store.search("word", limit=1000)) == 100
        await said(store, 50, "later")
    async with msglog.open(path, read_only=True) as store:
        assert len(await store.search("word", limit=1000)) == 150
        assert seqs(await store.search("n7", log="later")) == seqs(await store.search("n7", log="talk")) == [7]
        assert seqs(await store.log("later").search("word", limit=2)) == [50, 49]


async def test_a_store_without_an_index_that_cannot_be_made_is_searched(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 500)
    async with msglog.open(path, read_only=True) as store:
        assert len(await store.search("word", limit=1000)) == 500
        assert await store.sql("SELECT name FROM sqlite_master WHERE name GLOB 'search_*'") == []


async def test_an_index_that_was_dropped_under_an_open_store_is_made_again(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 100)
        assert len(await store.search("word", limit=1000)) == 100
        with Process(hold, str(path), "DROP TABLE search_1") as other:
            assert other.hear() == "held"
            assert len(await store.search("word", limit=1000)) == 100
            other.tell()
        assert (await store.verify()).ok
        assert await store.sql("SELECT count(*) AS n FROM search_1_docsize") == [{"n": 37}]


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE search_0_config",
        "DROP TABLE search_0_docsize",
        "DROP TABLE search_0_data",
        "DELETE FROM search_0_docsize WHERE id > 30",
        "CREATE TABLE search_9_data (x)",
    ],
)
async def test_an_index_of_which_something_is_missing_is_made_again(path: Path, indexed: None, damage: str) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 40)
        assert len(await store.search("word", limit=1000)) == 40
    with sqlite3.connect(path) as plain:
        plain.execute(damage)
    plain.close()
    async with msglog.open(path, durability="normal") as store:
        await said(store, 10)
        assert len(await store.search("word", limit=1000)) == 50


async def test_verify_sees_an_index_that_holds_other_words_and_a_repair_mends_it(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 40)
        assert len(await store.search("word", limit=1000)) == 40
        assert (await store.verify()).ok
    for statement in (
        "INSERT INTO search_0 (search_0, rowid, words_1) VALUES ('delete', 7, 'n')",
        "UPDATE search_0_data SET block = randomblob(length(block)) WHERE id > 10",
    ):
        with sqlite3.connect(path) as plain:
            plain.execute(statement)
        plain.close()
        async with msglog.open(path, durability="normal") as store:
            report = await store.verify()
            assert {problem.kind for problem in report.problems} == {"search"}
            await store.repair(dry_run=False)
            assert (await store.verify()).ok
            assert len(await store.search("word n7")) == 1


async def test_an_index_that_sqlite_finds_malformed_is_a_typed_error(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 40)
        await store.search("word")
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE search_0_data SET block = randomblob(length(block)) WHERE id > 10")
    plain.close()
    async with msglog.open(path, durability="normal") as store:
        with pytest.raises(CorruptStoreError, match=r"the search index.*Store\.repair"):
            await store.search("word")


# Others


async def test_a_log_among_thousands_is_searched_at_the_cost_of_its_own_entries(path: Path) -> None:
    driver = Reads()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        await asyncio.gather(*(store.log(f"log{i}").append(user("the same word")) for i in range(2000)))
        await store.log("log7").append_many([user("the same word")] * 250)
        for log, own in (("log7", 251), ("log8", 1)):
            Reads.looked = 0
            hits = await store.search("same", log=log, limit=1000)
            assert {hit.log for hit in hits} == {log}
            assert len(hits) == Reads.looked == own
        assert len(await store.search("same", limit=10_000)) == 2250
    async with msglog.open(path, read_only=True, driver=driver) as store:
        Reads.looked = 0
        assert len(await store.search("word", log="log8")) == Reads.looked == 1


async def test_a_rare_word_is_found_without_looking_at_other_entries(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal", driver=Reads()) as store:
        await said(store, 150)
        await store.search("word")
        Reads.looked = 0
        assert seqs(await store.search("word n77")) == [77]
        assert Reads.looked == 1


async def test_no_name_of_a_log_and_no_word_reaches_into_another_log(store: Store, indexed: None) -> None:
    names = ["a", "a b", 'a" OR "', "a*", "1", "/1", "a' OR 1=1 --"]
    for name in names:
        await store.log(name).append(user(f"secret of {name}"))
    for name in names:
        for words in ("secret", "secret /1", '"/2" OR secret', "secret*"):
            assert {hit.log for hit in await store.log(name).search(words)} <= {name}
            assert {hit.log for hit in await store.search(words, log=name)} <= {name}
    assert await store.search("secret", log="a%") == []


# Appends do not pay, and searches get along


async def test_an_append_runs_the_same_statements_with_an_index_as_without(path: Path, indexed: None) -> None:
    driver = SpyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        log = store.log("talk")
        for _ in range(3):
            await log.append(user("word"))
        driver.statements.clear()
        await log.append(user("word"))
        before = list(driver.statements)
        assert len(await store.search("word")) == 4
        await log.append(user("word"))
        driver.statements.clear()
        await log.append(user("word"))
        assert driver.statements == before


async def test_a_search_of_few_new_messages_writes_nothing(path: Path) -> None:
    driver = SpyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        await said(store, 200)
        driver.statements.clear()
        assert len(await store.search("word", limit=1000)) == 200
        assert driver.statements == []
        await said(store, 1)
        assert len(await store.search("word", limit=1000)) == 201
        assert any("CREATE VIRTUAL TABLE" in statement for statement in driver.statements)


async def test_many_searches_at_once_make_the_index_once(path: Path, indexed: None) -> None:
    driver = SpyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        await said(store, 100)
        found = await asyncio.gather(*(store.search("word", limit=1000) for _ in range(20)))
        assert [len(hits) for hits in found] == [100] * 20
        assert sum(rows for sql, rows in driver.rows if "INTO search_" in sql) == 100


async def test_appends_get_their_turn_between_steps(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 300)
        searching = asyncio.create_task(store.search("word", limit=1000))
        appended = 0
        while not searching.done():
            await store.log("other").append(user("word"))
            appended += 1
        assert appended > 1
        assert 300 <= len(await searching) <= 300 + appended


async def test_a_cancelled_search_leaves_the_way_free_for_the_next(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 200)
        for turns in range(0, 60, 5):
            task = asyncio.create_task(store.search("word"))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert len(await store.search("word", limit=1000)) == 200
        assert (await store.verify()).ok


# Processes


def test_processes_that_search_at_once_find_everything_and_agree(path: Path) -> None:
    with msglog.sync.open(path, durability="normal") as store:
        store.log("talk").append_many([user(f"word n{i}") for i in range(3000)])
        assert at_once(search_for, [(str(path), "word n7", 50)] * 3) == [[8]] * 3
        assert len(store.search("word", limit=5000)) == 3000
        assert store.sql("SELECT count(*) AS n FROM search_0_docsize") == [{"n": 3000}]
        assert store.verify().ok


@pytest.mark.parametrize("at", [1, 2, 3, 4, 7])
def test_a_search_killed_while_it_makes_the_index_leaves_it_sound(path: Path, at: int) -> None:
    with msglog.sync.open(path, durability="normal") as store:
        store.log("talk").append_many([user(f"word n{i}") for i in range(2500)])
    with Process(search_until_killed_at, str(path), "word", at) as killed:
        assert killed.hear() == "searches"
        with pytest.raises(EOFError):
            killed.result()
    with msglog.sync.open(path, durability="normal") as store:
        assert store.verify().ok
        assert len(store.search("word", limit=5000)) == 2500
        assert store.verify().ok


async def test_a_blocking_search_on_a_loop_waits_for_no_task_that_makes_the_index(path: Path, indexed: None) -> None:
    async with msglog.open(path, durability="normal") as store:
        await said(store, 50)
        store._access.file.indexing.acquire()  # as a task does between two reads
        try:
            with msglog.sync.open(path) as blocking:
                assert len(blocking.search("word", limit=1000)) == 50
        finally:
            store._access.file.indexing.release()


@pytest.mark.parametrize("code", ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_BUSY"])
async def test_an_index_that_cannot_be_written_costs_no_search_and_no_append_anything(
    path: Path, indexed: None, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        await said(store, 30)
        driver.arm(0, code, only="INSERT INTO search_", times=2)
        found, appended = await asyncio.gather(store.search("n7"), store.log("talk").append(user("n7")))
        assert driver.failed
        assert (seqs(found)[-1], appended) == (7, 31)
        assert "the search index was not brought up to date" in caplog.text
        driver.disarm()
        assert seqs(await store.search("n7")) == [31, 7]
        assert (await store.verify()).ok
