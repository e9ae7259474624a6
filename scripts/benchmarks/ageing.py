"""What an append and a resume cost in an old log, and what they leave in the file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from msglog import MessageLog, Store
from scripts.benchmarks.measure import Figures, Group, Row, at_most, seconds
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import MESSAGE, TEXT, result


def append_to(setting: Setting, path: str) -> Figures:
    """An append to a log that is there."""
    with setting.store(path) as store:
        log = store.log("log")
        log.append(MESSAGE)
        return seconds(lambda: log.append(MESSAGE), 30)


def resume(setting: Setting, path: str) -> Figures:
    """Open a store and load a history whose view has 200 entries."""

    def work() -> None:
        with setting.store(path) as store:
            store.log("log", "short").history()

    return seconds(work, 1)


async def structure(store: Store) -> int:
    """Bytes of everything but entries: the values of all columns of revisions, chunks, branches and logs.

    Texts and blobs count with their length, integers as SQLite stores them in a record: 0 to 8 bytes.
    """
    total = 0
    for table in ("revisions", "chunks", "branches", "logs"):
        columns = [column["name"] for column in await store.sql(f"SELECT name FROM pragma_table_info('{table}')")]
        (row,) = await store.sql(f"SELECT coalesce(sum({' + '.join(map(_bytes, columns))}), 0) AS bytes FROM {table}")
        total += int(row["bytes"])
    return total


def _bytes(column: str) -> str:
    limits = [(1, 0), (2**7, 1), (2**15, 2), (2**23, 3), (2**31, 4), (2**47, 6)]
    sizes = " ".join(f"WHEN abs({column}) <= {limit} THEN {size}" for limit, size in limits)
    return (
        f"CASE typeof({column}) WHEN 'null' THEN 0 WHEN 'integer' THEN CASE {sizes} ELSE 8 END"
        f" ELSE length(CAST({column} AS BLOB)) END"
    )


def branches_in_turns(setting: Setting) -> Figures:
    """Bytes of structure an append, where two branches take turns: of all of them, and of the last tenth."""
    turns = setting.sizes.turns
    last = max(1, turns // 10)

    async def run() -> Figures:
        async with setting.opening(level="normal") as store:
            main = store.log("log")
            await main.append(MESSAGE)
            other = await main.fork("other")
            before = await structure(store)
            await _in_turns(main, other, turns - last)
            late = await structure(store)
            await _in_turns(main, other, last)
            end = await structure(store)
            return {"bytes": (end - before) / turns, "late bytes": (end - late) / last}

    return asyncio.run(run())


async def _in_turns(main: MessageLog, other: MessageLog, count: int) -> None:
    for done in range(0, count, 500):
        at_once = range(min(500, count - done))
        await asyncio.gather(*((other if i % 2 else main).append(MESSAGE) for i in at_once))


def cleared_results(setting: Setting) -> Figures:
    """Bytes of structure an edit, where each clears the next old tool result of a view that is as long afterwards.

    Questions stand between the results, so that before long each entry of the view is a span of its own.
    """
    turns, view = setting.sizes.cleared, setting.sizes.fragments

    async def run() -> Figures:
        async with setting.opening(level="normal") as store:
            log = store.log("log")
            await log.append_many([result(f"c{i}", TEXT) if i % 2 else MESSAGE for i in range(view)])
            history = await log.history()
            before = await structure(store)
            for turn in range(turns):
                old = history.refs()[turn * 2 % view + 1]
                cleared = {"op": "replace", "id": old.id, "entries": [result(f"c{turn}", "cleared")]}
                history = await log.commit(history.edit(cleared))
            return {"bytes": (await structure(store) - before) / turns}

    return asyncio.run(run())


def groups(setting: Setting) -> Iterator[Group]:
    """Points 4 and 5, in so far as they are about old logs."""
    sizes = setting.sizes
    size, fragments = f"{sizes.entries:,}", f"{sizes.fragments:,}"
    yield Group(
        {
            "append at 1,000": lambda: append_to(setting, setting.filled(1000)),
            f"append at {size}": lambda: append_to(setting, setting.filled(sizes.entries)),
            f"append to a view of {fragments} fragments": lambda: append_to(setting, setting.cut_up),
        },
        [
            Row(4, f"append at {size} / at 1,000", f"append at {size}", "append at 1,000", bound=at_most(1.2)),
            Row(
                4,
                f"append to a view of {fragments} fragments / at 1,000",
                f"append to a view of {fragments} fragments",
                "append at 1,000",
                bound=at_most(1.2),
            ),
        ],
        turns=10,
    )
    yield Group(
        {
            "branches in turns": lambda: branches_in_turns(setting),
            "results cleared": lambda: cleared_results(setting),
        },
        [
            Row(
                4,
                f"two branches in turns, {sizes.turns:,} appends: bytes of structure an append",
                "branches in turns",
                figure="bytes",
                bound=at_most(400),
            ),
            Row(
                4,
                f"two branches in turns: bytes of structure an append, the last tenth of {sizes.turns:,}",
                "branches in turns",
                figure="late bytes",
            ),
            Row(
                4,
                f"a tool result of {fragments} cleared a turn, {sizes.cleared:,} turns: bytes of structure an edit",
                "results cleared",
                figure="bytes",
                bound=at_most(1300),
            ),
        ],
        rounds=1,
    )
    yield Group(
        {
            "resume of 1,000": lambda: resume(setting, setting.filled(1000)),
            f"resume of {size}": lambda: resume(setting, setting.filled(sizes.entries)),
        },
        [
            Row(
                5,
                f"open and resume 200 of {size} / of 1,000",
                f"resume of {size}",
                "resume of 1,000",
                bound=at_most(1.5),
            )
        ],
        turns=10,
    )
