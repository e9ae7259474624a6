"""Going to another revision, showing a choice of entries, branching off; and what a value says about itself."""

from __future__ import annotations

import copy
import pickle

import pytest

from msglog.errors import InvalidHistoryError, UnknownEntryError, UnknownRevisionError
from msglog.history import MessageHistory, Operation
from tests.strategies import entry, letters, shown, user


def test_a_view_of_a_revision_moves_the_head_there() -> None:
    old = letters("ab")
    new = old.append(entry("c"))
    back = new.with_view(old.revision_id)
    assert shown(back) == "ab"
    assert back.head == old.head
    assert back.refs(new.revision_id) == new.refs()


def test_a_history_that_went_back_goes_on_as_a_branch_of_its_own() -> None:
    old = letters("ab")
    new = old.append(entry("c"))
    branch = new.with_view(old.revision_id).append(entry("d"))
    assert (shown(branch), shown(new)) == ("abd", "abc")
    assert branch.head.parent == new.head.parent == old.revision_id


def test_a_view_of_entries_is_a_new_revision_that_shows_them_in_that_order() -> None:
    history = letters("abc")
    viewed = history.with_view(["c", "a"])
    assert shown(viewed) == "ca"
    assert viewed.head.parent == history.revision_id
    assert viewed.head.operation == Operation("view", ("c", "a"))
    assert shown(viewed.append(entry("d"))) == "cad"


def test_a_view_may_show_entries_that_left_an_earlier_one() -> None:
    removed = letters("abc").edit({"op": "remove", "id": "b"})
    assert shown(removed.with_view(iter("abc"))) == "abc"


def test_a_view_may_be_empty() -> None:
    assert letters("abc").with_view([]).render() == []


def test_a_view_holds_an_entry_once() -> None:
    with pytest.raises(ValueError, match="once") as refused:
        letters("abc").with_view(["a", "b", "a"])
    assert isinstance(refused.value, InvalidHistoryError)


def test_an_unknown_revision_is_refused() -> None:
    history = letters("a")
    for ask in (history.with_view, history.revision, history.refs, history.render, history.introduced):
        with pytest.raises(UnknownRevisionError) as refused:
            ask("nowhere")
        assert refused.value.revision == "nowhere"


def test_an_unknown_entry_is_refused() -> None:
    history = letters("a")
    for ask in (history.with_view, history.refs, history.render):
        with pytest.raises(UnknownEntryError) as refused:
            ask(["a", "z"])
        assert refused.value.entry == "z"
    with pytest.raises(UnknownEntryError):
        history.entry("z")


def test_an_older_history_does_not_know_what_came_later() -> None:
    old = letters("ab")
    new = old.append(entry("c"))
    with pytest.raises(UnknownRevisionError):
        old.with_view(new.revision_id)
    with pytest.raises(UnknownEntryError):
        old.entry("c")
    assert "c" not in old


def test_a_fork_is_a_revision_with_the_same_view() -> None:
    history = letters("ab")
    fork = history.fork(meta={"reason": "what if"})
    assert fork.refs() == history.refs()
    assert fork.revision_id != history.revision_id
    assert fork.head.parent == history.revision_id
    assert fork.head.operation == Operation("fork")
    assert fork.head.meta == {"reason": "what if"}


def test_forks_go_their_own_ways() -> None:
    history = letters("ab")
    one, two = history.fork().append(entry("c")), history.fork().edit({"op": "remove", "id": "a"})
    assert (shown(history), shown(one), shown(two)) == ("ab", "abc", "b")


# Reading


def test_a_choice_of_entries_can_be_read_without_a_new_view() -> None:
    history = letters("abc")
    assert [ref.id for ref in history.refs(["c", "a"])] == ["c", "a"]
    assert [message.content for message in history.render(iter("cab"))] == ["c", "a", "b"]


