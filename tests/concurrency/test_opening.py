from __future__ import annotations

import asyncio
from pathlib import Path

import msglog
from tests.concurrency.processes import Process, at_once
from tests.concurrency.workers import LOG, append_when_told, found_several_logs


async def test_processes_that_start_at_once_on_a_new_file_all_find_their_logs_in_it(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "yet.db"
    names = [f"p{i}" for i in range(8)]
    found = at_once(found_several_logs, [(str(path), name) for name in names])
    async with msglog.open(path) as store:
        assert sorted(info.name for info in await store.logs()) == sorted([LOG, *names])
        assert [own for own, _, _ in found] == [1] * 8
        shared = sorted(seq for _, *seqs in found for seq in seqs)
        assert shared == list(range(1, 17))
        assert sorted(branch.name for branch in await store.log(LOG).branches()) == sorted(["main", *names])
        assert (await store.verify()).ok


async def test_a_process_killed_while_it_opens_harms_nobody(path: Path) -> None:
    for number in range(10):
        with Process(append_when_told, str(path)) as process:
            for _ in range(number):
                await asyncio.sleep(0)
            process.kill()
    async with msglog.open(path) as store:
        await store.log(LOG).add("user", "hi")
        assert (await store.verify()).ok
