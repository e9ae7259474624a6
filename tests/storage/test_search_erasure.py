"""Words of erased messages are in no byte of the files, with an index or without, on every SQLite library."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import msglog
import msglog.sync
from msglog.storage import search, search_index
from msglog.storage.engine import Connection, DriverError, Row
from msglog.storage.requests import IndexWords
from tests.concurrency.workers import user
from tests.storage.test_erasure import left_of

WORDS = [f"{letter}qerasedword{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
"""Each begins otherwise, so that the index holds it whole: of words that begin alike it holds the rest only."""


@pytest.fixture(params=["sqlite3", "pysqlite3.dbapi2"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param, reason=f"{request.param} is not installed")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "UNINDEXED", 0)
    monkeypatch.setattr(search, "_is_long", lambda *_: True)
    monkeypatch.setattr(search_index, "BLOCK", 16)
    monkeypatch.setattr("msglog.storage.erasure.BLOCK", 16)


def tables(store: msglog.sync.Store) -> set[str]:
    rows = store.sql("SELECT name FROM sqlite_master WHERE name GLOB 'search_[0-9]' OR name GLOB 'search_[0-9][0-9]'")
    return {row["name"] for row in rows}


def held_by_index(store: msglog.sync.Store, word: str) -> bool:
    """Whether the index's own tables hold a word: what is looked for elsewhere is in them to begin with."""
    found = [
        store.sql(f"SELECT max(instr(block, ?)) AS n FROM {table}_data", (word.encode(),))[0]["n"]
        for table in tables(store)
    ]
    return any(found)


def test_a_redacted_message_leaves_no_word_in_any_file_and_is_found_no_more(tmp_path: Path, library: Any) -> None:
    with msglog.sync.open(tmp_path / "a.db", durability="normal", driver=library) as store:
        log = store.log("talk")
        log.append_many([user(f"here is {word}") for word in WORDS])
        assert len(store.search("here", limit=50)) == 26
        assert held_by_index(store, WORDS[3][1:])
        assert tables(store) == {"search_0", "search_1"}

        assert log.redact(4).complete
        assert tables(store) == {"search_1"}
        assert left_of(tmp_path / "a.db", [WORDS[3][1:]]) == []
        assert left_of(tmp_path / "a.db", [WORDS[5][1:]]) == [WORDS[5][1:]]
        assert store.search(WORDS[3]) == []
        assert [hit.message.seq for hit in store.search("here", limit=50)] == [*range(26, 4, -1), 3, 2, 1]
        assert tables(store) == {"search_0", "search_1"}

        for seq in range(1, 27):
            assert log.redact(seq).complete
        assert left_of(tmp_path / "a.db", [word[1:] for word in WORDS]) == []
        assert store.search("here") == []
        assert store.verify().ok


def test_a_message_that_the_index_does_not_hold_yet_is_redacted_without_touching_it(
    tmp_path: Path, library: Any
) -> None:
    with msglog.sync.open(tmp_path / "a.db", durability="normal", driver=library) as store:
        log = store.log("talk")
        log.append_many([user("here")] * 5)
        assert len(store.search("here")) == 5
        log.append(user(WORDS[0]))
        log.redact(6)
        assert tables(store) == {"search_0"}
        assert len(store.search("here")) == 5


def test_a_purged_log_leaves_no_word_in_any_file_and_other_logs_are_found(tmp_path: Path, library: Any) -> None:
    with msglog.sync.open(tmp_path / "a.db", durability="normal", driver=library) as store:
        store.log("kept").append_many([user("here stays") for _ in range(20)])
        for i, word in enumerate(WORDS):
            store.log("gone").append(user(f"here is {word}"))
            store.log("kept").append(user(f"here stays {i}"))
        assert len(store.search("here", limit=100)) == 72
        assert held_by_index(store, WORDS[3][1:])

        assert store.purge("gone").complete
        assert tables(store) == {"search_0"}
        assert left_of(tmp_path / "a.db", [word[1:] for word in WORDS]) == []
        assert store.search("erased*") == store.search("is") == []
        assert {hit.log for hit in store.search("here", limit=100)} == {"kept"}
        assert len(store.search("here", limit=100)) == 46
        assert store.verify().ok


async def test_words_that_were_read_for_the_index_are_not_written_once_they_are_erased(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log("talk")
        await log.append_many([user(f"here is {word}") for word in WORDS[:5]])
        words = await store._access.read(lambda connection: search_index.read_words(connection, -1, 15, 100))
        await log.redact(2)
        assert await store._access.write(IndexWords(0, -1, words)) is False
        assert await store.sql("SELECT name FROM sqlite_master WHERE name GLOB 'search_*'") == []
        assert left_of(path, [WORDS[1][1:]]) == []


def test_an_index_of_another_form_is_taken_away_with_the_erasure(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db", durability="normal") as store:
        store.log("talk").append_many([user("here")] * 3)
    plain = importlib.import_module("sqlite3").connect(tmp_path / "a.db")
    with plain:
        plain.execute("CREATE VIRTUAL TABLE search_5 USING fts5(words_0, content='')")
        plain.execute("INSERT INTO search_5 (rowid, words_0) VALUES (2, 'aqerasedworda')")
    plain.close()
    with msglog.sync.open(tmp_path / "a.db", durability="normal") as store:
        store.log("talk").redact(2)
        assert tables(store) == set()
        assert left_of(tmp_path / "a.db", ["aqerasedworda"]) == []


# A library without FTS5

apsw = pytest.importorskip("apsw", reason="apsw is not installed")


class Bare:
    """SQLite through apsw, without FTS5."""

    name = "bare apsw"
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
        connection = apsw.Connection(path, flags=flags)
        connection.drop_modules([])
        return BareConnection(connection)


class BareConnection:
    """A connection of apsw."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def _run(self, sql: str, rows: Any) -> list[Row]:
        try:
            cursor = self._connection.cursor()
            return list(rows(cursor))
        except apsw.Error as error:
            codes = {**apsw.mapping_result_codes, **apsw.mapping_extended_result_codes}
            raise DriverError(str(codes.get(error.extendedresult, "SQLITE_ERROR")), str(error)) from error

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return self._run(sql, lambda cursor: cursor.execute(sql, tuple(parameters)))

    def executemany(self, sql: str, rows: Any) -> None:
        self._run(sql, lambda cursor: cursor.executemany(sql, [tuple(row) for row in rows]))

    def describe(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[Row]]:
        cursor = self._connection.cursor()
        rows = list(cursor.execute(sql, parameters))
        return [column[0] for column in cursor.description] if rows else [], rows

    def close(self) -> None:
        self._connection.close()


def test_a_library_without_fts5_searches_what_another_indexed_and_erases_it(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db", durability="normal") as store:
        store.log("talk").append_many([user(f"here is {word}") for word in WORDS])
        assert len(store.search("here", limit=50)) == 26
    with msglog.sync.open(tmp_path / "a.db", durability="normal", driver=Bare()) as store:
        assert store.sql("SELECT name FROM pragma_module_list WHERE name = 'fts5'") == []
        assert len(store.search("here", limit=50)) == 26
        assert store.verify().ok
        assert store.log("talk").redact(4).complete
        assert len(store.search("here", limit=50)) == 25
        assert left_of(tmp_path / "a.db", [WORDS[3][1:]]) == []
    with msglog.sync.open(tmp_path / "a.db", durability="normal") as store:
        assert len(store.search("here", limit=50)) == 25
        assert tables(store) == {"search_0", "search_1"}
        assert store.verify().ok
