"""What the processes of the tests do. Each gets a wire to its test first, and mostly the path of a store."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, Literal

import msglog.sync
from msglog import ConflictError, MessageHistory
from msglog.errors import BranchExistsError, ForkedError
from msglog.storage import maintenance
from tests.concurrency.processes import Wire
from tests.faults.drivers import SpyDriver

LOG = "talk"


def user(text: str) -> dict[str, Any]:
    """A user's message."""
    return {"role": "user", "content": text}


def append_each(_wire: Wire, path: str, texts: list[str], log: str = LOG) -> list[int]:
    """Append messages one by one; their seqs."""
    with msglog.sync.open(path) as store:
        return [store.log(log).append(user(text)) for text in texts]


def append_with_id(_wire: Wire, path: str, entry_id: str, text: str) -> int:
    """Append a message under an id; its seq."""
    with msglog.sync.open(path) as store:
        return store.log(LOG).append(user(text), id=entry_id)


def append_singles_and_batches(_wire: Wire, path: str, name: str, singles: int, batches: int, log: str = LOG) -> None:
    """Append single messages, and among them batches of five, whose texts say whose and which they are."""
    with msglog.sync.open(path, durability="normal") as store:
        talk = store.log(log)
        every = max(1, singles // max(1, batches))
        for i in range(singles):
            talk.append(user(f"{name} single {i}"))
            if i % every == 0 and i // every < batches:
                talk.append_many(user(f"{name} batch {i // every} {k}") for k in range(5))


def append_until_killed(wire: Wire, path: str, name: str, start: int = 0, log: str = LOG) -> None:
    """Append numbered messages under ids of their own, and say each one's number and seq once it is acknowledged."""
    with msglog.sync.open(path) as store:
        number = start
        while True:
            wire.say((number, store.log(log).append(user(f"{name} {number}"), id=f"{name}-{number}")))
            number += 1


def append_when_told(wire: Wire, path: str, log: str = LOG) -> None:
    """Append each message that the test says, and answer with its seq; end with None."""
    with msglog.sync.open(path) as store:
        wire.say("open")
        while (text := wire.hear()) is not None:
            wire.say(store.log(log).append(user(text)))


def append_pairs_until_told(wire: Wire, path: str, log: str = LOG) -> int:
    """Append a question with its answer over and over, until the test says something; how many pairs."""
    with msglog.sync.open(path, durability="normal") as store:
        pairs = 0
        while not wire.asked():
            store.log(log).append_many([user(f"q{pairs}"), {"role": "assistant", "content": f"a{pairs}"}])
            pairs += 1
            if pairs == 1:
                wire.say("begun")
        return pairs


def texts(_wire: Wire, path: str, log: str = LOG) -> list[str]:
    """The texts of a log's view."""
    with msglog.sync.open(path) as store:
        return [message.text for message in store.log(log).all()]


def hold(wire: Wire, path: str, *statements: str) -> None:
    """Run statements on a plain connection and stay as they leave it, until the test says something."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement).fetchall()
    wire.say("held")
    wire.hear()
    connection.close()


def follow_to(wire: Wire, path: str, last: int, after: int = 0, log: str = LOG) -> list[tuple[int, str]]:
    """Follow a log across processes to a seq; each seq and text."""
    with msglog.sync.open(path) as store:
        talk = store.log(log)
        found = []
        wire.say("follows")
        for message in talk.raw.follow(after):
            found.append((message.seq, message.text))
            if message.seq >= last:
                break
        return found


def render_log(_wire: Wire, path: str) -> list[dict[str, Any]]:
    """The view of a log as a history renders it, as JSON."""
    with msglog.sync.open(path) as store:
        return [message.to_json() for message in store.log(LOG).history().render()]


def render_snapshot(_wire: Wire, text: str) -> list[dict[str, Any]]:
    """The view of a snapshot's text, as JSON."""
    return [message.to_json() for message in MessageHistory.from_json(json.loads(text)).render()]


def _live_in(zone: str) -> None:
    os.environ["TZ"] = zone
    time.tzset()


def append_in_zone(_wire: Wire, path: str, zone: str, created_at: str) -> None:
    """Append a message with a time, in a zone."""
    _live_in(zone)
    with msglog.sync.open(path) as store:
        store.log(LOG).append(user("x"), meta={"created_at": created_at})


def times_in_zone(_wire: Wire, path: str, zone: str) -> list[tuple[float, float | None]]:
    """When each message was stored and created, as seconds since 1970, read in a zone."""
    _live_in(zone)
    with msglog.sync.open(path) as store:
        return [
            (message.at.timestamp(), message.meta.created_at.timestamp())
            for message in store.log(LOG).all()
            if message.meta is not None and message.meta.created_at is not None
        ]


def back_up_and_stop_half_way(wire: Wire, path: str, target: str) -> None:
    """Begin a backup, and stop where all is copied and nothing has its name yet."""

    def stop(_path: str) -> None:
        wire.say("half way")
        wire.hear()

    vars(maintenance).update(_sync=stop)
    with msglog.sync.open(path) as store:
        store.backup(target)


def found_several_logs(_wire: Wire, path: str, name: str) -> list[int]:
    """Append to a log of its own, to one that all share, and to a fork of that; the three seqs."""
    with msglog.sync.open(path) as store:
        own = store.log(name).append(user(name))
        shared = store.log(LOG).append(user(name))
        return [own, shared, store.log(LOG).fork(name).append(user(name))]


def commit_when_told(wire: Wire, path: str, name: str, rounds: int, on_conflict: Literal["raise", "rebase"]) -> int:
    """Load and append, and commit once the test says so; how many of the commits came through."""
    won = 0
    with msglog.sync.open(path) as store:
        log = store.log(LOG)
        for number in range(rounds):
            history = log.history().append(user(f"{name} {number}"))
            wire.say(history.revision_id)
            wire.hear()
            try:
                log.commit(history, on_conflict=on_conflict)
                won += 1
            except ConflictError:
                pass
            wire.say("done")
    return won


class StoppingDriver(SpyDriver):
    """Says that it stops, and does, at the n-th statement that writes once it is armed."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire
        self.left: int | None = None

    def before(self, sql: str, rows: int) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self._wire.say(sql)
                self._wire.hear()


def append_and_stop(wire: Wire, path: str, at: int, texts: list[str]) -> list[str]:
    """Append a batch, but stop at the n-th statement of it; what the log held before."""
    driver = StoppingDriver(wire)
    with msglog.sync.open(path, driver=driver) as store:
        log = store.log(LOG)
        before = [message.text for message in log.all()]
        wire.say(before)
        driver.left = at
        log.append_many(user(text) for text in texts)
    return before


def page_until_told(wire: Wire, path: str) -> int:
    """Read a log to its end page by page, over and over; how often."""
    rounds = 0
    with msglog.sync.open(path, read_only=True) as store:
        wire.say("reads")
        while not wire.asked():
            seqs = [message.seq for message in store.log(LOG).iterate(page_size=20)]
            assert seqs == list(range(1, len(seqs) + 1))
            rounds += 1
    return rounds


def pause_in_reading(wire: Wire, path: str) -> list[int]:
    """Begin to read a log page by page, and go on once the test says so; the seqs."""
    with msglog.sync.open(path) as store:
        reading = iter(store.log(LOG).iterate(page_size=10))
        seqs = [next(reading).seq for _ in range(15)]
        wire.say("paused")
        wire.hear()
        return seqs + [message.seq for message in reading]


def _forked(work: Callable[[], None]) -> int:
    """Run something in a forked child; its exit code: 0 where it came through."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 the test sees it
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fork_while_writing(_wire: Wire, path: str, forks: int) -> tuple[list[int], int]:
    """Fork while threads append and read; the children's exit codes, and how many entries the threads appended."""
    with msglog.sync.open(path, durability="normal") as store:
        done = threading.Event()
        counts: list[int] = []

        def write(name: str) -> None:
            count = 0
            while not done.is_set():
                store.log(name).append(user("x"))
                store.log(name).last(5)
                count += 1
            counts.append(count)

        def child() -> None:
            for inherited in (store.log(LOG).all, store.log(LOG).count, lambda: store.log(LOG).append(user("x"))):
                try:
                    inherited()
                except ForkedError:
                    continue
                raise AssertionError
            store.close()
            with msglog.sync.open(path) as own:
                for i in range(3):
                    own.log("children").append(user(f"{i}"))
                assert own.log("children").count() % 3 == 0

        writers = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "c")]
        for writer in writers:
            writer.start()
        codes = [_forked(child) for _ in range(forks)]
        done.set()
        for writer in writers:
            writer.join()
        store.log("a").append(user("the parent goes on"))
        return codes, sum(counts) + 1


