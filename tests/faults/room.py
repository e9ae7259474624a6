"""Attack 2, for real: a limit of the system on the size of files, and a small file system. Run as a program.

    python -m tests.faults.room limit|small FOLDER SEED

takes the room away from a store at random moments, and gives it back. `small` mounts a file system of its own,
which needs the right to (`can_mount`).
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import msglog
from msglog.errors import CannotOpenError, CommitUncertainError, StoreFullError, StoreIOError
from tests.faults.calls import answer, found
from tests.faults.world import Deeds, grown

ROOT = Path(__file__).resolve().parents[2]
_SMALL = 'mount -t tmpfs -o size=3m none "$1" && exec "$2" -m tests.faults.room crowded "$1" "$3"'


async def crowded(
    folder: Path, random: Random, press: Callable[[Path], None], relieve: Callable[[], None], turns: int = 25
) -> Counter[str]:
    """Deeds while there is little room, and one more by the same store once there is some again."""
    path, deeds, figures = folder / "agent.db", Deeds(random, folder), Counter[str]()
    store = await msglog.open(path, durability=random.choice(["full", "normal"]))
    world = await grown(store, deeds, 10)
    for _ in range(turns):
        press(path)
        for _ in range(random.randrange(1, 8)):
            deed = deeds.draw(world)
            error = await answer(deed.do(store))
            figures["deeds"] += 1
            assert error is None or isinstance(
                error, (StoreFullError, StoreIOError, CannotOpenError, CommitUncertainError)
            ), error
            figures["refused" if error else "acknowledged"] += 1
            if isinstance(error, CommitUncertainError):
                figures["uncertain"] += 1
                relieve()
                await store.close()
                store = await msglog.open(path)
                world = await found(store, [world, deed.after])
                break
            world = deed.after if error is None else world
            await found(store, [world])
        relieve()
        deed = deeds.draw(world, "append_many")
        await deed.do(store)
        world = await found(store, [deed.after])
        for copy in folder.glob("backup-*"):  # noqa: ASYNC240 a few names
            copy.unlink()
    report = await store.verify()
    assert report.ok, report.problems
    await store.close()
    async with msglog.open(path) as again:
        await found(again, [world])
        assert (await again.verify()).ok
    return figures


def _limited(random: Random) -> tuple[Callable[[Path], None], Callable[[], None]]:
    def set_limit(limit: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    def press(path: Path) -> None:
        sizes = [os.stat(beside).st_size for beside in path.parent.glob(f"{path.name}*")]
        set_limit(random.choice([max(sizes), min(sizes) + 5000, max(sizes) + random.randrange(60_000)]))

    return press, lambda: set_limit(resource.RLIM_INFINITY)


def _filled(random: Random) -> tuple[Callable[[Path], None], Callable[[], None]]:
    ballast: list[Path] = []

    def press(path: Path) -> None:
        place = path.parent / "ballast"
        ballast.append(place)
        free = shutil.disk_usage(path.parent).free - random.choice([0, 4096, 20_000, 60_000])
        if free > 0:
            with place.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, free)

    def relieve() -> None:
        while ballast:
            ballast.pop().unlink(missing_ok=True)

    return press, relieve


def can_mount() -> bool:
    """Whether this process may mount a file system of its own."""
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def run(kind: str, folder: Path, seed: int) -> Counter[str]:
    """What a process of its own came to."""
    command = [sys.executable, "-m", "tests.faults.room", kind, str(folder), str(seed)]
    if kind == "small":
        command = ["unshare", "-m", "sh", "-ec", _SMALL, "sh", str(folder), sys.executable, str(seed)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, f"{kind}, seed {seed}: {ran.stderr}"
    return Counter(json.loads(ran.stdout.splitlines()[-1]))


def main(kind: str, folder: Path, seed: int) -> None:
    random = Random(seed)
    press, relieve = _limited(random) if kind == "limit" else _filled(random)
    figures = asyncio.run(crowded(folder, random, press, relieve))
    print(json.dumps(figures))  # noqa: T201 what the program is for


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
