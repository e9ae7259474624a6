"""What every test has at hand, and what none may leave behind."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import msglog
from msglog import MessageLog, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store is to be made."""
    return tmp_path / "agent.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    """A store of its own for each test."""
    async with msglog.open(path) as opened:
        yield opened


@pytest.fixture
def log(store: Store) -> MessageLog:
    """An empty log of that store."""
    return store.log("talk")


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """Fail a test that leaves a store's file open, or one of msglog's threads running."""
    yield
    files = [name for name in open_files() if name.startswith(str(tmp_path)) or "/msglog-" in name]
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("msglog-")]
    assert (files, threads) == ([], [])


def open_files() -> list[str]:
    """What the descriptors of this process lead to, where the system tells."""
    found = []
    for descriptor in Path("/proc/self/fd").glob("*"):
        try:
            found.append(os.readlink(descriptor))
        except OSError:  # the descriptor of the listing itself
            continue
    return found
