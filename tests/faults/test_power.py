"""A loss of power at any moment: what was acknowledged is there afterwards, and what is there is in order.

The disk keeps all that was synced, and any part of what was written since.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

if importlib.util.find_spec("apsw") is None:
    pytest.skip("apsw is not installed", allow_module_level=True)

from tests.faults import power


@pytest.mark.parametrize("scenario", ["deeds", "callers"])
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, scenario: str, seed: int) -> None:
    figures = power.run(tmp_path, scenario, "full", 0, seed)
    assert figures["crashes"] > 20
    assert figures["refused"] == 0


@pytest.mark.parametrize("scenario", ["deeds", "callers"])
def test_with_normal_durability_only_the_last_of_it_may_be_lost(tmp_path: Path, scenario: str) -> None:
    assert power.run(tmp_path, scenario, "normal", 0, 1)["crashes"] > 20


@pytest.mark.parametrize("scenario", ["deeds", "callers"])
def test_nothing_that_was_refused_comes_back_from_a_disk_whose_syncs_fail(tmp_path: Path, scenario: str) -> None:
    assert power.run(tmp_path, scenario, "full", 0.15, 1)["refused"]


@pytest.mark.parametrize("scenario", ["making", "migrating"])
def test_a_file_that_is_made_or_migrated_is_whole_or_as_it_was(tmp_path: Path, scenario: str) -> None:
    assert power.run(tmp_path, scenario, "full", 0, 1)["crashes"] > 10
