from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msglog
from tests.concurrency.processes import Process, at_once
from tests.concurrency.workers import LOG, append_singles_and_batches, append_when_told


async def test_con_1_numbers_from_many_processes_have_no_gap_no_twin_no_loss(path: Path) -> None:
    at_once(append_singles_and_batches, [(str(path), f"p{i}", 100, 20) for i in range(8)])

    async with msglog.open(path) as store:
        messages = await store.log(LOG).all()
    assert [message.seq for message in messages] == list(range(1, 1601))
    singles, batches = defaultdict(list), defaultdict(list)
    for message in messages:
        name, form, number, *place = message.text.split()
        if form == "single":
            singles[name].append(int(number))
        else:
            batches[name, int(number)].append((message.seq, int(place[0])))
    assert all(numbers == list(range(100)) for numbers in singles.values())
    assert len(singles) == 8
    assert len(batches) == 160
    for places in batches.values():
        first = places[0][0]
        assert places == [(first + k, k) for k in range(5)]


async def test_con_2_a_stale_handle_cannot_erase_what_another_wrote(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append_many([{"role": "user", "content": "old 1"}, {"role": "user", "content": "old 2"}])
        with Process(append_when_told, str(path)) as other:
            assert other.hear() == "open"
            assert await log.count() == 2
            other.tell("b1")
            assert other.hear() == 3
            assert await log.add("user", "a1") == 4
            other.tell("b2")
            assert other.hear() == 5
        assert [message.content for message in await log.all()] == ["old 1", "old 2", "b1", "a1", "b2"]
