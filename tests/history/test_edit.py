"""Edits: patches applied in order to the evolving view, as one revision."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.errors import CodecError, DuplicateEntryError, InvalidMessageError, PatchError
from msglog.history import (
    InsertAfter,
    InsertBefore,
    MessageHistory,
    Move,
    Remove,
    Replace,
    Split,
    Summary,
)
from msglog.message import as_entry
from tests.strategies import entry, exact, letters, patches, shown, user


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        ({"op": "remove", "id": "c"}, "abde"),
        ({"op": "replace", "id": "c", "entries": [entry("x")]}, "abxde"),
        ({"op": "replace", "id": "c", "entries": [entry("x"), entry("y")]}, "abxyde"),
        ({"op": "replace", "id": "c", "entries": []}, "abde"),
        ({"op": "split", "id": "c", "entries": [entry("x"), entry("y")]}, "abxyde"),
        ({"op": "insertBefore", "id": "c", "entries": [entry("x"), entry("y")]}, "abxycde"),
        ({"op": "insertBefore", "id": "a", "entries": [entry("x")]}, "xabcde"),
        ({"op": "insertAfter", "id": "c", "entries": [entry("x"), entry("y")]}, "abcxyde"),
        ({"op": "insertAfter", "id": "e", "entries": [entry("x")]}, "abcdex"),
        ({"op": "move", "ids": ["d"], "before": "b"}, "adbce"),
        ({"op": "move", "ids": ["b"], "after": "d"}, "acdbe"),
        ({"op": "move", "ids": ["d", "a"], "before": "c"}, "badce"),
        ({"op": "move", "ids": ["a", "a", "b"], "after": "c"}, "cabde"),
        ({"op": "move", "ids": ["b"]}, "acdeb"),
        ({"op": "move", "ids": ["b"], "before": "gone"}, "acdeb"),
        ({"op": "move", "ids": ["b", "c"], "before": "c"}, "adebc"),
        ({"op": "move", "ids": ["b", "c"], "after": "b"}, "adebc"),
        ({"op": "move", "ids": ["b", "gone"], "before": "a"}, "bacde"),
        ({"op": "summary", "sourceIds": ["b", "d"], "entry": entry("S"), "replace": True}, "aSce"),
        ({"op": "summary", "sourceIds": ["d", "b"], "entry": entry("S"), "replace": True}, "aSce"),
        ({"op": "summary", "sourceIds": ["gone", "d"], "entry": entry("S"), "replace": True}, "abcSe"),
        ({"op": "summary", "sourceIds": ["a", "b"], "entry": entry("S")}, "abcdeS"),
        ({"op": "summary", "sourceIds": ["a", "b"], "entry": entry("S"), "replace": False}, "abcdeS"),
        ({"op": "summary", "sourceIds": [], "entry": entry("S"), "replace": True}, "abcdeS"),
    ],
)
def test_each_patch_does_what_it_says(patch: dict[str, Any], result: str) -> None:
    history = letters()
    assert shown(history.edit(patch)) == result
    assert shown(history) == "abcde"


def test_patches_apply_in_order_to_what_the_ones_before_made() -> None:
    edited = letters().edit(
        [
            {"op": "insertAfter", "id": "a", "entries": [entry("x")]},
            {"op": "remove", "id": "a"},
            {"op": "move", "ids": ["x"], "after": "e"},
            {"op": "replace", "id": "x", "entries": [entry("y"), entry("z")]},
        ]
    )
    assert shown(edited) == "bcdeyz"
    assert len(edited.revisions()) == 3


TYPED: list[tuple[Any, dict[str, Any]]] = [
    (Remove(id="b"), {"op": "remove", "id": "b"}),
    (Replace(id="b", entries=(entry("x"),)), {"op": "replace", "id": "b", "entries": [entry("x")]}),  # type: ignore[arg-type]
    (Split(id="b", entries=[entry("x")]), {"op": "split", "id": "b", "entries": [entry("x")]}),  # type: ignore[arg-type]
    (
        InsertBefore(id="b", entries=(as_entry(entry("x")),)),
        {"op": "insertBefore", "id": "b", "entries": [as_entry(entry("x"))]},
    ),
    (
        InsertAfter(id="b", entries=(as_entry(entry("x")),)),
        {"op": "insertAfter", "id": "b", "entries": (as_entry(entry("x")),)},
    ),
    (Move(ids=("b",), after="c"), {"op": "move", "ids": ["b"], "after": "c"}),
    (
        Summary(source_ids=("b",), entry=as_entry(entry("x")), replace=True),
        {"op": "summary", "source_ids": ["b"], "entry": entry("x"), "replace": True},
    ),
]


@pytest.mark.parametrize(("typed", "plain"), TYPED, ids=[type(typed).__name__ for typed, _ in TYPED])
def test_a_patch_may_be_a_model_or_a_dict(typed: Any, plain: dict[str, Any]) -> None:
    history = letters()
    assert history.edit(typed).refs() == history.edit([plain]).refs() != history.refs()


@pytest.mark.parametrize(
    "wrong",
    [
        {"op": "erase", "id": "a"},
        {"id": "a"},
        {"op": ["remove"], "id": "a"},
        {"op": "remove"},
        {"op": "remove", "id": 5},
        {"op": "remove", "id": "a", "why": "x"},
        {"op": "replace", "id": "a"},
        {"op": "replace", "id": "a", "entries": user("x")},
        {"op": "replace", "id": "a", "entries": "x"},
        {"op": "move", "ids": "a"},
        {"op": "move", "ids": ["a"], "before": 5},
        {"op": "summary", "sourceIds": ["a"]},
        {"op": "summary", "sourceIds": ["a"], "entry": entry("x"), "replace": 1},
        "remove",
        5,
    ],
)
def test_a_patch_of_another_shape_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidMessageError):
        letters().edit([{"op": "remove", "id": "b"}, wrong])


def test_a_key_of_a_patch_that_is_no_str_is_refused() -> None:
    with pytest.raises(CodecError, match="key"):
        letters().edit({"op": "remove", "id": "b", 5: 1})  # type: ignore[arg-type]


def test_a_fault_in_an_entry_of_a_patch_is_named_with_its_path() -> None:
    with pytest.raises(CodecError) as refused:
        letters().edit({"op": "replace", "id": "a", "entries": [entry("x"), {"message": user("y") | {"z": b""}}]})
    assert refused.value.path == "entries[1].message.extra.z"
    with pytest.raises(CodecError) as refused:
        letters().edit({"op": "summary", "sourceIds": ["a"], "entry": {"message": user("y"), "meta": {"z": b""}}})
    assert refused.value.path == "entry.meta.z"


# What is not there

ABSENT: list[dict[str, Any]] = [
    {"op": "remove", "id": "gone"},
    {"op": "replace", "id": "gone", "entries": [entry("x")]},
    {"op": "split", "id": "gone", "entries": [entry("x")]},
    {"op": "insertBefore", "id": "gone", "entries": [entry("x")]},
    {"op": "insertAfter", "id": "gone", "entries": [entry("x")]},
    {"op": "move", "ids": ["gone"], "after": "a"},
]
PARTLY_ABSENT: list[dict[str, Any]] = [
    {"op": "move", "ids": ["a", "gone"], "after": "c"},
    {"op": "move", "ids": ["a"], "after": "gone"},
    {"op": "move", "ids": ["a", "b"], "after": "b"},
    {"op": "summary", "sourceIds": ["a", "gone"], "entry": entry("S"), "replace": True},
]


@pytest.mark.parametrize("patch", ABSENT)
def test_a_patch_of_an_absent_entry_is_skipped(patch: dict[str, Any]) -> None:
    history = letters()
    assert history.edit(patch) is history
    edited = history.edit([patch, {"op": "remove", "id": "a"}])
    assert shown(edited) == "bcde"
    assert "x" not in {known.id for known in edited.to_snapshot().entries}


@pytest.mark.parametrize("keep_pairs", [False, True])
@pytest.mark.parametrize("patch", ABSENT + PARTLY_ABSENT)
def test_strict_edits_refuse_what_is_not_there_and_change_nothing(patch: dict[str, Any], keep_pairs: bool) -> None:  # noqa: FBT001 both ways
    history = letters()
    with pytest.raises(PatchError) as refused:
        history.edit([{"op": "remove", "id": "e"}, patch], strict=True, keep_pairs=keep_pairs)
    assert (refused.value.op, refused.value.index) == (patch["op"], 1)
    assert set(refused.value.ids) <= {"gone", "b"}
    assert (shown(history), len(history.revisions())) == ("abcde", 2)


def test_a_summary_that_stays_beside_its_sources_may_name_any() -> None:
    edited = letters().edit({"op": "summary", "sourceIds": ["a", "elsewhere"], "entry": entry("S")}, strict=True)
    assert edited.entry("S").sources == ("a", "elsewhere")


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        {"op": "move", "ids": ["b"], "after": "a"},
        {"op": "move", "ids": ["e"]},
        {"op": "insertAfter", "id": "a", "entries": []},
        {"op": "replace", "id": "a", "entries": [entry("a")]},
        [{"op": "move", "ids": ["a"]}, {"op": "move", "ids": ["a"], "before": "b"}],
    ],
)
def test_edits_that_change_nothing_return_the_same_history(nothing: Any) -> None:
    history = letters()
    assert history.edit(nothing) is history


# Entries that patches bring in


def test_what_a_patch_brings_in_gets_an_id_unless_it_has_one() -> None:
    edited = letters("a").edit({"op": "insertAfter", "id": "a", "entries": [user("new"), {"message": user("newer")}]})
    ids = [ref.id for ref in edited]
    assert ids[0] == "a"
    assert len(set(ids)) == 3


def test_a_replacement_is_a_new_entry() -> None:
    edited = letters().edit({"op": "replace", "id": "b", "entries": [user("b, corrected")]})
    new = edited.refs()[1]
    assert (new.message.content, new.id != "b") == ("b, corrected", True)
    assert edited.entry("b").message.content == "b"


def test_an_entry_cannot_be_replaced_by_other_content_of_its_own_id() -> None:
    with pytest.raises(DuplicateEntryError):
        letters().edit({"op": "replace", "id": "b", "entries": [{"id": "b", "message": user("other")}]})


def test_an_id_given_twice_in_one_patch_is_refused() -> None:
    with pytest.raises(PatchError) as refused:
        letters().edit({"op": "insertAfter", "id": "a", "entries": [entry("x"), entry("x")]})
    assert (refused.value.index, set(refused.value.ids)) == (0, {"x"})


def test_an_id_given_by_two_patches_with_other_content_is_refused() -> None:
    with pytest.raises(DuplicateEntryError):
        letters().edit(
            [
                {"op": "insertAfter", "id": "a", "entries": [entry("x")]},
                {"op": "replace", "id": "x", "entries": [{"id": "x", "message": user("other")}]},
            ]
        )


@pytest.mark.parametrize("op", ["replace", "split", "insertBefore", "insertAfter"])
def test_an_entry_that_is_active_already_is_not_shown_a_second_time(op: str) -> None:
    history = letters()
    with pytest.raises(PatchError) as refused:
        history.edit([{"op": "remove", "id": "e"}, {"op": op, "id": "a", "entries": [entry("x"), entry("c")]}])
    assert (refused.value.op, refused.value.index, refused.value.ids) == (op, 1, ("c",))
    assert shown(history) == "abcde"


def test_an_entry_that_left_the_view_may_be_put_back_anywhere() -> None:
    removed = letters().edit({"op": "remove", "id": "d"})
    back = removed.edit({"op": "insertBefore", "id": "a", "entries": [entry("d")]})
    assert shown(back) == "dabce"
    assert len(back.to_snapshot().entries) == 5


def test_an_entry_may_be_removed_and_put_back_in_one_edit() -> None:
    edited = letters().edit(
        [{"op": "remove", "id": "b"}, {"op": "insertAfter", "id": "d", "entries": [entry("b"), entry("x")]}]
    )
    assert shown(edited) == "acdbxe"


def test_a_summary_is_one_whatever_its_entry_says() -> None:
    given_entry = {"id": "S", "message": user("s"), "kind": "turn", "sources": ["z"], "meta": {"turn": 3}}
    edited = letters().edit({"op": "summary", "sourceIds": ["b", "c"], "entry": given_entry, "replace": True})
    summary = edited.entry("S")
    assert (summary.kind, summary.sources) == ("summary", ("b", "c"))
    assert summary.meta is not None
    assert summary.meta.turn == 3


# What is recorded


def test_an_operation_names_entries_by_id_and_only_what_had_an_effect() -> None:
    edited = letters().edit(
        [
            {"op": "remove", "id": "gone"},
            {"op": "replace", "id": "b", "entries": [entry("x")]},
            {"op": "move", "ids": ["a", "gone", "a"], "after": "gone"},
            {"op": "summary", "sourceIds": ["c", "gone"], "entry": entry("S"), "replace": True},
        ]
    )
    assert edited.head.operation is not None
    assert edited.head.operation.to_json() == {
        "type": "edit",
        "patches": [
            {"op": "replace", "id": "b", "entryIds": ["x"]},
            {"op": "move", "ids": ["a"]},
            {"op": "summary", "sourceIds": ["c"], "entryId": "S", "replace": True},
        ],
    }


@given(st.data())
def test_a_view_follows_from_its_parent_and_its_operation_alone(data: st.DataObject) -> None:
    history = letters()
    for turn in range(3):
        new = [f"{turn}{number}" for number in range(3)]
        history = history.edit(data.draw(patches([ref.id for ref in history], new)))
    stripped = history.to_json()
    assert all("entryIds" not in revision for revision in stripped["revisions"])
    again = MessageHistory.from_json(stripped)
    for revision in history.revisions():
        assert again.refs(revision.id) == history.refs(revision.id)


def test_edt_4_edits_are_records_and_the_first_text_can_still_be_read() -> None:
    history = MessageHistory(clock=lambda: 7).append(*(entry(f"m{n}") for n in range(1, 6)))
    version = history.revision_id
    edited = history.edit({"op": "replace", "id": "m3", "entries": [user("new")]}, meta={"reason": "typo"})
    edited = edited.edit({"op": "remove", "id": "m4"}, meta={"reason": "private"})
    before = edited.revision_id
    edited = edited.edit({"op": "summary", "sourceIds": ["m1", "m2"], "entry": user("sum"), "replace": True})
    edited = edited.with_view(before)
    assert [message.content for message in edited.render()] == ["m1", "m2", "new", "m5"]
    assert [one.message.content for one in edited.to_snapshot().entries][:5] == ["m1", "m2", "m3", "m4", "m5"]
    assert [(r.created_at, r.meta.get("reason")) for r in edited.lineage()][:2] == [(7, "private"), (7, "typo")]
    assert [message.content for message in edited.render(version)] == ["m1", "m2", "m3", "m4", "m5"]


def test_the_reason_of_an_edit_is_frozen() -> None:
    edited = letters().edit({"op": "remove", "id": "a"}, meta={"reason": ["x"]})
    with pytest.raises(TypeError):
        edited.head.meta["reason"].append("y")
    assert exact(edited.head.meta) == exact({"reason": ["x"]})
