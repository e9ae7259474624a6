"""`repair` mends what rows and hashes prove, lists what stays, and changes nothing before a backup stands."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

import msglog
import msglog.sync
from msglog.errors import ReadOnlyError, StoreIOError
from msglog.storage import integrity, objects, report
from msglog.storage.engine import Connection, DriverError
from msglog.storage.repair import RepairReport
from msglog.storage.schema import metadata
from msglog.storage.search import catch_up
from msglog.storage.search_index import blocks
from msglog.storage.sqlite import SqliteDriver
from tests.faults.drivers import FaultyDriver
from tests.strategies import user

TABLES = ("logs", "entries", "revisions", "chunks", "branches")


async def _fill(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log("one")
        for i in range(6):
            await log.append(user(f"text {i}"), id=f"e{i + 1}")
        await log.edit({"op": "remove", "id": "e2"})
        side = await log.fork("side")
        await side.append(user("on side"), id="s")
        await log.fork("idle")
        stale = (await log.history()).append(user("stale"))
        await log.append(user("newer"), id="newer")
        await log.commit(stale, "rebase")
        await log.describe(title="One")
        await store.log("two").append_many([user("x"), user("y")])
        await catch_up(store._access)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("repair") / "filled.db"
    asyncio.run(_fill(path))
    return path


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    copied = tmp_path / "agent.db"
    shutil.copy(filled, copied)
    return copied


@contextmanager
def connected(path: Path) -> Iterator[Connection]:
    connection = SqliteDriver().connect(str(path))
    try:
        yield connection
    finally:
        connection.close()


def damaged(path: Path, *statements: str) -> None:
    """Change a file behind the triggers' back."""
    with connected(path) as connection:
        triggers = [name for name in objects.wanted() if name.startswith("TRIGGER")]
        objects.drop(connection, triggers)
        for statement in statements:
            if not statement.startswith("DROP TRIGGER"):
                connection.execute(statement)
        dropped = {" ".join(statement.split()[1:3]) for statement in statements if statement.startswith("DROP ")}
        wanted = objects.wanted()
        for name in triggers:
            if name not in dropped:
                connection.execute(wanted[name])


def rows(path: Path) -> dict[str, list[Any]]:
    with connected(path) as connection:
        return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in TABLES}


def repaired(path: Path) -> RepairReport:
    """Repair, which does what its dry run said, and does nothing more when it is done again."""
    with msglog.sync.open(path) as store:
        told = store.repair()
        assert told.dry_run
        before = rows(path)
        done = store.repair(dry_run=False)
        assert done.mended == told.mended
        assert [str(p) for p in done.problems] == [str(p) for p in told.problems]
        assert [str(p) for p in done.problems] == [str(p) for p in store.verify().problems]
        assert (done.backup is not None) == bool(done.mended)
        if done.backup is not None:
            assert rows(Path(done.backup)) == before
        again = store.repair(dry_run=False)
        assert (again.mended, again.backup) == ((), None)
    return done


MENDABLE = {
    "entries counted too high": "UPDATE logs SET entry_count = entry_count + 3 WHERE id = 1",
    "entries counted too low": "UPDATE logs SET entry_count = 2 WHERE id = 1",
    "revisions counted too low": "UPDATE logs SET revision_count = 1 WHERE id = 1",
    "another last hash": "UPDATE logs SET chain_hash = x'00' WHERE id = 1",
    "another last hash and count": "UPDATE logs SET chain_hash = x'00', entry_count = 5 WHERE id = 1",
    "a head moved back": "UPDATE branches SET head = head - 2 WHERE log_id = 1 AND name = 'main'",
    "a head moved to another branch's": "UPDATE branches SET head = 2 WHERE log_id = 1 AND name = 'side'",
    "a head moved on to nothing": "UPDATE branches SET head = 9999 WHERE log_id = 1 AND name = 'main'",
    "a branch forked from elsewhere": "UPDATE branches SET forked_from = 1 WHERE log_id = 1 AND name = 'side'",
    "the hash of an entry's content": "UPDATE entries SET content_hash = x'00' WHERE log_id = 1 AND seq = 3",
    "the hash of an entry in the chain": "UPDATE entries SET chain_hash = zeroblob(16) WHERE log_id = 1 AND seq = 3",
    "the hash of the last entry": "UPDATE entries SET chain_hash = zeroblob(16) WHERE log_id = 2 AND seq = 2",
    "the hash of a revision": "UPDATE revisions SET hash = zeroblob(16) WHERE log_id = 1 AND number = 6",
    "the hash of a root": "UPDATE revisions SET hash = zeroblob(16) WHERE log_id = 2 AND number = 0",
    "the row of a branch lost": "DELETE FROM branches WHERE log_id = 1 AND name = 'side'",
    "the row of main lost": "DELETE FROM branches WHERE log_id = 1 AND name = 'main'",
}


