"""Sharing: older values keep working, newer ones cost only what they add, and threads do not disturb each other."""

from __future__ import annotations

import gc
import json
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msglog.history import MessageHistory
from msglog.history.sequence import CHUNK, IdSequence
from tests.strategies import entry, exact, letters, shown, user

# Values from outside and to the outside


def test_edt_1_neither_inputs_nor_outputs_share_mutable_state_with_a_history() -> None:
    data: dict[str, Any] = {
        "message": {"role": "user", "content": [{"type": "text", "text": "a"}]},
        "meta": {"k": [1]},
    }
    history = MessageHistory().append(data)
    before = exact(history.to_json())
    data["message"]["content"][0]["text"] = "changed"
    data["message"]["content"].append("changed")
    data["meta"]["k"].append(2)
    history.render().append(history.render()[0])
    copied = json.loads(json.dumps(history.to_json()))
    copied["entries"][0]["message"]["content"][0]["text"] = "changed"
    with pytest.raises(TypeError):
        history.render()[0].content.append("changed")
    with pytest.raises(TypeError):
        history.to_json()["entries"][0]["message"]["content"][0]["text"] = "changed"
    assert exact(history.to_json()) == before
    assert history.append(user("b")) is not history
    assert len(history) == 1


# Older values


def test_every_older_history_stays_what_it_was() -> None:
    kept: list[tuple[MessageHistory, list[str]]] = []
    history, ids = MessageHistory(), list[str]()
    for n in range(3 * CHUNK):
        kept.append((history, list(ids)))
        if n % 7 == 6:
            history = history.edit({"op": "remove", "id": ids[n % len(ids)]})
            ids.pop(n % len(ids))
        else:
            history = history.append(entry(f"e{n}"))
            ids.append(f"e{n}")
    for old, wanted in kept:
        assert [ref.id for ref in old] == wanted
        assert [ref.id for ref in history.refs(old.revision_id)] == wanted
        assert len(old) == len(wanted)


def test_two_histories_that_append_from_one_base_in_turns_do_not_mix() -> None:
    base = letters("ab")
    one, two = base, base
    for n in range(2 * CHUNK):
        one, two = one.append(entry(f"1-{n}")), two.append(entry(f"2-{n}"))
    assert [ref.id for ref in one] == ["a", "b", *(f"1-{n}" for n in range(2 * CHUNK))]
    assert [ref.id for ref in two] == ["a", "b", *(f"2-{n}" for n in range(2 * CHUNK))]
    assert shown(base) == "ab"


def test_branches_of_one_base_may_use_one_id_for_different_entries() -> None:
    base = letters("ab")
    one = base.append({"id": "x", "message": user("one")})
    two = base.append({"id": "x", "message": user("two")})
    assert (one.entry("x").message.content, two.entry("x").message.content) == ("one", "two")


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_every_older_history_may_be_gone_on_from(size: int) -> None:
    history = MessageHistory()
    olds = [history]
    for n in range(size):
        history = history.append(entry(f"e{n}"))
        olds.append(history)
    branches = [old.append(entry("x")) for old in olds] + [old.fork().append(entry("y")) for old in olds]
    for old, branch in zip(olds + olds, branches, strict=True):
        assert [ref.id for ref in branch] == [*(ref.id for ref in old), branch.refs()[-1].id]
    assert [len(old) for old in olds] == list(range(size + 1))


# What is shared


def test_entries_are_shared_by_identity() -> None:
    history = MessageHistory().append({"id": "a", "message": user("x")})
    kept = history.entry("a")
    assert history.append(user("y")).entry("a") is kept
    assert history.edit({"op": "remove", "id": "a"}).with_view(["a"]).refs()[0] is kept
    assert history.append(kept) is history


def test_an_append_makes_no_new_list_of_what_was_there() -> None:
    history = MessageHistory()
    kept = []
    for n in range(20 * CHUNK):
        history = history.append(entry(f"e{n}"))
        kept.append(history._sequence)
    trunks = {id(sequence._trunk): sequence._trunk for sequence in kept}
    assert len(trunks) <= 21
    chunks = {id(chunk) for trunk in trunks.values() for chunk in trunk.chunks}
    assert len(chunks) <= 20
    assert len({id(sequence) for sequence in history._extent.graph.sequences}) <= 21


def test_an_edit_copies_one_chunk_and_shares_the_rest() -> None:
    before = MessageHistory().append(*(entry(f"e{n}") for n in range(20 * CHUNK)))
    after = before.edit({"op": "replace", "id": "e500", "entries": [user("new")]})
    old = {id(chunk) for chunk in before._sequence._trunk.chunks}
    new = {id(chunk) for chunk in after._sequence._trunk.chunks}
    assert len(new - old) == 1


