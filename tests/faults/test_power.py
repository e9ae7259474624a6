"""A loss of power at any moment: what was acknowledged is there afterwards, and what is there is in order.

The disk keeps all that was synced, and any part of what was written since.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from msglog.store import Durability

pytestmark = pytest.mark.skipif(importlib.util.find_spec("apsw") is None, reason="apsw is not installed")


def crashed(directory: Path, durability: Durability, failing: float, seed: int) -> dict[str, Any]:
    """What a store came to on a disk that lost power at many moments."""
    command = [sys.executable, "-m", "tests.faults.disk", str(directory), durability, str(failing), str(seed)]
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=100)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert told["crashes"] > 50
    return told


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, seed: int) -> None:
    told = crashed(tmp_path, "full", 0, seed)
    assert (told["wrong"], told["refused"]) == ({}, 0)


def test_with_normal_durability_only_the_last_of_it_may_be_lost(tmp_path: Path) -> None:
    assert crashed(tmp_path, "normal", 0, 1)["wrong"] == {}


def test_nothing_that_was_refused_comes_back_from_a_disk_whose_syncs_fail(tmp_path: Path) -> None:
    told = crashed(tmp_path, "full", 0.15, 1)
    assert told["wrong"] == {}
    assert told["refused"]
