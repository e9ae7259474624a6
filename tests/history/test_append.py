"""Appending: new values at the end, older ones unchanged, ids that are known recognised."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.errors import CodecError, DuplicateEntryError, InvalidMessageError
from msglog.history import MessageHistory, Operation
from msglog.message import Message, StoredMessage, as_entry, as_message
from tests.strategies import NOON, entry_inputs, exact, reply, user


def texts_of(history: MessageHistory) -> list[Any]:
    return [message.content for message in history.render()]


def test_a_new_history_is_empty_and_has_a_root() -> None:
    history = MessageHistory()
    assert (len(history), history.size, history.render(), list(history)) == (0, 0, [], [])
    assert history.head.parent is None
    assert list(history.lineage()) == history.revisions() == [history.head]


def test_an_append_gives_a_new_history_and_leaves_the_old_one() -> None:
    old = MessageHistory().append(user("a"))
    new = old.append(reply("b"))
    assert texts_of(old) == ["a"]
    assert texts_of(new) == ["a", "b"]


@given(st.lists(entry_inputs(), max_size=5))
def test_what_is_appended_is_rendered_equal_and_in_order(inputs: list[dict[str, Any]]) -> None:
    history = MessageHistory().append(*inputs)
    wanted = [as_message(one.get("message", one) if "role" not in one else one) for one in inputs]
    assert exact([m.to_json() for m in history.render()]) == exact([m.to_json() for m in wanted])


def test_messages_entries_and_dicts_may_be_mixed() -> None:
    stored = StoredMessage(role="user", content="c", seq=1, at=NOON, entry_id="other")
    history = MessageHistory().append(
        Message(role="user", content="a"), as_entry({"id": "b", "message": user("b")}), stored, {"message": user("d")}
    )
    assert texts_of(history) == ["a", "b", "c", "d"]
    assert history.refs()[1].id == "b"
    assert type(history.render()[2]) is Message


def test_one_append_is_one_revision_that_names_what_it_added() -> None:
    base = MessageHistory()
    history = base.append(user("a"), user("b"))
    assert history.head.parent == base.revision_id
    assert history.head.operation == Operation("append", tuple(entry.id for entry in history))
    assert history.head.size == 2


def test_an_append_of_nothing_is_the_same_history() -> None:
    history = MessageHistory().append(user("a"))
    assert history.append() is history


def test_ids_and_times_come_from_where_one_says() -> None:
    names = iter("abcdefg")
    history = MessageHistory(ids=lambda: next(names), clock=lambda: 5).append(user("x")).append(user("y"))
    assert [revision.id for revision in history.lineage()] == ["e", "c", "a"]
    assert [entry.id for entry in history] == ["b", "d"]
    assert {revision.created_at for revision in history.lineage()} == {5}


def test_the_reason_of_a_change_is_kept_with_its_revision() -> None:
    history = MessageHistory().append(user("a"), meta={"reason": "asked", "run": [1]})
    assert history.head.meta == {"reason": "asked", "run": [1]}


@pytest.mark.parametrize("wrong", [{"role": "user", "content": b"x"}, {"role": "nobody", "content": "x"}, 5, "x", None])
def test_one_wrong_input_and_nothing_is_appended(wrong: Any) -> None:
    history = MessageHistory().append(user("a"))
    with pytest.raises((CodecError, InvalidMessageError)):
        history.append(user("b"), wrong)
    assert texts_of(history.append(user("c"))) == ["a", "c"]
    assert len(history.revisions()) == 2


def test_a_wrong_meta_and_nothing_is_appended() -> None:
    history = MessageHistory()
    with pytest.raises(CodecError, match=r"meta\.why"):
        history.append(user("a"), meta={"why": {1}})
    assert texts_of(history.append(user("c"))) == ["c"]


# Ids that are known


def test_an_active_entry_is_not_appended_again() -> None:
    history = MessageHistory().append({"id": "a", "message": user("x")})
    assert history.append({"id": "a", "message": user("x")}) is history
    assert history.append(history.refs()[0]) is history


def test_of_a_batch_only_what_is_new_is_appended() -> None:
    history = MessageHistory().append({"id": "a", "message": user("x")})
    grown = history.append({"id": "a", "message": user("x")}, {"id": "b", "message": user("y")})
    assert [entry.id for entry in grown] == ["a", "b"]
    assert grown.head.operation == Operation("append", ("b",))


def test_an_id_given_twice_in_one_append_counts_once() -> None:
    twice = {"id": "a", "message": user("x")}
    assert len(MessageHistory().append(twice, twice)) == 1


def test_an_entry_that_left_the_view_comes_back_when_it_is_appended_again() -> None:
    history = MessageHistory().append({"id": "a", "message": user("x")}, {"id": "b", "message": user("y")})
    back = history.edit({"op": "remove", "id": "a"}).append({"id": "a", "message": user("x")})
    assert [entry.id for entry in back] == ["b", "a"]
    assert [entry.id for entry in back.to_snapshot().entries] == ["a", "b"]


@pytest.mark.parametrize(
    "other",
    [
        {"message": user("y")},
        {"message": reply("x")},
        {"message": user("x"), "kind": "summary"},
        {"message": user("x"), "meta": {}},
        {"message": user("x"), "sources": ["b"]},
        {"message": user("x") | {"more": 1}},
    ],
)
def test_ids_3_a_known_id_with_other_content_is_refused(other: dict[str, Any]) -> None:
    history = MessageHistory().append({"id": "a", "message": user("x")})
    with pytest.raises(DuplicateEntryError) as refused:
        history.append({"id": "a", **other})
    assert refused.value.entry_id == "a"
    assert texts_of(history) == ["x"]


def test_ids_3_an_id_given_twice_with_different_content_is_refused() -> None:
    with pytest.raises(DuplicateEntryError):
        MessageHistory().append({"id": "a", "message": user("x")}, {"id": "a", "message": user("y")})


@pytest.mark.parametrize(("one", "two"), [(1, 1.0), (1, True), (0.0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})])
def test_equal_content_means_the_same_stored_bytes(one: Any, two: Any) -> None:
    assert one == two
    history = MessageHistory().append({"id": "a", "message": user("x") | {"more": one}})
    with pytest.raises(DuplicateEntryError):
        history.append({"id": "a", "message": user("x") | {"more": two}})


def test_ids_3_an_entry_may_have_the_id_of_a_revision() -> None:
    base = MessageHistory()
    history = base.append({"id": base.revision_id, "message": user("x")})
    assert texts_of(history) == ["x"]
    assert history.with_view(base.revision_id).render() == []
    assert MessageHistory.from_json(history.to_json()) == history


def test_a_message_with_a_key_id_is_a_message_with_that_key() -> None:
    history = MessageHistory().append(user("x") | {"id": "msg_1"}, user("x") | {"id": "msg_1"})
    assert len(history) == 2
    assert [message.extra for message in history.render()] == [{"id": "msg_1"}] * 2
