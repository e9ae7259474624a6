"""Snapshots: the whole graph as JSON and back, in our form and in the original's; contradictions refused."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.errors import InvalidHistoryError, MsgLogError
from msglog.history import MessageHistory, Revision, Snapshot
from tests.strategies import Json, calls, entry, entry_inputs, exact, letters, patches, result, shown, user


def rich() -> MessageHistory:
    """A history with each kind of operation, and a branch beside its head's lineage."""
    base = letters("abcd")
    edited = base.edit(
        [
            {"op": "replace", "id": "b", "entries": [entry("x"), entry("y")]},
            {"op": "summary", "sourceIds": ["a", "x"], "entry": entry("S"), "replace": True},
            {"op": "insertAfter", "id": "d", "entries": [entry("z")]},
            {"op": "remove", "id": "z"},
        ],
        meta={"reason": "full"},
    )
    side = edited.fork().append(user("aside"))
    return side.with_view(base.revision_id).append(entry("e")).with_view(["e", "S", "a"])


# Whole and back


def test_a_snapshot_gives_the_very_history_back() -> None:
    history = rich()
    for again in (
        MessageHistory.from_snapshot(history.to_snapshot()),
        MessageHistory.from_json(history.to_json()),
        MessageHistory.from_json(json.loads(json.dumps(history.to_json()))),
        MessageHistory.from_snapshot(pickle.loads(pickle.dumps(history.to_snapshot()))),
    ):
        assert again == history
        assert exact(again.to_json()) == exact(history.to_json())
        for revision in history.revisions():
            assert again.refs(revision.id) == history.refs(revision.id)


@given(st.data())
def test_any_history_comes_back_from_its_json(data: st.DataObject) -> None:
    history = letters("abc")
    seen = [history.revision_id]
    for turn in range(data.draw(st.integers(1, 5))):
        ids = [ref.id for ref in history]
        move = data.draw(st.sampled_from(["append", "edit", "fork", "view", "go"]))
        if move == "append":
            history = history.append(*data.draw(st.lists(entry_inputs(), max_size=2)))
        elif move == "edit":
            history = history.edit(data.draw(patches(ids, [f"{turn}{n}" for n in range(2)])))
        elif move == "fork":
            history = history.fork(meta={"turn": turn})
        elif move == "view":
            history = history.with_view(data.draw(st.permutations(ids)))
        else:
            history = history.with_view(data.draw(st.sampled_from(seen)))
        seen.append(history.revision_id)
    again = MessageHistory.from_json(history.to_json())
    assert again == history
    assert exact(again.to_json()) == exact(history.to_json())


def test_snp_1_a_restored_history_renders_element_by_element_the_same() -> None:
    history = MessageHistory().append(*(entry(f"m{n}") for n in range(1, 31)))
    middle = [f"m{n}" for n in range(3, 26)]
    history = history.edit({"op": "summary", "sourceIds": middle, "entry": entry("summary"), "replace": True})
    again = MessageHistory.from_json(json.loads(json.dumps(history.to_json())))
    wanted = ["m1", "m2", "summary", *(f"m{n}" for n in range(26, 31))]
    assert [message.content for message in again.render()] == wanted
    assert again.render() == history.render()
    assert again.restore() == history.restore()


def test_snp_3_an_edited_message_is_there_once_and_an_untouched_restore_has_no_changes() -> None:
    start = MessageHistory().append(user("start"))
    edited = start.edit({"op": "replace", "id": start.refs()[0].id, "entries": [user("start\nguidance")]})
    again = MessageHistory.from_json(copy.deepcopy(edited.to_json()))
    assert [message.content for message in again.render()] == ["start\nguidance"]
    delta = again.changes_since(again.revision_id)
    assert (delta.entries, delta.revisions) == ((), ())


def test_ids_4_ids_are_the_same_each_time_a_history_is_restored() -> None:
    history = MessageHistory().append(user("a"), calls("c"), result("c"))
    ids = [ref.id for ref in history]
    again = MessageHistory.from_json(history.to_json())
    assert [ref.id for ref in again] == ids == [ref.id for ref in history]
    assert exact([message.to_json() for message in again.render()]) == exact([m.to_json() for m in history.render()])


def test_a_restored_history_goes_on_with_the_ids_and_times_that_one_gives_it() -> None:
    again = MessageHistory.from_json(letters("a").to_json(), ids=iter("xyz").__next__, clock=lambda: 7)
    grown = again.append(user("b"))
    assert (grown.refs()[1].id, grown.revision_id, grown.head.created_at) == ("x", "y", 7)


