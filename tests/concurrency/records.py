"""What concurrent callers did and were told, and whether one log can have told them all of it.

Each call is recorded with the moments at which it was made and answered, by the system's monotonic clock, which
all processes share. `wrong_with` then looks for what no log that keeps one order could have answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

END = "end"
"""The entry id after which followers stop."""


@dataclass(frozen=True)
class Event:
    """A call: when it was made and answered (in ns), what it was about, and what came of it."""

    actor: str
    kind: str
    called: int
    answered: int
    ids: tuple[str, ...] = ()
    """Of entries: those that were to be appended, or those that were read, in order."""
    seqs: tuple[int, ...] = ()
    base: str | int | None = None
    """The head or the last seq that a write was conditional on; the seq after which a follower began."""
    refused: bool = False


@dataclass(frozen=True)
class Record:
    """All calls, and the log as it was in the end: its entries in order, each with the revision that it came in with,
    and its lineage from the root on.
    """

    events: tuple[Event, ...]
    entries: tuple[tuple[str, str], ...]
    lineage: tuple[str, ...]

    def changed(self, event: Event, **changes: object) -> Record:
        """The same, with one event another."""
        other = replace(event, **changes)  # type: ignore[arg-type]
        return replace(self, events=tuple(other if each is event else each for each in self.events))

    def of(self, *kinds: str) -> list[Event]:
        return [event for event in self.events if event.kind in kinds]


@dataclass
class _Truth:
    """What the record says, by id."""

    seq: dict[str, int] = field(default_factory=dict)
    called: dict[str, int] = field(default_factory=dict)


def wrong_with(record: Record) -> list[str]:
    """Everything in the record that one order of the log cannot explain."""
    truth = _Truth({entry_id: seq for seq, (entry_id, _) in enumerate(record.entries, 1)})
    truth.called = {entry_id: event.called for event in record.of("append", "commit") for entry_id in event.ids}
    checks = (_twice, _writes, _real_time, _reads, _heads, _streams)
    return [problem for check in checks for problem in check(record, truth)]


def _twice(record: Record, _truth: _Truth) -> Iterator[str]:
    """No seq and no id twice."""
    told: dict[int, str] = {}
    for event in record.of("append"):
        for entry_id, seq in zip(event.ids, event.seqs, strict=False):
            if told.setdefault(seq, entry_id) != entry_id:
                yield f"seq {seq} was told of {told[seq]} and of {entry_id}"
    if len({entry_id for entry_id, _ in record.entries}) < len(record.entries):
        yield "an id is stored twice"


def _writes(record: Record, truth: _Truth) -> Iterator[str]:
    """What was acknowledged is there, where it was said to be; what was refused is not."""
    for event in record.of("append", "commit"):
        stored = tuple(truth.seq.get(entry_id) for entry_id in event.ids)
        if event.refused:
            if any(stored):
                yield f"{event.ids} were refused, and are stored"
        elif None in stored:
            yield f"{event.ids} were acknowledged, and are not all stored"
        elif event.kind == "append" and stored != event.seqs:
            yield f"{event.ids} were told {event.seqs}, and are stored at {stored}"


def _real_time(record: Record, truth: _Truth) -> Iterator[str]:
    """Whoever calls after another was answered comes after it."""
    writes = [event for event in record.of("append", "commit") if not event.refused]
    spans = [(event, [truth.seq.get(entry_id, 0) for entry_id in event.ids]) for event in writes]
    answered = sorted(spans, key=lambda each: each[0].answered)
    highest, at = 0, 0
    for event, seqs in sorted(spans, key=lambda each: each[0].called):
        while answered[at][0].answered < event.called:
            highest = max(highest, *answered[at][1])
            at += 1
        if min(seqs) <= highest:
            yield f"{event.ids} came before seq {highest}, which was answered before they were sent"


def _reads(record: Record, truth: _Truth) -> Iterator[str]:
    """A read is a prefix; it holds all that was answered before it was made, and nothing that was sent after it."""
    order = [entry_id for entry_id, _ in record.entries]
    writes = [event for event in record.of("append", "commit") if not event.refused]
    seen: list[tuple[int, int]] = []  # of reads: when answered, and how much they held
    for read in sorted(record.of("read"), key=lambda event: event.called):
        length = len(read.ids)
        if list(read.ids) != order[:length]:
            yield f"{read.actor} read what is no prefix of the log"
            continue
        least = max((truth.seq.get(i, 0) for w in writes if w.answered < read.called for i in w.ids), default=0)
        least = max(least, *(held for answered, held in seen if answered < read.called), 0)
        if length < least:
            yield f"{read.actor} read {length} entries after seq {least} was told"
        if any(truth.called.get(entry_id, 0) > read.answered for entry_id in read.ids):
            yield f"{read.actor} read an entry before it was sent"
        seen.append((read.answered, length))


def _heads(record: Record, truth: _Truth) -> Iterator[str]:
    """Of the commits on one head one wins, and it alone; a loser lost to somebody."""
    place = {revision: at for at, revision in enumerate(record.lineage)}
    came_with = {entry_id: revision for entry_id, revision in record.entries}  # noqa: C416 it is looked up by id
    first = {revision: entry_id for entry_id, revision in reversed(record.entries)}
    won: dict[str | int, Event] = {}
    for event in record.events:
        if event.base is None or event.kind not in ("append", "commit"):
            continue
        if not event.refused:
            if event.base in won:
                yield f"{event.ids} and {won[event.base].ids} both won {event.base!r}"
            won[event.base] = event
        if event.kind == "commit":
            after = record.lineage[place.get(str(event.base), -1) + 1 :][:1]
            winner = first.get(after[0]) if after else None
        else:
            winner = record.entries[int(event.base)][0] if int(event.base) < len(record.entries) else None
        if event.refused and (winner is None or truth.called[winner] > event.answered):
            yield f"{event.ids} lost {event.base!r} to nobody"
        if not event.refused and event.ids and (winner is None or came_with.get(event.ids[0]) != came_with[winner]):
            yield f"{event.ids} do not come right after {event.base!r}, on which they were conditional"


def _streams(record: Record, truth: _Truth) -> Iterator[str]:
    """A follower gets every entry after where it began, once, in order, up to the last."""
    for stream in record.of("follow"):
        expected = list(range(int(stream.base or 0) + 1, truth.seq.get(END, len(record.entries)) + 1))
        if list(stream.seqs) != expected:
            odd = next((a for a, b in pairwise([int(stream.base or 0), *stream.seqs]) if b != a + 1), len(expected))
            yield f"{stream.actor} got {len(stream.seqs)} entries of {len(expected)}, not in order after seq {odd}"
        if tuple(truth.seq.get(entry_id) for entry_id in stream.ids) != stream.seqs:
            yield f"{stream.actor} got entries under the seqs of others"


def merged(parts: Sequence[Sequence[Event]]) -> tuple[Event, ...]:
    """The events of all actors."""
    return tuple(event for part in parts for event in part)
