from __future__ import annotations

from pathlib import Path

import msglog
from tests.concurrency.processes import Process, at_once
from tests.concurrency.workers import (
    LOG,
    append_singles_and_batches,
    append_to_branch,
    fork_under_name,
    purge_when_told,
    user,
)


async def test_processes_append_to_several_logs_at_once(path: Path) -> None:
    logs = ["x", "y", "z"]
    at_once(append_singles_and_batches, [(str(path), f"p{i}", 30, 6, logs[i % 3]) for i in range(6)])
    async with msglog.open(path) as store:
        for name in logs:
            assert [message.seq for message in await store.log(name).all()] == list(range(1, 121))
        numbers = [row["n"] for row in await store.sql("SELECT n FROM entries ORDER BY n")]
        assert numbers == list(range(1, 361))
        assert (await store.verify()).ok


async def test_processes_append_and_edit_on_branches_of_one_log(path: Path) -> None:
    branches = ["main", "a", "b", "c"]
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append(user("root"))
        for branch in branches[1:]:
            await log.fork(branch)

        at_once(append_to_branch, [(str(path), branch, 40) for branch in branches])

        raw = await log.raw.all()
        assert [message.seq for message in raw] == list(range(1, 162))
        for branch in branches:
            texts = [message.text for message in await store.log(LOG, branch).all()]
            assert texts == ["root", *(f"{branch} {i}" for i in range(40) if i % 5 != 4)]
            assert await store.log(LOG, branch).count() == 41
        assert (await store.verify()).ok


async def test_of_processes_that_fork_under_one_name_exactly_one_does(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log(LOG).append(user("root"))
        assert sorted(at_once(fork_under_name, [(str(path), "what if")] * 4)) == [False, False, False, True]
        assert [branch.name for branch in await store.log(LOG).branches()] == ["main", "what if"]


async def test_a_log_that_another_process_purged_begins_anew(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        with Process(purge_when_told, str(path)) as other:
            assert other.hear() == "open"
            for _ in range(3):
                assert await log.append(user("1"), id="k") == 1
                assert await log.append(user("2")) == 2
                other.tell("purge")
                assert other.hear() == 2
                assert await log.all() == []
        assert await log.append(user("new"), id="k") == 1
        assert [message.text for message in await log.all()] == ["new"]
        assert await store.sql("SELECT n FROM entries") == [{"n": 7}]
        assert (await store.verify()).ok