def fork_in_memory(_wire: Wire) -> int:
    """Fork a program with a store in memory, whose child leaves as programs do; how much the store holds then."""
    with msglog.sync.open(":memory:") as store:
        store.log(LOG).append(user("1"))
        child = os.fork()
        if child == 0:
            store.close()
            atexit._run_exitfuncs()
            os._exit(0)
        os.waitpid(child, 0)
        store.log(LOG).append(user("2"))
        with msglog.sync.open(store.path) as again:
            return again.log(LOG).count()


def fork_and_stop_in_a_turn(wire: Wire, path: str) -> None:
    """Fork a child that lives on, then stop in the middle of a transaction."""
    driver = StoppingDriver(wire)
    with msglog.sync.open(path, driver=driver) as store:
        store.log(LOG).append(user("before"))
        child = os.fork()
        if child == 0:
            signal.pause()
        wire.say(child)
        driver.left = 2
        store.log(LOG).append(user("never"))


def outlive_the_parent(wire: Wire, path: str) -> None:
    """Fork a child that opens the store itself and appends; then close, and have the child append once more."""
    with msglog.sync.open(path) as store:
        store.log(LOG).append(user("parent"))
        from_child, to_parent = os.pipe()
        from_parent, to_child = os.pipe()
        child = os.fork()
        if child == 0:
            with msglog.sync.open(path) as own:
                own.log(LOG).append(user("child"))
                os.write(to_parent, b"open")
                os.read(from_parent, 1)
                wire.say(own.log(LOG).append(user("child after the parent")))
            os._exit(0)
        os.read(from_child, 4)
    os.write(to_child, b"!")
    os.waitpid(child, 0)


