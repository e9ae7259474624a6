"""Nothing piles up: not with the logs that were opened, and not while somebody follows for long."""

from __future__ import annotations

from pathlib import Path

from tests.faults.leaks import long_follower, many_logs


async def test_five_thousand_logs_that_were_opened_and_dropped_leave_nothing(tmp_path: Path) -> None:
    await many_logs(tmp_path, 5000)


async def test_the_log_stays_bounded_while_processes_write_page_and_follow(tmp_path: Path) -> None:
    figures = await long_follower(tmp_path, 1, 600)
    assert figures["entries followed"] == 601
