from __future__ import annotations

from typing import Any

import pytest

from msglog import MessageLog
from tests.concurrency.workers import user

pytestmark = pytest.mark.every_engine


@pytest.fixture
async def five(log: MessageLog) -> MessageLog:
    await log.append_many(user(f"{i}") for i in range(1, 6))
    return log


@pytest.mark.parametrize(("n", "count"), [(0, 0), (1, 1), (3, 3), (5, 5), (99, 5)])
async def test_win_1_last_n_gives_at_most_n(five: MessageLog, n: int, count: int) -> None:
    assert len(await five.last(n)) == count
    assert len(await five.raw.last(n)) == count


@pytest.mark.parametrize("n", [-1, -99])
async def test_win_1_negative_numbers_are_refused(five: MessageLog, n: int) -> None:
    for attempt in (five.last(n), five.raw.last(n), five.read(limit=n), five.read(after=n), five.history(last=n)):
        with pytest.raises(ValueError, match="at least 0"):
            await attempt


@pytest.mark.parametrize("n", [None, True, 2.0, "2"])
async def test_win_1_what_is_no_int_is_refused(five: MessageLog, n: Any) -> None:
    for attempt in (five.last(n), five.raw.last(n), five.read(limit=n), five.read(after=n)):
        with pytest.raises(TypeError, match="must be an int"):
            await attempt


async def test_win_1_a_limit_of_zero_gives_nothing(five: MessageLog) -> None:
    assert await five.read(limit=0) == []


async def test_win_1_last_alone_is_the_newest_message(five: MessageLog) -> None:
    newest = await five.last()
    assert newest is not None
    assert newest.text == "5"
    assert await five.store.log("another").last() is None


async def test_win_2_the_last_n_are_the_newest_oldest_first(log: MessageLog) -> None:
    await log.append_many(user(f"{i}") for i in range(1, 11))
    assert [message.text for message in await log.last(3)] == ["8", "9", "10"]


async def test_win_2_a_fork_has_its_own_newest_across_the_fork_point(five: MessageLog) -> None:
    fork = await five.fork("what if")
    await five.append(user("6"))
    await fork.append(user("6 of the fork"))
    assert [message.text for message in await fork.last(3)] == ["4", "5", "6 of the fork"]
    assert [message.text for message in await five.last(3)] == ["4", "5", "6"]
