"""Histories against a model of them in plain Python: dicts and lists, everything copied, nothing shared."""

from __future__ import annotations

import itertools
import json
import pickle
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, multiple, rule

from msglog.history import MessageHistory
from msglog.message import as_entry
from tests.strategies import Json, entry_inputs, exact, patches, user


@dataclass(frozen=True)
class Model:
    """What a history is to the design: the entries that it knows, its revisions, and which one is its head."""

    entries: dict[str, str]
    revisions: dict[str, tuple[str | None, list[str]]]
    head: str

    @property
    def view(self) -> list[str]:
        return self.revisions[self.head][1]

    def grown(self, revision: str, view: list[str], entries: dict[str, str]) -> Model:
        assert revision not in self.revisions
        revisions = {**self.revisions, revision: (self.head, view)}
        return Model({**self.entries, **entries}, revisions, revision)

    def at(self, revision: str) -> Model:
        return Model(self.entries, self.revisions, revision)

    def lineage(self) -> list[str]:
        found: list[str] = []
        revision: str | None = self.head
        while revision is not None:
            found.append(revision)
            revision = self.revisions[revision][0]
        return found


def edited(view: list[str], patch: Json) -> list[str]:
    """The view after a patch, as the design words it: one that targets an absent id is skipped."""
    op, target = patch["op"], patch.get("id")
    new = [one["id"] for one in patch.get("entries", [])]
    if op == "move":
        moving = [i for i in view if i in patch["ids"]]
        rest = [i for i in view if i not in moving]
        for side, shift in (("before", 0), ("after", 1)):
            if patch.get(side) in rest:
                at = rest.index(patch[side]) + shift
                return rest[:at] + moving + rest[at:]
        return rest + moving
    if op == "summary":
        summary = patch["entry"]["id"]
        active = [i for i in view if i in patch["sourceIds"]]
        if not (patch["replace"] and active):
            return [*view, summary]
        first = view.index(active[0])
        return [i for i in view[:first] if i not in active] + [summary] + [i for i in view[first:] if i not in active]
    if target not in view:
        return view
    at = view.index(target)
    before, after = {"remove": (at, at + 1), "insertBefore": (at, at), "insertAfter": (at + 1, at + 1)}.get(
        op, (at, at + 1)
    )
    return view[:before] + new + view[after:]


def brought_in(view: list[str], patch: Json) -> dict[str, str]:
    """The entries that come in with a patch, unless it is skipped."""
    if patch["op"] == "summary":
        sources = patch["sourceIds"]
        return {patch["entry"]["id"]: content({**patch["entry"], "kind": "summary", "sources": sources})}
    if patch["op"] in {"remove", "move"} or patch["id"] not in view:
        return {}
    return {one["id"]: content(one) for one in patch["entries"]}


def content(entry_input: Json) -> str:
    return exact(as_entry(entry_input).to_json())


