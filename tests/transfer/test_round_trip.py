"""A bundle carries logs whole: what comes in is what went out, and goes out again as the same bytes."""

from __future__ import annotations

import errno
import gzip
import io
import os
import resource
import signal
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

import msglog
import msglog.sync
from msglog import Store
from msglog.errors import UnknownLogError
from msglog.storage import copies, spans, transaction
from msglog.transfer import export_bundle, import_bundle
from tests.storage.test_log_model import LogMachine
from tests.strategies import Json, entry_inputs, exact, json_objects, user
from tests.transfer.bundles import exported, fill, lines, taken_in


class CopyMachine(LogMachine):
    """A log under random operations, of which a copy is kept by bundles."""

    def __init__(self) -> None:
        super().__init__()
        self.copy_path = Path(self.directory.name) / "copy.db"

    @precondition(lambda self: bool(self.model.entries))
    @rule()
    def copy(self) -> None:
        self.copied()

    def copied(self) -> bytes:
        """The bundle that the copy was brought up to date with."""

        async def work() -> bytes:
            bundle = await exported(self.store)
            async with msglog.open(self.copy_path, durability="normal") as other:
                report = await taken_in(other, bundle)
                assert (await taken_in(other, bundle)).entries_new == 0
                assert report.entries_new + report.entries_known == len(self.model.entries)
                assert (await other.verify()).problems == []
                for branch, number in self.model.heads.items():
                    shown = await other.log("model", branch).all()
                    assert [message.entry_id for message in shown] == self.model.revisions[number].view
                if not report.losses:
                    assert await exported(other) == bundle
            return bundle

        return self.run(work())

    def teardown(self) -> None:
        if self.model.entries:
            bundle = self.copied()

            async def fresh() -> None:
                async with msglog.open(":memory:", durability="normal") as other:
                    await taken_in(other, bundle)
                    assert await exported(other) == bundle

            self.run(fresh())
        super().teardown()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts, chunks and tails so small that a short life has many of each."""
    monkeypatch.setattr(copies, "PART_REVISIONS", 3)
    monkeypatch.setattr(copies, "PART_BYTES", 2000)
    for module, name, size in ((spans, "TAIL_SPANS", 2), (transaction, "TAIL_SPANS", 2), (spans, "CHUNK_SPANS", 4)):
        monkeypatch.setattr(module, name, size)


def test_any_history_comes_over_whole_and_a_copy_can_be_kept_up_to_date(small: None) -> None:
    machine = type("Machine", (CopyMachine,), {"seen": {}})
    run_state_machine_as_test(
        machine, settings=settings(derandomize=True, deadline=None, max_examples=10, stateful_step_count=20)
    )


@pytest.mark.parametrize("seed", [4])
def test_a_long_life_comes_over_whole(small: None, seed: int) -> None:
    made = type("Machine", (CopyMachine,), {"seen": {}})()
    try:
        made.walk(Random(seed), 80)
    finally:
        made.teardown()


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """Where another store is to be made."""
    return tmp_path / "another.db"


async def test_every_column_comes_over_exactly(store: Store, another: Path) -> None:
    await fill(store)
    async with msglog.open(another) as other:
        await taken_in(other, await exported(store))
        for info in await store.logs():
            theirs, ours = store.log(info.name), other.log(info.name)
            for branch in await theirs.branches():
                assert branch in await ours.branches()
                one, two = store.log(info.name, branch.name), other.log(info.name, branch.name)
                assert exact(await one.all()) == exact(await two.all())
                assert await one.history(full=True) == await two.history(full=True)
            assert exact(await theirs.raw.all()) == exact(await ours.raw.all())
        for table, columns in {
            "entries": "seq, id, content_hash, chain_hash, redacted_at, redacted_reason, typeof(text), typeof(parts)",
            "revisions": "*",
            "branches": "*",
            "chunks": "*",
        }.items():
            query = (
                f"SELECT l.name AS log, t.* FROM (SELECT log_id, {columns} FROM {table}) AS t"
                " JOIN logs AS l ON l.id = t.log_id ORDER BY 1, 3, 4"
            )
            theirs_rows, our_rows = await store.sql(query), await other.sql(query)
            for row in (*theirs_rows, *our_rows):
                row.pop("log_id")
            assert theirs_rows == our_rows
        assert (await other.describe("one")).title == "A title \udc97"
        assert (await other.describe("one")).meta == {"k": 2**80}
        assert (await other.verify()).ok


async def test_logs_stand_in_the_order_of_their_last_entries(store: Store, another: Path) -> None:
    for name in ("b", "a", "c", "a"):
        await store.log(name).add("user", "hi")
    bundle = await exported(store)
    assert [line["name"] for line in lines(bundle) if line["type"] == "log"] == ["b", "c", "a"]
    async with msglog.open(another) as other:
        await taken_in(other, bundle)
        assert [info.name for info in await other.logs()] == ["b", "c", "a"]


async def test_some_logs_can_be_chosen(store: Store) -> None:
    await fill(store)
    bundle = await exported(store, logs=["three", "two"])
    assert {line["name"] for line in lines(bundle) if line["type"] == "log"} == {"two", "three"}
    with pytest.raises(UnknownLogError, match="'nowhere'"):
        await exported(store, logs=["two", "nowhere"])


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
async def test_a_file_is_compressed_as_its_name_says_and_its_bytes_are_the_same_each_time(
    store: Store, tmp_path: Path, another: Path, suffix: str
) -> None:
    await fill(store)
    one, two = tmp_path / f"one.jsonl{suffix}", tmp_path / f"two.jsonl{suffix}"
    report = await export_bundle(store, one)
    async with msglog.open(another) as other:
        assert (await import_bundle(other, one)).entries_new == report.entries
        await export_bundle(other, two)
    assert one.read_bytes() == two.read_bytes()
    assert one.stat().st_mode & 0o777 == 0o600
    plain = await exported(store)
    assert (one.read_bytes() == plain) == (suffix == "")
    if suffix == ".gz":
        assert gzip.decompress(one.read_bytes()) == plain


def test_a_file_that_exists_is_not_overwritten_and_one_that_fails_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "bundle.jsonl"

    def stop(done: int, _total: int | None) -> None:
        raise InterruptedError

    with msglog.sync.open(tmp_path / "one.db") as store:
        store.log("talk").add("user", "hi")
        with pytest.raises(InterruptedError):
            export_bundle(store, target, progress=stop)
        assert [path.name for path in tmp_path.iterdir() if "bundle" in path.name] == []
        target.write_text("mine")
        with pytest.raises(FileExistsError):
            export_bundle(store, target)
    assert target.read_text() == "mine"


def test_the_blocking_face_blocks(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "one.db") as store, msglog.sync.open(tmp_path / "two.db") as other:
        store.log("talk").add("user", "hi")
        assert export_bundle(store, tmp_path / "bundle.jsonl.gz").entries == 1
        assert import_bundle(other, tmp_path / "bundle.jsonl.gz").entries_new == 1
        assert [message.text for message in other.log("talk").all()] == ["hi"]
        with pytest.raises(TypeError, match="a Store is expected"):
            export_bundle("one.db", io.BytesIO())  # type: ignore[call-overload]


async def test_what_is_appended_while_it_runs_stays_out_and_harms_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "PART_REVISIONS", 4)
    log = store.log("talk")
    for i in range(20):
        await log.add("user", f"{i}")
    during: list[Any] = []
    real = copies.part_after

    def part_after(*arguments: Any) -> Any:
        with_more.append(user(f"more {len(during)}"))
        during.append(None)
        return real(*arguments)

    with msglog.sync.open(store.path) as beside:
        with_more = beside.log("talk")
        monkeypatch.setattr("msglog.transfer.bundle.part_after", part_after)
        bundle = await exported(store)
    assert len(during) > 3
    assert sum(line["type"] == "entry" for line in lines(bundle)) == 20
    async with msglog.open(":memory:") as other:
        await taken_in(other, bundle)
        assert [message.text for message in await other.log("talk").all()] == [f"{i}" for i in range(20)]


async def test_a_log_that_is_purged_while_it_runs_ends_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "PART_REVISIONS", 4)
    for i in range(20):
        await store.log("talk").add("user", f"{i}")

    def purge(done: int, _total: int | None) -> None:
        with msglog.sync.open(store.path) as beside:
            beside.purge("talk")

    with pytest.raises(UnknownLogError):
        await export_bundle(store, io.BytesIO(), progress=purge)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_disk_that_is_full_leaves_nothing_of_a_file(tmp_path: Path, suffix: str) -> None:
    """The limit on a file's size stands for the disk: both refuse a write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with msglog.sync.open(tmp_path / "one.db") as store:
        store.log("talk").append_many([user(f"{i} {os.urandom(2000).hex()}") for i in range(100)])
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
            with pytest.raises(OSError, match="File too large") as caught:
                export_bundle(store, tmp_path / f"bundle.jsonl{suffix}")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        assert caught.value.errno == errno.EFBIG
    assert [path.name for path in tmp_path.iterdir() if "bundle" in path.name] == []


def test_any_messages_and_metadata_come_over_exactly(tmp_path: Path) -> None:
    names = map(str, count())
    with (
        msglog.sync.open(tmp_path / "one.db", durability="normal") as store,
        msglog.sync.open(tmp_path / "two.db", durability="normal") as other,
    ):

        @given(st.lists(entry_inputs(), min_size=1, max_size=5), json_objects)
        def come_over(inputs: list[Json], description: Json) -> None:
            name = next(names)
            store.log(name).append_many(inputs)
            store.describe(name, meta=description)
            bundle, again = io.BytesIO(), io.BytesIO()
            export_bundle(store, bundle, logs=[name])
            bundle.seek(0)
            import_bundle(other, bundle)
            assert exact(other.log(name).all()) == exact(store.log(name).all())
            assert exact(other.describe(name)) == exact(store.describe(name))
            export_bundle(other, again, logs=[name])
            assert again.getvalue() == bundle.getvalue()

        come_over()
        assert other.verify().problems == []
