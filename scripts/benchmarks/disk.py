"""What a message takes on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from scripts.benchmarks import plain
from scripts.benchmarks.measure import Figures, Group, Row, at_most
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import JSON_BYTES, MESSAGE, varied


def growth(setting: Setting) -> Figures:
    """Bytes of the file a byte of JSON, over a first and a second half of single appends.

    What an empty store takes is not counted.
    """
    half = 2 * setting.sizes.appends
    path = setting.path()
    start, middle, end = (_appended(setting, path, [MESSAGE] * count) for count in (1, half, half))
    return {
        "ratio": (end - start) / (2 * half * JSON_BYTES),
        "halves": (end - middle) / (middle - start),
    }


def _appended(setting: Setting, path: str, messages: Iterable[dict[str, Any]]) -> int:
    """The size of a file after single appends."""
    with setting.store(path, "normal") as store:
        log = store.log("log")
        for message in messages:
            log.append(message)
    return os.stat(path).st_size


def indexed(setting: Setting) -> Figures:
    """Bytes of the file a byte of JSON, of words as a language has them, before they are searched and after.

    The index catches up when it is searched.
    """
    path = setting.path()
    start = _appended(setting, path, [MESSAGE])
    messages = list(varied(4 * setting.sizes.appends))
    without = _appended(setting, path, messages) - start
    with setting.store(path, "normal") as store:
        store.search("ba")
    size = sum(len(json.dumps(message)) for message in messages)
    return {"without": without / size, "with": (os.stat(path).st_size - start) / size}


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
    half = 2 * setting.sizes.appends
    yield Group(
        {
            "disk": lambda: growth(setting),
            "disk, one INSERT": lambda: plain_growth(setting),
            "disk, searched": lambda: indexed(setting),
        },
        [
            Row(9, "disk / JSON, single appends", "disk", figure="ratio", bound=at_most(1.6)),
            Row(
                9,
                f"disk: bytes of the second {half:,} appends / of the first",
                "disk",
                figure="halves",
                bound=at_most(1.1),
            ),
            Row(9, "disk / JSON, one INSERT in plain sqlite3", "disk, one INSERT", figure="ratio"),
            Row(9, "disk / JSON, varied text, never searched", "disk, searched", figure="without", bound=at_most(1.6)),
            Row(9, "disk / JSON, varied text, with the search index", "disk, searched", figure="with"),
        ],
        rounds=1,
    )
