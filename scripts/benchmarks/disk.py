"""What a message takes on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import msglog.sync
from scripts.benchmarks import plain
from scripts.benchmarks.measure import Figures, Group, Row, at_most
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import JSON_BYTES, MESSAGE


def growth(setting: Setting, *, indexed: bool = False) -> Figures:
    """Bytes of the file a byte of JSON, over a first and a second half of single appends.

    What an empty store takes is not counted.
    """
    half = 2 * setting.sizes.appends
    path = setting.path()
    sizes = []
    for count in (1, half, half):
        with setting.store(path, "normal") as store:
            log = store.log("log")
            for _ in range(count):
                log.append(MESSAGE)
            if indexed:
                _index(store)
        sizes.append(os.stat(path).st_size)
    start, middle, end = sizes
    return {
        "ratio": (end - start) / (2 * half * JSON_BYTES),
        "first half": (middle - start) / (half * JSON_BYTES),
        "second half": (end - middle) / (half * JSON_BYTES),
    }


def _index(store: msglog.sync.Store) -> None:
    """Have the search index catch up, which it does when it is searched."""
    search = getattr(store, "search")  # noqa: B009 a store without it has no such row
    list(search("fox"))


def plain_growth(setting: Setting) -> Figures:
    """The same for one table of JSON with an index."""
    path = setting.path()
    count = 4 * setting.sizes.appends
    with plain.connected(setting, path, "normal") as connection:
        connection.execute(plain.SCHEMA)
        connection.execute(plain.INDEX)
        for at in range(count):
            connection.execute(plain.INSERT, ("log", json.dumps(MESSAGE), 1.7e9 + at))
    return {"ratio": os.stat(path).st_size / (count * JSON_BYTES)}


def groups(setting: Setting) -> Iterator[Group]:
    """Point 9."""
    searchable = hasattr(msglog.sync.Store, "search")
    subjects = {"disk": lambda: growth(setting), "disk, one INSERT": lambda: plain_growth(setting)}
    rows = [
        Row(9, "disk / JSON, single appends", "disk", figure="ratio", bound=at_most(1.6)),
        Row(9, "disk / JSON, one INSERT in plain sqlite3", "disk, one INSERT", figure="ratio"),
    ]
    if searchable:
        subjects["disk, indexed"] = lambda: growth(setting, indexed=True)
        rows.append(Row(9, "disk / JSON, with the search index", "disk, indexed", figure="ratio"))
    yield Group(subjects, rows, rounds=1)
    yield Group(
        {"disk, halves": lambda: _halves(setting)},
        [
            Row(
                9,
                f"disk: bytes of the second {2 * setting.sizes.appends:,} appends / of the first",
                "disk, halves",
                figure="ratio",
                bound=at_most(1.1),
            )
        ],
        rounds=1,
    )


def _halves(setting: Setting) -> Figures:
    figures = growth(setting)
    return {"ratio": figures["second half"] / figures["first half"]}
