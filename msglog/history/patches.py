"""Patches: what a caller asks of `edit`. Typed models, and the same as plain dicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator

from msglog.checks import checked_list
from msglog.errors import CodecError, InvalidMessageError
from msglog.ids import new_id
from msglog.message import Entry, EntryInput, IdMaker, as_entry
from msglog.model import FrozenModel, string_keys

Ids = Annotated[tuple[str, ...], BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v)]


def _entries(value: Any, *, new: IdMaker = new_id) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for index, item in enumerate(checked_list(value, "entries")):
        try:
            entries.append(as_entry(item, new=new))
        except (CodecError, InvalidMessageError) as error:
            raise error.under(f"[{index}]") from None
    return tuple(entries)


Entries = Annotated[tuple[Entry, ...], BeforeValidator(lambda value: _entries(value))]  # noqa: PLW0108 see below


class Remove(FrozenModel):
    """Take an entry out of the view."""

    op: Literal["remove"] = "remove"
    id: str


class Replace(FrozenModel):
    """Put new entries where an entry stood."""

    op: Literal["replace"] = "replace"
    id: str
    entries: Entries


class Split(FrozenModel):
    """Put the pieces of an entry where it stood."""

    op: Literal["split"] = "split"
    id: str
    entries: Entries


class InsertBefore(FrozenModel):
    """Put new entries before an entry."""

    op: Literal["insertBefore"] = "insertBefore"
    id: str
    entries: Entries


class InsertAfter(FrozenModel):
    """Put new entries after an entry."""

    op: Literal["insertAfter"] = "insertAfter"
    id: str
    entries: Entries


class Move(FrozenModel):
    """Move entries, in their order, before or after another; to the end where neither is found."""

    op: Literal["move"] = "move"
    ids: Ids
    before: str | None = None
    after: str | None = None


class Summary(FrozenModel):
    """Add a summary of `source_ids`.

    With `replace` it stands where its first active source stood, and the sources leave the view; without,
    it is appended and they stay.
    """

    op: Literal["summary"] = "summary"
    source_ids: Ids
    entry: Annotated[Entry, BeforeValidator(lambda value: as_entry(value))]  # noqa: PLW0108 pydantic counts the parameters
    replace: bool = False


Patch: TypeAlias = "Remove | Replace | Split | InsertBefore | InsertAfter | Move | Summary"
PatchInput: TypeAlias = "Patch | Mapping[str, Any]"

_BY_OP: dict[str, type[FrozenModel]] = {
    "remove": Remove,
    "replace": Replace,
    "split": Split,
    "insertBefore": InsertBefore,
    "insertAfter": InsertAfter,
    "move": Move,
    "summary": Summary,
}


def as_patch(value: PatchInput, new: IdMaker = new_id) -> Patch:
    """`value` as a patch; `InvalidMessageError` where it is none. `new` makes the ids of its entries."""
    if isinstance(value, (Remove, Replace, Split, InsertBefore, InsertAfter, Move, Summary)):
        return value
    if not isinstance(value, Mapping):
        raise InvalidMessageError("", f"expected a patch, not {type(value).__name__}")
    model = _BY_OP.get(str(value.get("op")))
    if model is None:
        raise InvalidMessageError("op", f"must be one of {', '.join(_BY_OP)}")
    fields = string_keys(value)
    try:
        if "entries" in fields:
            fields["entries"] = _entries(fields["entries"], new=new)
        if "entry" in fields:
            fields["entry"] = as_entry(fields["entry"], new=new)
    except (CodecError, InvalidMessageError) as error:
        raise error.under("entries" if "entries" in fields else "entry") from None
    return model(**fields)  # type: ignore[return-value]


def as_patches(patches: PatchInput | Iterable[PatchInput], new: IdMaker = new_id) -> list[Patch]:
    """One patch or many, as a list."""
    if isinstance(patches, (Mapping, FrozenModel)):
        return [as_patch(patches, new)]
    return [as_patch(patch, new) for patch in patches]


__all__ = [
    "EntryInput",
    "InsertAfter",
    "InsertBefore",
    "Move",
    "Patch",
    "PatchInput",
    "Remove",
    "Replace",
    "Split",
    "Summary",
    "as_patch",
    "as_patches",
]
