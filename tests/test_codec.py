"""JSON in and out: lossless, read-only, or refused with the path to what cannot be kept."""

from __future__ import annotations

import collections
import copy
import enum
import pickle
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.codec import (
    EMPTY,
    MAX_DEPTH,
    FrozenDict,
    FrozenList,
    decode,
    encode,
    freeze,
    freeze_object,
    from_column,
    is_plain,
    readable,
    thaw,
    to_column,
    without_none,
)
from msglog.errors import CodecError
from tests.strategies import BIGGEST, EMOJI, SPLIT_EMOJI, exact, json_objects, json_values, nested, texts

# Lossless


@given(json_values)
def test_what_goes_in_comes_out_to_the_type_and_the_order_of_keys(value: Any) -> None:
    assert exact(decode(encode(freeze(value)))) == exact(value)


@given(json_values)
def test_the_stored_column_gives_back_the_text_even_with_surrogates(value: Any) -> None:
    text = encode(freeze(value))
    assert from_column(to_column(text) or "") == text


@given(texts)
def test_any_text_survives_its_column(text: str) -> None:
    stored = to_column(text)
    assert stored is not None
    assert from_column(stored) == text


def test_the_column_of_no_text_is_null() -> None:
    assert to_column(None) is None


def test_plain_text_is_stored_as_text_and_surrogates_as_bytes() -> None:
    assert isinstance(to_column(f"plain {EMOJI}"), str)
    assert isinstance(to_column("\ud83d"), bytes)


def test_the_halves_of_an_emoji_stay_two_characters() -> None:
    assert decode(encode(freeze(SPLIT_EMOJI))) == SPLIT_EMOJI
    assert from_column(to_column(SPLIT_EMOJI) or "") == SPLIT_EMOJI
    assert decode(encode(freeze(EMOJI))) == EMOJI


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 12345678901234567890123])
def test_ints_keep_every_digit(number: int, sign: int) -> None:
    assert decode(encode(freeze(sign * number))) == sign * number


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_of_4300_digits_is_kept_and_one_more_is_refused(sign: int) -> None:
    assert decode(encode(freeze(sign * BIGGEST))) == sign * BIGGEST
    with pytest.raises(CodecError, match="4,300 digits"):
        freeze({"n": sign * (BIGGEST + 1)})


def test_negative_zero_keeps_its_sign() -> None:
    assert exact(decode(encode(freeze(-0.0)))) == "-0.0"


def test_the_encoding_is_compact_and_keeps_the_order_of_keys() -> None:
    assert encode(freeze({"b": 1, "a": [2.0, None, True]})) == '{"b":1,"a":[2.0,null,true]}'


@pytest.mark.parametrize("depth", [200, MAX_DEPTH])
def test_deep_nesting_is_kept(depth: int) -> None:
    value = nested(depth)
    assert decode(encode(freeze(value))) == value


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_deeper_nesting_is_refused_and_crashes_nothing(depth: int) -> None:
    with pytest.raises(CodecError, match="levels deep"):
        freeze(nested(depth))


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(CodecError):
        freeze(value)


def test_nesting_beyond_what_is_left_of_the_stack_is_refused_and_crashes_nothing() -> None:
    value = nested(200)

    def sink() -> None:
        freeze(value)
        sink()

    with pytest.raises(CodecError, match="stack"):
        sink()


# Refused


class Colour(enum.Enum):
    RED = 1


REFUSED = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "bytes": b"\xff\xfe",
    "bytearray": bytearray(b"x"),
    "memoryview": memoryview(b"x"),
    "datetime": datetime(2026, 1, 1, tzinfo=UTC),
    "date": date(2026, 1, 1),
    "decimal": Decimal("1.10"),
    "uuid": uuid.UUID(int=1),
    "set": {1},
    "frozenset": frozenset({1}),
    "enum": Colour.RED,
    "path": Path("x"),
    "complex": 1j,
    "object": object(),
    "mapping": collections.UserDict({"a": 1}),
    "iterator": iter(()),
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_what_json_cannot_keep_exactly_is_refused_with_its_path(value: Any) -> None:
    with pytest.raises(CodecError) as refused:
        freeze({"rows": [{"id": 1}, {"blob": value}]})
    assert refused.value.path == "rows[1].blob"


@pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",), b"a"])
def test_a_key_that_is_no_str_is_refused_with_the_path_to_its_object(key: Any) -> None:
    with pytest.raises(CodecError, match="key") as refused:
        freeze({"outer": {key: 1}})
    assert refused.value.path.startswith("outer.")


def test_a_refusal_is_both_a_type_error_and_a_value_error() -> None:
    assert issubclass(CodecError, TypeError)
    assert issubclass(CodecError, ValueError)


@pytest.mark.parametrize("value", [[], "x", None, 0, ""])
def test_where_an_object_is_needed_nothing_else_is_taken(value: Any) -> None:
    with pytest.raises(CodecError, match="JSON object"):
        freeze_object(value)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "{", "", "nul", "[1,]", '{"a":1}x'])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode(text)


# Made plain on entry


class Word(str):
    __slots__ = ()


class Count(int):
    pass


class Ratio(float):
    pass


class Pair(NamedTuple):
    a: int
    b: str


class Level(enum.IntEnum):
    HIGH = 3


class Tone(enum.StrEnum):
    WARM = "warm"


SUBCLASSES: list[tuple[Any, Any]] = [
    ((1, (2,)), [1, [2]]),
    (Pair(1, "x"), [1, "x"]),
    (Word("w"), "w"),
    (Count(3), 3),
    (Ratio(1.5), 1.5),
    (Level.HIGH, 3),
    (Tone.WARM, "warm"),
    (collections.OrderedDict(a=1), {"a": 1}),
    (collections.defaultdict(list, {"a": [1]}), {"a": [1]}),
    ({Word("k"): Word("v")}, {"k": "v"}),
]


@pytest.mark.parametrize(("given_value", "held"), SUBCLASSES)
def test_tuples_become_lists_and_subclasses_their_base(given_value: Any, held: Any) -> None:
    frozen = freeze(given_value)
    assert exact(frozen) == exact(held)
    assert _types_in(frozen) <= BASE_TYPES


@given(json_values)
def test_only_base_types_and_frozen_containers_are_held(value: Any) -> None:
    assert _types_in(freeze([value, (value,)])) <= BASE_TYPES


BASE_TYPES = {FrozenDict, FrozenList, str, int, float, bool, type(None)}


def _types_in(value: Any) -> set[type]:
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {type(value)}.union(*map(_types_in, inner))


# Read-only

MUTATIONS: dict[str, Callable[[Any], object]] = {
    "dict setitem": lambda v: v["d"].__setitem__("a", 1),
    "dict delitem": lambda v: v["d"].__delitem__("k"),
    "dict clear": lambda v: v["d"].clear(),
    "dict pop": lambda v: v["d"].pop("k"),
    "dict popitem": lambda v: v["d"].popitem(),
    "dict setdefault": lambda v: v["d"].setdefault("a", 1),
    "dict update": lambda v: v["d"].update(a=1),
    "dict ior": lambda v: v["d"].__ior__({"a": 1}),
    "list setitem": lambda v: v["l"].__setitem__(0, 1),
    "list set slice": lambda v: v["l"].__setitem__(slice(0, 1), [2]),
    "list delitem": lambda v: v["l"].__delitem__(0),
    "list iadd": lambda v: v["l"].__iadd__([1]),
    "list imul": lambda v: v["l"].__imul__(2),
    "list append": lambda v: v["l"].append(1),
    "list extend": lambda v: v["l"].extend([1]),
    "list insert": lambda v: v["l"].insert(0, 1),
    "list pop": lambda v: v["l"].pop(),
    "list remove": lambda v: v["l"].remove(2),
    "list reverse": lambda v: v["l"].reverse(),
    "list sort": lambda v: v["l"].sort(),
    "list clear": lambda v: v["l"].clear(),
}


