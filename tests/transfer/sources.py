"""What the tests of importers share: looks at a source before and after, and at what a log holds."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from msglog import Store


@contextmanager
def untouched(*paths: Path) -> Iterator[None]:
    """Fail where a source, or what lies beside it, is not what it was before."""
    before = [_state(path) for path in paths]
    yield
    assert [_state(path) for path in paths] == before


def _state(path: Path) -> dict[str, tuple[str, int]]:
    return {
        file.name: (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in sorted(path.parent.glob(f"{path.name}*"))
        if not file.name.endswith("-shm")  # SQLite's scratch, which every reader of a write-ahead log marks
    }


def changed(path: Path, *statements: str) -> None:
    """Change a database as its own program would."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


async def contents(store: Store, name: str, branch: str = "main") -> list[Any]:
    """What a branch of a log shows."""
    return [message.content for message in await store.log(name, branch).all()]