@pytest.mark.parametrize("statement", MENDABLE.values(), ids=MENDABLE.keys())
def test_what_rows_and_hashes_prove_is_set_right_again(path: Path, statement: str) -> None:
    original = rows(path)
    damaged(path, statement)
    assert rows(path) != original
    done = repaired(path)
    assert done.ok
    assert done.mended
    mended = rows(path)
    for table in ("logs", "entries", "revisions", "chunks"):
        assert mended[table] == original[table]
    # When a branch was made is not proven: one that is put back is as old as its first revision.
    assert [row[:4] for row in mended["branches"]] == [row[:4] for row in original["branches"]]


def test_several_damages_are_mended_together(path: Path) -> None:
    original = rows(path)
    damaged(
        path,
        MENDABLE["revisions counted too low"],
        MENDABLE["entries counted too low"],
        MENDABLE["a branch forked from elsewhere"],
        "UPDATE logs SET entry_count = 7 WHERE id = 2",
        "DROP TRIGGER entries_delete",
        "DROP VIEW lineage",
    )
    done = repaired(path)
    assert done.ok
    assert {mend.log for mend in done.mended} == {None, "one", "two"}
    assert rows(path) == original


@pytest.mark.parametrize(
    "statement", ["DROP TRIGGER entries_delete", "DROP VIEW active_entries", "DROP INDEX revisions_replaces"]
)
def test_a_trigger_a_view_or_an_index_that_is_gone_is_made_again(path: Path, statement: str) -> None:
    damaged(path, statement)
    done = repaired(path)
    assert done.ok
    assert [str(mend) for mend in done.mended] == [f"{statement.removeprefix('DROP ')}: created again"]


def test_one_in_another_form_is_made_again_as_it_should_be(path: Path) -> None:
    damaged(path, "DROP VIEW lineage", "CREATE VIEW lineage AS SELECT 1 AS log")
    assert repaired(path).ok


def test_a_trigger_that_is_none_of_ours_is_left_alone(path: Path) -> None:
    damaged(path, "CREATE TRIGGER odd AFTER INSERT ON marks BEGIN SELECT 1; END", MENDABLE["entries counted too high"])
    assert repaired(path).ok
    with connected(path) as connection:
        assert objects.strange_triggers(connection) == [("odd", "marks")]


def test_a_description_that_cannot_be_read_is_taken_away_and_kept_in_the_backup(path: Path) -> None:
    damaged(path, "UPDATE logs SET meta = '{\"title\": 5}' WHERE id = 1")
    done = repaired(path)
    assert done.ok
    with msglog.sync.open(path) as store:
        assert store.describe("one").title is None
    with connected(Path(done.backup or "")) as connection:
        assert connection.execute("SELECT meta FROM logs WHERE id = 1") == [('{"title": 5}',)]


def test_an_index_of_sqlite_that_lacks_rows_is_made_anew(path: Path) -> None:
    sql = "CREATE INDEX revisions_replaces ON revisions (log_id, replaces) WHERE {}"
    change = "UPDATE sqlite_master SET sql = '{}' WHERE name = 'revisions_replaces'"
    with connected(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change.format(sql.format("replaces = 0")))
    with connected(path) as connection:
        connection.execute("REINDEX")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change.format(sql.format("replaces IS NOT NULL")))
    with connected(path) as connection:
        assert {problem.kind for problem in integrity.verify(connection).problems} == {"file"}
    done = repaired(path)
    assert done.ok
    assert [str(mend) for mend in done.mended] == ["the file: its indexes made anew from the tables"]


