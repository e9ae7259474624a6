"""Reading: whole views, their ends, and what older revisions showed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache

from scripts.benchmarks import plain
from scripts.benchmarks.measure import Figures, Group, Row, at_most, seconds
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import MESSAGE, conversation

VIEW = 200


def read_all(setting: Setting, path: str) -> Figures:
    """`all()` of a log."""
    with setting.store(path) as store:
        return seconds(store.log("log").all, 5)


def last_fifty(setting: Setting, path: str) -> Figures:
    """`last(50)` of a log."""
    with setting.store(path) as store:
        log = store.log("log")
        return seconds(lambda: log.last(50), 100)


class Aged:
    """A log whose oldest revision but the root, one in its middle and its head each show 200 entries."""

    def __init__(self, setting: Setting) -> None:
        self.path = setting.path()
        with setting.store(self.path, "normal") as store:
            log = store.log("log")
            log.append_many([MESSAGE] * VIEW)
            self.oldest = log.history().revision_id
            asyncio.run(self._grow(setting))
            middle = log.commit(log.history().with_view([message.entry_id for message in log.last(VIEW)]))
            self.middle = middle.revision_id
            asyncio.run(self._grow(setting))
            log.commit(log.history().with_view([message.entry_id for message in log.last(VIEW)]))

    async def _grow(self, setting: Setting) -> None:
        async with setting.opening(self.path, "normal") as store:
            log = store.log("log")
            for done in range(0, setting.sizes.load, 500):
                await asyncio.gather(*(log.append(MESSAGE) for _ in range(min(500, setting.sizes.load - done))))


def history_at(setting: Setting, path: str, revision: str | None) -> Figures:
    """The history of a revision, or of the head."""
    with setting.store(path) as store:
        log = store.log("log")
        return seconds(lambda: log.history(at=revision), 20)


def groups(setting: Setting) -> Iterator[Group]:
    """Point 6."""
    load, size = f"{setting.sizes.load:,}", f"{setting.sizes.entries:,}"

    @cache
    def mixed() -> str:
        path = setting.path()
        with setting.store(path, "normal") as store:
            store.log("log").append_many(conversation(setting.sizes.load))
        return path

    @cache
    def aged() -> Aged:
        return Aged(setting)

    yield Group(
        {
            f"plain read of {load}": lambda: plain.read_all(setting, mixed(), 5),
            f"all() of {load}": lambda: read_all(setting, mixed()),
        },
        [
            Row(
                6,
                f"all() of {load} / plain sqlite3 that reads and decodes the same rows",
                f"all() of {load}",
                f"plain read of {load}",
                bound=at_most(2.5),
            )
        ],
    )
    yield Group(
        {
            "bare SELECT of 50": lambda: plain.last_fifty(setting, setting.filled(setting.sizes.entries)),
            "last(50)": lambda: last_fifty(setting, setting.filled(setting.sizes.entries)),
        },
        [Row(6, f"last(50) of {size} / bare SELECT", "last(50)", "bare SELECT of 50", bound=at_most(3))],
    )
    yield Group(
        {
            "history of the head": lambda: history_at(setting, aged().path, None),
            "history of the oldest": lambda: history_at(setting, aged().path, aged().oldest),
            "history of the middle": lambda: history_at(setting, aged().path, aged().middle),
        },
        [
            Row(
                6,
                f"history(at=…) of 200, {2 * setting.sizes.load:,} revisions ago / of the head's 200",
                "history of the oldest",
                "history of the head",
                bound=at_most(1.5),
            ),
            Row(
                6,
                f"history(at=…) of 200, {setting.sizes.load:,} revisions ago / of the head's 200",
                "history of the middle",
                "history of the head",
                bound=at_most(1.5),
            ),
        ],
    )
