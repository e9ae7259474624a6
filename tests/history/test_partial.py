"""Histories of which only a part was loaded: they say what they lack, and never answer with less than the truth."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from msglog.errors import InvalidHistoryError, NotLoadedError
from msglog.history import HistoryDelta, MessageHistory
from msglog.message import as_entry
from tests.strategies import Json, calls, entry, letters, result, shown, user


def whole() -> MessageHistory:
    """What the log holds: `abcdef`, of which `b` and `c` were summed up as `S`."""
    return letters("abcdef").edit({"op": "summary", "sourceIds": ["b", "c"], "entry": entry("S"), "replace": True})


def loaded(history: MessageHistory, last: int | None = None) -> MessageHistory:
    """The same as a log gives it: the head and its view, or only the last entries of that."""
    entries = history.refs(last=last)
    missing = len(history) - len(entries)
    return MessageHistory.loaded(history.head, [one.id for one in entries], entries, missing=missing)


# A whole view without the graph behind it


def test_a_loaded_history_shows_its_view_and_says_that_it_is_partial() -> None:
    history = loaded(whole())
    assert shown(history) == "aSdef"
    assert history.revision_id == history.head.id
    assert history.is_partial
    assert "partial" in repr(history)


def test_a_history_with_nothing_behind_it_is_whole() -> None:
    history = loaded(MessageHistory())
    assert not history.is_partial
    assert history.to_snapshot().entries == ()


def elsewhere() -> HistoryDelta:
    """A delta on a revision that no other history knows."""
    base = letters("x")
    return base.fork().changes_since(base.revision_id)


LACKING: dict[str, Callable[[MessageHistory], object]] = {
    "its snapshot": lambda h: h.to_snapshot(),
    "its json": lambda h: h.to_json(),
    "a pickle": pickle.dumps,
    "its revisions": lambda h: h.revisions(),
    "its lineage": lambda h: list(h.lineage()),
    "all changes": lambda h: h.changes_since(),
    "changes since a revision that was not loaded": lambda h: h.changes_since("elsewhere"),
    "a revision": lambda h: h.revision("elsewhere"),
    "the view of a revision": lambda h: h.refs("elsewhere"),
    "going to a revision": lambda h: h.with_view("elsewhere"),
    "what a revision introduced": lambda h: h.introduced("elsewhere"),
    "an entry": lambda h: h.entry("b"),
    "a choice of entries": lambda h: h.render(["a", "b"]),
    "a view of entries": lambda h: h.with_view(["a", "b"]),
    "the originals": lambda h: h.restore(),
    "chosen originals": lambda h: h.restore(["elsewhere"]),
    "a delta on what is not there": lambda h: h.apply(elsewhere()),
}


@pytest.mark.parametrize("ask", LACKING.values(), ids=LACKING.keys())
def test_what_was_not_loaded_is_said_and_how_to_load_it(ask: Callable[[MessageHistory], object]) -> None:
    with pytest.raises(NotLoadedError, match="loads it") as refused:
        ask(loaded(whole()))
    assert refused.value.call.startswith("log.history(")


def test_the_lineage_is_given_as_far_as_it_was_loaded() -> None:
    history = loaded(whole()).append(user("g")).fork()
    assert [revision.operation and revision.operation.type for revision in history.loaded_lineage()] == [
        "fork",
        "append",
        "edit",
    ]


def test_what_is_done_to_a_loaded_history_is_known_whole() -> None:
    base = loaded(whole())
    history = base.append(entry("g")).edit({"op": "replace", "id": "a", "entries": [entry("A")]})
    delta = history.changes_since(base.revision_id)
    assert [one.id for one in delta.entries] == ["g", "A"]
    assert shown(history) == "ASdefg"
    assert shown(history.with_view(base.revision_id)) == "aSdef"


def test_a_delta_of_a_loaded_history_completes_the_whole_one() -> None:
    full = whole()
    grown = loaded(full).append(entry("g")).edit({"op": "remove", "id": "a"})
    committed = full.apply(grown.changes_since(full.revision_id))
    assert shown(committed) == "Sdefg"
    assert [message.content for message in committed.restore()] == ["b", "c", "d", "e", "f", "g"]


def test_a_delta_is_applied_to_a_loaded_history() -> None:
    full = whole()
    delta = full.append(entry("g")).edit({"op": "remove", "id": "a"}).changes_since(full.revision_id)
    assert shown(loaded(full).apply(delta)) == "Sdefg"


def test_what_its_view_tells_is_told() -> None:
    history = loaded(whole())
    assert "a" in history
    assert "b" not in history
    assert history.estimate_tokens() > 0
    assert history.stable_prefix(history.append(user("g"))) == 5


# A window: the last entries of a view


def window(last: int = 2) -> MessageHistory:
    return loaded(whole(), last=last)


def test_a_window_knows_its_size_and_its_last_entries() -> None:
    history = window()
    assert (len(history), history.size) == (5, 5)
    assert [ref.id for ref in history.refs(last=2)] == ["e", "f"]
    assert [message.content for message in history.render(last=1)] == ["f"]


WINDOW_LACKING: dict[str, Callable[[MessageHistory], object]] = {
    "its view": lambda h: h.refs(),
    "rendering": lambda h: h.render(),
    "iterating": list,
    "more than it has": lambda h: h.refs(last=4),
    "the view of its head": lambda h: h.refs(h.revision_id),
    "the originals": lambda h: h.restore(),
    "an estimate": lambda h: h.estimate_tokens(),
    "a prefix": lambda h: h.stable_prefix(MessageHistory()),
    "the prefix of another": lambda h: MessageHistory().stable_prefix(h),
    "whether an entry is active": lambda h: "a" in h,
    "removing what is not at hand": lambda h: h.edit({"op": "remove", "id": "a"}),
    "moving what is not at hand": lambda h: h.edit({"op": "move", "ids": ["f", "a"]}),
    "moving to what is not at hand": lambda h: h.edit({"op": "move", "ids": ["f"], "before": "a"}),
    "summing up what is not at hand": lambda h: h.edit(
        {"op": "summary", "sourceIds": ["a", "e"], "entry": entry("T"), "replace": True}
    ),
    "strictly": lambda h: h.edit({"op": "remove", "id": "gone"}, strict=True),
    "keeping pairs": lambda h: h.edit({"op": "remove", "id": "e"}, keep_pairs=True),
    "keeping pairs that are moved": lambda h: h.edit({"op": "move", "ids": ["a"]}, keep_pairs=True),
}


@pytest.mark.parametrize("ask", WINDOW_LACKING.values(), ids=WINDOW_LACKING.keys())
def test_a_window_does_not_guess_at_what_is_outside_it(ask: Callable[[MessageHistory], object]) -> None:
    history = window()
    with pytest.raises(NotLoadedError) as refused:
        ask(history)
    assert refused.value.call == "log.history()"
    with pytest.raises(NotLoadedError):
        ask(history.append(user("g")).fork())


def test_a_window_can_be_appended_to_and_edited_at_its_end() -> None:
    history = window().append(entry("g"))
    history = history.edit(
        [
            {"op": "replace", "id": "e", "entries": [entry("E")]},
            {"op": "move", "ids": ["E"]},
            {"op": "summary", "sourceIds": ["a", "f"], "entry": entry("T")},
        ]
    )
    assert "".join(ref.id for ref in history.refs(last=4)) == "fgET"
    assert len(history) == 7
    assert history.head.size == len(history)
    with pytest.raises(NotLoadedError):
        history.refs(last=5)


def test_a_view_of_entries_at_hand_is_a_whole_view() -> None:
    before = window()
    history = before.with_view(["f", "e"])
    assert shown(history) == "fe"
    assert len(history) == 2
    with pytest.raises(NotLoadedError, match="first 3 entries"):
        history.refs(before.revision_id)


def test_a_delta_is_applied_to_a_window() -> None:
    full = whole()
    delta = full.append(entry("g")).edit({"op": "remove", "id": "e"}).changes_since(full.revision_id)
    replica = loaded(full, last=2).apply(delta.to_json())
    assert [ref.id for ref in replica.refs(last=2)] == ["f", "g"]
    assert len(replica) == 5


def test_a_delta_that_lists_whole_views_is_applied_to_a_window() -> None:
    full = whole()
    grown = full.append(entry("g"))
    data = grown.changes_since(full.revision_id).to_json()
    data["revisions"][0]["entryIds"] = [ref.id for ref in grown]
    assert [ref.id for ref in loaded(full, last=2).apply(data).refs(last=3)] == ["e", "f", "g"]


def putting_back(entry_id: str) -> Json:
    return {"op": "insertAfter", "id": "f", "entries": [entry(entry_id)]}


@pytest.mark.parametrize("last", [None, 2])
def test_a_delta_that_reaches_beyond_what_was_loaded_says_so(last: int | None) -> None:
    full = whole()
    for beyond in (full.with_view(["b", "f"]), full.append(full.entry("c")), full.edit(putting_back("b"))):
        with pytest.raises(NotLoadedError):
            loaded(full, last).apply(beyond.changes_since(full.revision_id))


def test_a_delta_that_edits_outside_a_window_says_so() -> None:
    full = whole()
    with pytest.raises(NotLoadedError):
        loaded(full, last=2).apply(full.edit({"op": "remove", "id": "a"}).changes_since(full.revision_id))


def test_a_window_that_contradicts_its_revision_is_refused() -> None:
    head = whole().head
    with pytest.raises(InvalidHistoryError, match="shows 5 entries, not 3"):
        MessageHistory.loaded(head, ["f"], [as_entry(entry("f"))], missing=2)


def test_tool_pairs_across_the_edge_of_a_window_are_not_parted_unknowingly() -> None:
    history = MessageHistory().append(
        {"id": "A", "message": calls("c1")}, {"id": "1", "message": result("c1")}, {"id": "x", "message": user("x")}
    )
    with pytest.raises(NotLoadedError):
        loaded(history, last=2).edit({"op": "remove", "id": "1"}, keep_pairs=True)
