"""Hashes that chain: one over each entry's content, one that chains entries, one that chains revisions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

SIZE = 16
"""Bytes of a hash, and of a salt and a log's uid."""


class _Randomness:
    """Random bytes, taken from the system in blocks: a call of it for each salt would give the GIL away each time."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def __call__(self) -> bytes:
        """Random bytes for a salt or a uid."""
        try:
            return self._pieces.pop()
        except IndexError:
            block = os.urandom(256 * SIZE)
            self._pieces += [block[i : i + SIZE] for i in range(SIZE, len(block), SIZE)]
            return block[:SIZE]

    def restart(self) -> None:
        """Forget what was taken, in a forked child: its parent goes on with it."""
        self._pieces = []


new_bytes = _Randomness()
os.register_at_fork(after_in_child=new_bytes.restart)


def _digest(person: bytes, values: Iterable[Any]) -> bytes:
    """The hash of values as they are stored: each with its type and length, so that none runs into the next."""
    marks: list[str] = []
    body: list[bytes] = []
    for value in values:
        if value is None:
            marks.append("n")
        elif type(value) is str:
            data = value.encode("utf-8", "surrogatepass")
            marks.append(f"t{len(data)}")
            body.append(data)
        elif type(value) is int:
            marks.append(f"i{value}")
        else:
            marks.append(f"b{len(value)}")
            body.append(value)
    body.append(",".join(marks).encode())
    return blake2b(b"".join(body), digest_size=SIZE, person=person).digest()


def content_hash(salt: bytes, content: Sequence[Any]) -> bytes:
    """The hash over an entry's content columns. The salt keeps a short content from being guessed from it."""
    return _digest(b"msglog.content", (salt, *content))


def chain_hash(previous: bytes, uid: bytes, header: Sequence[Any], content: bytes) -> bytes:
    """The hash over an entry's header (seq, id, kind, role, at, revision), its content's hash, and the one before."""
    return _digest(b"msglog.entry", (previous, uid, *header, content))


def revision_hash(parent: bytes, columns: Sequence[Any]) -> bytes:
    """The hash over all of a revision's columns and its parent's hash."""
    return _digest(b"msglog.revision", (parent, *columns))