class Histories(RuleBasedStateMachine):
    """Histories that are made from one another in any order, and their models."""

    histories: Bundle[tuple[MessageHistory, Model]] = Bundle("histories")

    def __init__(self) -> None:
        super().__init__()
        self.names = (f"e{n}" for n in itertools.count())
        self.all: list[tuple[MessageHistory, Model]] = []

    def made(self, history: MessageHistory, model: Model) -> tuple[MessageHistory, Model]:
        self.all.append((history, model))
        self.check(history, model)
        return history, model

    def teardown(self) -> None:
        for history, model in self.all:
            self.check(history, model)

    @staticmethod
    def check(history: MessageHistory, model: Model) -> None:
        assert history.revision_id == model.head
        assert [ref.id for ref in history] == model.view
        assert len(history) == len(model.view)
        assert {
            r.id: (r.parent, [ref.id for ref in history.refs(r.id)]) for r in history.revisions()
        } == model.revisions
        assert {r.id: r.size for r in history.revisions()} == {r: len(view) for r, (_, view) in model.revisions.items()}
        assert {e.id: exact(e.to_json()) for e in history.to_snapshot().entries} == model.entries
        assert [r.id for r in history.lineage()] == model.lineage()

    @rule(target=histories)
    def begin(self) -> Any:
        history = MessageHistory()
        return self.made(history, Model({}, {history.revision_id: (None, [])}, history.revision_id))

    @rule(target=histories, pair=histories, inputs=st.lists(entry_inputs(), min_size=1, max_size=3))
    def append(self, pair: tuple[MessageHistory, Model], inputs: list[Json]) -> Any:
        history, model = pair
        new = history.append(*inputs)
        added = new.refs(last=len(inputs))
        assert not {one.id for one in added} & set(model.entries)
        contents = {one.id: exact(one.to_json()) for one in added}
        return self.made(new, model.grown(new.revision_id, [*model.view, *contents], contents))

    @rule(target=histories, pair=histories, count=st.integers(40, 60))
    def append_many(self, pair: tuple[MessageHistory, Model], count: int) -> Any:
        history, model = pair
        inputs: list[Json] = [{"id": next(self.names), "message": user("one of many")} for _ in range(count)]
        new = history.append(*inputs)
        contents = {one["id"]: content(one) for one in inputs}
        return self.made(new, model.grown(new.revision_id, [*model.view, *contents], contents))

    @rule(target=histories, pair=histories, data=st.data())
    def append_known(self, pair: tuple[MessageHistory, Model], data: st.DataObject) -> Any:
        history, model = pair
        if not model.entries:
            return multiple()
        chosen = data.draw(st.lists(st.sampled_from(sorted(model.entries)), max_size=3))
        new = history.append(*(history.entry(one) for one in chosen))
        added = [one for one in dict.fromkeys(chosen) if one not in model.view]
        if not added:
            assert new is history
            return multiple()
        return self.made(new, model.grown(new.revision_id, model.view + added, {}))

    @rule(target=histories, pair=histories, data=st.data(), count=st.integers(1, 4))
    def edit(self, pair: tuple[MessageHistory, Model], data: st.DataObject, count: int) -> Any:
        history, model = pair
        view, contents = model.view, dict[str, str]()
        drawn: list[Json] = []
        for _ in range(count):
            patch = data.draw(patches(view[:8] + view[-4:], [next(self.names), next(self.names)]))
            contents |= brought_in(view, patch)
            view = edited(view, patch)
            drawn.append(patch)
        new = history.edit(drawn)
        if view == model.view and not contents:
            assert new is history
            return multiple()
        return self.made(new, model.grown(new.revision_id, view, contents))

    @rule(target=histories, pair=histories)
    def fork(self, pair: tuple[MessageHistory, Model]) -> Any:
        history, model = pair
        new = history.fork()
        return self.made(new, model.grown(new.revision_id, model.view, {}))

    @rule(target=histories, pair=histories, data=st.data())
    def go_to_a_revision(self, pair: tuple[MessageHistory, Model], data: st.DataObject) -> Any:
        history, model = pair
        revision = data.draw(st.sampled_from(sorted(model.revisions)))
        return self.made(history.with_view(revision), model.at(revision))

    @rule(target=histories, pair=histories, data=st.data())
    def show_entries(self, pair: tuple[MessageHistory, Model], data: st.DataObject) -> Any:
        history, model = pair
        ids = data.draw(st.lists(st.sampled_from(sorted(model.entries) or [""]), unique=True, max_size=6))
        ids = [i for i in ids if i]
        new = history.with_view(ids)
        return self.made(new, model.grown(new.revision_id, ids, {}))

    @rule(target=histories, pair=histories)
    def through_a_snapshot(self, pair: tuple[MessageHistory, Model]) -> Any:
        history, model = pair
        again = MessageHistory.from_snapshot(history.to_snapshot())
        assert again == history
        return self.made(again, model)

    @rule(target=histories, pair=histories)
    def through_json(self, pair: tuple[MessageHistory, Model]) -> Any:
        history, model = pair
        again = MessageHistory.from_json(json.loads(json.dumps(history.to_json(), ensure_ascii=False)))
        assert exact(again.to_json()) == exact(history.to_json())
        return self.made(again, model)

    @rule(target=histories, pair=histories)
    def through_pickle(self, pair: tuple[MessageHistory, Model]) -> Any:
        history, model = pair
        return self.made(pickle.loads(pickle.dumps(history)), model)

    @rule(pair=histories, data=st.data())
    def through_a_delta(self, pair: tuple[MessageHistory, Model], data: st.DataObject) -> None:
        history, model = pair
        base = data.draw(st.sampled_from(model.lineage()))
        replica = MessageHistory.from_snapshot(history.with_view(base).changes_since())
        replica = replica.apply(history.changes_since(base).to_json())
        assert replica == MessageHistory.from_snapshot(history.changes_since())
        assert replica.refs() == history.refs()
        assert replica.restore() == history.restore()

    @rule(target=histories, one=histories, two=histories)
    def take_over(self, one: tuple[MessageHistory, Model], two: tuple[MessageHistory, Model]) -> Any:
        (history, model), (other, theirs) = one, two
        delta = other.changes_since()
        new = history.apply(delta)
        ours = set(model.revisions)
        revisions = {r: theirs.revisions[r] for r in theirs.lineage() if r not in ours}
        contents = {one.id: exact(one.to_json()) for one in delta.entries}
        merged = Model({**model.entries, **contents}, {**model.revisions, **revisions}, theirs.head)
        return self.made(new, merged)


TestHistories = Histories.TestCase
