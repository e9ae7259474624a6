"""Histories in memory."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator
from functools import cache

from msglog import Message, MessageHistory
from scripts.benchmarks.measure import Figures, Group, Row, at_most, seconds
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import MESSAGE

DELTA = 10


@cache
def of_size(entries: int) -> MessageHistory:
    """A history of so many entries, each appended by itself."""
    message = Message(**MESSAGE)
    history = MessageHistory()
    for _ in range(entries):
        history = history.append(message)
    return history


def append(entries: int) -> Figures:
    """An append to a history of so many entries."""
    history, message = of_size(entries), Message(**MESSAGE)
    times = 2000
    started = time.perf_counter()
    for _ in range(times):
        history = history.append(message)
    return {"seconds": (time.perf_counter() - started) / times}


def kept_alive(revisions: int) -> Figures:
    """Bytes that revisions kept alive take beyond their messages."""
    messages = [Message(**MESSAGE) for _ in range(revisions)]
    gc.collect()
    tracemalloc.start()
    kept = [MessageHistory()]
    for message in messages:
        kept.append(kept[-1].append(message))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {"bytes": held}


def changes(entries: int) -> Figures:
    """The delta of ten appends to a history of so many entries."""
    history = of_size(entries)
    base = history.revision_id
    for _ in range(DELTA):
        history = history.append(MESSAGE)
    return seconds(lambda: history.changes_since(base), 200)


def edit(entries: int) -> Figures:
    """An edit of one entry in the middle of a history of so many."""
    history = of_size(entries)
    refs = history.refs()
    first, times = entries // 3, min(50, entries // 2)
    patches = iter([{"op": "replace", "id": ref.id, "entries": [MESSAGE]} for ref in refs[first : first + times]])

    def work() -> None:
        nonlocal history
        history = history.edit(next(patches))

    return seconds(work, times)


def groups(setting: Setting) -> Iterator[Group]:
    """Point 8."""
    large, loaded = setting.sizes.memory, setting.sizes.load
    sizes = [size for size in (1000, 10_000) if size < large] + [large]
    yield Group(
        {f"append in memory at {size:,}": lambda size=size: append(size) for size in sizes},  # type: ignore[misc]
        [
            *(
                Row(
                    8,
                    f"in memory: append at {size:,}, µs",
                    f"append in memory at {size:,}",
                    scale=1e6,
                    bound=at_most(10),
                )
                for size in sizes
            ),
            Row(
                8,
                f"in memory: append at {large:,} / at {sizes[0]:,}",
                f"append in memory at {large:,}",
                f"append in memory at {sizes[0]:,}",
                bound=at_most(1.5),
            ),
        ],
    )
    yield Group(
        {"kept alive": lambda: kept_alive(setting.sizes.revisions)},
        [
            Row(
                8,
                f"in memory: {setting.sizes.revisions:,} revisions kept alive, MB beyond the messages",
                "kept alive",
                figure="bytes",
                scale=1e-6,
                bound=at_most(10),
            )
        ],
        rounds=1,
    )
    yield Group(
        {
            "changes_since of 1,000": lambda: changes(1000),
            f"changes_since of {large:,}": lambda: changes(large),
        },
        [
            Row(
                8,
                f"in memory: changes_since ten appends ago, of {large:,} / of 1,000",
                f"changes_since of {large:,}",
                "changes_since of 1,000",
                bound=at_most(1.5),
            )
        ],
    )
    yield Group(
        {f"edit of one of {loaded:,}": lambda: edit(loaded)},
        [
            Row(
                8,
                f"in memory: edit of one entry of {loaded:,}, ms",
                f"edit of one of {loaded:,}",
                scale=1e3,
                bound=at_most(2),
            )
        ],
    )
