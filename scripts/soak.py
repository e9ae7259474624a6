"""The long form of the attacks on the promises: round after round, each in a process of its own with its own seed."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST_ROUND = 900.0
"""Seconds after which a round has hung."""


@dataclass
class Tally:
    """What an attack came to."""

    name: str
    rounds: int = 0
    seconds: float = 0.0
    figures: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def round(self, seed: int) -> None:
        """Run one round; keep its files where it fails."""
        folder = tempfile.mkdtemp(prefix=f"soak-{self.name}-{seed}-")
        command = [sys.executable, "-m", "tests.faults.attacks", self.name, str(seed), folder]
        started = time.monotonic()
        try:
            ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST_ROUND)
            failure = ran.stderr if ran.returncode else None
        except subprocess.TimeoutExpired:
            failure = f"it hung for {LONGEST_ROUND:.0f} seconds"
        self.rounds += 1
        self.seconds += time.monotonic() - started
        if failure is None:
            self.figures.update(json.loads(ran.stdout.splitlines()[-1]))
            shutil.rmtree(folder, ignore_errors=True)
        else:
            self.failures.append(f"scripts/soak --minutes 0 --only {self.name} --seed {seed}   # files in {folder}")
            print(f"{self.name}, seed {seed}:\n{failure}", file=sys.stderr)

    def row(self) -> str:
        """A line of the table."""
        figures = ", ".join(f"{count:,} {what}" for what, count in self.figures.items() if count)
        wrong = f"{len(self.failures)} WRONG" if self.failures else "held"
        return f"| {self.name} | {self.rounds} | {self.seconds:.0f} s | {figures} | {wrong} |"


def main() -> int:
    """Run the attacks in turns until the time is up; 1 where something was found wrong."""
    sys.path.insert(0, str(ROOT))
    from tests.faults.attacks import ATTACKS  # noqa: PLC0415 the checkout comes first

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=ATTACKS, metavar="NAME", help=", ".join(ATTACKS))
    asked = parser.parse_args()

    tallies = [Tally(name) for name in asked.only or ATTACKS]
    deadline = time.monotonic() + asked.minutes * 60
    seed = asked.seed
    while True:
        # The attack that had least time so far is next: rounds are of different lengths.
        tally = min(tallies, key=lambda each: each.seconds)
        if tally.rounds and time.monotonic() >= deadline:
            break
        tally.round(seed + tally.rounds)
    print("| attack | rounds | time | figures | |\n| --- | --- | --- | --- | --- |")
    for tally in tallies:
        print(tally.row())
    for failure in (failure for tally in tallies for failure in tally.failures):
        print(f"\nAgain: {failure}")
    return int(any(tally.failures for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
