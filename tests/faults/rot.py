"""Attack 7: files that rot. Every answer is right, or an error of ours, or `verify` finds the damage.

A store's file, and a write-ahead log that was not brought into it yet, have single bits flipped, are cut short,
and are given the log of another store or of another moment, or garbage, or none.
"""

from __future__ import annotations

import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Literal

import msglog
from msglog.errors import MsgLogError
from msglog.storage.schema import metadata
from tests.faults.world import Deeds, grown, seen
from tests.strategies import calls, result, user

Verdict = Literal["right", "refused", "found", "wrong"]
Rows = dict[str, list[tuple[Any, ...]]]

UNSEEN = {
    "entries.redacted_reason",  # a remark beside the chain
    "logs.name",  # a log may be renamed
    "logs.created_at",  # informational, as the next
    "branches.created_at",
    "logs.meta",  # may be changed
    "marks.name",  # what the store remembers of itself
    "marks.value",
}
"""Columns that no hash covers; `tests/storage/test_integrity.py` says why."""

UNSEEN_IF_REDACTED = {"entries.redacted_at", "entries.tool_calls"}

TABLES = {name: [column.name for column in table.columns] for name, table in metadata.tables.items()}


class Specimen:
    """A store's file and its write-ahead log, as they lay while a process had them open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "agent.db"
        self.file = self.wal = b""
        self.moments: list[dict[str, Any]] = []
        """What the store showed after each commit that the log holds."""

    async def grow(self, random: Random) -> Specimen:
        """Fill it with all that a store can hold."""
        folder = self.path.parent
        kept = folder / "kept.db"
        deeds = Deeds(random, folder)
        async with msglog.open(kept, durability="normal") as store:
            world = await grown(store, deeds, 25)
            log = store.log("odd")
            await log.append(user("a\0b\ud800") | {"name": "na\ud800me", "extra": {"k": [1, None]}}, meta={"turn": 3})
            await log.append_many([calls("c1", "c2"), result("c1"), result("c2", {"x": 1})])
            await log.edit({"op": "remove", "id": (await log.all())[0].entry_id}, meta={"reason": "tidy"})
            await log.redact(2, "asked for")
        async with msglog.open(kept, durability="normal") as store:
            self.moments.append(await seen(store))
            for _ in range(12):
                deed = deeds.draw(world, random.choice(["append", "append_many", "commit", "fork", "rewind"]))
                await deed.do(store)
                world = deed.after
                self.moments.append(await seen(store))
            self.file, self.wal = _copied(kept), _copied(folder / "kept.db-wal")
        return self

    def lay(self, *, file: bytes | None = None, wal: bytes | None = None) -> None:
        """The two files, with nothing else beside them; an empty log is none."""
        for beside in self.path.parent.glob(f"{self.path.name}*"):
            beside.unlink()
        self.path.write_bytes(self.file if file is None else file)
        if wal := self.wal if wal is None else wal:
            Path(f"{self.path}-wal").write_bytes(wal)

    async def judge(self) -> Verdict:
        """What a store makes of the files. Only errors of ours may come of it."""
        try:
            async with msglog.open(self.path) as store:
                report = await store.verify()
                shown = await seen(store) if report.ok else None
        except MsgLogError:
            return "refused"
        if not report.ok:
            return "found"
        return "right" if shown in self.moments else "wrong"


def _copied(path: Path) -> bytes:
    """A file that this process has open, read by another one: closing it here would drop its locks."""
    return subprocess.run(["cat", path], capture_output=True, check=True).stdout


def rows_of(path: Path) -> Rows | None:
    """All that the tables hold; None where SQLite cannot tell."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.text_factory = bytes
            return {
                table: connection.execute(
                    f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED ORDER BY 1, 2"
                ).fetchall()
                for table, columns in TABLES.items()
            }
    except (sqlite3.Error, OverflowError, UnicodeDecodeError):
        return None


def changed_columns(before: Rows, after: Rows) -> set[str]:
    """Which columns hold something else; a table's name where rows are missing or too many."""
    changed = set()
    for table, columns in TABLES.items():
        if len(before[table]) != len(after[table]):
            changed.add(table)
            continue
        for old, new in zip(before[table], after[table], strict=True):
            named = {f"{table}.{column}" for column, a, b in zip(columns, old, new, strict=True) if a != b}
            redacted = table == "entries" and old[columns.index("redacted_at")] is not None
            changed |= {f"{name} if redacted" if redacted and name in UNSEEN_IF_REDACTED else name for name in named}
    return changed


