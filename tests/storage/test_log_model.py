"""A log under random operations does what a model of plain lists does, whatever the sizes of its spans."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import msglog
from msglog.errors import ConflictError, DuplicateEntryError
from msglog.history import MessageHistory
from msglog.storage import spans, transaction
from tests.storage.model import Change, LogModel, New, Patch, Refused, Shown, carried_out, narrowed
from tests.strategies import Json, texts, user

T = TypeVar("T")

index = st.integers(0, 10**6)
some_local = precondition(lambda self: bool(self.local))
OPS = ("remove", "replace", "split", "insertBefore", "insertAfter", "move", "summary")
MOST_LOCAL = 6
"""Histories that are kept to be committed later, when they may be stale."""


@dataclass
class Local:
    """A history in memory, the branch and revision that it was loaded from, and what was done to it since."""

    history: MessageHistory
    branch: str
    base: str
    view: list[str]
    known: set[str]
    changes: list[tuple[str, Change]] = field(default_factory=list)


class LogMachine(RuleBasedStateMachine):
    """Operations on one log of one file, on up to four branches."""

    seen: ClassVar[dict[str, int]] = {}
    """The most of each structure that any run came to."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name) / "model.db"
        self.model = LogModel()
        self.local: list[Local] = []
        self.made = 0
        self.open()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def open(self) -> None:
        async def opened() -> msglog.Store:
            return await msglog.open(self.path, durability="normal")

        self.store = self.run(opened())
        self.log = self.store.log("model")

    def teardown(self) -> None:
        report = self.run(self.store.verify())
        for structure, sql in {
            "chunks": "SELECT count(*) AS most FROM chunks",
            "anchors": "SELECT count(*) AS most FROM revisions WHERE chunks IS NOT NULL",
            "tail": "SELECT max(json_array_length(tail)) AS most FROM revisions",
            "shared": "SELECT count(*) AS most FROM revisions WHERE anchor <> number AND anchor > 0",
        }.items():
            most = self.run(self.store.sql(sql))[0]["most"] or 0
            self.seen[structure] = max(most, self.seen.get(structure, 0))
        self.run(self.store.close())
        self.runner.close()
        self.directory.cleanup()
        assert report.ok, report.problems
        assert report.entries == len(self.model.entries)

    def new_id(self) -> str:
        self.made += 1
        return f"e{self.made}"

    def on(self, branch: str) -> msglog.MessageLog:
        return self.store.log("model", branch)

    def pick_branch(self, at: int) -> str:
        names = list(self.model.heads)
        return names[at % len(names)]

    def pick_entries(self, branch: str, places: list[int]) -> list[str]:
        """Entries of a view, and now and then one that it does not show."""
        view = self.model.head(branch).view
        return [view[at % len(view)] if view and at % 9 else f"absent-{at % 3}" for at in places]

    # Appending

    @initialize(text=texts)
    def begin(self, text: str) -> None:
        assert self.run(self.log.add("user", text, id="e0")) == 1
        self.model.grow("main", "root", [])
        self.model.store("e0", user(text))
        self.model.grow("main", self.head("main"), ["e0"])
        self.model.revisions[0].id = self.run(self.root())

    async def root(self) -> str:
        return [revision.id async for revision in self.log.revisions()][-1]

    def head(self, branch: str) -> str:
        head = self.run(self.on(branch).head())
        assert head is not None
        return head

    def appended(self, branch: str, messages: dict[str, Json]) -> None:
        for entry_id, message in messages.items():
            self.model.store(entry_id, message)
        shown = self.model.head(branch).view if branch in self.model.heads else []
        self.model.grow(branch, self.head(branch), [*shown, *messages])

    @rule(at=index, text=texts)
    def append(self, at: int, text: str) -> None:
        branch, entry_id = self.pick_branch(at), self.new_id()
        seq = self.run(self.on(branch).append(user(text), id=entry_id))
        self.appended(branch, {entry_id: user(text)})
        assert seq == len(self.model.entries)

    @rule(at=index, count=st.integers(1, 90))
    def append_many(self, at: int, count: int) -> None:
        branch = self.pick_branch(at)
        messages = {entry_id: user(entry_id) for entry_id in (self.new_id() for _ in range(count))}
        seq = self.run(self.on(branch).append_many([{"id": i, "message": m} for i, m in messages.items()]))
        self.appended(branch, messages)
        assert seq == len(self.model.entries)

    @rule(at=index, which=index, other=st.booleans())
    def retry(self, at: int, which: int, other: bool) -> None:  # noqa: FBT001 drawn
        branch, entry = self.pick_branch(at), self.model.entries[which % len(self.model.entries)]
        message = user("something else") if other else dict(entry.message)
        try:
            expected = self.model.already(branch, entry.id, message)
        except Refused:
            with pytest.raises(DuplicateEntryError):
                self.run(self.on(branch).append({"id": entry.id, "message": message}))
        else:
            assert self.run(self.on(branch).append({"id": entry.id, "message": message})) == expected

    @rule(at=index, seq_off=st.integers(-1, 0), stale=st.booleans(), text=texts)
    def append_if(self, at: int, seq_off: int, stale: bool, text: str) -> None:  # noqa: FBT001 drawn
        branch, entry_id = self.pick_branch(at), self.new_id()
        head = self.model.head(branch)
        expected_head = self.model.revisions[head.parent or 0].id if stale else head.id
        expected_seq = len(self.model.entries) + seq_off
        append = self.on(branch).append(user(text), id=entry_id, expected_seq=expected_seq, expected_head=expected_head)
        if seq_off or stale:
            with pytest.raises(ConflictError):
                self.run(append)
        else:
            assert self.run(append) == expected_seq + 1
            self.appended(branch, {entry_id: user(text)})

    # Editing in memory

    @rule(at=index)
    def load(self, at: int) -> None:
        branch = self.pick_branch(at)
        history = self.run(self.on(branch).history())
        view = self.model.head(branch).view
        assert [entry.id for entry in history] == view
        self.keep(Local(history, branch, history.revision_id, list(view), set(view)))

    def keep(self, local: Local) -> None:
        self.local = [*self.local, local][-MOST_LOCAL:]

    def change(self, local: Local, history: MessageHistory, change: Change, view: list[str]) -> None:
        """Keep a local history's successor beside it."""
        assert [entry.id for entry in history] == view
        known = local.known | set(change.new)
        changes = [*local.changes, (history.revision_id, change)]
        self.keep(Local(history, local.branch, local.base, view, known, changes))

    def pick_local(self, at: int) -> Local:
        """Mostly the newest one."""
        return self.local[-1] if at % 3 else self.local[at % len(self.local)]

    def pick_shown(self, local: Local, at: int) -> str:
        return local.view[at % len(local.view)] if local.view and at % 11 else f"absent-{at % 3}"

    @some_local
    @rule(at=index, count=st.integers(1, 3))
    def append_locally(self, at: int, count: int) -> None:
        local = self.pick_local(at)
        new = {entry_id: user(entry_id) for entry_id in (self.new_id() for _ in range(count))}
        back = sorted(local.known - set(local.view))[: at % 2]
        known = [local.history.entry(entry_id) for entry_id in back]
        history = local.history.append(*known, *({"id": i, "message": m} for i, m in new.items()))
        change = Change("append", (*back, *new), new={i: (m, ()) for i, m in new.items()})
        self.change(local, history, change, [*local.view, *back, *new])

    @some_local
    @rule(
        at=index,
        ops=st.lists(
            st.tuples(
                st.sampled_from(OPS),
                st.lists(index, min_size=1, max_size=4, unique=True),
                index,
                st.sampled_from(["before", "after", None]),
                st.booleans(),
            ),
            min_size=1,
            max_size=4,
        ),
    )
    def edit_locally(self, at: int, ops: list[tuple[str, list[int], int, str | None, bool]]) -> None:
        local = self.pick_local(at)
        given: list[Json] = []
        kept: list[Patch] = []
        new: dict[str, New] = {}
        view = local.view
        for op, places, place, anchor, replace in ops:
            back = sorted(local.known - set(view))[: place % 2]
            patch, wanted, entries = self.drawn_patch(local, op, places, place, anchor, replace=replace, back=back)
            given.append(patch)
            narrow = narrowed(view, wanted)
            if narrow is not None:
                view = carried_out(view, narrow)
                kept.append(narrow)
                new |= entries
        history = local.history.edit(given)
        if not new and view == local.view:
            assert history is local.history
            return
        self.change(local, history, Change("edit", patches=tuple(kept), new=new), view)

    def drawn_patch(
        self,
        local: Local,
        op: str,
        places: list[int],
        place: int,
        anchor: str | None,
        *,
        replace: bool,
        back: list[str],
    ) -> tuple[Json, Patch, dict[str, New]]:
        """A patch as it is given, the same by ids, and the entries that it brings in; `back` are known ones."""
        ids = list(dict.fromkeys(self.pick_shown(local, at) for at in places))
        target = self.pick_shown(local, place)
        if op == "remove":
            return {"op": op, "id": target}, {"op": op, "id": target}, {}
        if op == "move":
            patch = {"op": op, "ids": ids} | ({} if anchor is None else {anchor: target})
            return patch, patch, {}
        if op == "summary":
            entry_id = self.new_id()
            message = user(f"summary {entry_id}")
            entry = {"id": entry_id, "message": message}
            given = {"op": op, "sourceIds": ids, "entry": entry, "replace": replace}
            recorded = {"op": op, "ids": ids, "entry": entry_id, "replace": replace}
            return given, recorded, {entry_id: (message, tuple(ids))}
        new = {entry_id: user(entry_id) for entry_id in (self.new_id() for _ in places[1:])}
        entries = [*({"id": i, "message": m} for i, m in new.items()), *map(local.history.entry, back)]
        given = {"op": op, "id": target, "entries": entries}
        return given, {"op": op, "id": target, "entries": [*new, *back]}, {i: (m, ()) for i, m in new.items()}

    @rule(at=index, rebase=st.booleans())
    def thin_out(self, at: int, rebase: bool) -> None:  # noqa: FBT001 drawn
        """Take every other entry out: as many spans as entries are left."""
        if at % 3 or not self.local:
            self.load(at)
        local = self.pick_local(at)
        gone = local.view[1::2]
        if not gone:
            return
        history = local.history.edit([{"op": "remove", "id": i} for i in gone])
        patches = tuple({"op": "remove", "id": i} for i in gone)
        self.change(local, history, Change("edit", patches=patches), local.view[::2])
        self.commit(1, 1, rebase)

    @some_local
    @rule(at=index)
    def fork_locally(self, at: int) -> None:
        local = self.pick_local(at)
        self.change(local, local.history.fork(), Change("fork"), local.view)

    @some_local
    @rule(at=index, places=st.lists(index, max_size=8))
    def show_locally(self, at: int, places: list[int]) -> None:
        local = self.pick_local(at)
        known = sorted(local.known)
        ids = list(dict.fromkeys(known[place % len(known)] for place in places)) if known else []
        self.change(local, local.history.with_view(ids), Change("view", tuple(ids)), ids)

    # Committing

    @some_local
    @rule(at=index, on=index, rebase=st.booleans())
    def commit(self, at: int, on: int, rebase: bool) -> None:  # noqa: FBT001 drawn
        local = self.pick_local(at)
        branch = local.branch if on % 3 else self.pick_branch(on)
        before = deepcopy(self.model)
        try:
            revisions, views, rebased = self.predicted(local, branch, rebase=rebase)
        except Refused:
            with pytest.raises((ConflictError, DuplicateEntryError)):
                self.run(self.on(branch).commit(local.history, "rebase" if rebase else "raise"))
            self.model = before
            return
        committed = self.run(self.on(branch).commit(local.history, "rebase" if rebase else "raise"))
        if not rebased:
            assert committed is local.history
        made = [revision.id for revision in self.run(self.lineage(branch))][: len(revisions)][::-1]
        for (revision, change), view, stored in zip(revisions, views, made, strict=True):
            assert rebased == (stored != revision)
            for entry_id, (message, sources) in change.new.items():
                if self.model.seq(entry_id) is None:
                    self.model.store(entry_id, message, sources)
            self.model.grow(branch, stored, view, revision if rebased else None)

    async def lineage(self, branch: str) -> list[msglog.Revision]:
        return [revision async for revision in self.on(branch).lineage()]

    def predicted(
        self, local: Local, branch: str, *, rebase: bool
    ) -> tuple[list[tuple[str, Change]], list[list[str]], bool]:
        """What a commit writes: revisions, their views, and whether they are rebased ones."""
        known = [(local.base, Change("load")), *local.changes]
        at = max(i for i, (revision, _) in enumerate(known) if self.model.number(revision) is not None)
        base = self.model.number(known[at][0])
        assert base is not None
        newer = known[at + 1 :]
        if not newer and base in self.model.lineage(self.model.heads[branch]):
            return [], [], self.model.revisions[base].id != local.history.revision_id
        replaced = self.model.revisions[base].id != known[at][0]
        if base != self.model.heads[branch]:
            if not rebase or not newer:
                raise Refused("the branch has moved")
            replaced = True
        views = self.model.check(branch, base, newer, rebase=replaced)
        return newer, views, replaced

    # Branches

    @rule(at=index, revision=index)
    def fork(self, at: int, revision: int) -> None:
        if len(self.model.heads) == 4:
            return
        name = f"branch-{len(self.model.heads)}"
        number = revision % len(self.model.revisions)
        branch = self.run(self.on(self.pick_branch(at)).fork(name, self.model.revisions[number].id))
        self.model.heads[name] = number
        assert self.run(branch.head()) == self.model.revisions[number].id

    @rule(at=index, revision=index)
    def rewind(self, at: int, revision: int) -> None:
        branch = self.pick_branch(at)
        shown = self.model.revisions[revision % len(self.model.revisions)]
        if shown is self.model.head(branch):
            assert self.run(self.on(branch).rewind(shown.id)) == shown.id
        else:
            self.run(self.on(branch).rewind(shown.id, expected_head=self.model.head(branch).id))
            self.model.grow(branch, self.head(branch), list(shown.view))

    # Erasing, and opening again

    @rule(which=index)
    def redact(self, which: int) -> None:
        if which % 4:
            return
        entry = self.model.entries[which % len(self.model.entries)]
        summaries = [e.id for e in self.model.entries if entry.id in e.sources and not e.redacted]
        receipt = self.run(self.log.redact(entry.id))
        assert set(receipt.summaries) >= set(summaries)
        assert receipt.complete
        entry.redacted = True
        entry.sources = ()

    @rule()
    def reopen(self) -> None:
        self.run(self.store.close())
        self.open()

    # Reading

    @invariant()
    def every_branch_shows_what_it_should(self) -> None:
        for branch, number in self.model.heads.items():
            view = self.model.revisions[number].view
            messages = self.run(self.on(branch).all())
            assert [message.entry_id for message in messages] == view
            assert [message.seq for message in messages] == [self.model.seq(i) for i in view]
            for message in messages:
                entry = self.model.entry(message.entry_id)
                assert message.content == ("[redacted]" if entry.redacted else entry.message["content"])
            rows = self.run(
                self.store.sql(
                    "SELECT position, id FROM active_entries WHERE log = ? AND branch = ? ORDER BY position",
                    ("model", branch),
                )
            )
            assert [(row["position"], row["id"]) for row in rows] == list(enumerate(view))

    @rule(at=index, which=index, size=st.integers(0, 100))
    def look(self, at: int, which: int, size: int) -> None:
        branch = self.pick_branch(at)
        self.read_view(branch, size)
        self.read_lineage(branch, which % (len(self.model.entries) + 1), size)
        self.read_revision(self.model.revisions[which % len(self.model.revisions)])
        self.read_graph(branch, which)
        assert [message.content for message in self.run(self.on(branch).restore())] == self.turns(branch)

    def read_view(self, branch: str, size: int) -> None:
        view = self.model.head(branch).view
        newest = view[max(0, len(view) - size) :]

        async def iterated() -> list[str]:
            return [message.entry_id async for message in self.on(branch).iterate(size + 1)]

        assert self.run(iterated()) == view
        assert [message.entry_id for message in self.run(self.on(branch).last(size))] == newest
        window = self.run(self.on(branch).history(last=size))
        assert window.size == len(view)
        assert [entry.id for entry in window.refs(last=len(newest))] == newest

    def read_lineage(self, branch: str, after: int, limit: int) -> None:
        seqs = self.model.brought_in(branch)
        assert self.run(self.on(branch).count()) == len(seqs)
        read = self.run(self.on(branch).read(after, limit))
        assert [message.seq for message in read] == [seq for seq in seqs if seq > after][:limit]
        raw = self.run(self.on(branch).raw.read(after, limit))
        assert [message.seq for message in raw] == list(range(after + 1, len(self.model.entries) + 1))[:limit]

    def read_revision(self, shown: Shown) -> None:
        history = self.run(self.log.history(at=shown.id))
        assert history.revision_id == shown.id
        assert [entry.id for entry in history] == shown.view
        rows = self.run(
            self.store.sql(
                "SELECT position, id FROM revision_entries WHERE log = 'model' AND revision = ? ORDER BY position",
                (shown.id,),
            )
        )
        assert [(row["position"], row["id"]) for row in rows] == list(enumerate(shown.view))

    def read_graph(self, branch: str, back: int) -> None:
        """The full history has every revision's view; an earlier one with the changes since is the full one."""
        history = self.run(self.on(branch).history(full=True))
        line = self.model.lineage(self.model.heads[branch])
        assert [revision.id for revision in history.lineage()] == [self.model.revisions[n].id for n in line]
        for number in line:
            shown = self.model.revisions[number]
            assert [entry.id for entry in history.refs(shown.id)] == shown.view
        assert MessageHistory.from_json(history.to_json()) == history
        base = self.model.revisions[line[back % len(line)]].id
        earlier = self.run(self.on(branch).history(at=base, full=True))
        assert earlier.apply(history.changes_since(base).to_json()) == history

    def turns(self, branch: str) -> list[str]:
        """The original turns behind a view."""
        found: list[str] = []
        waiting = self.model.head(branch).view[::-1]
        seen = set()
        while waiting:
            entry_id = waiting.pop()
            if entry_id in seen or self.model.seq(entry_id) is None:
                continue
            seen.add(entry_id)
            entry = self.model.entry(entry_id)
            if entry.sources:
                waiting.extend(reversed(entry.sources))
            else:
                found.append("[redacted]" if entry.redacted else entry.message["content"])
        return found

    # Walking without Hypothesis

    def walk(self, random: Random, steps: int) -> None:
        """A long life: more steps than Hypothesis takes, most of them writes."""
        self.begin("first")
        for _ in range(steps):
            at, on, rebase = random.randrange(10**6), random.randrange(10**6), random.random() < 0.6
            step = random.choice(self.steps)
            if step == "append":
                self.append(at, f"text {at}")
            elif step == "append_many":
                self.append_many(at, random.randint(1, 90))
            elif step == "edit":
                if random.random() < 0.7 or not self.local:
                    self.load(at)
                self.edit_locally(1, [self.random_op(random) for _ in range(random.randint(1, 3))])
                if random.random() < 0.3:
                    self.append_locally(on, 2)
                self.commit(1, on, rebase)
            elif step == "thin_out":
                self.thin_out(at, rebase)
            elif step == "rewind":
                self.rewind(at, on)
            elif step == "fork":
                self.fork(at, on)
            elif step == "redact":
                self.redact(at)
            else:
                self.reopen()
            self.every_branch_shows_what_it_should()
        self.look(1, 5, 7)

    steps = ("append",) * 6 + ("edit",) * 6 + ("append_many", "thin_out", "rewind", "fork", "redact", "reopen")

    def random_op(self, random: Random) -> tuple[str, list[int], int, str | None, bool]:
        return (
            random.choice(OPS),
            [random.randrange(10**6) for _ in range(random.randint(1, 4))],
            random.randrange(10**6),
            random.choice(["before", "after", None]),
            random.random() < 0.7,
        )


