from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

import msglog
from msglog import MessageLog, StoredMessage
from msglog.errors import PositionError, StoreClosedError
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, append_each, follow_to, user

pytestmark = pytest.mark.every_engine


def generator(messages: AsyncIterator[StoredMessage]) -> aclosing[Any]:
    """The messages, and the end of following with the block."""
    return aclosing(cast("Any", messages))


async def followed(log: MessageLog, last: int, after: int = 0, *, at_a_time: int = 10**9) -> list[int]:
    """The seqs that following gives, up to the last one; the follower stops and resumes every so many messages."""
    seqs: list[int] = []
    while not seqs or seqs[-1] < last:
        async with generator(log.follow(seqs[-1] if seqs else after)) as messages:
            taken = 0
            async for message in messages:
                seqs.append(message.seq)
                taken += 1
                if message.seq >= last or taken == at_a_time:
                    break
    return seqs


async def test_fol_1_followers_miss_nothing_and_repeat_nothing(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append_many(user(f"before {i}") for i in range(100))
        now = await log.seq()
        last = now + 4 * 150
        followers = [
            asyncio.create_task(followed(log, last)),
            asyncio.create_task(followed(log, last, at_a_time=50)),
            asyncio.create_task(followed(log, last, now)),
        ]
        with Process(follow_to, str(path), last) as elsewhere:
            assert elsewhere.hear() == "follows"
            writers = [Process(append_each, str(path), [f"{name} {i}" for i in range(150)]) for name in "abcd"]
            for writer in writers:
                writer.go()
            found = await asyncio.gather(*followers)
            assert [seq for seq, _ in elsewhere.result()] == list(range(1, last + 1))
        for writer in writers:
            writer.result()
            writer.kill()
    assert found == [list(range(1, last + 1)), list(range(1, last + 1)), list(range(now + 1, last + 1))]


async def test_fol_1_a_follower_of_a_branch_sees_what_its_lineage_appended(log: MessageLog) -> None:
    await log.append_many([user("1"), user("2")])
    fork = await log.fork("fork")
    await log.append(user("3 on main"))
    await fork.append(user("4 on fork"))
    assert await followed(fork, 4) == [1, 2, 4]
    assert await followed(log, 3) == [1, 2, 3]


async def test_fol_3_neither_follower_nor_paused_reader_makes_the_wal_grow_without_end(path: Path) -> None:
    wal = path.with_name(path.name + "-wal")
    async with msglog.open(path, durability="normal") as store:
        log = store.log(LOG)
        await log.append_many(user(f"{i}") for i in range(300))
        async with generator(log.iterate(page_size=100)) as reader, generator(log.follow(await log.seq())) as follower:
            head = [await anext(reader) for _ in range(150)]
            idle = asyncio.create_task(anext(follower))
            sizes = []
            for _ in range(300):
                await log.append(user("x" * 150_000))
                sizes.append(size(wal))
            assert max(sizes) < 16 * 2**20
            assert (await idle).seq == 301
            assert [message.text for message in head] == [f"{i}" for i in range(150)]
            assert [message.text async for message in reader] == [f"{i}" for i in range(150, 300)]
        await log.append(user("one more"))
        assert size(wal) < 8 * 2**20


def size(file: Path) -> int:
    return file.stat().st_size


async def test_fol_1_following_from_beyond_the_end_is_refused(log: MessageLog) -> None:
    await log.append(user("1"))
    with pytest.raises(PositionError) as caught:
        await followed(log, 9, after=2)
    assert (caught.value.after, caught.value.end) == (2, 1)


async def test_fol_1_a_follower_of_a_store_that_closes_is_told_so(path: Path) -> None:
    store = await msglog.open(path)
    await store.log(LOG).append(user("1"))
    async with generator(store.log(LOG).follow()) as messages:
        assert (await anext(messages)).seq == 1
        waiting = asyncio.create_task(anext(messages))
        await asyncio.sleep(0)
        await store.close()
        with pytest.raises(StoreClosedError):
            await waiting