def test_a_damaged_search_index_is_taken_away_and_made_anew_by_the_next_search(path: Path) -> None:
    damaged(path, "UPDATE search_0_data SET block = x'00ff00ff' WHERE id > 10")
    done = repaired(path)
    assert done.ok
    assert [mend.key for mend in done.mended] == ["search_0"]
    with connected(path) as connection:
        assert blocks(connection.execute) == []
    with msglog.sync.open(path) as store:
        assert len(store.search("text")) == 6


# What stays


def left(done: RepairReport) -> set[tuple[str | None, str, int | str]]:
    return {(problem.log, problem.kind, problem.key) for problem in done.problems}


def test_a_lost_last_entry_stays_lost_and_its_branch_shows_what_is_left(path: Path) -> None:
    damaged(path, "DELETE FROM entries WHERE log_id = 2 AND seq = 2")
    done = repaired(path)
    assert [str(mend) for mend in done.mended] == [
        "log 'two', branch 'main': moved to a new revision, 2: it shows the 1 entries that are left, without seq 2"
    ]
    assert left(done) == {("two", "log", "entry_count"), ("two", "revision", 1)}
    with msglog.sync.open(path) as store:
        assert [m.seq for m in store.log("two").all()] == [1]
        assert store.log("two").add("user", "further") == 3
        assert [m.seq for m in store.log("two").all()] == [1, 3]


def test_where_an_entry_in_the_middle_is_lost_what_is_left_can_be_read_again(path: Path) -> None:
    damaged(path, "DELETE FROM entries WHERE log_id = 1 AND id = 'e4'")
    with msglog.sync.open(path) as store, pytest.raises(msglog.MsgLogError):
        store.log("one").all()
    done = repaired(path)
    assert left(done) == {("one", "entry", 4), ("one", "revision", 4), (None, "table", "entries")}
    with msglog.sync.open(path) as store:
        main, side = store.log("one"), store.log("one", "side")
        assert [m.text for m in main.all()] == ["text 0", "text 2", "text 4", "text 5", "newer", "stale"]
        assert [m.text for m in side.all()] == ["text 0", "text 2", "text 4", "text 5", "on side"]
        assert next(main.lineage()).meta["reason"].startswith("repair:")
        main.add("user", "further")
        assert len(store.verify().problems) == len(done.problems)


def test_a_revision_that_is_not_what_was_stored_is_shown_by_no_branch_any_more(path: Path) -> None:
    damaged(path, "UPDATE revisions SET size = 3, tail = '[[0,1,3]]' WHERE log_id = 2 AND number = 1")
    done = repaired(path)
    assert [str(mend) for mend in done.mended] == [
        "log 'two', branch 'main': moved from revision 1 to 0, its last sound one"
    ]
    assert left(done) == {("two", "revision", 1), ("two", "branch", "main")}
    with msglog.sync.open(path) as store:
        assert store.log("two").all() == []
        assert [m.text for m in store.log("two").raw.all()] == ["x", "y"]


def test_a_lost_last_revision_leaves_its_branch_at_the_one_before(path: Path) -> None:
    damaged(
        path, "DELETE FROM revisions WHERE log_id = 1 AND number = (SELECT max(number) FROM revisions WHERE log_id = 1)"
    )
    done = repaired(path)
    assert [mend.done.split(" from")[0] for mend in done.mended] == ["moved"]
    assert {kind for _, kind, _ in left(done)} <= {"log", "revision"}
    with msglog.sync.open(path) as store:
        assert [m.text for m in store.log("one").all()][-1] == "newer"
        store.log("one").add("user", "further")
        assert [m.text for m in store.log("one").all()][-1] == "further"


