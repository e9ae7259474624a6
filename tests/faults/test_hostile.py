"""Content that tries to be something else is stored as what it is, and widens or leaks nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.hostile import attack


@pytest.mark.parametrize("seed", [1, 2])
async def test_hostile_words_anywhere_are_words_and_nothing_else(tmp_path: Path, seed: int) -> None:
    await attack(tmp_path, seed, 30)
