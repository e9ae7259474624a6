"""Spans: a sequence of seqs in chunks and a tail behaves as the plain list of its seqs, within its bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.storage import spans
from msglog.storage.spans import Part, Run, SpanSequence, count, decode_spans, encode_spans, extended, runs_of

seqs = st.lists(st.integers(1, 40), unique=True, max_size=30)
keys = st.lists(st.integers(1, 60), unique=True, max_size=6)


@pytest.fixture(autouse=True, scope="module")
def _small_bounds() -> object:
    """So small that a few entries fill chunks and tails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "CHUNK_SPANS", 4)
        patch.setattr(spans, "TAIL_SPANS", 3)
        yield


def flat(sequence: SpanSequence) -> list[int]:
    return [seq for first, last in sequence.runs() for seq in range(first, last + 1)]


def in_chunks(values: list[int], cuts: list[int]) -> SpanSequence:
    """The sequence of `values`, as numbered chunks that end at `cuts`, and a tail."""
    ends = sorted({cut % (len(values) + 1) for cut in cuts})
    pieces = [values[a:b] for a, b in pairwise([0, *ends])]
    chunks = [Part(runs_of(piece), number) for number, piece in enumerate(pieces, 1) if piece]
    return SpanSequence(chunks, runs_of(values[ends[-1] if ends else 0 :]))


sequences = st.builds(in_chunks, seqs, st.lists(st.integers(0, 30), max_size=4))


@given(seqs)
def test_runs_are_the_seqs_and_no_two_of_them_meet(values: list[int]) -> None:
    runs = runs_of(values)
    assert [seq for first, last in runs for seq in range(first, last + 1)] == values
    assert all(one[1] != other[0] - 1 for one, other in pairwise(runs))
    assert count(runs) == len(values)


@given(seqs, seqs)
def test_extended_runs_are_the_runs_of_both(one: list[int], other: list[int]) -> None:
    assert extended(runs_of(one), runs_of(other)) == runs_of([*one, *other])


@given(seqs, st.integers(0, 10**6))
def test_spans_read_back_as_the_runs_that_they_were(values: list[int], position: int) -> None:
    runs = runs_of(values)
    assert decode_spans(encode_spans(runs, position)) == runs


@given(seqs, st.integers(0, 10**6))
def test_each_span_says_where_it_stands(values: list[int], position: int) -> None:
    for start, first, *_ in json.loads(encode_spans(runs_of(values), position)):
        assert values[start - position] == first


@given(sequences)
def test_length_counts_the_seqs(sequence: SpanSequence) -> None:
    assert len(sequence) == len(flat(sequence))


@given(sequences, st.integers(0, 60))
def test_index_is_that_of_the_list(sequence: SpanSequence, key: int) -> None:
    values = flat(sequence)
    assert sequence.index(key) == (values.index(key) if key in values else None)
    assert (key in sequence) == (key in values)
    assert sequence.times(key) == values.count(key)


@given(sequences, keys)
def test_first_is_the_place_of_whichever_comes_first(sequence: SpanSequence, wanted: list[int]) -> None:
    places = [place for place, seq in enumerate(flat(sequence)) if seq in wanted]
    assert sequence.first(set(wanted)) == (places[0] if places else None)


@given(sequences, keys)
def test_remove_takes_out_what_is_there_and_returns_it(sequence: SpanSequence, gone: list[int]) -> None:
    before = flat(sequence)
    assert sequence.remove(set(gone)) == [seq for seq in before if seq in gone]
    assert flat(sequence) == [seq for seq in before if seq not in gone]


@given(sequences, st.integers(0, 30), st.lists(st.integers(100, 120), unique=True, max_size=5))
def test_insert_puts_seqs_where_it_is_told(sequence: SpanSequence, place: int, new: list[int]) -> None:
    values = flat(sequence)
    place = min(place, len(values))
    sequence.insert(place, new)
    values[place:place] = new
    assert flat(sequence) == values
    assert len(sequence) == len(values)


change = st.one_of(
    st.builds(lambda gone: lambda s: s.remove(set(gone)), keys),
    st.builds(
        lambda place, new: lambda s: s.insert(min(place, len(s)), [n for n in new if n not in s]),
        st.integers(0, 30),
        st.lists(st.integers(100, 140), unique=True, max_size=6),
    ),
)


@given(sequences, st.lists(change, max_size=6))
def test_settling_keeps_the_sequence_and_every_bound(
    sequence: SpanSequence, changes: list[Callable[[SpanSequence], object]]
) -> None:
    for apply in changes:
        apply(sequence)
    values = flat(sequence)
    sequence.settled()
    assert flat(sequence) == values
    assert all(0 < len(part.runs) <= spans.CHUNK_SPANS for part in sequence.chunks if part.number is None)
    assert len(sequence.tail.runs) <= spans.TAIL_SPANS


@given(sequences, st.lists(change, max_size=4))
def test_a_chunk_keeps_its_number_only_while_it_is_what_was_stored(
    sequence: SpanSequence, changes: list[Callable[[SpanSequence], object]]
) -> None:
    stored = {part.number: list(part.runs) for part in sequence.chunks}
    for apply in changes:
        apply(sequence)
    sequence.settled()
    for part in sequence.chunks:
        assert part.number is None or stored[part.number] == part.runs


def test_an_edit_makes_new_only_the_chunks_around_it() -> None:
    values = list(range(2, 2000, 2))
    sequence = SpanSequence([Part(runs_of(values[i : i + 4]), i // 4) for i in range(0, len(values), 4)], [])
    sequence.remove({1000})
    sequence.insert(700, [5001, 5003])
    assert sequence.settled()
    assert sum(part.number is None for part in sequence.chunks) <= 4


def test_a_sequence_that_did_not_change_settles_to_what_it_was() -> None:
    sequence = SpanSequence([Part([(1, 3), (7, 9)], 5)], [(12, 12)])
    assert not sequence.settled()
    assert [part.number for part in sequence.chunks] == [5]


def test_many_edits_leave_few_small_chunks() -> None:
    random, sequence = Random(0), SpanSequence.of(range(1, 400))
    for _ in range(300):
        values = flat(sequence)
        sequence.remove({random.choice(values)})
        sequence.settled()
        for number, part in enumerate(sequence.chunks):
            part.number = number
    spans_held = sum(len(part.runs) for part in sequence.chunks)
    assert len(sequence.chunks) <= 2 * (spans_held // spans.CHUNK_SPANS + 1)


@pytest.mark.parametrize(
    ("runs", "text"),
    [([], "[]"), ([(1, 1)], "[[0,1]]"), ([(1, 5)], "[[0,1,5]]"), ([(3, 4), (9, 9)], "[[0,3,4],[2,9]]")],
)
def test_spans_are_written_as_the_design_says(runs: list[Run], text: str) -> None:
    assert encode_spans(runs) == text
