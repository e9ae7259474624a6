"""Deltas: whatever came after a base, exactly: the base's graph and the delta make the whole graph."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.errors import DuplicateEntryError, InvalidHistoryError, UnknownRevisionError
from msglog.history import HistoryDelta, MessageHistory, Operation, Revision, Snapshot
from tests.strategies import entry, exact, letters, patches, reply, shown, user


def alone(history: MessageHistory) -> MessageHistory:
    """A history that knows its own lineage and nothing beside it."""
    return MessageHistory.from_snapshot(history.changes_since())


def ids_of(delta: HistoryDelta) -> list[str]:
    return [one.id for one in delta.entries]


def test_idm_1_saving_a_turn_stores_only_what_is_new() -> None:
    stored = MessageHistory().append(user("q1"), reply("r1"))
    grown = stored.append(user("q2")).append(reply("r2"))
    delta = grown.changes_since(stored.revision_id)
    assert [one.message.content for one in delta.entries] == ["q2", "r2"]
    replica = alone(stored).apply(delta)
    assert len(replica) == 4
    assert replica.apply(delta) == replica == alone(grown)


def test_a_delta_goes_through_json_and_pickle_unchanged() -> None:
    base = letters("ab")
    grown = base.edit({"op": "remove", "id": "a"}, meta={"reason": "x"}).append(entry("c"))
    delta = grown.changes_since(base.revision_id)
    for again in (delta, delta.to_json(), json.loads(json.dumps(delta.to_json())), pickle.loads(pickle.dumps(delta))):
        assert alone(base).apply(again) == alone(grown)


def test_there_are_no_changes_since_the_head() -> None:
    history = letters("ab")
    delta = history.changes_since(history.revision_id)
    assert (delta.entries, delta.revisions, delta.base, delta.head) == (
        (),
        (),
        history.revision_id,
        history.revision_id,
    )
    assert history.apply(delta) == history


def test_without_a_base_the_whole_lineage_is_the_delta() -> None:
    history = letters("ab").append(entry("c"))
    delta = history.changes_since()
    assert ids_of(delta) == ["a", "b", "c"]
    assert [revision.id for revision in delta.revisions] == [revision.id for revision in history.lineage()][::-1]
    assert shown(MessageHistory().apply(delta)) == "abc"


def test_a_base_that_is_no_ancestor_is_refused() -> None:
    base = letters("ab")
    other = base.append(entry("x"))
    grown = other.with_view(base.revision_id).append(entry("c"))
    for wrong in (other.revision_id, "nowhere"):
        with pytest.raises(UnknownRevisionError) as refused:
            grown.changes_since(wrong)
        assert refused.value.revision == wrong


def test_an_entry_put_in_and_taken_out_again_is_part_of_the_delta() -> None:
    base = letters("ab")
    grown = base.edit([{"op": "insertAfter", "id": "a", "entries": [entry("x")]}, {"op": "remove", "id": "x"}])
    grown = grown.append(entry("y")).edit({"op": "remove", "id": "y"})
    delta = grown.changes_since(base.revision_id)
    assert ids_of(delta) == ["x", "y"]
    assert alone(base).apply(delta) == alone(grown)


def test_an_entry_reachable_only_as_a_source_is_part_of_the_delta() -> None:
    base = letters("ab")
    grown = base.append(entry("c")).edit(
        {"op": "summary", "sourceIds": ["b", "c"], "entry": entry("S"), "replace": True}
    )
    delta = grown.changes_since(base.revision_id)
    assert ids_of(delta) == ["c", "S"]
    replica = alone(base).apply(delta)
    assert [message.content for message in replica.restore()] == ["a", "b", "c"]


def test_what_the_base_has_is_not_sent_again() -> None:
    base = letters("abc")
    removed = base.edit({"op": "remove", "id": "b"})
    grown = removed.append(entry("b")).with_view(["c", "b"])
    grown = grown.edit({"op": "summary", "sourceIds": ["a", "b"], "entry": entry("S")})
    assert ids_of(grown.changes_since(removed.revision_id)) == ["S"]
    assert alone(removed).apply(grown.changes_since(removed.revision_id)) == alone(grown)


# What a lineage took over from another branch


def branch_with(*taken: str) -> tuple[MessageHistory, MessageHistory]:
    """A base, and a history that went back to it from a branch that has `taken`."""
    base = letters("ab")
    side = base.append(*(entry(one) for one in taken))
    return base, side.with_view(base.revision_id)


def test_an_entry_taken_over_by_appending_it_is_part_of_the_delta() -> None:
    base, back = branch_with("x", "y")
    grown = back.append(back.entry("x"))
    delta = grown.changes_since(base.revision_id)
    assert ids_of(delta) == ["x"]
    assert shown(alone(base).apply(delta)) == "abx"
    assert [one.id for one in grown.introduced(grown.revision_id)] == ["x"]


def test_an_entry_taken_over_by_a_view_is_part_of_the_delta() -> None:
    base, back = branch_with("x", "y")
    grown = back.with_view(["y", "a"])
    delta = grown.changes_since(base.revision_id)
    assert ids_of(delta) == ["y"]
    assert shown(alone(base).apply(delta)) == "ya"


def test_an_entry_taken_over_by_a_patch_is_part_of_the_delta() -> None:
    base, back = branch_with("x", "y")
    grown = back.edit({"op": "replace", "id": "a", "entries": [entry("y"), entry("z")]})
    delta = grown.changes_since(base.revision_id)
    assert sorted(ids_of(delta)) == ["y", "z"]
    assert shown(alone(base).apply(delta)) == "yzb"


def test_a_source_taken_over_by_a_summary_is_part_of_the_delta() -> None:
    base = letters("ab")
    side = base.append(entry("x")).edit({"op": "summary", "sourceIds": ["x"], "entry": entry("S"), "replace": True})
    back = side.with_view(base.revision_id)
    grown = back.edit({"op": "summary", "sourceIds": ["a", "S"], "entry": entry("T"), "replace": True})
    delta = grown.changes_since(base.revision_id)
    assert sorted(ids_of(delta)) == ["S", "T", "x"]
    replica = alone(base).apply(delta)
    assert [m.content for m in replica.restore()] == [m.content for m in grown.restore()] == ["a", "x", "b"]


def test_what_was_taken_over_once_is_not_sent_again() -> None:
    _, back = branch_with("x")
    taken = back.append(back.entry("x"))
    grown = taken.edit({"op": "remove", "id": "x"}).append(taken.entry("x"))
    assert ids_of(grown.changes_since(taken.revision_id)) == []


def test_it_does_not_matter_which_branch_of_a_snapshot_saw_an_entry_first() -> None:
    base, back = branch_with("x")
    grown = back.append(back.entry("x"), entry("c"))
    again = MessageHistory.from_json(grown.to_json())
    assert alone(base).apply(again.changes_since(base.revision_id)) == alone(grown)


def test_a_view_of_a_revision_of_another_branch_brings_that_branch_along() -> None:
    base = letters("ab")
    side = base.append(entry("x")).append(entry("y"))
    head = Revision("went", base.revision_id, Operation("view", revision=side.revision_id), 4, 0)
    snapshot = side.to_snapshot()
    grown = MessageHistory.from_snapshot(
        Snapshot(entries=snapshot.entries, revisions=(*snapshot.revisions, head), head="went")
    )
    delta = grown.changes_since(base.revision_id)
    assert [revision.id for revision in delta.revisions][-1] == "went"
    assert len(delta.revisions) == 3
    replica = alone(base).apply(delta.to_json())
    assert shown(replica) == "abxy"
    assert replica.refs(side.revision_id) == side.refs()


def test_a_view_of_a_revision_that_is_such_a_view_itself_brings_both_branches_along() -> None:
    base = letters("ab")
    side = base.append(entry("x"))
    first = Revision("first", base.revision_id, Operation("view", revision=side.revision_id), 3, 0)
    head = Revision("second", base.revision_id, Operation("view", revision="first"), 3, 0)
    snapshot = side.to_snapshot()
    grown = MessageHistory.from_snapshot(
        Snapshot(entries=snapshot.entries, revisions=(*snapshot.revisions, first, head), head="second")
    )
    delta = grown.changes_since(base.revision_id)
    assert {revision.id for revision in delta.revisions} == {side.revision_id, "first", "second"}
    assert shown(alone(base).apply(delta)) == "abx"


# Applying


def test_applying_takes_the_head_over() -> None:
    base = letters("ab")
    one, two = base.append(entry("c")), base.append(entry("d"))
    both = one.apply(two.changes_since(base.revision_id))
    assert shown(both) == "abd"
    assert shown(both.with_view(one.revision_id)) == "abc"
    assert shown(one) == "abc"


def test_a_delta_that_builds_on_what_is_not_there_is_refused() -> None:
    base = letters("ab").append(entry("c"))
    delta = base.append(entry("d")).changes_since(base.revision_id)
    with pytest.raises(UnknownRevisionError) as refused:
        letters("ab").apply(delta)
    assert refused.value.revision == base.revision_id


def test_a_delta_that_lacks_an_entry_is_refused_and_changes_nothing() -> None:
    base = letters("ab")
    delta = base.append(entry("c")).append(entry("d")).changes_since(base.revision_id)
    torn = delta.model_copy(update={"entries": delta.entries[:1]})
    replica = alone(base)
    with pytest.raises(InvalidHistoryError, match="'d'"):
        replica.apply(torn)
    assert replica == alone(base)
    assert replica.apply(delta).refs()[-1].id == "d"


def test_a_known_entry_with_other_content_is_refused() -> None:
    base = letters("ab")
    grown = base.append(entry("c"))
    other = alone(base).append({"id": "c", "message": user("other")})
    with pytest.raises(DuplicateEntryError):
        grown.apply(other.changes_since(base.revision_id))


def test_a_known_revision_with_other_content_is_refused() -> None:
    base = letters("ab")
    grown = base.append(entry("c"))
    data = grown.changes_since(base.revision_id).to_json()
    data["revisions"][0]["createdAt"] += 1
    with pytest.raises(InvalidHistoryError, match="other content"):
        grown.apply(data)


@pytest.mark.parametrize("wrong", [None, 5, {}, {"entries": [], "revisions": [], "head": "gone"}])
def test_what_is_no_delta_is_refused(wrong: object) -> None:
    with pytest.raises((InvalidHistoryError, UnknownRevisionError)):
        letters("ab").apply(wrong)  # type: ignore[arg-type]


@st.composite
def webs(draw: st.DrawFn) -> MessageHistory:
    """A history whose branches use each other's entries."""
    whole = letters("abc")
    seen, names = [whole.revision_id], list("abc")
    for turn in range(draw(st.integers(1, 8))):
        whole = whole.with_view(draw(st.sampled_from(seen)))
        known = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
        move = draw(st.sampled_from(["append", "known", "view", "patch", "insert", "summary"]))
        active = [ref.id for ref in whole]
        if move == "append":
            whole = whole.append(entry(f"n{turn}"))
        elif move == "known":
            whole = whole.append(*(whole.entry(name) for name in known))
        elif move == "view":
            whole = whole.with_view(known)
        elif move == "patch":
            whole = whole.edit(draw(patches(active, [f"p{turn}", f"q{turn}"])))
        elif move == "insert" and active:
            inserted = [whole.entry(name) for name in known if name not in active]
            whole = whole.edit({"op": "insertAfter", "id": active[0], "entries": inserted})
        else:
            patch = {"op": "summary", "sourceIds": known, "entry": entry(f"S{turn}"), "replace": draw(st.booleans())}
            whole = whole.edit(patch)
        seen.append(whole.revision_id)
        names = [one.id for one in whole.to_snapshot().entries]
    return whole.with_view(draw(st.sampled_from(seen)))


@given(webs(), st.booleans())
def test_base_and_delta_make_the_whole_graph_exactly(web: MessageHistory, restored: bool) -> None:  # noqa: FBT001
    history = MessageHistory.from_json(web.to_json()) if restored else web
    wanted = alone(history)
    assert wanted.restore() == history.restore()
    for revision in history.lineage():
        base = alone(history.with_view(revision.id))
        replica = base.apply(history.changes_since(revision.id))
        assert replica == wanted
        assert exact([m.to_json() for m in replica.restore()]) == exact([m.to_json() for m in history.restore()])
