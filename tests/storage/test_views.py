"""The SQL views: one plain query that searches entries by ranges of seq, and columns that people can read."""

from __future__ import annotations

import asyncio
import importlib
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path
from types import ModuleType

import pytest

import msglog
from msglog import MessageLog, Store
from tests.strategies import SPLIT_EMOJI, Json, calls, result, user


@pytest.fixture(params=["sqlite3", "pysqlite3.dbapi2"])
def library(request: pytest.FixtureRequest) -> ModuleType:
    """Each SQLite library that is at hand: the standard one, and a current one where it is installed."""
    name: str = request.param
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed: pip install pysqlite3")


@pytest.fixture
async def store(path: Path, library: ModuleType) -> AsyncIterator[Store]:
    async with msglog.open(path, durability="normal", driver=library) as opened:
        yield opened


@pytest.fixture
async def cut(store: Store) -> MessageLog:
    """A log whose view has chunks and a tail, among others, after ANALYZE-worthy growth."""
    log = store.log("cut")
    await log.add("user", "first")
    other = await log.fork("other")
    await asyncio.gather(*((other if i % 2 else log).add("user", f"text {i}") for i in range(300)))
    await asyncio.gather(*(store.log(f"log {i}").append_many([user("x")] * 20) for i in range(5)))
    await log.edit({"op": "remove", "id": (await log.last(100))[0].entry_id})
    return log


async def plan(store: Store, query: str, *parameters: str) -> list[str]:
    return [row["detail"] for row in await store.sql(f"EXPLAIN QUERY PLAN {query}", parameters)]


def scanned(details: list[str]) -> list[str]:
    """Tables that are read from end to end: not the lists in JSON, which are what is looked up."""
    return [line for line in details if line.startswith("SCAN") and "VIRTUAL TABLE" not in line]


ACTIVE = "SELECT * FROM active_entries WHERE log = ? AND branch = ?"
REVISION = "SELECT * FROM revision_entries WHERE log = ? AND revision = ?"
BY_RANGE = "(log_id=? AND seq>? AND seq<?)"


@pytest.mark.parametrize("order", ["", " ORDER BY position"])
@pytest.mark.parametrize("query", [ACTIVE, REVISION])
async def test_entries_of_a_view_are_searched_by_ranges_of_seq(
    store: Store, cut: MessageLog, query: str, order: str
) -> None:
    details = await plan(store, query + order, "cut", "main")
    assert sum(BY_RANGE in line for line in details) == 2, "chunks, and the tail"
    assert [line for line in details if line.startswith(("SCAN e ", "SCAN TABLE entries"))] == []


@pytest.mark.parametrize("query", [ACTIVE, REVISION])
async def test_a_view_of_one_log_and_branch_or_revision_scans_no_table(
    store: Store, cut: MessageLog, query: str
) -> None:
    assert scanned(await plan(store, query, "cut", "main")) in ([], ["SCAN (subquery-1)"], ["SCAN (subquery-2)"])


async def test_counting_a_view_searches_entries_too(store: Store, cut: MessageLog) -> None:
    details = await plan(
        store, "SELECT count(*) FROM active_entries WHERE log = ? AND branch = ? AND role = 'user'", "cut", "main"
    )
    assert sum(BY_RANGE in line for line in details) == 2


async def test_active_entries_are_the_view_of_each_branch_in_order(store: Store, cut: MessageLog) -> None:
    for branch in ("main", "other"):
        rows = await store.sql(f"{ACTIVE} ORDER BY position", ("cut", branch))
        messages = await store.log("cut", branch).all()
        assert [(row["position"], row["seq"], row["id"], row["text"]) for row in rows] == [
            (place, message.seq, message.entry_id, message.content) for place, message in enumerate(messages)
        ]


async def test_revision_entries_are_the_view_of_every_revision(store: Store, cut: MessageLog) -> None:
    async for revision in cut.lineage():
        rows = await store.sql(f"{REVISION} ORDER BY position", ("cut", revision.id))
        history = await cut.history(at=revision.id)
        assert [(row["position"], row["id"]) for row in rows] == list(enumerate(entry.id for entry in history))


# What people see


