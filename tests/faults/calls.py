"""Attacks 1 and 2: the n-th call of the file system fails, for every n that a deed comes to.

Whatever a store answers then must be so: acknowledged is there, refused is not, and only `CommitUncertainError`
leaves both open. The same store goes on once the disk is well.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import msglog
from msglog import Store
from msglog.errors import CannotOpenError, CommitUncertainError, MsgLogError, StoreFullError, StoreIOError
from tests.faults.vfs import ApswDriver, Faults, Trouble, faulty_disk
from tests.faults.world import KINDS, Deed, Deeds, World, grown, secret, seen

CREATE, OPEN, CLOSE = "create", "open", "close"

EVERY_KIND = (CREATE, OPEN, *KINDS, CLOSE)

SAID = {
    "io": (StoreIOError, CannotOpenError, CommitUncertainError),
    "full": (StoreFullError, StoreIOError, CannotOpenError, CommitUncertainError),
}
"""What a store may say of each trouble."""

_NEVER = 10**9


@dataclass(frozen=True)
class Point:
    """One call that fails: the n-th of a deed."""

    kind: str
    at: int
    trouble: Trouble
    lasting: bool
    seed: int


@dataclass
class Bench:
    """A store's file as every deed finds it, the world that it holds, and the disk under it."""

    folder: Path
    base: Path
    world: World
    faults: Faults
    driver: ApswDriver

    def fresh(self, *, empty: bool) -> Path:
        """The file anew, or nothing where it is to be made."""
        path = self.folder / "agent.db"
        for left in {*self.folder.iterdir()} - {self.base}:
            left.unlink()
        if not empty:
            shutil.copy(self.base, path)
        return path

    async def open(self, path: Path) -> Store:
        return await msglog.open(path, driver=self.driver, busy_timeout=2)


async def answer(work: Awaitable[Any]) -> MsgLogError | None:
    """What a store said no with; None where it said yes. Any other error goes on its way."""
    try:
        await work
    except MsgLogError as error:
        return error
    return None


class Strike:
    """A deed during which one call fails."""

    def __init__(self, bench: Bench, point: Point) -> None:
        self._bench = bench
        self._point = point
        self._path = bench.fresh(empty=point.kind == CREATE)
        self._deeds = Deeds(Random(point.seed), bench.folder, first=1000)
        self._store: Store | None = None
        self.error: MsgLogError | None = None
        self.failed: list[str] = []
        self.calls = 0

    async def run(self) -> None:
        """Have the call fail; see that all is as it was said to be, and that the store goes on."""
        try:
            possible = await self._suffer()
            await self._go_on(possible)
        finally:
            self._bench.faults.disarm()
            await self._close()

    async def _open(self) -> Store:
        self._store = await self._bench.open(self._path)
        return self._store

    async def _close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await store.close()

    def _arm(self) -> None:
        point = self._point
        self._bench.faults.arm(point.at, point.trouble, lasting=point.lasting, seed=point.seed)

    async def _suffer(self) -> list[World]:
        """The worlds of which one must be there now."""
        kind, faults = self._point.kind, self._bench.faults
        world = World() if kind == CREATE else self._bench.world
        possible = [world]
        if kind in (CREATE, OPEN):
            self._arm()
            self.error = await answer(self._open())
        elif kind == CLOSE:
            deed = self._deeds.draw(world, "append_many")
            await deed.do(await self._open())
            possible = [deed.after]
            self._arm()
            await self._close()
        else:
            store, deed = await self._open(), self._deeds.draw(world, kind)
            self._arm()
            self.error = await answer(deed.do(store))
            possible = self._told(deed)
            if self._point.at % 2:  # the disk is as ill while the store is closed
                await self._close()
        self.failed, self.calls = list(faults.failed), faults.calls
        faults.disarm()
        assert self.error is None or self.failed, "nothing failed, and it was refused all the same"
        assert self.error is None or isinstance(self.error, SAID[self._point.trouble])
        return possible

    def _told(self, deed: Deed) -> list[World]:
        if deed.made is not None:
            assert deed.made.exists() == (self.error is None), "a backup has its name, or there is nothing of it"
        if isinstance(self.error, CommitUncertainError):
            return [self._bench.world, deed.after]
        return [deed.after if self.error is None else self._bench.world]

    async def _go_on(self, possible: Sequence[World]) -> None:
        if self._store is not None and isinstance(self.error, CommitUncertainError):
            refusal = await answer(self._deeds.draw(possible[0], "append").do(self._store))
            assert isinstance(refusal, StoreIOError), "an uncertain store fails until it is opened again"
            await self._close()
        store = self._store or await self._open()
        world = await found(store, possible)
        for _ in range(2):
            deed = self._deeds.draw(world, "append_many" if world.logs else "begin")
            await deed.do(store)
            world = deed.after
            await found(store, [world])
            await self._close()
            store = await self._open()
        report = await store.verify()
        assert report.ok, report.problems
        await found(store, [world])
        await self._close()
        nothing_is_left(self._path, world)


