"""Attack 4: writers and followers, killed with SIGKILL and begun again, over and over, on one file.

What was acknowledged is stored; seqs have no gap; what is sent again with its id is stored once; a follower that
goes on where the last one had come to misses and repeats nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msglog
import msglog.sync
from msglog import faults
from tests.concurrency.processes import Process, Wire
from tests.concurrency.workers import LOG, user
from tests.faults.points import counted

END = "end"
POINTS = ("transaction.begun", "commit.rows", "commit.before", "commit.after", "checkpoint.before", "checkpoint.after")


def write_until_killed(wire: Wire, path: str, name: str, number: int, seed: int) -> None:
    """Append numbered batches with ids of their own, from a number on; say each that is acknowledged.

    Half of them die by themselves, at a point inside the writer's own steps.
    """
    random = Random(f"{seed} {name}")
    if random.random() < 0.5:
        die = counted(random.randrange(60), lambda: os.kill(os.getpid(), signal.SIGKILL))
        faults.set(random.choice(POINTS), die)
    with msglog.sync.open(path, durability=random.choice(["full", "normal"])) as store:
        log = store.log(LOG)
        while True:
            log.append_many(batch(name, number))
            wire.say(number)
            if number % 17 == 16:
                log.edit({"op": "remove", "id": f"{name}-{number}-0"}, on_conflict="rebase")
            number += 1


def batch(name: str, number: int) -> list[dict[str, Any]]:
    """The same entries each time: what is sent again must be equal."""
    random = Random(f"{name} {number}")
    size = random.choice([10, 1000, 60_000])
    return [
        {"id": f"{name}-{number}-{i}", "message": user(f"{name} {number} {'x' * size}")}
        for i in range(random.choice([1, 1, 3]))
    ]


def follow_until_killed(wire: Wire, path: str, after: int) -> None:
    """Follow the log after a seq, and say what comes."""
    with msglog.sync.open(path) as store:
        for message in store.log(LOG).raw.follow(after):
            wire.say((message.seq, message.entry_id))
            if message.entry_id == END:
                return


class Follower:
    """A follower that is killed and begun again where it was."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.seen: list[tuple[int, str]] = []
        self._process: Process | None = None

    def begin(self) -> None:
        after = self.seen[-1][0] if self.seen else 0
        self._process = Process(follow_until_killed, str(self._path), after)
        self._process.go()

    def kill(self) -> None:
        if self._process is not None:
            self.seen += [heard for heard in self._process.kill() if isinstance(heard, tuple)]
            self._process = None

    def finish(self) -> None:
        """Hear the log to its end."""
        assert self._process is not None
        while not self.seen or self.seen[-1][1] != END:
            heard = self._process.hear()
            assert isinstance(heard, tuple), heard
            self.seen.append(heard)
        self.kill()


async def kill_over_and_over(path: Path, seed: int, lives: int) -> Counter[str]:
    """Lives of two writers and two followers, each ended by SIGKILL at a random moment."""
    random, figures = Random(seed), Counter[str]()
    acknowledged: dict[str, int] = dict.fromkeys(("a", "b"), -1)
    followers = [Follower(path) for _ in range(2)]
    try:
        for life in range(lives):
            writers = {
                name: Process(write_until_killed, str(path), name, at + 1, seed + life)
                for name, at in acknowledged.items()
            }
            for writer in writers.values():
                writer.go()
            for follower in followers:
                follower.begin()
            for name, writer in writers.items():
                heard = await asyncio.to_thread(_heard, writer, random.randrange(1, 25))
                figures["died at a point"] += writer.is_dead
                heard += writer.kill()
                # What was on its way at the end was sent again by the next life, which goes on after it.
                acknowledged[name] = max([acknowledged[name], *(each for each in heard if isinstance(each, int))])
                figures["kills"] += 1
            for follower in followers:
                follower.kill()
                figures["kills"] += 1
            await _sound(path, acknowledged, seed)
        return figures | await _ended(path, followers)
    finally:
        for follower in followers:
            follower.kill()


def _heard(writer: Process, count: int) -> list[Any]:
    """So many things that it says, or those that it said before it died."""
    heard = []
    with suppress(EOFError, ConnectionResetError):
        for _ in range(count):
            heard.append(writer.hear())  # noqa: PERF401 what was heard before it died is kept
    return heard


async def _sound(path: Path, acknowledged: dict[str, int], seed: int) -> None:
    async with msglog.open(path) as store:
        stored = [message.entry_id for message in await store.log(LOG).raw.all()]
        assert len(set(stored)) == len(stored), f"seed {seed}: twice"
        for name, last in acknowledged.items():
            owed = [entry["id"] for number in range(last + 1) for entry in batch(name, number)]
            kept = [entry_id for entry_id in stored if entry_id.startswith(f"{name}-")]
            assert kept[: len(owed)] == owed, f"seed {seed}: acknowledged, and not there in order"
            further = [entry["id"] for entry in batch(name, last + 1)]
            assert kept[len(owed) :] in ([], further), f"seed {seed}: half a batch"


async def _ended(path: Path, followers: list[Follower]) -> Counter[str]:
    async with msglog.open(path) as store:
        for follower in followers:
            follower.begin()
        await store.log(LOG).append(user(END), id=END)
        for follower in followers:
            await asyncio.to_thread(follower.finish)
        stored = [(message.seq, message.entry_id) for message in await store.log(LOG).raw.all()]
        assert [seq for seq, _ in stored] == list(range(1, len(stored) + 1))
        for follower in followers:
            assert follower.seen == stored, "a follower missed or repeated something"
        report = await store.verify()
        assert report.ok, report.problems
        return Counter({"entries": len(stored), "followed": sum(len(follower.seen) for follower in followers)})
