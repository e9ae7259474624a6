"""`doctor` says what is unsafe about a store, its library and its place, and what to do about it."""

from __future__ import annotations

import builtins
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import msglog
import msglog.sync
from msglog.errors import StoreClosedError
from msglog.storage import doctor, library, surroundings
from msglog.storage.doctor import Diagnosis
from msglog.storage.erasure import ERASURE, IN_FILE
from msglog.storage.findings import Finding
from msglog.storage.search import catch_up
from msglog.storage.sqlite import SqliteDriver
from tests.faults.drivers import FaultyDriver
from tests.strategies import user


@pytest.fixture(autouse=True)
def _a_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the tests' own files lie: in memory, say, or where little is free."""
    if "store" in request.fixturenames:
        monkeypatch.setattr(surroundings, "file_system", lambda _path: "ext4")
        monkeypatch.setattr(surroundings, "free_bytes", lambda _path: 2**40)


@pytest.fixture
def store(path: Path) -> Iterator[msglog.sync.Store]:
    with msglog.sync.open(path) as opened:
        opened.log("talk").add("user", "hi")
        yield opened


def wrong(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """What is not ok, as severity and subject."""
    return [(f.severity, f.about) for f in diagnosis.findings if f.severity != "ok"]


def found(diagnosis: Diagnosis, about: str) -> Finding:
    (finding,) = [finding for finding in diagnosis.findings if finding.about == about and finding.severity != "ok"]
    assert finding.advice
    return finding


def other_process(path: Path, statement: str) -> None:
    code = "import sys, sqlite3; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()"
    subprocess.run([sys.executable, "-c", code, str(path), statement], check=True)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """A reader that keeps the write-ahead log as it is."""
    connection = SqliteDriver().connect(str(path), read_only=True)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM entries")
        yield
    finally:
        connection.close()


def test_a_store_in_order_gets_no_warning(store: msglog.sync.Store, path: Path) -> None:
    diagnosis = store.doctor()
    assert wrong(diagnosis) == []
    assert diagnosis.ok
    assert diagnosis.path == str(path)
    assert (diagnosis.library, diagnosis.version) == ("sqlite3", ".".join(map(str, SqliteDriver().version)))
    assert [(os.path.basename(file.path), file.mode) for file in diagnosis.files] == [
        ("agent.db", 0o600),
        ("agent.db-wal", 0o600),
        ("agent.db-shm", 0o600),
        ("agent.db-lock", 0o600),
    ]
    assert diagnosis.checkpoint is not None
    assert diagnosis.checkpoint.complete
    assert diagnosis.content is not None
    assert [(info.name, info.entries) for info in diagnosis.content.logs] == [("talk", 1)]
    assert diagnosis.content.journal_mode == "wal"


def test_every_finding_says_what_was_found_and_a_bad_one_what_to_do() -> None:
    for finding in library.examine("sqlite3", (3, 34, 0), ["THREADSAFE=0", "DISABLE_DIRSYNC"], takes_turns=False):
        assert finding.about
        assert finding.found in str(finding)
        assert bool(finding.advice) == (finding.severity != "ok")


def test_it_never_opens_the_file_but_through_sqlite(
    store: msglog.sync.Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def spied(original: Callable[..., Any]) -> Callable[..., Any]:
        def spy(file: object, *arguments: Any, **options: Any) -> Any:
            opened.append(str(file))
            return original(file, *arguments, **options)

        return spy

    with monkeypatch.context() as patch:
        for module in (builtins, io, os):
            patch.setattr(module, "open", spied(module.open))
        store.doctor()
    assert [name for name in opened if name.startswith(str(path))] == []


def test_a_store_that_is_read_only_is_looked_at_without_a_checkpoint(store: msglog.sync.Store, path: Path) -> None:
    store.log("talk").add("user", "in the write-ahead log")
    size = path.stat().st_size
    with msglog.sync.open(path, read_only=True) as other:
        diagnosis = other.doctor()
    assert (diagnosis.checkpoint, wrong(diagnosis)) == (None, [])
    assert path.stat().st_size == size


def test_a_closed_store_is_not_examined(path: Path) -> None:
    store = msglog.sync.open(path)
    store.close()
    with pytest.raises(StoreClosedError):
        store.doctor()


# The library


@pytest.mark.parametrize("version", [(3, 40, 1), (3, 51, 2), (3, 51, 3), (3, 7, 0)])
def test_the_wal_reset_bug_is_named_where_the_library_has_it(version: tuple[int, ...]) -> None:
    first, *_ = [
        f for f in library.examine("sqlite3", version, ["ENABLE_FTS5"], takes_turns=True) if "older" not in f.found
    ]
    assert ("WAL-reset bug" in first.found) == (version != (3, 51, 3))
    assert first.severity == "ok", "processes of msglog take turns"


def test_without_turns_the_wal_reset_bug_is_a_warning() -> None:
    first = next(library.examine("sqlite3", (3, 40, 1), ["ENABLE_FTS5"], takes_turns=False))
    assert (first.severity, "without flock" in first.found) == ("warning", True)


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        (["THREADSAFE=0", "ENABLE_FTS5"], "error"),
        (["THREADSAFE=1", "ENABLE_FTS5", "DISABLE_DIRSYNC"], "warning"),
        (["THREADSAFE=1"], "warning"),
        (["THREADSAFE=2", "ENABLE_FTS5"], "ok"),
    ],
)
def test_a_build_that_lacks_what_a_store_needs_is_found(options: list[str], severity: str) -> None:
    *_, last = library.examine("sqlite3", (3, 51, 3), options, takes_turns=True)
    assert last.severity == severity


