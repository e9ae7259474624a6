"""The blocking face does what the asynchronous one does, on the calling thread."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import msglog
import msglog.sync
from msglog.errors import ConflictError, StoreClosedError

ROOT = Path(msglog.__file__).resolve().parents[1]


def test_the_stub_is_what_the_asynchronous_face_gives() -> None:
    script = str(ROOT / "scripts" / "sync_stub")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_appends_return_seqs_and_views_return_messages(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db") as store:
        log = store.log("talk")
        assert [log.add("user", "hi"), log.append_many([{"role": "assistant", "content": "hello"}])] == [1, 2]
        assert [message.content for message in log.all()] == ["hi", "hello"]
        assert [message.seq for message in log.iterate(1)] == [1, 2]
        assert [message.seq for message in log.raw.all()] == [1, 2]


def test_what_a_log_returns_blocks_too(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db") as store:
        log = store.log("talk")
        log.add("user", "hi")
        branch = log.fork("what-if")
        assert isinstance(branch, msglog.sync.MessageLog)
        assert branch.add("user", "and if not?") == 2
        assert isinstance(branch.store, msglog.sync.Store)


def test_a_history_is_committed_or_conflicts(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db") as store:
        log = store.log("talk")
        log.add("user", "hi")
        history = log.history()
        log.commit(history.append({"role": "user", "content": "first"}))
        with pytest.raises(ConflictError):
            log.commit(history.append({"role": "user", "content": "second"}))
        assert log.count() == 2


def test_a_follower_in_a_thread_hears_of_an_append_in_another(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db") as store:
        log = store.log("talk")
        log.add("user", "one")
        heard: list[int] = []

        def listen() -> None:
            for message in store.log("talk").follow():
                heard.append(message.seq)
                if message.seq == 3:
                    return

        listener = threading.Thread(target=listen)
        listener.start()
        log.add("user", "two")
        log.add("user", "three")
        listener.join(30)
        assert heard == [1, 2, 3]


def test_closing_a_follower_ends_its_watch(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "a.db") as store:
        log = store.log("talk")
        log.add("user", "one")
        follower = log.follow()
        assert next(follower).seq == 1
        follower.close()  # type: ignore[attr-defined]
        assert "msglog-poller" not in {thread.name for thread in threading.enumerate()}


def test_on_append_hears_what_this_log_appended_and_must_be_a_plain_function(tmp_path: Path) -> None:
    async def hook(message: msglog.StoredMessage) -> None: ...

    with msglog.sync.open(tmp_path / "a.db") as store:
        heard: list[int] = []
        store.log("talk", on_append=lambda message: heard.append(message.seq)).add("user", "hi")
        assert heard == [1]
        with pytest.raises(TypeError):
            store.log("talk", on_append=hook)


async def test_a_store_that_is_entered_as_an_asynchronous_one_says_so_and_is_closed(tmp_path: Path) -> None:
    opened: Any = msglog.sync.open(tmp_path / "a.db")
    with pytest.raises(TypeError, match=r"with msglog\.sync\.open.*msglog\.open serves `async with`"):
        async with opened:
            pass
    with pytest.raises(StoreClosedError):
        opened.logs()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = msglog.sync.open(tmp_path / "a.db")
    log = store.log("talk")
    store.close()
    store.close()
    with pytest.raises(StoreClosedError):
        log.add("user", "hi")
    with pytest.raises(StoreClosedError):
        log.all()


async def test_it_works_within_a_running_loop_and_beside_the_asynchronous_face(tmp_path: Path) -> None:
    async with msglog.open(tmp_path / "a.db") as store:
        with msglog.sync.open(tmp_path / "a.db") as blocking:
            assert blocking.log("talk").add("user", "one") == 1
            assert await asyncio.wait_for(store.log("talk").add("user", "two"), 30) == 2
        assert await store.log("talk").count() == 2
