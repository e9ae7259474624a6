"""Writers and followers are killed with SIGKILL, over and over: nothing is lost, doubled, missed or repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.concurrency.killing import kill_over_and_over


@pytest.mark.parametrize("seed", [1])
async def test_lives_of_writers_and_followers_leave_one_whole_log(path: Path, seed: int) -> None:
    figures = await kill_over_and_over(path, seed, 4)
    assert figures["kills"] == 16
