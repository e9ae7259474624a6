"""Callers that record what they do: as threads, tasks and processes, on one log of one file."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from pathlib import Path
from random import Random
from time import monotonic_ns
from typing import Any, cast

import msglog
import msglog.sync
from msglog import ConflictError, Store
from msglog.storage.access import finish
from tests.concurrency.processes import Process, Wire
from tests.concurrency.records import END, Event, Record, merged
from tests.strategies import user

LOG = "talk"
_ALL = 10**6


async def acting(store: Store, name: str, seed: int, count: int) -> list[Event]:
    """Write and read at random; what was done, and what came of it."""
    random, log, events = Random(f"{seed} {name}"), store.log(LOG), list[Event]()
    for number in range(count):
        kind = random.choice(["append", "append", "append_many", "expected_seq", "commit", "read", "all"])
        ids = tuple(f"{name}-{number}-{i}" for i in range(3 if kind == "append_many" else 1))
        inputs = [{"id": entry_id, "message": user(entry_id)} for entry_id in ids]
        called = monotonic_ns()
        if kind in ("read", "all"):
            messages = await (log.raw.read(0, _ALL) if kind == "read" else log.all())
            read = tuple(message.entry_id for message in messages)
            events.append(Event(name, "read", called, monotonic_ns(), read))
            continue
        base: str | int | None = None
        seqs: tuple[int, ...] = ()
        refused = False
        try:
            if kind == "commit":
                history = await log.history()
                base, called = history.revision_id, monotonic_ns()
                await log.commit(history.append(*inputs))
            else:
                base = await log.seq() if kind == "expected_seq" else None
                called = monotonic_ns()
                last = await log.append_many(inputs, expected_seq=base)
                seqs = tuple(range(last - len(ids) + 1, last + 1))
        except ConflictError:
            refused = True
        what = "commit" if kind == "commit" else "append"
        events.append(Event(name, what, called, monotonic_ns(), ids, seqs, base, refused))
    return events


async def following(store: Store, name: str, after: int) -> list[Event]:
    """Follow the log to its end."""
    called, ids, seqs = monotonic_ns(), list[str](), list[int]()
    async with aclosing(cast("Any", store.log(LOG).raw.follow(after))) as messages:
        async for message in messages:
            ids.append(message.entry_id)
            seqs.append(message.seq)
            if message.entry_id == END:
                break
    return [Event(name, "follow", called, monotonic_ns(), tuple(ids), tuple(seqs), after)]


def beneath(store: msglog.sync.Store) -> Store:
    """The store whose methods are coroutines, which here never wait: one way to act serves both faces."""
    inner: Store = vars(store)["_inner"]
    return inner


def act(_wire: Wire, path: str, name: str, seed: int, count: int) -> list[Event]:
    """Act in a process of its own."""
    with msglog.sync.open(path, durability="normal") as store:
        return finish(acting(beneath(store), name, seed, count))


def follow(wire: Wire, path: str, name: str, after: int) -> list[Event]:
    """Follow in a process of its own."""
    with msglog.sync.open(path) as store:
        wire.say("follows")
        return finish(following(beneath(store), name, after))


async def recorded(path: Path, seed: int, count: int) -> Record:
    """What two tasks, two threads and two processes did to one log, and what followers in each saw of it."""
    parts: list[list[Event]] = []

    def in_thread(name: str) -> None:
        with msglog.sync.open(path, durability="normal") as blocking:
            parts.append(finish(acting(beneath(blocking), name, seed, count)))

    async with msglog.open(path, durability="normal") as store:
        await store.log(LOG).append(user("first"), id="first")
        start = Event("first", "append", 0, monotonic_ns(), ("first",), (1,))
        writers = [Process(act, str(path), f"process {i}", seed, count) for i in range(2)]
        follower = Process(follow, str(path), "following process", 1)
        threads = [threading.Thread(target=in_thread, args=(f"thread {i}",)) for i in range(2)]
        try:
            follower.go()
            follower.hear()
            watching = [asyncio.create_task(following(store, f"following task {after}", after)) for after in (0, 1)]
            for writer in writers:
                writer.go()
            for thread in threads:
                thread.start()
            parts += await asyncio.gather(*(acting(store, f"task {i}", seed, count) for i in range(2)))
            for writer in writers:
                parts.append(await asyncio.to_thread(writer.result))
            for thread in threads:
                await asyncio.to_thread(thread.join)
            called = monotonic_ns()
            last = await store.log(LOG).append(user(END), id=END)
            end = Event(END, "append", called, monotonic_ns(), (END,), (last,))
            parts += await asyncio.gather(*watching)
            parts.append(await asyncio.to_thread(follower.result))
        finally:
            for process in (*writers, follower):
                process.kill()
        rows = await store.sql(
            "SELECT e.id AS entry, r.id AS revision FROM entries AS e JOIN revisions AS r"
            " ON r.log_id = e.log_id AND r.number = e.revision ORDER BY e.seq"
        )
        lineage = [revision.id async for revision in store.log(LOG).lineage()]
        assert (await store.verify()).ok
    entries = tuple((row["entry"], row["revision"]) for row in rows)
    return Record(merged([[start, end], *parts]), entries, tuple(reversed(lineage)))
