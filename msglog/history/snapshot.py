"""Snapshots and deltas: a graph, whole or in part, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, InstanceOf

from msglog.codec import EMPTY, freeze_object
from msglog.errors import InvalidHistoryError, MsgLogError
from msglog.history.graph import Revision
from msglog.history.operations import parse_operation
from msglog.message import Entry
from msglog.model import FrozenModel

_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999, which a datetime holds


def parse_revision(data: object) -> Revision:
    """A revision of a JSON object: our own form, or the original's, which lists every `entryIds`.

    A size of -1 says that it is to be worked out.
    """
    if isinstance(data, Revision):
        return data
    if not isinstance(data, Mapping):
        raise InvalidHistoryError(f"a revision must be an object, not {type(data).__name__}")
    revision_id, parent, created = data.get("id"), data.get("parent"), data.get("createdAt", 0)
    if not isinstance(revision_id, str) or not revision_id:
        raise InvalidHistoryError("a revision must have an id")
    if not isinstance(parent, (str, type(None))) or not isinstance(data.get("replaces"), (str, type(None))):
        raise InvalidHistoryError(f"revision {revision_id!r}: parent and replaces must be ids")
    if isinstance(created, bool) or not isinstance(created, (int, float)) or not _FIRST_MS <= created <= _LAST_MS:
        raise InvalidHistoryError(f"revision {revision_id!r}: createdAt must be milliseconds since 1970")
    listed = data.get("entryIds")
    if listed is not None and (not isinstance(listed, (list, tuple)) or not all(isinstance(i, str) for i in listed)):
        raise InvalidHistoryError(f"revision {revision_id!r}: entryIds must be a list of ids")
    operation = None
    if data.get("operation") is not None:
        operation = parse_operation(data["operation"], stated=listed is not None)
    if operation is None and parent is not None and listed is None:
        raise InvalidHistoryError(f"revision {revision_id!r} has a parent, but neither operation nor entryIds")
    size = data.get("size", -1 if listed is None else len(listed))
    if isinstance(size, bool) or not isinstance(size, int):
        raise InvalidHistoryError(f"revision {revision_id!r}: size must be an int")
    meta = freeze_object(data.get("meta", EMPTY), "meta")
    stated = None if listed is None else tuple(listed)
    return Revision(revision_id, parent, operation, size, int(created), data.get("replaces"), meta, stated)


def _entry(data: object) -> Entry:
    if isinstance(data, Entry):
        return data
    if not isinstance(data, Mapping):
        raise InvalidHistoryError(f"an entry must be an object, not {type(data).__name__}")
    return Entry(**{k: v for k, v in data.items() if v is not None})


def _each(parse: Any) -> BeforeValidator:
    def run(value: object) -> object:
        if not isinstance(value, (list, tuple)):
            raise InvalidHistoryError(f"expected a list, not {type(value).__name__}")
        return tuple(parse(item) for item in value)

    return BeforeValidator(run)


class Snapshot(FrozenModel):
    """A whole graph: every entry, every revision, and the active head."""

    entries: Annotated[tuple[InstanceOf[Entry], ...], _each(_entry)]
    revisions: Annotated[tuple[InstanceOf[Revision], ...], _each(parse_revision)]
    head: str

    def to_json(self) -> dict[str, Any]:
        """The snapshot as a JSON object."""
        return {
            "entries": [entry.to_json() for entry in self.entries],
            "revisions": [revision.to_json() for revision in self.revisions],
            "head": self.head,
        }


class HistoryDelta(Snapshot):
    """What came after `base`: the entries and revisions that it lacks. Without a base: the whole lineage."""

    base: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The delta as a JSON object."""
        data = super().to_json()
        return data if self.base is None else {**data, "base": self.base}


def as_snapshot(value: Snapshot | Mapping[str, Any]) -> Snapshot:
    """`value` as a snapshot; `InvalidHistoryError` where it is none."""
    return value if isinstance(value, Snapshot) else _parsed(Snapshot, value)


def as_delta(value: HistoryDelta | Mapping[str, Any]) -> HistoryDelta:
    """`value` as a delta; `InvalidHistoryError` where it is none."""
    return value if isinstance(value, HistoryDelta) else _parsed(HistoryDelta, value)


def _parsed(model: Any, value: object) -> Any:
    if not isinstance(value, Mapping):
        raise InvalidHistoryError(f"expected an object, not {type(value).__name__}")
    try:
        return model(**value)
    except InvalidHistoryError:
        raise
    except MsgLogError as error:
        raise InvalidHistoryError(str(error)) from None


__all__ = ["HistoryDelta", "Snapshot", "as_delta", "as_snapshot", "parse_revision"]
