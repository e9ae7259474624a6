"""Files that rot: every answer is right, or an error of ours, or `verify` finds the damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.rot import cut_files, flip_bits, spoil_logs


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_flipped_bit_anywhere_in_a_file_is_found_where_it_changes_what_is_held(
    tmp_path: Path, seed: int
) -> None:
    figures = await flip_bits(tmp_path, seed, 40)
    assert figures["content-changing"] > 3


async def test_a_log_that_was_cut_flipped_swapped_or_lost_gives_a_moment_that_was_or_is_refused(tmp_path: Path) -> None:
    figures = await spoil_logs(tmp_path, 1, 30)
    assert figures["another store's: refused"] or figures["another store's: found"]


async def test_a_file_that_was_cut_or_whose_pages_were_lost_or_swapped_never_passes_for_good(tmp_path: Path) -> None:
    figures = await cut_files(tmp_path, 1, 30)
    assert figures["files"] == 30
