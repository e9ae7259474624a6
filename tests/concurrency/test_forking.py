from __future__ import annotations

import os
import signal
from pathlib import Path

import msglog
from tests.concurrency.processes import Process, at_once
from tests.concurrency.workers import (
    LOG,
    fork_and_stop_in_a_turn,
    fork_in_memory,
    fork_while_writing,
    outlive_the_parent,
    user,
)


async def test_children_of_a_busy_program_are_told_so_and_can_open_the_store_themselves(path: Path) -> None:
    ((codes, appended),) = at_once(fork_while_writing, [(str(path), 25)])
    assert codes == [0] * 25
    async with msglog.open(path) as store:
        assert await store.log("children").count() == 75
        assert (await store.stats()).entries == appended + 75
        assert (await store.verify()).ok


async def test_a_child_s_store_outlives_its_parent_s(path: Path) -> None:
    with Process(outlive_the_parent, str(path)) as process:
        assert process.hear() == 3
        process.result()
    async with msglog.open(path) as store:
        assert [message.text for message in await store.log(LOG).all()] == ["parent", "child", "child after the parent"]


async def test_a_child_that_lives_on_does_not_keep_its_dead_parent_s_turn(path: Path) -> None:
    with Process(fork_and_stop_in_a_turn, str(path)) as process:
        child = process.hear()
        try:
            process.hear()
            process.kill()
            async with msglog.open(path, busy_timeout=3) as store:
                assert await store.log(LOG).append(user("after")) == 2
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_child_leaves_its_parent_s_store_in_memory_alone() -> None:
    assert at_once(fork_in_memory, [()]) == [2]
