"""Sequences of entry ids: a persistent one that histories share, and what an operation needs of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol, TypeVar

K = TypeVar("K")

CHUNK = 48
"""Ids in a chunk at most. Near the square root of usual views: an edit copies one chunk and the list of chunks."""


class Editable(Protocol[K]):
    """A mutable sequence of distinct keys, as operations see it."""

    def __len__(self) -> int:
        """How many keys it holds."""
        ...

    def index(self, key: K) -> int | None:
        """The position of `key`, or None."""
        ...

    def first(self, keys: AbstractSet[K]) -> int | None:
        """The position of the first of `keys`, or None."""
        ...

    def remove(self, keys: AbstractSet[K]) -> list[K]:
        """Take out those of `keys` that are there; they are returned in their order."""
        ...

    def insert(self, position: int, keys: Sequence[K]) -> None:
        """Put `keys` in, the first of them at `position`."""
        ...


class EditableList:
    """The plain form of an `Editable`, over a list of ids."""

    __slots__ = ("ids",)

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = list(ids)

    def __len__(self) -> int:
        return len(self.ids)

    def index(self, key: str) -> int | None:
        """The position of `key`, or None."""
        try:
            return self.ids.index(key)
        except ValueError:
            return None

    def first(self, keys: AbstractSet[str]) -> int | None:
        """The position of the first of `keys`, or None."""
        return next((i for i, key in enumerate(self.ids) if key in keys), None)

    def remove(self, keys: AbstractSet[str]) -> list[str]:
        """Take out those of `keys` that are there; they are returned in their order."""
        if len(keys) == 1:  # the usual case, at the speed of list.index
            (key,) = keys
            at = self.index(key)
            return [] if at is None else [self.ids.pop(at)]
        gone = [key for key in self.ids if key in keys]
        self.ids = [key for key in self.ids if key not in keys]
        return gone

    def insert(self, position: int, keys: Sequence[str]) -> None:
        """Put `keys` in, the first of them at `position`."""
        self.ids[position:position] = keys


class Trunk:
    """What sequences that were appended to one another share: chunks, and the tail that the appended ids go into."""

    __slots__ = ("chunks", "missing", "settled", "tail")

    def __init__(self, chunks: tuple[tuple[str, ...], ...], tail: list[str], missing: int) -> None:
        self.chunks = chunks
        self.tail = tail
        self.missing = missing
        self.settled: int = missing + sum(map(len, chunks))  # how many ids there are before the tail


class IdSequence:
    """An immutable sequence of ids that shares its parts with the sequences it was made from.

    Ids are appended to a tail list that longer sequences share (each knows how much of it is its own), so
    an append is O(1) amortised. `missing` ids stand before the first one held, when only a window is loaded.
    """

    __slots__ = ("_own", "_trunk")

    def __init__(self, trunk: Trunk, own: int) -> None:
        self._trunk = trunk
        self._own = own

    @classmethod
    def of(cls, ids: Sequence[str], missing: int = 0) -> IdSequence:
        """The sequence of `ids`."""
        chunks = tuple(tuple(ids[i : i + CHUNK]) for i in range(0, len(ids), CHUNK))
        return cls(Trunk(chunks, [], missing), 0)

    @property
    def missing(self) -> int:
        """How many ids stand before the first one held."""
        return self._trunk.missing

    @property
    def size(self) -> int:
        """How many ids it has, the missing ones included."""
        return self._trunk.settled + self._own

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids())

    def ids(self) -> list[str]:
        """The ids held, as a list."""
        ids: list[str] = []
        for chunk in self._trunk.chunks:
            ids += chunk
        ids += self._trunk.tail[: self._own]
        return ids

    def __contains__(self, key: object) -> bool:
        return key in self._trunk.tail[: self._own] or any(key in chunk for chunk in self._trunk.chunks)

    def appended(self, ids: Sequence[str]) -> IdSequence:
        """The sequence with `ids` at its end. Not safe against a second thread: the graph's lock is held."""
        trunk, own = self._trunk, self._own
        if own + len(ids) <= CHUNK:
            if own < len(trunk.tail):  # another sequence went on from here first
                trunk = Trunk(trunk.chunks, trunk.tail[:own], trunk.missing)
            trunk.tail.extend(ids)
            return IdSequence(trunk, own + len(ids))
        rest = trunk.tail[:own] + list(ids)
        whole = len(rest) - len(rest) % CHUNK
        chunks = trunk.chunks + tuple(tuple(rest[i : i + CHUNK]) for i in range(0, whole, CHUNK))
        return IdSequence(Trunk(chunks, rest[whole:], trunk.missing), len(rest) - whole)

    def extends(self, other: IdSequence) -> bool:
        """Whether this is `other`, or `other` with ids appended that went into the tail which both share."""
        return self._trunk is other._trunk

    def extended_to(self, size: int) -> IdSequence:
        """The sequence of `size` ids that shares this one's trunk."""
        return self if size == self.size else IdSequence(self._trunk, size - self._trunk.settled)

    def changed_to(self, ids: list[str]) -> IdSequence:
        """The sequence of `ids`, which keeps the parts at both ends that did not change."""
        old, tail, own = list(self._trunk.chunks), self._trunk.tail, self._own
        if ids[max(0, len(ids) - own) :] != tail[:own]:
            old.append(tuple(tail[:own]))
            tail, own = [], 0
        start, front = 0, 0
        while front < len(old) and tuple(ids[start : start + len(old[front])]) == old[front]:
            start += len(old[front])
            front += 1
        end, back = len(ids) - own, len(old)
        while back > front:
            cut = end - len(old[back - 1])
            if cut < start or tuple(ids[cut:end]) != old[back - 1]:
                break
            end = cut
            back -= 1
        middle = ids[start:end]
        # A small leftover joins its neighbour, so that many small edits do not leave many small chunks.
        if middle and front and len(middle) + len(old[front - 1]) <= CHUNK:
            front -= 1
            middle = [*old[front], *middle]
        parts = max(1, -(-len(middle) // CHUNK))
        step = -(-len(middle) // parts) or 1
        between = [tuple(middle[i : i + step]) for i in range(0, len(middle), step)]
        chunks = tuple(chunk for chunk in (*old[:front], *between, *old[back:]) if chunk)
        return IdSequence(Trunk(chunks, tail, self.missing), own)
