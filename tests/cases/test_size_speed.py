from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import msglog
from msglog.errors import BatchTooLargeError, TooLargeError
from tests.concurrency.workers import LOG, user


async def test_siz_1_a_file_grows_with_the_messages_and_not_with_their_square(path: Path) -> None:
    async def size() -> int:
        stats = await store.sql("SELECT page_count * 4096 AS n FROM pragma_page_count")
        return int(stats[0]["n"])

    async with msglog.open(path, durability="normal") as store:
        log = store.log(LOG)
        history = await log.history()
        sizes = [await size()]
        for i in range(2000):
            history = await log.commit(history.append(user(f"{i:04}" * 250)))
            if i % 100 == 99:
                sizes.append(await size())
            if i == 999:
                middle = history.revision_id
        assert sizes[-1] < 6e6
        first, last = sizes[2] - sizes[1], sizes[-1] - sizes[-2]
        assert abs(last - first) < first / 5
        for i in range(10):
            before = await size()
            fork = await log.fork(f"fork {i}", at=middle)
            await fork.append_many(user("x" * 1000) for _ in range(10))
            assert await size() - before < 100_000


async def test_siz_3_a_very_large_message_is_stored_whole(path: Path) -> None:
    text = "x" * (16 * 2**20)
    async with msglog.open(path, durability="normal") as store:
        await store.log(LOG).append({"role": "tool", "toolCallId": "c1", "content": text})
        (message,) = await store.log(LOG).all()
    assert hashlib.sha256(message.text.encode()).digest() == hashlib.sha256(text.encode()).digest()


async def test_siz_3_what_is_over_the_limit_is_refused_with_the_whole_batch(path: Path) -> None:
    async with msglog.open(path, max_message_bytes=2**20) as store:
        log = store.log(LOG)
        with pytest.raises(TooLargeError) as caught:
            await log.append_many([user("small"), user("x" * 2 * 2**20), user("small")])
        assert caught.value.limit == 2**20
        assert caught.value.size >= 2 * 2**20
        assert await log.count() == 0


async def test_siz_3_a_batch_over_what_a_transaction_takes_is_refused(path: Path) -> None:
    async with msglog.open(path) as store:
        text = "x" * (23 * 2**20)
        with pytest.raises(BatchTooLargeError):
            await store.log(LOG).append_many(user(text) for _ in range(3))
        assert await store.log(LOG).count() == 0