def test_the_json_has_camel_case_keys_and_leaves_out_what_is_not_set() -> None:
    snapshot = MessageHistory(ids=iter("rsa").__next__, clock=lambda: 7).append({"id": "e", "message": calls("c")})
    assert snapshot.to_json() == {
        "entries": [
            {
                "id": "e",
                "kind": "turn",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "toolCalls": [{"id": "c", "name": "look", "args": {"at": "c"}}],
                },
            }
        ],
        "revisions": [
            {"id": "r", "createdAt": 7, "size": 0},
            {"id": "s", "createdAt": 7, "size": 1, "parent": "r", "operation": {"type": "append", "entryIds": ["e"]}},
        ],
        "head": "s",
    }


def test_a_snapshot_of_appends_is_linear_in_them() -> None:
    def size(appends: int) -> int:
        history = MessageHistory()
        for n in range(appends):
            history = history.append(entry(f"{n:04}"))
        return len(json.dumps(history.to_json()))

    assert size(400) < 2.1 * size(200)


def test_a_snapshot_of_edits_is_linear_in_them() -> None:
    def size(edits: int) -> int:
        history = letters()
        for n in range(edits):
            history = history.edit({"op": "replace", "id": history.refs()[2].id, "entries": [entry(f"{n:04}")]})
        return len(json.dumps(history.to_json()))

    assert size(400) < 2.1 * size(200)


def test_a_snapshot_is_no_way_into_the_history() -> None:
    history = letters("ab")
    data = history.to_json()
    data["entries"].clear()
    data["revisions"].append(None)
    again = history.to_json()
    assert len(again["entries"]) == 2
    assert MessageHistory.from_json(again) == history


def test_an_entry_that_no_revision_shows_is_kept() -> None:
    data = letters("ab").to_json()
    data["entries"].append({"id": "stray", "kind": "turn", "message": user("stray")})
    history = MessageHistory.from_json(data)
    assert history.entry("stray").message.content == "stray"
    assert MessageHistory.from_json(history.to_json()) == history


def test_ten_thousand_revisions_in_a_row_are_no_problem() -> None:
    revisions = [Revision("0", None, None, 0, 0)]
    fork = MessageHistory().fork().head.operation
    revisions += [Revision(str(n), str(n - 1), fork, 0, 0) for n in range(1, 10_001)]
    history = MessageHistory.from_snapshot(Snapshot(entries=(), revisions=tuple(revisions[::-1]), head="10000"))
    assert sum(1 for _ in history.lineage()) == 10_001


# The original's form: every revision lists its entries, and patches hold inputs without ids

ORIGINAL: Json = {
    "entries": [
        {"id": "e1", "kind": "turn", "message": user("one")},
        {"id": "e2", "kind": "turn", "message": {"role": "assistant", "content": "two", "toolCalls": []}},
        {"id": "e3", "kind": "turn", "message": user("three"), "meta": {"createdAt": 1_700_000_000_000}},
        {"id": "e4", "kind": "summary", "message": user("one and two"), "sources": ["e1", "e2"]},
        {"id": "e5", "kind": "turn", "message": user("shown for a moment")},
    ],
    "revisions": [
        {
            "id": "r4",
            "parent": "r3",
            "createdAt": 1_700_000_000_003,
            "entryIds": ["e4", "e3"],
            "operation": {
                "type": "edit",
                "patches": [
                    {"op": "insertAfter", "id": "e3", "entries": [{"message": user("shown for a moment")}]},
                    {
                        "op": "summary",
                        "sourceIds": ["e1", "e2"],
                        "entry": {"message": user("one and two")},
                        "replace": True,
                    },
                    {"op": "remove", "id": "e5"},
                ],
            },
        },
        {
            "id": "r3",
            "parent": "r2",
            "createdAt": 1_700_000_000_002.5,
            "entryIds": ["e1", "e2", "e3"],
            "operation": {"type": "fork"},
        },
        {
            "id": "r2",
            "parent": "r1",
            "createdAt": 1_700_000_000_001,
            "entryIds": ["e1", "e2", "e3"],
            "operation": {"type": "append", "entryIds": ["e1", "e2", "e3"]},
        },
        {"id": "r1", "createdAt": 1_700_000_000_000, "entryIds": []},
    ],
    "head": "r4",
}


