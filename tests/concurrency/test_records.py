"""Histories of concurrent calls are such as one log that keeps one order can give; and a wrong one is told apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.concurrency.actors import recorded
from tests.concurrency.records import END, Event, Record, wrong_with


@pytest.mark.parametrize("seed", [1, 2])
async def test_threads_tasks_and_processes_are_told_what_one_order_explains(path: Path, seed: int) -> None:
    record = await recorded(path, seed, 25)
    assert wrong_with(record) == []
    refused = [event for event in record.events if event.refused]
    assert refused, "some lost to another, or the test shows nothing"
    assert len(record.of("follow")) == 3


# The checker itself: a good record, and what is made of it that is not


def made() -> Record:
    """A small good record: appends, reads, two commits on one head, conditional appends, a follower."""
    events = (
        Event("a", "append", 10, 20, ("a1",), (1,)),
        Event("b", "append", 12, 30, ("b1", "b2"), (2, 3)),
        Event("r", "read", 13, 21, ("a1",)),
        Event("r", "read", 31, 33, ("a1", "b1", "b2")),
        Event("a", "commit", 40, 50, ("a2",), (), "r2"),
        Event("b", "commit", 41, 52, ("b3",), (), "r2", refused=True),
        Event("a", "append", 60, 70, ("a3",), (5,), 4),
        Event("b", "append", 61, 75, ("b4",), (), 4, refused=True),
        Event("r", "read", 80, 90, ("a1", "b1", "b2", "a2", "a3")),
        Event(END, "append", 100, 110, (END,), (6,)),
        Event("f", "follow", 5, 120, ("b1", "b2", "a2", "a3", END), (2, 3, 4, 5, 6), 1),
    )
    entries = (("a1", "r1"), ("b1", "r2"), ("b2", "r2"), ("a2", "r3"), ("a3", "r4"), (END, "r5"))
    return Record(events, entries, ("r0", "r1", "r2", "r3", "r4", "r5"))


def event(record: Record, entry_id: str) -> Event:
    return next(each for each in record.of("append", "commit") if entry_id in each.ids)


def stored_in_another_order(record: Record) -> Record:
    a1, b1, *rest = record.entries
    return replace(record, entries=(b1, a1, *rest))


def follower(record: Record, seqs: tuple[int, ...]) -> Record:
    (stream,) = record.of("follow")
    ids = tuple(record.entries[seq - 1][0] for seq in seqs)
    return record.changed(stream, seqs=seqs, ids=ids)


WRONG: dict[str, Callable[[Record], Record]] = {
    "a seq twice": lambda r: r.changed(event(r, "a3"), seqs=(4,)).changed(event(r, END), seqs=(4,)),
    "a seq that is another's": lambda r: r.changed(event(r, "a1"), seqs=(2,)),
    "acknowledged and not there": lambda r: replace(r, entries=r.entries[:-1]),
    "refused and there": lambda r: replace(r, entries=(*r.entries, ("b4", "r6"))),
    "an id stored twice": lambda r: replace(r, entries=(*r.entries, ("a1", "r6"))),
    "another order than was told": stored_in_another_order,
    "an order against the clock": lambda r: r.changed(event(r, "a1"), called=35, answered=36),
    "a read with a hole": lambda r: r.changed(r.of("read")[1], ids=("a1", "b2")),
    "a read in another order": lambda r: r.changed(r.of("read")[1], ids=("b1", "a1", "b2")),
    "a read that lacks what was answered": lambda r: r.changed(r.of("read")[2], ids=("a1", "b1", "b2", "a2")),
    "a read that lacks what was read before": lambda r: r.changed(event(r, "b1"), answered=200).changed(
        r.of("read")[2], called=34, answered=39, ids=("a1",)
    ),
    "a read of what was not sent yet": lambda r: r.changed(r.of("read")[0], ids=("a1", "b1", "b2", "a2")),
    "two winners of one head": lambda r: replace(
        r.changed(event(r, "b3"), refused=False), entries=(*r.entries, ("b3", "r6")), lineage=(*r.lineage, "r6")
    ),
    "a winner elsewhere": lambda r: r.changed(event(r, "a2"), base="r1"),
    "a loser that lost to nobody": lambda r: r.changed(event(r, "b3"), base="r5"),
    "a loser that lost to a later one": lambda r: r.changed(event(r, "b3"), called=35, answered=39),
    "a conditional append after something else": lambda r: r.changed(event(r, "a3"), base=3),
    "a conditional append that lost to nobody": lambda r: r.changed(event(r, "b4"), base=6),
    "a follower that misses one": lambda r: follower(r, (2, 3, 5, 6)),
    "a follower that repeats one": lambda r: follower(r, (2, 3, 3, 4, 5, 6)),
    "a follower out of order": lambda r: follower(r, (2, 4, 3, 5, 6)),
    "a follower that ends early": lambda r: follower(r, (2, 3, 4, 5)),
    "a follower that gets another's entry": lambda r: r.changed(r.of("follow")[0], ids=("b2", "b1", "a2", "a3", END)),
}


def test_a_good_record_has_nothing_wrong() -> None:
    assert wrong_with(made()) == []


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG.keys())
def test_a_record_that_no_log_can_have_given_is_told_apart(spoil: Callable[[Record], Record]) -> None:
    assert wrong_with(spoil(made())) != []
