"""A commit costs as what it brings in, however long the log is and however cut up its view."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import msglog
from msglog import MessageLog, Store
from msglog.storage.spans import CHUNK_SPANS
from tests.faults.drivers import SpyDriver
from tests.strategies import result, user

ONE_APPEND = [
    "BEGIN IMMEDIATE",
    "PRAGMA data_version",
    "INSERT INTO entries",
    "INSERT INTO revisions",
    "UPDATE logs",
    "UPDATE branches",
    "COMMIT",
]


@pytest.fixture
def driver() -> SpyDriver:
    return SpyDriver()


@pytest.fixture
async def store(path: Path, driver: SpyDriver) -> AsyncIterator[Store]:
    async with msglog.open(path, durability="normal", driver=driver) as opened:
        yield opened


def began(statements: list[str]) -> list[str]:
    """The statements, each by the first words of one that an append runs."""
    return [next((start for start in ONE_APPEND if sql.startswith(start)), sql) for sql in statements]


async def structure(store: Store) -> int:
    """Bytes of all revisions and chunks, but for what is the same in each: ids, hashes and numbers."""
    columns = ("tail", "coalesce(chunks, '')", "coalesce(operation, '')", "coalesce(meta, '')")
    lengths = " + ".join(f"length(CAST({column} AS BLOB))" for column in columns)
    rows = await store.sql(
        f"SELECT (SELECT coalesce(sum({lengths}), 0) FROM revisions)"
        " + (SELECT coalesce(sum(length(CAST(spans AS BLOB))), 0) FROM chunks) AS bytes"
    )
    return int(rows[0]["bytes"])


async def in_turns(log: MessageLog, other: MessageLog, count: int) -> None:
    await asyncio.gather(*((other if i % 2 else log).add("user", "x") for i in range(count)))


# Statements


@pytest.mark.parametrize("before", [1, 2000])
async def test_an_append_is_seven_statements_in_a_short_log_and_in_a_long_one(
    log: MessageLog, driver: SpyDriver, before: int
) -> None:
    await log.append_many([user("x")] * before)
    driver.forget()
    await log.add("user", "y")
    assert began(driver.statements) == ONE_APPEND


async def test_an_append_with_an_id_looks_that_id_up_and_no_more(log: MessageLog, driver: SpyDriver) -> None:
    await log.add("user", "x")
    driver.forget()
    await log.add("user", "y", id="mine")
    assert len(driver.statements) == len(ONE_APPEND) + 1


async def test_an_append_after_another_connection_wrote_reads_what_it_needs_and_no_more(
    log: MessageLog, path: Path, driver: SpyDriver
) -> None:
    await log.append_many([user("x")] * 500)
    other = driver.connect(str(path))
    other.execute("INSERT INTO marks VALUES ('other', 1)")
    other.close()
    driver.forget()
    await log.add("user", "y")
    assert sum(sql.startswith("SELECT") for sql in driver.statements) <= 3
    assert len(driver.statements) <= len(ONE_APPEND) + 3


async def test_an_append_in_a_view_of_many_spans_reads_the_last_chunk_alone_and_only_where_the_tail_is_full(
    store: Store, driver: SpyDriver
) -> None:
    log = store.log("cut")
    await log.add("user", "x")
    other = await log.fork("other")
    await in_turns(log, other, 400)
    driver.forget()
    for _ in range(40):
        await other.add("user", "x")
        await log.add("user", "x")
    assert sum(" chunks" in sql and "json_each" in sql for sql in driver.statements) <= 4, "two for each branch"
    assert driver.count("SELECT") <= 5, "and the last chunk's number, once"


async def test_a_full_tail_goes_into_the_last_chunk_where_that_has_room(store: Store) -> None:
    log = store.log("cut")
    await log.add("user", "x")
    await in_turns(log, await log.fork("other"), 800)
    anchors = await store.sql(
        "SELECT json_array_length(chunks) AS chunks, size FROM revisions WHERE chunks IS NOT NULL AND branch = 'main'"
    )
    longest = max(anchor["size"] for anchor in anchors)
    assert longest > 300
    assert max(anchor["chunks"] for anchor in anchors) <= longest // CHUNK_SPANS + 2


async def test_a_retry_writes_nothing_and_commits_nothing(log: MessageLog, driver: SpyDriver) -> None:
    await log.add("user", "x", id="mine")
    driver.forget()
    assert await log.add("user", "x", id="mine") == 1
    assert driver.inserted() == {}
    assert "COMMIT" not in driver.statements


# Rows


async def test_a_batch_is_one_revision(log: MessageLog, driver: SpyDriver) -> None:
    await log.add("user", "x")
    driver.forget()
    await log.append_many([user("x")] * 7)
    assert driver.inserted() == {"entries": 7, "revisions": 1}


async def test_a_commit_writes_what_came_after_its_base(log: MessageLog, driver: SpyDriver) -> None:
    await log.append_many([user("x")] * 500)
    history = await log.history()
    target = history.refs()[250].id
    driver.forget()
    appended = history.append(user("y"), user("z")).append(user("w"))
    await log.commit(appended.edit({"op": "replace", "id": target, "entries": [user("new")]}))
    inserted = driver.inserted()
    assert inserted.pop("chunks", 0) <= 2
    assert inserted == {"entries": 4, "revisions": 3}


async def test_an_edit_of_a_cut_up_view_writes_only_the_chunks_that_it_touches(store: Store, driver: SpyDriver) -> None:
    log = store.log("cut")
    await log.add("user", "x")
    await in_turns(log, await log.fork("other"), 1200)
    await log.edit({"op": "remove", "id": (await log.last(300))[0].entry_id})
    chunks = (await store.sql("SELECT count(*) AS n FROM chunks"))[0]["n"]
    target = (await log.last(500))[0].entry_id
    driver.forget()
    await log.edit({"op": "remove", "id": target})
    assert chunks > 15
    assert driver.inserted()["chunks"] <= 2


async def test_a_commit_sent_again_writes_nothing(log: MessageLog, driver: SpyDriver) -> None:
    await log.add("user", "x")
    history = (await log.history()).append(user("y"))
    await log.commit(history)
    driver.forget()
    await log.commit(history)
    assert driver.inserted() == {}
    assert "COMMIT" not in driver.statements


async def test_a_fork_is_one_row(log: MessageLog, driver: SpyDriver) -> None:
    await log.append_many([user("x")] * 100)
    driver.forget()
    await log.fork("other")
    assert driver.inserted() == {"branches": 1}


async def test_a_rewind_is_one_revision_that_shares_the_chunks_of_its_target(store: Store, driver: SpyDriver) -> None:
    log = store.log("cut")
    await log.add("user", "x")
    await in_turns(log, await log.fork("other"), 200)
    target = await log.head()
    assert target is not None
    await log.append_many([user("x")] * 10)
    driver.forget()
    await log.rewind(target)
    assert driver.inserted() == {"revisions": 1}


# Bytes


async def test_an_append_only_log_is_one_span_however_long(log: MessageLog, store: Store) -> None:
    await asyncio.gather(*(log.add("user", "x") for _ in range(1000)))
    rows = await store.sql("SELECT tail FROM revisions ORDER BY number DESC LIMIT 1")
    assert rows == [{"tail": "[[0,1,1000]]"}]
    assert await structure(store) / 1000 <= 16


async def test_two_branches_that_take_turns_cost_at_most_400_bytes_an_append(store: Store) -> None:
    log = store.log("turns")
    await log.add("user", "x")
    other = await log.fork("other")
    await in_turns(log, other, 3000)
    assert await structure(store) / 3000 <= 400
    assert (await log.count(), await other.count()) == (1501, 1501)


async def test_clearing_an_old_tool_result_each_turn_costs_the_chunk_that_holds_it(store: Store) -> None:
    log = store.log("tools")
    await log.append_many([result(f"c{i}", "long " * 20) for i in range(500)])
    history = await log.history()
    before = await structure(store)
    for turn in range(300):
        old = history.refs()[turn]
        cleared = {"op": "replace", "id": old.id, "entries": [result(f"c{turn}", "cleared")]}
        history = await log.commit(history.append(user("x"), result(f"d{turn}", "long")).edit(cleared))
    assert (await structure(store) - before) / 300 <= 1500