def test_the_originals_form_is_read_newest_revision_first() -> None:
    history = MessageHistory.from_json(ORIGINAL)
    assert [message.content for message in history.render()] == ["one and two", "three"]
    assert [message.content for message in history.restore()] == ["one", "two", "three"]
    assert [revision.id for revision in history.lineage()] == ["r4", "r3", "r2", "r1"]
    assert history.revision("r3").created_at == 1_700_000_000_002
    assert len(history.to_snapshot().entries) == 5


def test_the_originals_form_goes_on_in_ours() -> None:
    history = MessageHistory.from_json(ORIGINAL).append(user("four"))
    again = MessageHistory.from_json(json.loads(json.dumps(history.to_json())))
    assert again == history
    spelled_out = [revision["id"] for revision in history.to_json()["revisions"] if "entryIds" in revision]
    assert spelled_out == ["r4"]


def test_the_originals_form_may_come_without_operations() -> None:
    data = copy.deepcopy(ORIGINAL)
    for revision in data["revisions"]:
        revision.pop("operation", None)
    history = MessageHistory.from_json(data)
    assert [message.content for message in history.render("r2")] == ["one", "two", "three"]
    assert MessageHistory.from_json(history.to_json()) == history


def test_an_edit_of_the_originals_that_leaves_nothing_comes_back_from_our_form() -> None:
    data = copy.deepcopy(ORIGINAL)
    data["revisions"][0] |= {
        "entryIds": [],
        "operation": {"type": "edit", "patches": [{"op": "replace", "id": "e1", "entries": []}]},
    }
    history = MessageHistory.from_json(data)
    assert history.render() == []
    assert MessageHistory.from_json(history.to_json()) == history


def test_a_root_may_show_entries() -> None:
    data = {"entries": [entry("a")], "revisions": [{"id": "r", "entryIds": ["a"]}], "head": "r"}
    history = MessageHistory.from_json(data)
    assert shown(history) == "a"
    assert MessageHistory.from_json(history.to_json()) == history


def test_what_the_original_lists_counts_where_its_patches_tell_something_else() -> None:
    data = copy.deepcopy(ORIGINAL)
    data["revisions"][0]["entryIds"] = ["e3", "e4"]
    assert shown(MessageHistory.from_json(data)) == "e3e4"


# What contradicts itself


def ours() -> Json:
    return rich().to_json()


def _revision(data: Json, kind: str) -> Json:
    found: Json = next(r for r in data["revisions"] if r.get("operation", {}).get("type") == kind)
    return found


def _without(data: Json, entry_id: str) -> None:
    data["entries"] = [one for one in data["entries"] if one["id"] != entry_id]


