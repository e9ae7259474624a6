"""Generated ids: short, rising, and unlike those of any other process."""

from __future__ import annotations

import copy
import subprocess
import sys
import threading
import time

import pytest

from msglog.ids import IdSource, new_id

ALPHABET = set("0123456789abcdefghjkmnpqrstvwxyz")


def test_an_id_is_sixteen_characters_of_crockfords_base_32() -> None:
    assert all(len(made) == 16 and set(made) <= ALPHABET for made in (new_id() for _ in range(100)))


def test_ids_rise() -> None:
    made = [new_id() for _ in range(10_000)]
    assert made == sorted(set(made))


def test_ids_rise_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    source = IdSource()
    made = []
    for moment in (1, 2, 1_000, 1_000_000, 1_000_000_000, 1_700_000_000_000, 1_700_000_000_001):
        monkeypatch.setattr(time, "time_ns", lambda moment=moment: moment * 1_000_000)
        made += [source() for _ in range(3)]
    assert made == sorted(set(made))


def test_ids_of_one_millisecond_count_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    source = IdSource()
    made = [source() for _ in range(5000)]
    assert made == sorted(set(made))
    assert len({one[:9] for one in made}) == 1


def test_ids_rise_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    source = IdSource()
    before = source()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    assert source() > before


def test_two_sources_differ_within_one_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    one, two = IdSource(), IdSource()
    assert one()[:9] == two()[:9]
    assert one()[9:] != two()[9:]


def test_a_restarted_source_does_not_count_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    parent = IdSource()
    parent()
    child = copy.copy(parent)
    child.restart()
    assert child() != parent()


def test_threads_never_get_the_same_id() -> None:
    source = IdSource()
    made: list[list[str]] = [[] for _ in range(4)]

    def work(mine: list[str]) -> None:
        mine += [source() for _ in range(2000)]

    threads = [threading.Thread(target=work, args=(mine,)) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one for mine in made for one in mine}) == 8000
    assert all(mine == sorted(mine) for mine in made)


def test_a_forked_child_makes_other_ids_than_its_parent() -> None:
    script = (
        "import os, sys\n"
        "from msglog.ids import new_id\n"
        "new_id()\n"
        "child = os.fork()\n"
        "made = ' '.join(new_id() for _ in range(50))\n"
        "os.waitpid(child, 0) if child else None\n"
        "os.write(1, (made + chr(10)).encode())\n"
        "os._exit(0) if not child else None\n"
    )
    lines = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    ).stdout.splitlines()
    assert len(lines) == 2
    assert not set(lines[0].split()) & set(lines[1].split())
