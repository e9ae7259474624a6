"""What was erased is in no file of the store once the receipt says so, however its rows were moved."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

import msglog.sync
from msglog.storage.erasure import _filler, _stored


def left_of(path: Path, words: list[str]) -> list[str]:
    """The words that are in the bytes of the file, its write-ahead log or its shared memory.

    A forked child looks: this process has the file open, and closing it would drop its locks.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        beside = sorted(path.parent.glob(f"{path.name}*"))
        held = b"".join(each.read_bytes() for each in beside if not each.name.endswith("-lock"))
        os.write(writing, "\n".join(word for word in words if word.encode() in held).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        found = answer.read().splitlines()
    os.waitpid(child, 0)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_redacted_texts_of_every_size_leave_nothing(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    words = [f"QZERASEME{i:03d}" for i in range(60)]
    with msglog.sync.open(tmp_path / "a.db", durability="normal") as store:
        log = store.log("talk")
        for word in words:
            log.add("user", word + "x" * random.choice((0, 50, 500, 1500, 9000)))
        for seq in random.sample(range(1, 61), 60):
            assert log.redact(seq, "asked for").complete
        assert left_of(tmp_path / "a.db", words) == []
        assert store.verify().ok


@pytest.mark.parametrize("seed", range(3))
def test_purged_logs_leave_nothing_though_their_rows_lay_between_others(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    words = {name: [f"QZERASE{name}{i:03d}" for i in range(60)] for name in "AB"}
    with msglog.sync.open(tmp_path / "a.db", durability="normal") as store:
        for i in range(60):
            for name, said in words.items():
                store.log(name).add("user", said[i] + "x" * random.choice((0, 50, 500, 1500)))
        assert store.purge("A").complete
        assert left_of(tmp_path / "a.db", words["A"]) == []
        assert store.purge("B").complete
        assert left_of(tmp_path / "a.db", words["B"]) == []
        assert store.verify().ok


def test_a_redacted_row_keeps_its_size_so_that_no_other_row_is_moved() -> None:
    fitted = 0
    for text in range(3000):
        before = [None, text, None, None, None, None, None, 16]
        filler = _filler(before, [None, 8, 9])
        if filler is not None:
            fitted += 1
            nulls = [None] * 6  # name, text, parts, sources, meta and extra; then calls, time, reason and salt
            after = sum(map(_stored, [*nulls, None, 8, 9, filler]))
            assert after == sum(map(_stored, [*before, None, None]))
    assert fitted > 2900