# The files


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-lock"])
def test_a_file_that_others_may_read_is_a_warning(store: msglog.sync.Store, path: Path, end: str) -> None:
    os.chmod(f"{path}{end}", 0o644)
    assert f"agent.db{end} 0o644" in found(store.doctor(), "the files").found


def test_a_directory_that_everybody_may_write_to_is_a_warning(store: msglog.sync.Store, path: Path) -> None:
    path.parent.chmod(0o777)
    assert "everybody may replace them" in found(store.doctor(), "the files").found
    path.parent.chmod(0o1777)
    assert store.doctor().ok


def test_a_second_name_of_the_file_is_an_error(store: msglog.sync.Store, path: Path, tmp_path: Path) -> None:
    os.link(path, tmp_path / "second.db")
    finding = found(store.doctor(), "the files")
    assert (finding.severity, "2 names" in finding.found) == ("error", True)


def test_a_file_that_is_gone_or_another_one_is_an_error(store: msglog.sync.Store, path: Path) -> None:
    path.rename(path.with_name("moved.db"))
    assert "is gone" in found(store.doctor(), "the files").found
    path.touch(0o600)
    assert "not the file that was opened" in found(store.doctor(), "the files").found


def test_files_of_another_user_are_a_warning(store: msglog.sync.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 123456)
    assert "another user" in found(store.doctor(), "the files").found


def test_little_free_space_is_a_warning_and_then_an_error() -> None:
    mega = 2**20
    assert surroundings.examine_space(mega, 1000 * mega).severity == "ok"
    assert surroundings.examine_space(600 * mega, 1000 * mega).severity == "warning"
    assert surroundings.examine_space(mega, 10 * mega).severity == "error"


def test_a_copy_that_a_repair_or_a_killed_backup_left_is_a_warning(store: msglog.sync.Store, path: Path) -> None:
    for name in ("agent.db.before-repair-20260101T000000Z", "agent.db.copy.partial-77"):
        path.with_name(name).touch()
        assert name in found(store.doctor(), "copies").found
        path.with_name(name).unlink()
    path.with_name("another.db.before-repair-20260101T000000Z").touch()
    assert store.doctor().ok


# The file system

