from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import msglog
import msglog.sync
from msglog import MsgLogError
from msglog.errors import StoreClosedError
from tests.concurrency.workers import LOG, user

EACH = 60


async def test_threads_and_event_loops_share_one_store(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log(LOG)
        blocking = msglog.sync.open(path)

        async def append(name: str) -> None:
            for i in range(EACH):
                await log.append(user(f"{name} {i}"))

        async def follow() -> list[str]:
            texts = []
            async with aclosing(cast("Any", log.follow())) as messages:
                async for message in messages:
                    texts.append(message.text)
                    if len(texts) == EACH * len(names):
                        return texts
            raise AssertionError

        def loop(name: str) -> None:
            asyncio.run(append(name))

        def thread(name: str) -> None:
            for i in range(EACH):
                blocking.log(LOG).append(user(f"{name} {i}"))

        works: list[tuple[str, Callable[[str], None]]] = [("l1", loop), ("l2", loop), ("t1", thread), ("t2", thread)]
        names = ["m1", "m2", *(name for name, _ in works)]
        threads = [threading.Thread(target=work, args=(name,)) for name, work in works]
        for each in threads:
            each.start()
        followed, *_ = await asyncio.gather(follow(), append("m1"), append("m2"))
        for each in threads:
            await asyncio.to_thread(each.join)
        blocking.close()

        messages = await log.all()
        assert [message.seq for message in messages] == list(range(1, EACH * len(names) + 1))
        assert [message.text for message in messages] == followed
        for name in names:
            assert [text for text in followed if text.startswith(name)] == [f"{name} {i}" for i in range(EACH)]


async def test_what_is_handed_over_when_a_store_closes_is_stored_or_refused(path: Path) -> None:
    for round_ in range(5):
        store = await msglog.open(path, durability="normal")
        log = store.log(LOG)
        before = await log.count()
        appends = [asyncio.create_task(log.append(user(f"{round_} {i}"))) for i in range(50)]
        for _ in range(round_):
            await asyncio.sleep(0)
        await store.close()
        outcomes = await asyncio.gather(*appends, return_exceptions=True)
        stored = {seq for seq in outcomes if isinstance(seq, int)}
        assert all(isinstance(outcome, (int, StoreClosedError)) for outcome in outcomes)
        async with msglog.open(path) as again:
            assert {message.seq for message in await again.log(LOG).all() if message.seq > before} == stored


def test_an_event_loop_that_is_closed_at_wake_up_harms_nobody(path: Path) -> None:
    with msglog.sync.open(path) as blocking:
        for number in range(10):

            async def leave(number: int = number) -> None:
                async with msglog.open(path) as store:
                    asyncio.ensure_future(store.log(LOG).append(user(f"abandoned {number}")))  # noqa: RUF006
                    await asyncio.sleep(0)

            asyncio.run(leave())
            blocking.log(LOG).append(user(f"kept {number}"))
        texts = [message.text for message in blocking.log(LOG).all()]
        assert [text for text in texts if text.startswith("kept")] == [f"kept {i}" for i in range(10)]
        assert len(texts) == len(set(texts))
        assert blocking.verify().ok


async def test_one_caller_s_fault_fails_that_caller_alone(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append(user("first"), id="taken")
        appends = [
            log.append(user("other"), id="taken"),
            log.append(user("fine")),
            log.append(user("expects"), expected_seq=99),
            store.log(LOG, "no such branch").append(user("x")),
            log.append_many([user("a"), {"id": "taken", "message": user("b")}]),
            log.append(user("fine too")),
        ]
        outcomes = await asyncio.gather(*appends, return_exceptions=True)
        assert [isinstance(outcome, MsgLogError) for outcome in outcomes] == [True, False, True, True, True, False]
        assert [message.text for message in await log.all()] == ["first", "fine", "fine too"]
