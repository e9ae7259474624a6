"""Room that really goes, and comes back: what was said is so, and the same store goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import room


def test_a_limit_of_the_system_on_the_size_of_files_loses_nothing(tmp_path: Path) -> None:
    assert room.run("limit", tmp_path, 1)["refused"]


@pytest.mark.skipif(not room.can_mount(), reason="no file system can be mounted here")
def test_a_small_file_system_that_is_full_loses_nothing(tmp_path: Path) -> None:
    assert room.run("small", tmp_path, 1)["refused"]