CONTRADICTIONS: dict[str, Callable[[Json], object]] = {
    "no head": lambda d: d.pop("head"),
    "an unknown head": lambda d: d.update(head="nowhere"),
    "no revisions": lambda d: d.update(revisions=[]),
    "revisions that are no list": lambda d: d.update(revisions={"r": 1}),
    "an entry that is no object": lambda d: d["entries"].append("x"),
    "an entry without a message": lambda d: d["entries"].append({"id": "x"}),
    "an entry twice, with other content": lambda d: d["entries"].append({"id": "a", "message": user("other")}),
    "a revision that is no object": lambda d: d["revisions"].append(5),
    "a revision without an id": lambda d: d["revisions"][1].pop("id"),
    "a revision twice": lambda d: d["revisions"].append({**d["revisions"][1], "createdAt": 1}),
    "a parent that is not there": lambda d: d["revisions"][1].update(parent="nowhere"),
    "a parent that is no id": lambda d: d["revisions"][1].update(parent=5),
    "a cycle": lambda d: d["revisions"][1].update(parent=d["revisions"][2]["id"]),
    "a revision that is its own parent": lambda d: d["revisions"][1].update(parent=d["revisions"][1]["id"]),
    "a missing root": lambda d: d["revisions"].pop(0),
    "a revision with neither operation nor entries": lambda d: d["revisions"][1].pop("operation"),
    "another size": lambda d: d["revisions"][1].update(size=3),
    "a size that is no int": lambda d: d["revisions"][1].update(size="4"),
    "a time that is no number": lambda d: d["revisions"][1].update(createdAt="noon"),
    "a time that is not finite": lambda d: d["revisions"][1].update(createdAt=float("inf")),
    "a time out of reach": lambda d: d["revisions"][1].update(createdAt=10**400),
    "an unknown operation": lambda d: d["revisions"][1]["operation"].update(type="undo"),
    "an append of nobody knows what": lambda d: d["revisions"][1]["operation"].pop("entryIds"),
    "an append of what is not there": lambda d: _without(d, "d"),
    "an append of an entry twice": lambda d: d["revisions"][1]["operation"].update(entryIds=["a", "a", "b", "c"]),
    "an append of what is there already": lambda d: d["revisions"][4]["operation"].update(entryIds=["c"]),
    "entries listed that the append does not give": lambda d: d["revisions"][1].update(entryIds=["a"]),
    "entries listed that the view does not give": lambda d: _revision(d, "view").update(entryIds=["a"]),
    "a view of what is not there": lambda d: _revision(d, "view")["operation"].update(entryIds=["gone", "S", "a"]),
    "a view of an entry twice": lambda d: _revision(d, "view")["operation"].update(entryIds=["a", "S", "a"]),
    "a view of an unknown revision": lambda d: _revision(d, "view").update(
        operation={"type": "view", "revision": "nowhere"}
    ),
    "a view of nothing": lambda d: _revision(d, "view").update(operation={"type": "view"}),
    "a patch of what is not active": lambda d: _revision(d, "edit")["operation"]["patches"].insert(
        0, {"op": "remove", "id": "z"}
    ),
    "a patch with an unknown op": lambda d: _revision(d, "edit")["operation"].update(patches=[{"op": "undo"}]),
    "a patch that moves nothing": lambda d: _revision(d, "edit")["operation"].update(
        patches=[{"op": "move", "ids": []}]
    ),
    "a patch that is no object": lambda d: _revision(d, "edit")["operation"].update(patches=["remove"]),
    "patches that are no list": lambda d: _revision(d, "edit")["operation"].update(patches={"op": "remove"}),
    "a patch that does not name what it brings in": lambda d: _revision(d, "edit")["operation"].update(
        patches=[{"op": "replace", "id": "b"}]
    ),
    "an edit that shows an entry twice": lambda d: _revision(d, "edit")["operation"].update(
        patches=[{"op": "insertAfter", "id": "b", "entryIds": ["a"]}]
    ),
    "an id that is no text": lambda d: _revision(d, "edit")["operation"].update(patches=[{"op": "remove", "id": 5}]),
    "meta that is no object": lambda d: d["revisions"][1].update(meta=[1]),
    "a key that is unknown": lambda d: d.update(extra=1),
}


@pytest.mark.parametrize("spoil", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_a_snapshot_that_contradicts_itself_is_refused(spoil: Callable[[Json], object]) -> None:
    data = json.loads(json.dumps(ours()))
    spoil(data)
    with pytest.raises(MsgLogError) as refused:
        MessageHistory.from_json(data)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize("value", [None, 5, "x", [], {}])
def test_what_is_no_snapshot_is_refused(value: Any) -> None:
    with pytest.raises(InvalidHistoryError):
        MessageHistory.from_json(value)


def test_a_fault_in_a_revision_is_said_plainly() -> None:
    data = ours()
    data["revisions"][1] = {"id": "r", "parent": 5}
    with pytest.raises(InvalidHistoryError) as refused:
        MessageHistory.from_json(data)
    assert str(refused.value) == "not a valid history: revision 'r': parent and replaces must be ids"


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


@pytest.mark.parametrize("form", [ours, lambda: ORIGINAL], ids=["ours", "original"])
@given(data=st.data())
def test_whatever_is_spoiled_it_is_read_as_something_whole_or_refused(
    form: Callable[[], Json], data: st.DataObject
) -> None:
    spoiled = json.loads(json.dumps(form()))
    for _ in range(data.draw(st.integers(1, 3))):
        *path, key = data.draw(st.sampled_from(_places(spoiled)[1:]))
        holder = spoiled
        for step in path:
            holder = holder[step]
        if data.draw(st.booleans()):
            holder.pop(key)
        else:
            holder[key] = data.draw(
                st.sampled_from(
                    [None, 0, -1, 1.5, True, "", "a", "x", [], {}, ["a"], [["a"]], {"a": 1}, "S", float("nan")]
                )
            )
    try:
        history = MessageHistory.from_json(spoiled)
    except MsgLogError:
        return
    for revision in history.revisions():
        assert len(history.refs(revision.id)) == revision.size
    assert MessageHistory.from_json(history.to_json()) == history