async def shown(store: Store, log: MessageLog, message: Json) -> Json:
    """The row of `active_entries` of a message, without what is null."""
    await log.append(message)
    rows = await store.sql("SELECT * FROM active_entries WHERE log = ? ORDER BY position DESC LIMIT 1", (log.name,))
    return {column: value for column, value in rows[0].items() if value is not None}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hello", "hello"),
        ("", ""),
        ("a\0b", "a\u2400b"),
        ("a\ud800b", "a\ufffdb"),
        (SPLIT_EMOJI, "\N{GRINNING FACE}"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image", "mediaType": "image/png", "data": "xx"}], "[image image/png]"),
        ([{"type": "thinking", "of": "x"}], "[thinking]"),
    ],
)
async def test_text_is_the_content_or_a_readable_stand_in(
    store: Store, log: MessageLog, content: object, text: str
) -> None:
    row = await shown(store, log, {"role": "user", "content": content})
    assert row["text"] == text
    assert ("parts" in row) == (content != text)


async def test_text_is_null_where_only_tool_calls_speak(store: Store, log: MessageLog) -> None:
    row = await shown(store, log, calls("c1"))
    assert "text" not in row
    assert row["tool_calls"] == '[{"id":"c1","name":"look","args":{"at":"c1"}}]'


async def test_text_of_a_tool_result_that_is_data_is_its_json(store: Store, log: MessageLog) -> None:
    row = await shown(store, log, result("c1", {"found": [1, None]}))
    assert (row["text"], row["tool_call_id"]) == ('{"found":[1,null]}', "c1")


async def test_a_redacted_entry_says_so(store: Store, log: MessageLog) -> None:
    await log.append_many([user("secret"), user("open")])
    await log.redact(1)
    rows = await store.sql("SELECT text, redacted FROM active_entries WHERE log = 'talk' ORDER BY position")
    assert rows == [{"text": "[redacted]", "redacted": 1}, {"text": "open", "redacted": 0}]


async def test_times_are_iso_8601_in_utc(store: Store, log: MessageLog) -> None:
    await log.add("user", "x")
    message = await log.last()
    assert message is not None
    (row,) = await store.sql("SELECT at FROM active_entries WHERE log = 'talk'")
    assert row["at"].endswith("Z")
    assert abs((datetime.fromisoformat(row["at"]) - message.at).total_seconds()) <= 0.001


async def test_lineage_tells_where_each_context_came_from(store: Store, log: MessageLog) -> None:
    await log.append_many([user("a"), user("b")])
    await log.edit({"op": "remove", "id": (await log.get(1)).entry_id}, meta={"reason": "tidy"})
    await log.fork("side")
    rows = await store.sql("SELECT operation, size, heads, meta FROM lineage WHERE log = 'talk' ORDER BY number")
    assert rows == [
        {"operation": "root", "size": 0, "heads": None, "meta": None},
        {"operation": "append", "size": 2, "heads": None, "meta": None},
        {"operation": "edit", "size": 1, "heads": "main, side", "meta": '{"reason":"tidy"}'},
    ]
    (parent,) = await store.sql(
        "SELECT count(*) AS n FROM lineage AS c JOIN lineage AS p ON c.log = p.log AND c.parent = p.revision"
    )
    assert parent == {"n": 2}


async def test_log_stats_is_a_row_a_log_and_leaves_purged_ones_out(store: Store, log: MessageLog) -> None:
    await log.append_many([user("a"), user("b")])
    await store.log("gone").add("user", "x")
    await store.purge("gone")
    rows = await store.sql("SELECT log, entries, revisions, branches FROM log_stats")
    assert rows == [{"log": "talk", "entries": 2, "revisions": 2, "branches": 1}]


async def test_a_purged_log_is_in_no_view(store: Store, log: MessageLog) -> None:
    await log.add("user", "x")
    await store.purge("talk")
    for view in ("active_entries", "revision_entries", "lineage", "log_stats"):
        assert await store.sql(f"SELECT * FROM {view}") == []


@pytest.mark.parametrize(
    ("name", "uri"),
    [(str, False), (os.fsencode, False), (Path, False), (Path.as_uri, True), (lambda p: f"{p.as_uri()}?mode=ro", True)],
)
def test_a_file_that_another_library_has_open_is_refused_by_every_name(
    tmp_path: Path, name: Callable[[Path], str], *, uri: bool
) -> None:
    """Two SQLite libraries on one file in one process drop each other's locks."""
    path = tmp_path / "a file.db"
    other = pytest.importorskip("pysqlite3.dbapi2", reason="pysqlite3 is not installed")

    async def work() -> None:
        async with msglog.open(path, driver=other) as store:
            await store.log("talk").add("user", "x")
            with pytest.raises(msglog.MsgLogError):
                sqlite3.connect(path)
            with pytest.raises(msglog.MsgLogError):
                sqlite3.connect(path.as_uri(), uri=True)

    asyncio.run(work())
