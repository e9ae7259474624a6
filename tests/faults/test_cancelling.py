"""A call that is cancelled, wherever it waits, did what it was to do or nothing, and leaves a store that works."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import msglog
from tests.conftest import open_files
from tests.faults.cancelling import cancel_at_random, cancel_everywhere, public_methods

METHODS = public_methods()


@pytest.mark.parametrize(("face", "name"), METHODS, ids=[f"{face}.{name}" for face, name in METHODS])
async def test_a_method_that_is_cancelled_at_any_await_does_all_or_nothing(
    tmp_path: Path, face: str, name: str
) -> None:
    figures = await cancel_everywhere(tmp_path, [(face, name)])
    assert figures["awaits"] > 0


async def test_a_store_is_closed_although_the_call_was_cancelled_before_a_thread_was_free(path: Path) -> None:
    store = await msglog.open(path)
    loop, held = asyncio.get_running_loop(), threading.Event()
    loop.set_default_executor(ThreadPoolExecutor(1))
    holding = loop.run_in_executor(None, held.wait)
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    held.set()
    await holding
    await loop.shutdown_default_executor()
    assert str(path) not in open_files()


@pytest.mark.parametrize("seed", [1, 2])
async def test_callers_that_are_cancelled_at_any_moment_are_stored_once_or_not_at_all(
    tmp_path: Path, seed: int
) -> None:
    figures = await cancel_at_random(tmp_path, seed, 25)
    assert figures["cancelled"] > 10
