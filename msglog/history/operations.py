"""What a revision did to its parent's sequence, recorded by entry ids, and how it is done again.

A recorded operation is a JSON object: `{"type": "append", "entryIds": […]}`, `{"type": "edit", "patches": […]}`,
`{"type": "fork"}`, `{"type": "view", "entryIds": […]}` or `{"type": "view", "revision": id}`. Patches are
recorded with the ids of the entries that they brought in, and only as far as they had an effect, so that a
revision's sequence follows from its parent's and its operation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from msglog.codec import FrozenDict, FrozenList, freeze
from msglog.errors import InvalidHistoryError
from msglog.history.sequence import Editable

K = TypeVar("K")

OperationType = Literal["append", "edit", "fork", "view"]


@dataclass(frozen=True, slots=True)
class Operation:
    """A recorded operation. `entry_ids` is what an append added or a view shows; `revision` what a view went to."""

    type: OperationType
    entry_ids: tuple[str, ...] | None = None
    patches: tuple[FrozenDict, ...] = ()
    revision: str | None = None

    def brought_in(self) -> Iterator[str]:
        """The ids that the operation put into the sequence, in order; they may have been known before."""
        if self.entry_ids is not None:
            yield from self.entry_ids
        for patch in self.patches:
            yield from inserted_by(patch)

    def to_json(self) -> FrozenDict:
        """The operation as a JSON object."""
        data: dict[str, Any] = {"type": self.type}
        if self.patches:
            data["patches"] = FrozenList(self.patches)
        if self.entry_ids is not None:
            data["entryIds"] = FrozenList(self.entry_ids)
        if self.revision is not None:
            data["revision"] = self.revision
        return FrozenDict(data)


FORK = Operation("fork")


def parse_operation(data: object, *, stated: bool = False) -> Operation:
    """The operation of a JSON object; `InvalidHistoryError` where it is none.

    Where the resulting sequence is `stated` beside it, patches need not name what they brought in.
    """
    if not isinstance(data, Mapping) or data.get("type") not in ("append", "edit", "fork", "view"):
        raise InvalidHistoryError("an operation must be an object of type append, edit, fork or view")
    kind = cast("OperationType", data["type"])
    if kind == "fork":
        return FORK
    entry_ids = None if kind == "edit" or data.get("entryIds") is None else _ids(data["entryIds"], "entryIds")
    patches = data.get("patches", ()) if kind == "edit" else ()
    if not isinstance(patches, (list, tuple)):
        raise InvalidHistoryError("patches must be a list")
    revision = data.get("revision")
    if kind == "append" and entry_ids is None:
        raise InvalidHistoryError("an append must name its entryIds")
    if kind == "view" and (entry_ids is None) == (not isinstance(revision, str)):
        raise InvalidHistoryError("a view must name its entryIds or a revision")
    recorded = tuple(_recorded(patch, lenient=stated) for patch in patches)
    return Operation(kind, entry_ids, recorded, revision if kind == "view" else None)


def _ids(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(i, str) and i for i in value):
        raise InvalidHistoryError(f"{what} must be a list of ids")
    return tuple(value)


_INSERTING: dict[str, tuple[type, bool]] = {"id": (str, True), "entryIds": (tuple, True)}
_FIELDS: dict[str, dict[str, tuple[type, bool]]] = {
    "remove": {"id": (str, True)},
    "replace": _INSERTING,
    "split": _INSERTING,
    "insertBefore": _INSERTING,
    "insertAfter": _INSERTING,
    "move": {"ids": (tuple, True), "before": (str, False), "after": (str, False)},
    "summary": {"sourceIds": (tuple, True), "entryId": (str, True), "replace": (bool, False)},
}
"""What a recorded patch holds: the type of each field (a tuple: a list of ids), and whether it must be there."""


def _recorded(patch: object, *, lenient: bool) -> FrozenDict:
    op = patch.get("op") if isinstance(patch, Mapping) else None
    if not isinstance(patch, Mapping) or not isinstance(op, str) or op not in _FIELDS:
        raise InvalidHistoryError("a patch must be an object with a known op")
    for field, (kind, needed) in _FIELDS[op].items():
        value = patch.get(field)
        if value is None and (lenient or not needed):
            continue
        if kind is tuple:
            _ids(value, field)
        elif not isinstance(value, kind):
            raise InvalidHistoryError(f"a recorded {op} must have {field}, of type {kind.__name__}")
    # Whatever else a patch holds, the inputs of its entries above all, is content and has its place there.
    return FrozenDict((field, freeze(patch[field])) for field in ("op", *_FIELDS[op]) if patch.get(field) is not None)


def inserted_by(patch: Mapping[str, Any]) -> Sequence[str]:
    """The ids that a recorded patch puts in."""
    ids: Sequence[str] = (patch["entryId"],) if "entryId" in patch else patch.get("entryIds", ())
    return ids


def narrowed(patch: FrozenDict, active: Callable[[str], bool]) -> tuple[FrozenDict | None, list[str]]:
    """The patch as far as its targets are active (None where it has no effect), and the ids that are not."""
    op = patch["op"]
    if op == "move":
        ids = [i for i in patch["ids"] if active(i)]
        missing = [i for i in patch["ids"] if not active(i)]
        anchor = "before" if patch.get("before") is not None else "after"
        target = patch.get(anchor)
        kept = {"op": "move", "ids": FrozenList(ids)}
        if target is not None and (target in ids or not active(target)):
            missing.append(target)
        elif target is not None:
            kept[anchor] = target
        return (FrozenDict(kept) if ids else None), missing
    if op == "summary":
        if not patch.get("replace"):  # its sources stay where they are: they are named, not targeted
            return patch, []
        sources = [i for i in patch["sourceIds"] if active(i)]
        missing = [i for i in patch["sourceIds"] if not active(i)]
        return (FrozenDict({**patch, "sourceIds": FrozenList(sources)}) if missing else patch), missing
    return (patch, []) if active(patch["id"]) else (None, [patch["id"]])


def apply_patch(sequence: Editable[K], patch: Mapping[str, Any], key: Callable[[str], K]) -> None:
    """Carry out a recorded patch whose targets are all active. `key` translates an entry id."""
    op = patch["op"]
    if op == "remove":
        sequence.remove({key(patch["id"])})
    elif op in ("replace", "split"):
        at = _position(sequence, key(patch["id"]))
        sequence.remove({key(patch["id"])})
        sequence.insert(at, [key(i) for i in patch["entryIds"]])
    elif op in ("insertBefore", "insertAfter"):
        at = _position(sequence, key(patch["id"]))
        sequence.insert(at + (op == "insertAfter"), [key(i) for i in patch["entryIds"]])
    elif op == "move":
        moving = sequence.remove({key(i) for i in patch["ids"]})
        at = len(sequence)
        if patch.get("before") is not None:
            at = _position(sequence, key(patch["before"]))
        elif patch.get("after") is not None:
            at = _position(sequence, key(patch["after"])) + 1
        sequence.insert(at, moving)
    elif op == "summary":
        at = len(sequence)
        if patch.get("replace"):
            sources = {key(i) for i in patch["sourceIds"]}
            first = sequence.first(sources)
            sequence.remove(sources)
            at = len(sequence) if first is None else first
        sequence.insert(at, [key(patch["entryId"])])
    else:
        raise InvalidHistoryError(f"unknown op {op!r}")


def _position(sequence: Editable[K], key: K) -> int:
    at = sequence.index(key)
    if at is None:
        raise InvalidHistoryError("an operation names an entry that its parent does not show")
    return at
