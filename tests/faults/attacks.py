"""Every attack under a name, for `scripts/soak`. One round of one of them, as a process of its own:

    python -m tests.faults.attacks NAME SEED FOLDER

The last line that it prints are its figures, as JSON; what it finds wrong it raises.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.concurrency import actors, killing, records
from tests.faults import calls, cancelling, hostile, leaks, power, room, rot

Round = Callable[[Path, int], Counter[str]]


def _calls_fail(folder: Path, seed: int) -> Counter[str]:
    return asyncio.run(calls.sweep(folder, seed, "io", sample=25))


def _calls_find_no_room(folder: Path, seed: int) -> Counter[str]:
    return asyncio.run(calls.sweep(folder, seed, "full", sample=25))


def _limit(folder: Path, seed: int) -> Counter[str]:
    return room.run("limit", folder, seed)


def _small_file_system(folder: Path, seed: int) -> Counter[str]:
    return room.run("small", folder, seed) if room.can_mount() else Counter(skipped=1)


def _power(durability: str, failing: float, *scenarios: str) -> Round:
    def lose(folder: Path, seed: int) -> Counter[str]:
        return power.run(folder, scenarios[seed % len(scenarios)], durability, failing, seed)

    return lose


def _kills(folder: Path, seed: int) -> Counter[str]:
    return asyncio.run(killing.kill_over_and_over(folder / "agent.db", seed, 15))


def _histories(folder: Path, seed: int) -> Counter[str]:
    record = asyncio.run(actors.recorded(folder / "agent.db", seed, 80))
    wrong = records.wrong_with(record)
    assert not wrong, wrong
    events = Counter(event.kind for event in record.events)
    return Counter(operations=len(record.events), refused=sum(event.refused for event in record.events)) + events


def _cancelled(folder: Path, seed: int) -> Counter[str]:
    methods = cancelling.public_methods()
    some = Random(seed).sample(methods, 10)
    return asyncio.run(cancelling.cancel_everywhere(folder, some)) + asyncio.run(
        cancelling.cancel_at_random(folder, seed, 100)
    )


ATTACKS: dict[str, Round] = {
    "io-errors": _calls_fail,
    "disk-full": _calls_find_no_room,
    "file-limit": _limit,
    "small-file-system": _small_file_system,
    "power-full": _power("full", 0, "deeds", "callers"),
    "power-normal": _power("normal", 0, "deeds", "callers"),
    "power-failing-syncs": _power("full", 0.15, "deeds", "callers"),
    "power-most-syncs-fail": _power("full", 0.4, "deeds", "callers"),
    "power-making-migrating": _power("full", 0, "making", "migrating"),
    "kills": _kills,
    "histories": _histories,
    "bit-flips": lambda folder, seed: asyncio.run(rot.flip_bits(folder, seed, 500)),
    "spoilt-logs": lambda folder, seed: asyncio.run(rot.spoil_logs(folder, seed, 150)),
    "cut-files": lambda folder, seed: asyncio.run(rot.cut_files(folder, seed, 300)),
    "many-logs": lambda folder, _seed: asyncio.run(leaks.many_logs(folder, 5000)),
    "long-follower": lambda folder, seed: asyncio.run(leaks.long_follower(folder, seed, 6000)),
    "cancellation": _cancelled,
    "hostile-content": lambda folder, seed: asyncio.run(hostile.attack(folder, seed, 150)),
}

if __name__ == "__main__":
    print(json.dumps(ATTACKS[sys.argv[1]](Path(sys.argv[3]), int(sys.argv[2]))))  # noqa: T201 what the program is for
