"""Attack 3: the power goes, at any moment. Run as a program.

    python -m tests.faults.power FOLDER SCENARIO DURABILITY FAILING SEED

works on a store in FOLDER, and at random moments writes down what the disk may hold if the power goes: of each
file all that was synced, and of what was written since any part, in sectors. Of all syncs the share FAILING
reports an error, and leaves any part of what was to be synced unwritten for good, as Linux does. Each of these
disks is then opened as a store of its own. The last line tells what was found.

Scenarios: `deeds` (all kinds of writes, one after another), `callers` (appends by many at once), `making` (a
new file) and `migrating` (an older one).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, cast

import msglog
from msglog import Store
from msglog.errors import CommitUncertainError, MsgLogError, StoreIOError
from msglog.options import Durability
from msglog.storage import writer
from tests.cases import next_release
from tests.faults.calls import answer, found
from tests.faults.disk import Disk, followed_rewriting
from tests.faults.vfs import ApswDriver
from tests.faults.world import KINDS, Deeds, World, grown

ROOT = Path(__file__).resolve().parents[2]
LOG = "talk"

WRITES = [kind for kind in KINDS if kind != "backup"]

Judge = Callable[[Store], Awaitable[list[str]]]


class Crashes:
    """What the disk may hold after a loss of power, at some moments, each with how to judge it."""

    def __init__(self, disk: Disk, folder: Path, judge: Callable[[], Judge], share: float) -> None:
        self._disk = disk
        self._folder = folder
        self._judge = judge
        self._share = share
        self.taken: list[tuple[Path, Judge]] = []

    def perhaps(self) -> None:
        if self._disk.random.random() < self._share:
            self.take()

    def take(self) -> None:
        with self._disk.lock:
            folder = self._folder / f"crash-{len(self.taken)}"
            folder.mkdir()
            for name, content in self._disk.files.items():
                (folder / Path(name).name).write_bytes(content.after_a_crash(self._disk.random))
            self.taken.append((folder / "agent.db", self._judge()))


async def opened(path: Path, durability: Durability) -> Store:
    """The store, however often a disk that fails needs to be asked."""
    for _ in range(1000):
        with contextlib.suppress(MsgLogError):
            return await msglog.open(path, durability=durability, driver=ApswDriver("disk"))
    raise AssertionError("it cannot be opened any more")


class Deeper:
    """All kinds of writes, one after another. After a crash the store shows the world as it was told to be."""

    def __init__(self, path: Path, disk: Disk, durability: Durability, failing: float) -> None:
        self._path = path
        self._disk = disk
        self._durability: Durability = durability
        self._failing = failing
        # Random numbers of its own: the writer is still at work when the next deed is drawn.
        self._random = Random(disk.random.random())
        self._deeds = Deeds(self._random, path.parent)
        self._possible = [World()]
        self.counts: Counter[str] = Counter()

    def judge(self) -> Judge:
        """Under `full` one of the worlds that are possible now; under `normal` one that ever was."""
        possible = list(self._possible)

        async def judged(store: Store) -> list[str]:
            await found(store, possible[::-1])
            return []

        return judged

    def _now(self, *worlds: World) -> None:
        self._possible = [*(self._possible if self._durability == "normal" else ()), *worlds]

    async def prepare(self, *, migrating: bool) -> None:
        """What is there before the power may go: an older file, or nothing."""
        if migrating:
            store = await opened(self._path, self._durability)
            self._now(await grown(store, self._deeds, 10))
            self._possible = self._possible[-1:]
            await store.close()
            next_release.become(next_release.migrations(self._path.parent.parent))

    async def run(self, turns: int) -> None:
        self._disk.failing = self._failing
        store = await opened(self._path, self._durability)
        world = self._possible[-1]
        for turn in range(turns):
            deed = self._deeds.draw(world, self._random.choice(WRITES) if world.logs else "begin")
            self._now(world, deed.after)
            error = await answer(deed.do(store))
            assert error is None or isinstance(error, (StoreIOError, CommitUncertainError)), error
            if isinstance(error, CommitUncertainError):
                await store.close()
                store = await opened(self._path, self._durability)
                world = await found(store, [world, deed.after])
            elif error is None:
                world = deed.after
            self.counts[_name_of(error)] += 1
            self._now(world)
            if turn % 9 == 8:
                await store.close()
                store = await opened(self._path, self._durability)
        self._disk.failing = 0.0
        await store.close()


def _name_of(error: MsgLogError | None) -> str:
    if isinstance(error, CommitUncertainError):
        return "uncertain"
    return "refused" if error else "acknowledged"


class Callers:
    """Appends by many callers at once, on two branches, with an edit and a redaction now and then."""

    def __init__(self, path: Path, disk: Disk, durability: Durability, failing: float) -> None:
        self._path = path
        self._disk = disk
        self._durability: Durability = durability
        self._failing = failing
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.uncertain: list[str] = []

    @property
    def counts(self) -> Counter[str]:
        return Counter(acknowledged=len(self.acknowledged), refused=len(self.refused))

    def judge(self) -> Judge:
        acknowledged, refused = list(self.acknowledged), list(self.refused)

        async def judged(store: Store) -> list[str]:
            stored = {message.entry_id for message in await store.log(LOG).raw.all()}
            kept = [entry_id in stored for entry_id in acknowledged]
            # `normal` may lose the last of what was acknowledged
            owed = kept if self._durability == "full" else kept[: len(kept) - kept[::-1].index(True)]
            lost = [f"lost {entry_id}" for entry_id, there in zip(acknowledged, owed, strict=False) if not there]
            return lost + [f"{entry_id} was refused and came back" for entry_id in refused if entry_id in stored]

        return judged

    async def prepare(self, *, migrating: bool) -> None:
        store = await opened(self._path, self._durability)
        await self._append(store, "main", "first", 10)
        await store.log(LOG).fork("side")
        await store.close()
        for content in self._disk.files.values():
            content.sync()  # how the file was made is another scenario

    async def _append(self, store: Store, branch: str, entry_id: str, size: int) -> None:
        told = self.acknowledged
        try:
            await store.log(LOG, branch).add("user", "x" * size, id=entry_id)
        except CommitUncertainError:
            told = self.uncertain
        except StoreIOError:
            told = self.refused
        told.append(entry_id)

    async def run(self, turns: int) -> None:
        disk, random = self._disk, self._disk.random
        disk.failing = self._failing
        store = await opened(self._path, self._durability)
        for turn in range(turns):
            names = [f"e{turn}-{i}" for i in range(random.choice([1, 1, 5]))]
            size = random.choice([10, 1000, 20000])
            await asyncio.gather(*(self._append(store, random.choice(["main", "side"]), name, size) for name in names))
            with contextlib.suppress(StoreIOError, CommitUncertainError):
                if turn % 10 == 5:
                    await store.log(LOG).edit({"op": "remove", "id": (await store.log(LOG).all())[0].entry_id})
                if turn % 10 == 8:
                    await store.log(LOG).redact(random.choice(self.acknowledged))
            if self.uncertain or turn % 7 == 6:
                await store.close()
                store = await opened(self._path, self._durability)
                await self._settle(store)
        disk.failing = 0.0
        await store.close()

    async def _settle(self, store: Store) -> None:
        """What was uncertain is certain once the store is open again."""
        for entry_id in self.uncertain:
            stored = await store.log(LOG).find(entry_id) is not None
            (self.acknowledged if stored else self.refused).append(entry_id)
        self.uncertain.clear()


async def wrong_with(path: Path, judge: Judge) -> list[str]:
    """What is not as it should be in a file that lost power."""
    try:
        async with msglog.open(path, driver=ApswDriver("disk")) as store:
            report = await store.verify()
            wrong = [*map(str, report.problems), *await judge(store)]
            await store.log("further").add("user", "goes on")
            return wrong
    except (AssertionError, MsgLogError) as error:
        return [repr(error)]


TURNS = {"deeds": (30, 0.03), "callers": (16, 0.1), "making": (3, 0.3), "migrating": (3, 0.5)}
"""Of each scenario: how much is done, and the share of moments at which the power goes."""


def main(folder: Path, scenario: str, durability: Durability, failing: float, seed: int) -> None:
    disk = Disk(Random(seed))
    live = folder / "live"
    live.mkdir()
    kind = Callers if scenario == "callers" else Deeper
    work = kind(live / "agent.db", disk, durability, failing)
    turns, share = TURNS[scenario]
    crashes = Crashes(disk, folder, work.judge, share)
    # checkpoints often, and of both kinds
    vars(writer).update(WAL_PAGES=disk.random.choice([10, 30, 1000]), WAL_BYTES=disk.random.choice([2**17, 2**23]))
    with followed_rewriting(disk):
        asyncio.run(work.prepare(migrating=scenario == "migrating"))
        disk.moment = crashes.perhaps
        asyncio.run(work.run(turns))
    disk.moment = lambda: None
    wrong = {}
    for path, judge in crashes.taken:
        disk.files.clear()
        if problems := asyncio.run(wrong_with(path, judge)):
            wrong[path.parent.name] = problems
    print(json.dumps({"crashes": len(crashes.taken), "wrong": wrong, **work.counts}))  # noqa: T201 what it is for


def run(folder: Path, scenario: str, durability: str, failing: float, seed: int) -> Counter[str]:
    """What a process of its own came to; nothing may be wrong."""
    arguments = [str(folder), scenario, durability, str(failing), str(seed)]
    command = [sys.executable, "-m", "tests.faults.power", *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, f"{arguments}: {ran.stderr}"
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert told.pop("wrong") == {}, f"{arguments}: {ran.stdout}"
    return Counter(told)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], cast("Durability", sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
