"""The text of the statements is that of their definitions, and using a store needs no SQLAlchemy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msglog

ROOT = Path(msglog.__file__).resolve().parents[1]


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def test_the_text_of_the_statements_is_current() -> None:
    assert run(str(ROOT / "scripts" / "statements"), "--check") == (0, "")


def test_a_current_file_is_used_without_sqlalchemy_or_alembic(path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, {root!r}); import msglog.sync\n"
        "with msglog.sync.open({path!r}) as store:\n"
        "    log = store.log(); log.add('user', 'hi'); log.commit(log.history().fork()); log.all()\n"
        "if {strict}: assert not {{'sqlalchemy', 'alembic'}} & set(sys.modules)\n"
    )
    for strict in (False, True):  # the first one makes the file, by its migrations
        assert run("-c", code.format(root=str(ROOT), path=str(path), strict=strict)) == (0, "")
