"""What every test has at hand, and what none may leave behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import msglog
from msglog import MessageLog, Store
from msglog.server.app import create_app
from tests.server.serving import served


def pytest_configure() -> None:
    """Interrupts reach the programs that tests start also where the tests run in the background of a shell.

    Such a shell has them ignored, and whoever is started would ignore them too.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store is to be made."""
    return tmp_path / "agent.db"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of modules that say so with each kind of store."""
    marks = {mark.name for mark in metafunc.definition.iter_markers()}
    if "store" in metafunc.fixturenames and "every_engine" in marks:
        engines = ["file"] if "file_only" in marks else ["file", "server"]
        metafunc.parametrize("store", engines, indirect=True)


@pytest.fixture
async def store(path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """A store of its own for each test: in a file, or on a server that has it in a file."""
    async with msglog.open(path) as opened:
        if getattr(request, "param", "file") == "file":
            yield opened
            return
        async with served(create_app(opened)) as url, msglog.open(url) as remote:
            yield remote


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