MOUNTS = """\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:50 / /mnt/far\\040away rw - nfs4 server:/share rw
24 22 0:51 / /mnt/far\\040away/near rw - xfs /dev/sdb rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/agent.db", "ext4"),
        ("/mnt/far away/agent.db", "nfs4"),
        ("/mnt/far away/near/agent.db", "xfs"),
        ("/mnt/far away too/agent.db", "ext4"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    monkeypatch.setattr(surroundings, "_device", lambda _path: "99:9")
    assert surroundings.file_system(path, str(table)) == kind


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuse.s3fs", "ceph", "glusterfs"])
def test_a_network_file_system_is_an_error(kind: str) -> None:
    finding = surroundings.examine_file_system(kind)
    assert (finding.severity, finding.advice) == ("error", "Move the store to a local disk")


@pytest.mark.parametrize(
    ("kind", "severity"), [("ext4", "ok"), ("apfs", "ok"), ("overlay", "ok"), (None, "ok"), ("tmpfs", "warning")]
)
def test_a_local_file_system_is_none(kind: str | None, severity: str) -> None:
    assert surroundings.examine_file_system(kind).severity == severity


def test_where_the_system_does_not_tell_nothing_is_made_up(tmp_path: Path) -> None:
    assert surroundings.file_system(str(tmp_path), str(tmp_path / "nothing")) is None


HOLDS = """
import sys, msglog.sync
with msglog.sync.open(sys.argv[1]) as store:
    store.log("talk").count()
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell who has a file open")
def test_other_processes_that_have_it_open_are_named(store: msglog.sync.Store, path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        diagnosis = store.doctor()
        process.communicate(b"")
    assert diagnosis.processes == (process.pid,)
    assert store.doctor().processes == ()


# The write-ahead log, the writer, the content


def test_a_reader_that_keeps_a_large_write_ahead_log_is_a_warning(
    store: msglog.sync.Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "WAL_BYTES", 20_000)
    with reading(path):
        store.log("talk").append_many([user("x" * 500)] * 100)
        diagnosis = store.doctor()
        assert "keeps" in found(diagnosis, "the write-ahead log").found
        assert diagnosis.checkpoint is not None
        assert diagnosis.checkpoint.frames > diagnosis.checkpoint.moved
    assert store.doctor().ok


def test_a_disk_that_says_no_to_the_checkpoint_is_an_error(path: Path) -> None:
    driver = FaultyDriver()
    with msglog.sync.open(path, driver=driver) as store:
        store.log("talk").add("user", "hi")
        driver.arm(0, "SQLITE_IOERR_WRITE", only="PRAGMA wal_checkpoint")
        finding = found(store.doctor(), "the write-ahead log")
        assert (finding.severity, "SQLITE_IOERR_WRITE" in finding.found) == ("error", True)
        assert store.doctor().ok


def test_a_writer_that_gave_up_is_an_error(path: Path) -> None:
    with msglog.sync.open(path) as store:
        store.log("talk").add("user", "hi")
        os.rename(path, path.with_name("moved.db"))
        with pytest.raises(msglog.MsgLogError):
            store.log("talk").add("user", "lost")
        assert "it gave up" in found(store.doctor(), "the writer").found


def test_an_erasure_that_is_not_finished_is_a_warning_until_it_is(store: msglog.sync.Store, path: Path) -> None:
    with reading(path):
        assert not store.log("talk").redact(1).complete
        assert "redacted or purged may still lie" in found(store.doctor(), "erasure").found
    assert store.compact().complete
    assert store.doctor().ok


def test_a_disk_that_failed_lately_is_a_warning(store: msglog.sync.Store, path: Path) -> None:
    other_process(path, f"INSERT INTO marks VALUES ('barrier', {time.time_ns() // 1000})")
    assert "a commit failed with an I/O error" in found(store.doctor(), "the disk").found
    other_process(path, f"UPDATE marks SET value = {(time.time() - 40 * 86400) * 1e6:.0f}")
    assert store.doctor().ok


def test_marks_are_shown_as_they_are(store: msglog.sync.Store, path: Path) -> None:
    other_process(path, f"INSERT INTO marks VALUES ('{ERASURE}', {IN_FILE})")
    diagnosis = store.doctor()
    assert diagnosis.content is not None
    assert diagnosis.content.marks == {ERASURE: IN_FILE}


def test_much_unused_space_is_a_warning_that_compact_ends(store: msglog.sync.Store, path: Path) -> None:
    other_process(path, "CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(3000000)); DROP TABLE filler")
    assert "compact()" in found(store.doctor(), "unused space").advice
    store.compact()
    assert store.doctor().ok


@pytest.mark.parametrize(
    "statement", ["DROP TRIGGER entries_delete", "DROP VIEW lineage", "DROP INDEX revisions_replaces"]
)
def test_a_part_of_the_schema_that_is_missing_is_an_error(store: msglog.sync.Store, path: Path, statement: str) -> None:
    other_process(path, statement)
    finding = found(store.doctor(), "the schema")
    assert (finding.severity, statement.removeprefix("DROP ") in finding.found) == ("error", True)


def test_a_trigger_that_is_none_of_ours_is_a_warning(store: msglog.sync.Store, path: Path) -> None:
    other_process(path, "CREATE TRIGGER odd AFTER INSERT ON entries BEGIN SELECT 1; END")
    assert "'odd' on 'entries'" in found(store.doctor(), "the schema").found


async def test_how_much_the_search_index_lacks_is_said(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").add("user", "hi")
        for lacks in (1, 0):
            content = (await store.doctor()).content
            assert content is not None
            assert content.unindexed == lacks
            await catch_up(store._access)


def test_a_content_that_cannot_be_read_is_an_error_and_the_rest_is_said_all_the_same(
    store: msglog.sync.Store, path: Path
) -> None:
    other_process(path, "UPDATE logs SET meta = 'no JSON'")
    diagnosis = store.doctor()
    assert "title, tags and metadata cannot be read" in found(diagnosis, "the content").found
    assert diagnosis.content is None
    assert diagnosis.files


def test_a_newer_schema_under_an_open_store_is_an_error(store: msglog.sync.Store, path: Path) -> None:
    other_process(path, "UPDATE alembic_version SET version_num = '9999'")
    assert "9999" in found(store.doctor(), "the content").found