@pytest.mark.parametrize(("last", "ids"), [(0, ""), (1, "e"), (3, "cde"), (5, "abcde"), (99, "abcde"), (None, "abcde")])
def test_the_last_n_are_the_newest_n_oldest_first(last: int | None, ids: str) -> None:
    history = letters()
    assert "".join(ref.id for ref in history.refs(last=last)) == ids
    assert "".join(ref.id for ref in history.refs(history.revision_id, last=last)) == ids
    assert "".join(ref.id for ref in history.refs(list("abcde"), last=last)) == ids


@pytest.mark.parametrize("view", [None, list("abcde")])
def test_a_negative_number_never_means_all(view: list[str] | None) -> None:
    with pytest.raises(ValueError, match="negative"):
        letters().refs(view, last=-1)


def test_what_is_returned_is_the_callers_to_change() -> None:
    history = letters("ab")
    history.refs().clear()
    history.render().clear()
    history.revisions().clear()
    assert (shown(history), len(history.revisions())) == ("ab", 2)


def test_an_entry_is_in_a_history_while_it_is_active() -> None:
    history = letters("ab").edit({"op": "remove", "id": "a"})
    assert ("a" in history, "b" in history, 5 in history) == (False, True, False)


def test_an_empty_history_is_not_false() -> None:
    assert MessageHistory()


def test_the_estimate_of_tokens_is_a_quarter_of_the_characters() -> None:
    assert MessageHistory().append(user("x" * 10), user("y" * 11)).estimate_tokens() == 6


def test_the_lineage_leads_from_the_head_to_the_root() -> None:
    history = letters("ab").fork().edit({"op": "remove", "id": "a"})
    kinds = [revision.operation and revision.operation.type for revision in history.lineage()]
    assert kinds == ["edit", "fork", "append", None]
    assert [revision.size for revision in history.lineage()] == [1, 2, 2, 0]


# Stable prefixes


def test_views_share_the_messages_up_to_the_first_change() -> None:
    history = letters()
    assert history.stable_prefix(history) == 5
    assert history.stable_prefix(history.append(entry("f"))) == 5
    assert history.stable_prefix(history.edit({"op": "replace", "id": "c", "entries": [user("C")]})) == 2
    assert history.stable_prefix(MessageHistory()) == 0


def test_equal_messages_are_shared_whatever_their_ids() -> None:
    one = MessageHistory().append(user("a"), user("b"))
    two = MessageHistory().append(user("a"), user("x"))
    assert one.stable_prefix(two) == 1


def test_messages_of_one_id_that_differ_are_not_shared() -> None:
    one = MessageHistory().append({"id": "a", "message": user("x") | {"n": 1}})
    two = MessageHistory().append({"id": "a", "message": user("x") | {"n": True}})
    assert one.stable_prefix(two) == 0


# Equality and copies


def test_histories_are_equal_by_head_and_graph() -> None:
    history = letters("ab")
    again = MessageHistory.from_json(history.to_json())
    assert (again, hash(again)) == (history, hash(history))
    assert history.append(entry("c")) != history.append(entry("c"))
    assert history != letters("ab")
    assert history != "history"


def test_a_larger_graph_makes_another_history_of_the_same_head() -> None:
    history = letters("ab")
    back = history.append(entry("c")).with_view(history.revision_id)
    assert back.head == history.head
    assert back != history


def test_a_history_is_pickled_whole_and_copied_for_nothing() -> None:
    history = letters("ab").edit({"op": "remove", "id": "a"})
    again = pickle.loads(pickle.dumps(history))
    assert again == history
    assert shown(again.append(entry("c"))) == "bc"
    assert copy.copy(history) is history
    assert copy.deepcopy(history) is history


def test_the_representation_shows_no_text() -> None:
    history = MessageHistory().append(user("secret"))
    assert repr(history) == f"<MessageHistory {history.revision_id} of 1 entries>"


@pytest.mark.parametrize("name", ["size", "revision_id", "head", "is_partial"])
def test_what_a_history_says_about_itself_cannot_be_set(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(letters("a"), name, None)


def test_a_revision_cannot_be_changed() -> None:
    head = letters("a").head
    for name in ("id", "parent", "operation", "size", "meta", "new"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(head, name, None)