def append_to_branch(_wire: Wire, path: str, branch: str, count: int) -> None:
    """Append to a branch of the log, and take every fifth message out of its view again."""
    with msglog.sync.open(path, durability="normal") as store:
        log = store.log(LOG, branch)
        for i in range(count):
            log.append(user(f"{branch} {i}"), id=f"{branch}-{i}")
            if i % 5 == 4:
                log.edit({"op": "remove", "id": f"{branch}-{i}"})


def fork_under_name(_wire: Wire, path: str, name: str) -> bool:
    """Fork the log; whether the name was free."""
    with msglog.sync.open(path) as store:
        try:
            store.log(LOG).fork(name)
        except BranchExistsError:
            return False
        return True


def purge_when_told(wire: Wire, path: str) -> None:
    """Purge the log each time the test says so; end with None."""
    with msglog.sync.open(path) as store:
        wire.say("open")
        while wire.hear() is not None:
            wire.say(store.purge(LOG).entries)


def append_large_until_killed(wire: Wire, path: str, name: str) -> None:
    """Append large messages under ids of their own, and say each one's number once it is acknowledged."""
    with msglog.sync.open(path, durability="normal") as store:
        number = 0
        while True:
            store.log(LOG).append(user(f"{name} {number} {'x' * 100_000}"), id=f"{name}-{number}")
            wire.say(number)
            number += 1


def search_for(_wire: Wire, path: str, words: str, limit: int) -> list[int]:
    """Search a store; the seqs of what was found."""
    with msglog.sync.open(path) as store:
        return [hit.message.seq for hit in store.search(words, limit=limit)]


def search_until_killed_at(wire: Wire, path: str, words: str, at: int) -> None:
    """Search a store, and die at the statement of this number that touches the search index."""

    class Deadly(SpyDriver):
        def before(self, sql: str, rows: int) -> None:
            super().before(sql, rows)
            touching = [s for s in self.statements if "VIRTUAL" in s or "INTO search_" in s or s == "COMMIT"]
            if len(touching) >= at:
                os.kill(os.getpid(), signal.SIGKILL)

    with msglog.sync.open(path, driver=Deadly()) as store:
        wire.say("searches")
        store.search(words)


def append_numbered(_wire: Wire, path: str, name: str, count: int, size: int) -> None:
    """Append so many messages of so many characters."""
    with msglog.sync.open(path, durability="normal") as store:
        for number in range(count):
            store.log(LOG).append(user(f"{name} {number} {'x' * size}"))
