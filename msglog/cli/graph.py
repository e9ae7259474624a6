"""The revisions of a log as steps: one for each, and one for a whole run of appends in which nothing branches."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msglog.cli.visible import exact_line
from msglog.cli.words import many

if TYPE_CHECKING:
    from msglog.sync import Store

_PAGE = 5000

_REVISIONS = """
SELECT r.number, r.parent, r.branch, r.size, r.operation, r.at FROM logs AS l JOIN revisions AS r ON r.log_id = l.id
WHERE l.name = ? AND r.number > ? ORDER BY r.number LIMIT ?
"""
_FORKS = """
SELECT r.parent FROM logs AS l JOIN revisions AS r ON r.log_id = l.id
WHERE l.name = ? GROUP BY r.parent HAVING count(*) > 1
"""
_HEADS = """
SELECT b.name, b.head FROM logs AS l JOIN branches AS b ON b.log_id = l.id
WHERE l.name = ? ORDER BY b.created_at, b.name
"""
_SEQS = """
SELECT e.id, e.seq FROM logs AS l JOIN entries AS e ON e.log_id = l.id
WHERE l.name = ? AND e.id IN (SELECT value FROM json_each(?))
"""
_NUMBERS = """
SELECT r.id, r.number FROM logs AS l JOIN revisions AS r ON r.log_id = l.id
WHERE l.name = ? AND r.id IN (SELECT value FROM json_each(?))
"""


@dataclass(slots=True)
class Step:
    """`count` revisions from `first` to `last`, of which only the last may be a head or be branched from.

    It shows `size` messages, and `before` it there were so many.
    `lane` is the column that it is drawn in; `forks` are those of the steps that branch off here.
    """

    first: int
    last: int
    parent: int | None
    branch: str
    size: int
    before: int
    operation: dict[str, Any] | None
    count: int = 1
    heads: tuple[str, ...] = ()
    what: str = ""
    lane: int = 0
    forks: list[int] = field(default_factory=list)
    through: tuple[int, ...] = ()  # the lanes that go on past this step

    @property
    def numbers(self) -> str:
        """Its revisions, in numbers: `2-7`, or `2…7` where numbers between them belong to other steps."""
        if self.count == 1:
            return str(self.first)
        return f"{self.first}{'-' if self.last - self.first < self.count else '…'}{self.last}"


def steps(store: Store, log: str) -> list[Step]:
    """The steps of a log, parents before children, described, and with a lane each."""
    found = _folded(store, log)
    _describe(store, log, found)
    _lay_out(found)
    return found


def _folded(store: Store, log: str) -> list[Step]:
    heads: dict[int, list[str]] = defaultdict(list)
    for row in store.sql(_HEADS, (log,)):
        heads[row["head"]].append(row["name"])
    ends = {row["parent"] for row in store.sql(_FORKS, (log,))} | set(heads)
    found: list[Step] = []
    open_at: dict[int, Step] = {}  # the step that a revision is the last of
    for row in _rows(store, log):
        number, parent = row["number"], row["parent"]
        before = open_at.get(parent)
        append = row["operation"] is None and parent is not None
        if before is not None and append and before.operation is None and parent and parent not in ends:
            before.last, before.size, before.count = number, row["size"], before.count + 1
            open_at[number] = open_at.pop(parent)
        else:
            operation = None if append else json.loads(row["operation"] or '{"type": "root"}')
            size_before = before.size if before is not None else 0
            made = Step(number, number, parent, row["branch"], row["size"], size_before, operation)
            open_at[number] = made
            found.append(made)
    for step in found:
        step.heads = tuple(heads.get(step.last, ()))
    return found


def _rows(store: Store, log: str) -> Iterator[dict[str, Any]]:
    after = -1
    while page := store.sql(_REVISIONS, (log, after, _PAGE)):
        yield from page
        after = page[-1]["number"]


# What each step did, in words


def _describe(store: Store, log: str, found: Sequence[Step]) -> None:
    patches = [patch for step in found for patch in (step.operation or {}).get("patches", ())]
    seqs = _named(store, _SEQS, log, (i for patch in patches for i in patch.get("sourceIds", ())))
    views = (step.operation.get("revision") for step in found if step.operation)
    numbers = _named(store, _NUMBERS, log, (view for view in views if view))
    for step in found:
        step.what = _what(step, seqs, numbers)


def _named(store: Store, query: str, log: str, ids: Iterable[str]) -> dict[str, int]:
    wanted = sorted(set(ids))
    named: dict[str, int] = {}
    for at in range(0, len(wanted), _PAGE):
        for row in store.sql(query, (log, json.dumps(wanted[at : at + _PAGE]))):
            name, number = row.values()
            named[name] = number
    return named


def _what(step: Step, seqs: dict[str, int], numbers: dict[str, int]) -> str:
    operation = step.operation
    if operation is None:
        added = f"+{many(step.size - step.before, 'message')}"
        return added if step.count in (1, step.size - step.before) else f"{added} in {many(step.count, 'append')}"
    match operation["type"]:
        case "edit":
            return "; ".join(_patch(patch, seqs) for patch in operation["patches"]) or "edit"
        case "view" if "revision" in operation:
            return f"as revision {numbers.get(operation['revision'], '?')} again"
        case "view":
            return "another view"
        case kind:
            return exact_line(str(kind))


def _patch(patch: dict[str, Any], seqs: dict[str, int]) -> str:
    brought = len(patch.get("entryIds", ()))
    match patch["op"]:
        case "summary":
            sources = [seqs[i] for i in patch["sourceIds"] if i in seqs]
            kept = "" if patch.get("replace") else ", kept"
            return f"summary of {many(len(sources), 'message')} ({ranges(sources)}{kept})"
        case "remove":
            return "1 removed"
        case "move":
            return f"{len(patch['ids'])} moved"
        case "replace" | "split":
            return f"1 replaced by {brought}"
        case op:
            return f"{brought} inserted" if brought else exact_line(str(op))


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as ranges: `2-6, 9`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


# Where each step is drawn


def _lay_out(found: Sequence[Step]) -> None:
    """Give each step its lane: its parent's, for the child that goes on with the branch, or a free one from there."""
    children: dict[int | None, list[Step]] = defaultdict(list)
    for step in found:
        children[step.parent].append(step)
    active: set[int] = set()
    for step in found:
        if step.parent is None:
            step.lane = _free(active)
        active.add(step.lane)
        heirs = children[step.last]
        main = next((heir for heir in heirs if heir.branch == step.branch), heirs[0] if heirs else None)
        if main is None:
            active.discard(step.lane)
        else:
            main.lane = step.lane
        for heir in heirs:
            if heir is not main:
                heir.lane = _free(active)
                active.add(heir.lane)
                step.forks.append(heir.lane)
        step.through = tuple(sorted(active))


def _free(active: set[int]) -> int:
    return next(lane for lane in range(len(active) + 1) if lane not in active)
