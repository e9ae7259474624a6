"""What changed between two views."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msglog.message import StoredMessage


def changed(
    before: Sequence[StoredMessage], after: Sequence[StoredMessage]
) -> Iterator[tuple[str, list[StoredMessage]]]:
    """The runs of messages that stay (" "), go ("-") and come ("+"), with as many as possible that stay."""
    places = {message.entry_id: at for at, message in enumerate(after)}
    kept = _longest_rising([(at, places[m.entry_id]) for at, m in enumerate(before) if m.entry_id in places])
    mine = theirs = 0
    same: list[StoredMessage] = []
    for at, place in [*kept, (len(before), len(after))]:
        if at > mine or place > theirs:
            yield from _run(" ", same)
            yield from _run("-", before[mine:at])
            yield from _run("+", after[theirs:place])
            same = []
        same += before[at : at + 1]
        mine, theirs = at + 1, place + 1
    yield from _run(" ", same)


def shared_prefix(before: Sequence[StoredMessage], after: Sequence[StoredMessage]) -> int:
    """How many leading messages are the same in both: what a provider's prompt cache still covers."""
    shared = 0
    for mine, theirs in zip(before, after, strict=False):
        if mine.entry_id != theirs.entry_id and repr(mine.message.to_json()) != repr(theirs.message.to_json()):
            break
        shared += 1
    return shared


def _run(sign: str, messages: Sequence[StoredMessage]) -> Iterator[tuple[str, list[StoredMessage]]]:
    if messages:
        yield sign, list(messages)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs, in order, whose second parts rise: what two sequences of different things share."""
    ends: list[int] = []  # the least last place of a rising run of each length
    at: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(at[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            at.append(number)
        else:
            ends[length], at[length] = place, number
    found: list[tuple[int, int]] = []
    number = at[-1] if at else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