def test_appends_and_edits_in_turns_leave_no_small_chunks() -> None:
    history = letters()
    for _ in range(10 * CHUNK):
        history = history.append(user("turn"))
        history = history.edit({"op": "replace", "id": history.refs()[2].id, "entries": [user("cleared")]})
    assert len(history._sequence._trunk.chunks) <= 12


def test_editing_the_end_again_and_again_leaves_no_small_chunks() -> None:
    history = letters()
    for _ in range(5 * CHUNK):
        history = history.append(user("draft"))
        history = history.edit({"op": "replace", "id": history.refs()[-1].id, "entries": [user("final")]})
    assert len(history._sequence._trunk.chunks) <= 7


def test_histories_that_branch_at_every_step_stay_shallow() -> None:
    history = MessageHistory()
    for n in range(2000):
        history.append(user("tried and thrown away"))
        history = history.append(entry(f"e{n}"))
    assert [ref.id for ref in history] == [f"e{n}" for n in range(2000)]
    assert [one.id for one in history.changes_since().entries] == [f"e{n}" for n in range(2000)]
    assert all(len(history._extent.introduced(revision.id)) == 1 for revision in history.revisions()[1:])
    assert len(list(history._extent._to_the_ground())) < 60
    held = sum(len(extent.graph.revisions) for extent in history._extent._to_the_ground())
    assert held < 3 * 2000


def test_ten_thousand_revisions_kept_alive_cost_little_beside_their_messages() -> None:
    message = MessageHistory().append(user("x")).render()[0]
    history = MessageHistory()
    kept = [history]
    for _ in range(10_000):
        history = history.append(message)
        kept.append(history)
    gc.collect()
    assert _bytes_of(kept) < 10_000_000 + sys.getsizeof(kept)
    assert [len(old) for old in kept] == list(range(10_001))


def _bytes_of(root: object) -> int:
    """The bytes of all that is reachable from a value, types, modules and functions aside."""
    seen: set[int] = set()
    waiting: list[Any] = [root]
    total = 0
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (type, type(sys), type(_bytes_of))):
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        waiting += gc.get_referents(item)
    return total


# Sequences


@given(st.lists(st.integers(0, 400), unique=True, max_size=200), st.data())
def test_a_changed_sequence_is_the_one_that_was_asked_for(numbers: list[int], data: st.DataObject) -> None:
    ids = [str(n) for n in numbers]
    cut = data.draw(st.integers(0, len(ids)))
    before = IdSequence.of(ids[:cut]).appended(ids[cut:])
    at, end = sorted(data.draw(st.tuples(st.integers(0, len(ids)), st.integers(0, len(ids)))))
    wanted = [*ids[:at], *(f"new{n}" for n in range(data.draw(st.integers(0, 60)))), *ids[end:]]
    after = before.changed_to(wanted)
    assert after.ids() == list(after) == wanted
    assert len(after) == len(wanted)
    assert before.ids() == ids
    assert after.appended(["x"]).ids() == [*wanted, "x"]
    assert before.appended(["y"]).ids() == [*ids, "y"]
    assert after.ids() == wanted
    assert all(name in after for name in wanted)
    assert "absent" not in after


# Threads


def test_while_one_thread_appends_another_waits_for_it() -> None:
    base = letters("ab")
    made: list[MessageHistory] = []
    other = threading.Thread(target=lambda: made.append(base.append(entry("y"))))

    class Interrupted(dict[str, int]):
        def __setitem__(self, key: str, value: int) -> None:
            if key == "x":  # in the midst of the append below
                other.start()
                other.join(0.05)
            super().__setitem__(key, value)

    graph = base._extent.graph
    graph.entry_at = Interrupted(graph.entry_at)
    mine = base.append(entry("x"))
    other.join()
    assert (shown(mine), shown(made[0]), shown(base)) == ("abx", "aby", "ab")


def test_threads_that_append_to_one_base_at_once_each_get_their_own_history() -> None:
    base = letters("ab")
    made: list[list[MessageHistory]] = [[] for _ in range(4)]
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        history = base
        for n in range(300):
            history = history.append(entry(f"{number}-{n}"))
            if n % 50 == 49:
                history = history.edit({"op": "remove", "id": f"{number}-{n}"})
                made[number].append(history)
                history = base if n % 100 == 99 else history

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert shown(base) == "ab"
    for number, histories in enumerate(made):
        for index, history in enumerate(histories):
            first = 100 * (index // 2)
            wanted = [f"{number}-{n}" for n in range(first, 50 * index + 50) if n % 50 != 49]
            assert [ref.id for ref in history] == ["a", "b", *wanted]
            assert MessageHistory.from_json(history.to_json()).refs() == history.refs()