def test_a_revision_in_the_middle_that_is_lost_moves_no_head(path: Path) -> None:
    damaged(path, "DELETE FROM revisions WHERE log_id = 1 AND number = 3")
    done = repaired(path)
    assert done.mended == ()
    assert left(done) == {("one", "revision", 3), ("one", "revision", 4)}


UNMENDABLE = {
    "another text": ("UPDATE entries SET text = 'forged' WHERE log_id = 1 AND seq = 3", {("one", "entry", 3)}),
    "another text with a hash of its own": (
        "UPDATE entries SET text = 'forged', content_hash = zeroblob(16) WHERE log_id = 1 AND seq = 3",
        {("one", "entry", 3)},
    ),
    "the hashes of an entry and of the one after it": (
        "UPDATE entries SET chain_hash = zeroblob(16) WHERE log_id = 1 AND seq IN (3, 4)",
        {("one", "entry", seq) for seq in (3, 4, 5)},
    ),
    "an old revision's time": (
        "UPDATE revisions SET at = 5 WHERE log_id = 1 AND number = 2",
        {("one", "revision", 2)},
    ),
    "a branch put in by hand": (
        "INSERT INTO branches VALUES (1, 'forged', 4, 3, 0)",
        {("one", "branch", "forged")},
    ),
    "revisions counted too high, of which the last may be lost": (
        "UPDATE logs SET revision_count = revision_count + 1 WHERE id = 1",
        {("one", "log", "revision_count")},
    ),
    "entries counted too high, with another last hash": (
        "UPDATE logs SET entry_count = entry_count + 1, chain_hash = x'00' WHERE id = 1",
        {("one", "log", "entry_count")},
    ),
    "an idle branch moved": (
        "UPDATE branches SET head = 2 WHERE log_id = 1 AND name = 'idle'",
        {("one", "branch", "idle")},
    ),
    "a log's row lost": (
        "DELETE FROM logs WHERE id = 2",
        {(None, "table", table) for table in ("entries", "revisions", "branches", "chunks")},
    ),
}


@pytest.mark.parametrize(("statement", "problems"), UNMENDABLE.values(), ids=UNMENDABLE.keys())
def test_what_nothing_proves_is_left_as_it_is_and_listed(
    path: Path, statement: str, problems: set[tuple[str | None, str, int | str]]
) -> None:
    damaged(path, statement)
    before = rows(path)
    done = repaired(path)
    assert done.mended == ()
    assert left(done) & problems
    assert left(done) <= problems
    assert rows(path) == before


def test_counts_that_a_lost_last_commit_would_explain_are_left(path: Path) -> None:
    last = "(SELECT max({0}) FROM {1} WHERE log_id = 2)"
    damaged(
        path,
        f"DELETE FROM entries WHERE log_id = 2 AND revision = {last.format('number', 'revisions')}",
        f"DELETE FROM revisions WHERE log_id = 2 AND number = {last.format('number', 'revisions')}",
    )
    done = repaired(path)
    assert ("two", "log", "entry_count") in left(done)
    assert ("two", "log", "revision_count") in left(done)
    assert [mend.key for mend in done.mended] == ["main"]


def test_where_there_are_too_many_problems_rows_are_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_PROBLEMS", 3)
    damaged(path, "UPDATE entries SET text = 'forged'", MENDABLE["a head moved back"])
    done = repaired(path)
    assert (done.truncated, done.mended, done.ok) == (True, (), False)


OTHERS = ("NULL", "0", "1", "7", "-1", "'text'", "'[]'", "'[[0,1,3]]'", "x'ff00'", "0.5", "hex({}) || 'x'")