@pytest.mark.parametrize("frozen", [freeze, lambda v: decode(encode(v))], ids=["frozen", "decoded"])
@pytest.mark.parametrize("mutate", MUTATIONS.values(), ids=MUTATIONS.keys())
def test_every_mutator_raises_and_changes_nothing(
    mutate: Callable[[Any], object], frozen: Callable[[Any], Any]
) -> None:
    value = frozen({"d": {"k": [0]}, "l": [3, 2, {"x": 1}]})
    with pytest.raises(TypeError, match="read-only"):
        mutate(value)
    assert value == {"d": {"k": [0]}, "l": [3, 2, {"x": 1}]}


READING: dict[type, set[str]] = {
    dict: {"copy", "fromkeys", "get", "items", "keys", "values", "__or__", "__ror__", "__reversed__"},
    list: {"copy", "count", "index", "__add__", "__mul__", "__rmul__", "__reversed__"},
}
ALL_CONTAINERS = {"__class_getitem__", "__contains__", "__getitem__", "__iter__", "__len__"}


@pytest.mark.parametrize(("base", "frozen"), [(dict, FrozenDict), (list, FrozenList)])
def test_whatever_does_more_than_read_is_replaced(base: type, frozen: type) -> None:
    for name in set(dir(base)) - set(dir(object)) - ALL_CONTAINERS - READING[base]:
        assert getattr(frozen, name) is not getattr(base, name), name


@given(json_values)
def test_what_is_held_is_a_copy(value: Any) -> None:
    held = freeze([value])
    before = exact(held)
    if isinstance(value, list):
        value.append("changed")
    elif isinstance(value, dict):
        value["changed"] = True
    assert exact(held) == before


@given(json_values)
def test_a_frozen_value_equals_the_plain_one_and_hashes_like_its_equals(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert hash(frozen) == hash(freeze(thaw(frozen)))


@given(json_objects)
def test_copies_are_equal_and_still_read_only(value: dict[str, Any]) -> None:
    frozen = freeze({"o": value, "l": [value]})
    for copied in (copy.copy(frozen), copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert exact(copied) == exact(frozen)
        with pytest.raises(TypeError):
            copied["l"].append(1)


@given(json_values)
def test_thaw_gives_a_plain_copy_that_may_be_changed(value: Any) -> None:
    frozen = freeze({"v": value, "l": []})
    plain = thaw(frozen)
    plain["l"].append(1)
    plain["more"] = 2
    assert frozen == {"v": value, "l": []}
    assert exact(plain["v"]) == exact(value)


def test_the_shared_empty_object_cannot_be_filled() -> None:
    with pytest.raises(TypeError):
        EMPTY["a"] = 1
    assert freeze_object({}) == EMPTY == {}


# For people and their tools


@given(st.text(st.characters(exclude_categories=())) | texts)
def test_a_readable_text_holds_neither_nul_nor_surrogates(text: str) -> None:
    shown = readable(text)
    assert "\0" not in shown
    assert shown.encode().decode() == shown


def test_a_readable_text_shows_what_it_can() -> None:
    assert readable(f"a\0b {EMOJI} {SPLIT_EMOJI} \ud83d.") == f"a\u2400b {EMOJI} {EMOJI} \ufffd."


@given(st.text())
def test_ordinary_text_is_readable_as_it_is(text: str) -> None:
    assert readable(text) == text.replace("\0", "\u2400")


@pytest.mark.parametrize(
    ("text", "plain"), [("", True), ("a", True), (EMOJI, True), ("a\0b", False), ("\ud83d", False), ("ü\0", False)]
)
def test_plain_is_what_sql_tools_handle(text: str, plain: bool) -> None:  # noqa: FBT001 what is expected
    assert is_plain(text) is plain


def test_nones_are_left_out() -> None:
    assert without_none({"a": 0, "b": None}) == {"a": 0}
