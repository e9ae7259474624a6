"""Ids and names are mapped so that no two become one, and so that what was sent stays as it was."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from msglog.adapters.names import NAME, Renaming
from tests.adapters.conversations import ids
from tests.strategies import texts

raws = st.lists(ids | texts, max_size=12)


@given(raws)
def test_every_name_is_legal_and_its_own(given_names: list[str]) -> None:
    renaming = Renaming(NAME)
    mapped = {raw: renaming(raw) for raw in given_names}
    assert all(re.fullmatch(NAME, name) for name in mapped.values())
    assert len(set(mapped.values())) == len(mapped)
    assert all(renaming(raw) == name for raw, name in mapped.items())


@given(raws)
def test_a_legal_name_is_itself(given_names: list[str]) -> None:
    renaming = Renaming(NAME)
    assert all(renaming(raw) == raw for raw in given_names if re.fullmatch(NAME, raw))


@given(raws, raws)
def test_what_comes_later_changes_nothing(before: list[str], after: list[str]) -> None:
    first, second = Renaming(NAME), Renaming(NAME)
    assert [first(raw) for raw in before] == [second(raw) for raw in [*before, *after]][: len(before)]


def test_each_occurrence_has_a_name_and_the_first_is_itself() -> None:
    renaming = Renaming(NAME)
    names = [renaming("call_0", n) for n in range(100)]
    assert names[0] == "call_0"
    assert len(set(names)) == 100
    assert all(re.fullmatch(NAME, name) for name in names)


def test_a_name_that_looks_like_a_mapped_one_gets_another() -> None:
    renaming = Renaming(NAME)
    mapped = renaming("a.b")
    assert renaming(mapped) != mapped
    assert re.fullmatch(NAME, renaming(mapped))


def test_names_of_the_provider_itself_may_be_wider() -> None:
    long = "x" * 100
    renaming = Renaming(NAME, own="[a-z]{1,200}")
    assert renaming(long, own=True) == long
    assert len(Renaming(NAME, own="[a-z]{1,200}")(long)) == 64
