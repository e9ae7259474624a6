from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

import msglog
import msglog.sync
from msglog import Store
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, hold, user
from tests.conftest import open_files

ROOT = Path(__file__).resolve().parents[2]


def in_thread(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine to its end on an event loop in a thread of its own."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(coroutine)
        except BaseException as error:  # noqa: BLE001 raised again below
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("run", [asyncio.run, in_thread])
def test_res_1_descriptors_do_not_grow_with_the_threads_and_loops_used(path: Path, run: Any) -> None:
    async def work() -> None:
        await store.log(LOG).add("user", "hi")
        newest = await store.log(LOG).last(1)
        assert newest[0].text == "hi"

    async def opened() -> Store:
        return await msglog.open(path, durability="normal")

    start = len(open_files())
    store = asyncio.run(opened())
    counts = []
    for _ in range(80):
        run(work())
        counts.append(len(open_files()))
    asyncio.run(store.close())
    assert counts[-1] - counts[10] <= 2
    assert len(open_files()) == start


def test_res_1_opening_and_closing_leaves_nothing_behind(path: Path) -> None:
    start = len(open_files())
    for _ in range(20):
        with msglog.sync.open(path) as store:
            store.log(LOG).append(user("hi"))
            store.log(LOG).all()
    assert len(open_files()) == start


OPENED = """
import asyncio, sys, msglog
async def main():
    store = await msglog.open(sys.argv[1])
    log = store.log("talk")
    await log.add("user", "hi")
    {then}
"""

BLOCKING = """
import sys, msglog.sync
msglog.sync.open(sys.argv[1]).log("talk").append({"role": "user", "content": "hi"})
"""

ENDINGS = {
    "returns": (OPENED.format(then="pass") + "asyncio.run(main())", 0),
    "raises": (OPENED.format(then="raise SystemExit(3)") + "asyncio.run(main())", 3),
    "keeps it": (OPENED.format(then="globals().update(kept=log)") + "asyncio.run(main())", 0),
    "is following": (
        OPENED.format(then="asyncio.create_task(anext(log.follow(1))); await asyncio.sleep(0)") + "asyncio.run(main())",
        0,
    ),
    "closes its loop": (
        OPENED.format(then="return store")
        + "loop = asyncio.new_event_loop(); store = loop.run_until_complete(main()); loop.close(); del store",
        0,
    ),
    "blocks": (BLOCKING, 0),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_res_2_a_program_that_forgets_to_close_still_ends(path: Path, ending: str) -> None:
    program, code = ENDINGS[ending]
    ended = subprocess.run(
        [sys.executable, "-W", "always", "-c", program, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    assert "Event loop is closed" not in ended.stderr
    assert "Traceback" not in ended.stderr
    warned = [line for line in ended.stderr.splitlines() if "ResourceWarning" in line and "tracemalloc" not in line]
    assert len(warned) <= 1
    with msglog.sync.open(path) as store:
        assert [message.text for message in store.log(LOG).all()] == ["hi"]


def test_res_2_an_open_that_is_dropped_before_it_is_awaited_warns(path: Path) -> None:
    with pytest.warns(ResourceWarning, match="never awaited"):
        msglog.open(path)
    assert not path.exists()


def test_res_2_a_store_that_is_dropped_before_it_is_closed_warns(path: Path) -> None:
    store = msglog.sync.open(path)
    with msglog.sync.open(path), pytest.warns(ResourceWarning, match="was not closed"):
        del store


async def test_res_4_the_blocking_face_works_inside_a_running_loop(path: Path) -> None:
    with msglog.sync.open(path) as store:
        assert store.log(LOG).append(user("hi")) == 1
        assert [message.text for message in store.log(LOG).all()] == ["hi"]


async def test_res_4_both_faces_share_one_file(path: Path, store: Store) -> None:
    with msglog.sync.open(path) as blocking:
        assert blocking.log(LOG).append(user("1")) == 1
        assert await store.log(LOG).append(user("2")) == 2
        assert [message.text for message in blocking.log(LOG).all()] == ["1", "2"]


def test_res_4_an_object_may_be_made_outside_any_loop_and_used_in_several_at_once(path: Path) -> None:
    opening = msglog.open(path, durability="normal")

    async def opened() -> Store:
        return await opening

    async def append(name: str) -> None:
        for i in range(50):
            await log.append(user(f"{name} {i}"))
        assert len(await log.last(50)) == 50

    store = asyncio.run(opened())
    log = store.log(LOG)
    threads = [threading.Thread(target=asyncio.run, args=(append(name),)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [message.text for message in asyncio.run(log.all())]
    asyncio.run(store.close())
    for name in "abc":
        assert [text for text in texts if text[0] == name] == [f"{name} {i}" for i in range(50)]


async def test_res_4_a_lock_that_an_append_waits_for_does_not_stop_the_loop(path: Path, store: Store) -> None:
    await store.log(LOG).append(user("before"))
    with Process(hold, str(path), "BEGIN IMMEDIATE") as holder:
        assert holder.hear() == "held"
        append = asyncio.create_task(store.log(LOG).append(user("after")))
        for _ in range(100):  # the holder lets go only once the ticker has ticked
            await asyncio.sleep(0.001)
        assert not append.done()
        holder.tell("let go")
        assert await append == 2


async def test_res_6_an_in_memory_store_is_one_for_all_threads_and_tasks() -> None:
    async with msglog.open(":memory:") as store, msglog.open(":memory:") as other:
        log = store.log(LOG)
        async with aclosing(cast("Any", log.follow())) as follower:
            followed = asyncio.create_task(anext(follower))
            await log.append(user("hi"))
            seen: list[list[str]] = []

            async def read() -> None:
                seen.append([message.text for message in await log.all()])

            await asyncio.gather(*(asyncio.to_thread(in_thread, read()) for _ in range(4)))
            assert seen == [["hi"]] * 4
            assert (await followed).text == "hi"
        assert await other.log(LOG).all() == []
        assert await other.logs() == []


async def test_res_6_an_in_memory_store_leaves_no_file_behind() -> None:
    async with msglog.open(":memory:") as store:
        folder = Path(store.path).parent
        await store.log(LOG).append(user("hi"))
        assert await asyncio.to_thread(folder.exists)
    assert not await asyncio.to_thread(folder.exists)
