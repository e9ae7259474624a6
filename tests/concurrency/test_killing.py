from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

import msglog
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, append_and_stop, append_large_until_killed, append_until_killed, user


async def test_what_was_acknowledged_survives_kill_9_and_a_retry_makes_no_twin(path: Path) -> None:
    chance = random.Random(9)
    acknowledged: dict[str, int] = {}
    async with msglog.open(path) as store:
        log = store.log(LOG)
        for life in range(12):
            names = [f"life {life} of a", f"life {life} of b"]
            writers = [Process(append_until_killed, str(path), name) for name in names]
            for writer in writers:
                writer.go()
            for writer, name in zip(writers, names, strict=True):
                heard = [writer.hear() for _ in range(chance.randrange(1, 40))]
                heard += writer.kill()
                assert [number for number, _ in heard] == list(range(len(heard)))
                acknowledged |= {f"{name}-{number}": seq for number, seq in heard}

            stored = {message.entry_id: message.seq for message in await log.all()}
            assert list(stored.values()) == list(range(1, len(stored) + 1))
            assert acknowledged.items() <= stored.items()
            for name, writer_heard in ((name, sum(i.startswith(f"{name}-") for i in acknowledged)) for name in names):
                for number in range(writer_heard + 1):  # the last one was on its way: stored or not
                    seq = await log.append(user(f"{name} {number}"), id=f"{name}-{number}")
                    assert seq == stored.get(f"{name}-{number}", len(stored) + 1)
                    stored[f"{name}-{number}"] = seq
        assert (await store.verify()).ok


async def test_what_was_acknowledged_survives_kill_9_around_checkpoints(path: Path) -> None:
    chance = random.Random(8)
    for life in range(5):
        with Process(append_large_until_killed, str(path), f"{life}") as writer:
            heard = [writer.hear() for _ in range(chance.randrange(70, 110))] + writer.kill()
        async with msglog.open(path) as store:
            stored = [message.entry_id for message in await store.log(LOG).raw.all()]
            assert {f"{life}-{number}" for number in heard} <= set(stored)
            assert (await store.verify()).ok


async def test_a_follower_across_processes_sees_all_of_it_once_though_writers_are_killed(path: Path) -> None:
    async with msglog.open(path) as store:
        seen: list[tuple[int, str, str]] = []

        async def follow() -> None:
            async with aclosing(cast("Any", store.follow())) as messages:
                async for each in messages:
                    seen.append((each.n, each.log, each.message.entry_id))
                    if each.message.text == "end":
                        return

        following = asyncio.create_task(follow())
        acknowledged = set()
        for life in range(4):
            writers = [(log, Process(append_until_killed, str(path), f"{life}{log}", 0, log)) for log in ("x", "y")]
            for _, writer in writers:
                writer.go()
            for log, writer in writers:
                heard = [await asyncio.to_thread(writer.hear) for _ in range(15)] + writer.kill()
                acknowledged |= {(log, f"{life}{log}-{number}") for number, _ in heard}
        await store.log("z").append(user("end"))
        await following

        assert [n for n, _, _ in seen] == list(range(1, len(seen) + 1))
        assert acknowledged <= {(log, entry_id) for _, log, entry_id in seen}
        assert len({(log, entry_id) for _, log, entry_id in seen}) == len(seen)
        assert len(seen) == (await store.stats()).entries


async def test_a_process_killed_at_any_statement_leaves_all_of_a_batch_or_nothing(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log(LOG).append(user("first"))
    held = ["first"]
    statements: list[str] = []
    for at in range(100):
        batch = [f"{at} {k}" for k in range(3)]
        with Process(append_and_stop, str(path), at, batch) as process:
            assert process.hear() == held
            stopped = process.hear()
            if not isinstance(stopped, str):  # it came to its end without that many statements
                held += batch
                break
            statements.append(stopped.split("(")[0].split(" WHERE")[0].strip())
            process.kill()
        async with msglog.open(path) as store:
            texts = [message.text for message in await store.log(LOG).all()]
            assert texts in (held, held + batch)
            held = texts
            assert (await store.verify()).ok
    assert {"BEGIN IMMEDIATE", "INSERT INTO entries", "INSERT INTO revisions", "COMMIT"} <= set(statements)
    async with msglog.open(path) as store:
        assert [message.text for message in await store.log(LOG).all()] == held


@pytest.mark.parametrize("alive", ["survivor"])
async def test_writers_go_on_at_once_when_one_is_killed_in_the_middle_of_its_turn(path: Path, alive: str) -> None:
    async with msglog.open(path, busy_timeout=5) as store:
        await store.log(LOG).append(user("first"))
        with Process(append_and_stop, str(path), 2, ["never"]) as process:
            assert process.hear() == ["first"]
            process.hear()
            waiting = asyncio.create_task(store.log(LOG).append(user(alive)))
            process.kill()
            assert await waiting == 2
        assert [message.text for message in await store.log(LOG).all()] == ["first", alive]
