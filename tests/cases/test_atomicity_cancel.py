from __future__ import annotations

import asyncio
import itertools
import random
import time
import types
from collections.abc import Coroutine, Generator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

import msglog
from msglog.errors import StoreIOError
from msglog.storage.spans import TAIL_SPANS
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, append_when_told, user
from tests.faults.drivers import FaultyDriver

T = TypeVar("T")


@types.coroutine
def cancelled_at(step: int, coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """Run a coroutine, and cancel it where it waits for the `step`-th time."""
    task = asyncio.current_task()
    assert task is not None
    go_on: Any = partial(coroutine.send, None)
    for waited in itertools.count():
        try:
            future = go_on()
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        if waited == step:
            task.cancel()
        try:
            yield future
        except BaseException as error:  # noqa: BLE001 it is the coroutine's
            go_on = partial(coroutine.throw, error)
        else:
            go_on = partial(coroutine.send, None)
    raise AssertionError


async def test_atm_1_a_replacement_cancelled_anywhere_leaves_all_or_nothing_of_it(tmp_path: Path) -> None:
    originals = [f"m{i}" for i in range(1, 11)]
    summarised = ["summary", "m9", "m10"]
    for step in itertools.count():
        async with msglog.open(tmp_path / f"{step}.db") as store:
            log = store.log(LOG)
            await log.append_many(user(text) for text in originals)
            sources = [message.entry_id for message in (await log.all())[:8]]
            patch = {"op": "summary", "sourceIds": sources, "entry": user("summary"), "replace": True}
            replacing = asyncio.ensure_future(_awaited(cancelled_at(step, log.edit(patch))))
            await asyncio.wait([replacing])
        async with msglog.open(tmp_path / f"{step}.db") as store:
            log = store.log(LOG)
            view = [message.text for message in await log.all()]
            assert view in (originals, summarised)
            assert [message.text for message in (await log.raw.all())[:10]] == originals
            assert (await store.verify()).ok
        if not replacing.cancelled():
            assert view == summarised
            break
    assert step >= 2


async def _awaited(generator: Generator[Any, Any, T]) -> T:
    return await generator  # type: ignore[misc,no-any-return]


async def test_atm_2_a_cancelled_append_leaves_no_transaction_open(path: Path) -> None:
    chance = random.Random(2)
    async with msglog.open(path) as store:
        log = store.log("batches")
        with Process(append_when_told, str(path), "marks") as other:
            assert other.hear() == "open"
            for number in range(60):
                append = asyncio.create_task(log.append_many(user(f"{number} {k}") for k in range(50)))
                for _ in range(chance.choice([0, 1, 1, 1, 2, 3, 5, 10, 20])):
                    await asyncio.sleep(0)
                if number % 10 == 9:
                    await append  # too late to be cancelled
                append.cancel()
                started = time.monotonic()
                other.tell("mark")
                assert other.hear() == number + 1
                assert time.monotonic() - started < 1
            other.tell(None)
            other.result()
        messages = [message.text.split() for message in await log.all()]
        batches = [
            (number, [int(k) for _, k in group]) for number, group in itertools.groupby(messages, lambda m: m[0])
        ]
        assert all(places == list(range(50)) for _, places in batches)
        assert 0 < len(batches) < 60
        assert (await store.verify()).ok


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO entries", "INSERT INTO chunks", "INSERT INTO revisions", "UPDATE logs", "UPDATE branches", "COMMIT"],
)
async def test_atm_4_a_save_that_fails_half_way_raises_and_stores_nothing(path: Path, statement: str) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        log = store.log(LOG)
        for i in range(TAIL_SPANS):  # as many cuts in the view as a tail takes, so that the next append writes a chunk
            await store.log(LOG).add("user", f"{i}")
            await log.fork(f"b{i}")
            await store.log(LOG, f"b{i}").add("user", "elsewhere")
        before = await log.count()
        driver.arm(0, "SQLITE_IOERR", only=statement)
        batch = [{"id": f"e{k}", "message": user(f"{k}")} for k in range(3)]
        with pytest.raises(StoreIOError):
            await log.append_many(batch)
        assert len(driver.failed) == 1
        assert await log.count() == before
        async with msglog.open(path, driver=driver) as other:
            assert await other.log(LOG).count() == before

        await log.append_many(batch)
        assert [message.text for message in await log.last(3)] == ["0", "1", "2"]
        assert await log.count() == before + 3
        assert (await store.verify()).ok
