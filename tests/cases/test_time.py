from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import msglog
from msglog import MessageLog
from msglog.errors import InvalidMessageError
from tests.concurrency.processes import at_once
from tests.concurrency.workers import LOG, append_in_zone, times_in_zone, user


async def test_tim_1_times_are_the_same_instants_in_every_zone(path: Path) -> None:
    before = datetime.now(UTC)
    for zone in ("Asia/Kolkata", "America/New_York"):
        at_once(append_in_zone, [(str(path), zone, "2026-03-08T12:30:00+05:30")])
    async with msglog.open(path) as store:
        messages = await store.log(LOG).all()
        shown = await store.sql("SELECT at FROM active_entries ORDER BY position")

    assert [message.at.tzinfo for message in messages] == [UTC, UTC]
    assert before <= messages[0].at <= messages[1].at <= datetime.now(UTC)
    for row, message in zip(shown, messages, strict=True):
        assert abs((datetime.fromisoformat(row["at"]) - message.at).total_seconds()) <= 0.001
    for message in messages:
        assert message.meta is not None
        assert message.meta.created_at == datetime(2026, 3, 8, 7, tzinfo=UTC)
    expected = [(message.at.timestamp(), 1772953200.0) for message in messages]
    assert at_once(times_in_zone, [(str(path), "America/New_York"), (str(path), "Asia/Kolkata")]) == [expected] * 2


@pytest.mark.parametrize("naive", ["2026-03-08T02:30:00", datetime(2026, 3, 8, 2, 30)])  # noqa: DTZ001 naive it is
async def test_tim_1_a_time_without_a_zone_is_refused(log: MessageLog, naive: object) -> None:
    with pytest.raises(InvalidMessageError, match="without a zone"):
        await log.append(user("x"), meta={"created_at": naive})
    assert await log.count() == 0