def is_unseen(changed: set[str]) -> bool:
    """Whether only such columns were changed as no hash covers."""
    return changed <= UNSEEN | {f"{name} if redacted" for name in UNSEEN_IF_REDACTED}


async def flip_bits(folder: Path, seed: int, flips: int) -> Counter[str]:
    """Flip single bits of a whole file: those that change what the tables hold are found, but for the unseen."""
    random, figures = Random(seed), Counter[str]()
    specimen = await Specimen(folder).grow(random)
    specimen.lay()
    original = rows_of(specimen.path)  # which brings the log into the file
    assert original is not None
    whole = specimen.path.read_bytes()
    specimen.moments = specimen.moments[-1:]
    for _ in range(flips):
        at, bit = random.randrange(len(whole)), random.randrange(8)
        flipped = whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
        specimen.lay(file=flipped, wal=b"")
        held = rows_of(specimen.path)
        specimen.lay(file=flipped, wal=b"")
        verdict = await specimen.judge()
        figures["flips"] += 1
        if held == original:
            figures["without effect"] += 1
            continue
        figures["content-changing"] += 1
        if verdict in ("found", "refused"):
            continue
        changed = changed_columns(original, held) if held is not None else {"unreadable"}
        figures["missed"] += 1
        figures.update(f"missed: {name}" for name in changed)
        assert is_unseen(changed), f"seed {seed}, byte {at}, bit {bit}: {changed} was not found"
    return figures


async def spoil_logs(folder: Path, seed: int, rounds: int) -> Counter[str]:
    """Cut, flip, swap or take away the write-ahead log: the store is one that was, or the damage is said."""
    random, figures = Random(seed), Counter[str]()
    specimen = await Specimen(folder).grow(random)
    other = folder / "other"
    other.mkdir()
    foreign = await Specimen(other).grow(Random(seed + 1))
    page = 4096 + 24
    for _ in range(rounds):
        how = random.choice(["cut", "flip", "garbage", "missing", "another store's", "zeros", "doubled"])
        wal, at = specimen.wal, random.randrange(len(specimen.wal))
        spoilt = {
            "cut": wal[:at],
            "flip": wal[:at] + bytes([wal[at] ^ 1 << random.randrange(8)]) + wal[at + 1 :],
            "garbage": wal[:32] + random.randbytes(len(wal) - 32),
            "missing": b"",
            "another store's": foreign.wal,
            "zeros": wal[:at] + bytes(min(page, len(wal) - at)) + wal[at + page :],
            "doubled": wal + wal,
        }[how]
        specimen.lay(wal=spoilt)
        verdict = await specimen.judge()
        figures["logs"] += 1
        figures[f"{how}: {verdict}"] += 1
        assert verdict != "wrong", f"seed {seed}: a log that was {how} at {at} passes for good"
    return figures


async def cut_files(folder: Path, seed: int, rounds: int) -> Counter[str]:
    """Cut the file itself short, or lose a page of it."""
    random, figures = Random(seed), Counter[str]()
    specimen = await Specimen(folder).grow(random)
    specimen.lay()
    rows_of(specimen.path)
    whole = specimen.path.read_bytes()
    specimen.moments = specimen.moments[-1:]
    for _ in range(rounds):
        at = random.randrange(4096, len(whole))  # an empty file is no damage: it is a store to be made
        page = at // 4096 * 4096
        how, spoilt = random.choice(
            [
                ("cut", whole[:at]),
                ("cut at a page", whole[:page]),
                ("a page of zeros", whole[:page] + bytes(4096) + whole[page + 4096 :]),
                ("a page twice", whole[: page + 4096] + whole[page:]),
                ("two pages swapped", _swapped(whole, page, random.randrange(len(whole)) // 4096 * 4096)),
            ]
        )
        specimen.lay(file=spoilt, wal=b"")
        verdict = await specimen.judge()
        figures["files"] += 1
        figures[f"{how}: {verdict}"] += 1
        assert verdict != "wrong", f"seed {seed}: a file with {how} at {at} passes for good"
    return figures


def _swapped(whole: bytes, one: int, other: int) -> bytes:
    first, second = sorted((one, other))
    if first == second:
        return whole
    return b"".join(
        (
            whole[:first],
            whole[second : second + 4096],
            whole[first + 4096 : second],
            whole[first : first + 4096],
            whole[second + 4096 :],
        )
    )