def random_damage(random: Random, held: dict[str, list[Any]]) -> str:
    """A row deleted, or a column of one changed."""
    table = metadata.tables[random.choice([table for table in TABLES if held[table]])]
    row = dict(zip(table.columns.keys(), random.choice(held[table.name]), strict=True))
    key = " AND ".join(f"{column.name} = {row[column.name]!r}" for column in table.primary_key.columns)
    if random.random() < 0.3:
        return f"DELETE FROM {table.name} WHERE {key}"
    column = random.choice(list(row))
    return f"UPDATE OR IGNORE {table.name} SET {column} = {random.choice(OTHERS).format(column)} WHERE {key}"


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_damaged_repair_ends_invents_nothing_and_has_nothing_left_to_do(path: Path, seed: int) -> None:
    random = Random(seed)
    statements = [random_damage(random, rows(path)) for _ in range(random.choice((1, 1, 2, 4)))]
    made = []
    for statement in statements:
        try:
            damaged(path, statement)
            made.append(statement)
        except DriverError:  # a constraint of the tables stands in the way
            continue
    before = rows(path)
    repaired(path)
    after = rows(path)
    assert [row[:17] for row in after["entries"]] == [row[:17] for row in before["entries"]], made
    kept = {row[:2]: row[2:14] for row in after["revisions"]}
    assert all(kept[row[:2]] == row[2:14] for row in before["revisions"]), made


# Safety


def test_a_store_in_order_is_left_alone_without_a_backup(path: Path) -> None:
    before = rows(path)
    done = repaired(path)
    assert (done.ok, done.mended, done.backup) == (True, (), None)
    assert rows(path) == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["agent.db", "agent.db-lock"]


def test_a_dry_run_changes_nothing(path: Path) -> None:
    damaged(
        path, MENDABLE["a head moved back"], "DROP VIEW lineage", "DELETE FROM entries WHERE log_id = 1 AND seq = 4"
    )
    before = rows(path)
    with msglog.sync.open(path) as store:
        told = store.repair()
        assert told.mended
        assert rows(path) == before
        with connected(path) as connection:
            assert objects.missing(connection) == ["VIEW lineage"]
        assert store.repair() == told


def test_the_backup_is_private_and_named_after_the_store(path: Path) -> None:
    damaged(path, MENDABLE["a head moved back"])
    backup = Path(repaired(path).backup or "")
    assert backup.parent == path.parent
    assert backup.name.startswith("agent.db.before-repair-")
    assert backup.stat().st_mode & 0o777 == 0o600


def test_without_a_backup_nothing_is_changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged(path, MENDABLE["a head moved back"])
    before = rows(path)
    with msglog.sync.open(path) as store:
        monkeypatch.setattr("msglog.storage.maintenance.name_beside", lambda *_: str(path))
        with pytest.raises(FileExistsError):
            store.repair(dry_run=False)
    assert rows(path) == before


@pytest.mark.parametrize("statement", ["UPDATE branches", "COMMIT", "CREATE TRIGGER", "RELEASE"])
def test_a_disk_that_says_no_leaves_all_or_nothing_of_it(path: Path, statement: str) -> None:
    damaged(path, MENDABLE["a head moved back"])
    before = rows(path)
    driver = FaultyDriver()
    with msglog.sync.open(path, driver=driver) as store:
        store.repair()
        driver.arm(1 if statement == "RELEASE" else 0, "SQLITE_IOERR_WRITE", only=statement)
        with pytest.raises(StoreIOError):
            store.repair(dry_run=False)
        driver.disarm()
        assert rows(path)["branches"] == before["branches"]
        assert store.repair(dry_run=False).ok


async def test_appends_beside_a_repair_are_not_lost(path: Path) -> None:
    damaged(path, MENDABLE["revisions counted too low"], MENDABLE["the row of a branch lost"])
    async with msglog.open(path) as store:
        log = store.log("two")
        seqs, *_ = await asyncio.gather(
            asyncio.gather(*(log.add("user", f"beside {i}") for i in range(20))),
            store.repair(dry_run=False),
            store.repair(),
        )
        assert (await store.verify()).ok
        assert sorted(seqs) == list(range(3, 23))
        assert await store.log("one", "side").add("user", "further") == 10


def test_a_read_only_store_is_not_repaired(path: Path) -> None:
    with msglog.sync.open(path, read_only=True) as store, pytest.raises(ReadOnlyError):
        store.repair()