async def found(store: Store, possible: Sequence[World]) -> World:
    """Which of these worlds the store shows."""
    shown = await seen(store)
    for world in possible:
        if world.shown() == shown:
            return world
    raise AssertionError(f"the store shows no world that it may: {[_apart(w.shown(), shown) for w in possible]}")


def _apart(expected: dict[str, Any], shown: dict[str, Any]) -> list[str]:
    """Where two worlds differ, in few words."""
    apart = [f"log {name!r} is in one of them" for name in expected.keys() ^ shown.keys()]
    for name in expected.keys() & shown.keys():
        entries, others = dict(expected[name][0]), dict(shown[name][0])
        apart += [f"{name}: {entry_id} is missing" for entry_id in entries.keys() - others.keys()]
        apart += [f"{name}: {entry_id} is too many" for entry_id in others.keys() - entries.keys()]
        apart += [f"{name}: {i} differs" for i in entries.keys() & others.keys() if entries[i] != others[i]]
        if list(entries) != list(others):
            apart.append(f"{name}: another order, {list(entries)} and {list(others)}")
        if expected[name][1] != shown[name][1]:
            apart.append(f"{name}: branches {expected[name][1]}, and {shown[name][1]}")
    return apart


def nothing_is_left(path: Path, world: World) -> None:
    """No byte of a closed store tells what was redacted."""
    held = b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))
    left = [entry_id for entry_id in world.redacted() if secret(entry_id).encode() in held]
    assert not left, f"redacted, and still in the files: {left}"


async def sweep(
    folder: Path, seed: int, trouble: Trouble, kinds: Sequence[str] = EVERY_KIND, sample: int | None = None
) -> Counter[str]:
    """Fail each call of each kind of deed, or a sample of them, once and from then on."""
    figures: Counter[str] = Counter()
    with faulty_disk() as (faults, driver):
        base = folder / "base.db"
        async with msglog.open(base, driver=driver) as store:
            world = await grown(store, Deeds(Random(seed), folder), 12)
        bench = Bench(folder, base, world, faults, driver)
        for kind in kinds:
            clean = Strike(bench, Point(kind, _NEVER, trouble, lasting=False, seed=seed))
            await clean.run()
            calls = range(clean.calls)
            for at in calls if sample is None else Random(f"{seed} {kind}").sample(calls, min(sample, len(calls))):
                for lasting in (False, True):
                    await _struck(bench, Point(kind, at, trouble, lasting, seed), figures)
    return figures


async def _struck(bench: Bench, point: Point, figures: Counter[str]) -> None:
    strike = Strike(bench, point)
    try:
        await strike.run()
    except BaseException as error:
        error.add_note(f"{point}, which failed {strike.failed[:3]}, and was answered with {strike.error!r}")
        raise
    figures["points"] += 1
    figures["acknowledged" if strike.error is None else "refused"] += 1
    figures["uncertain"] += isinstance(strike.error, CommitUncertainError)