SETTINGS = settings(derandomize=True, deadline=None, max_examples=30, stateful_step_count=30)

both_sizes = pytest.mark.parametrize(
    ("tail", "chunk"), [(spans.TAIL_SPANS, spans.CHUNK_SPANS), (2, 4)], ids=["as shipped", "small"]
)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tail: int, chunk: int) -> type[LogMachine]:
    monkeypatch.setattr(spans, "TAIL_SPANS", tail)
    monkeypatch.setattr(transaction, "TAIL_SPANS", tail)
    monkeypatch.setattr(spans, "CHUNK_SPANS", chunk)
    return type("Machine", (LogMachine,), {"seen": {}})


@both_sizes
def test_log_does_what_a_list_does(machine: type[LogMachine]) -> None:
    run_state_machine_as_test(machine, settings=SETTINGS)


@both_sizes
@pytest.mark.parametrize("seed", range(3))
def test_log_does_what_a_list_does_for_long(machine: type[LogMachine], tail: int, chunk: int, seed: int) -> None:
    made = machine()
    try:
        made.walk(Random(seed), 120)
    finally:
        made.teardown()
    assert machine.seen["tail"] > tail // 2, "tails came close to full"
    assert machine.seen["chunks"] > 5, "chunks were made"
    assert machine.seen["anchors"] > 5, "anchors were made"
    assert machine.seen["shared"] > 5, "revisions shared an anchor's chunks"
