"""A release of the future, to migrate to: one more migration than there is, which adds a column and a table."""

from __future__ import annotations

import shutil
from pathlib import Path

import msglog.sync
from msglog.storage import migrate
from msglog.storage.version import VERSION
from tests.concurrency.processes import Wire

NEXT = "9999"

_MIGRATION = f"""
import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{VERSION}"
branch_labels = None
depends_on = None


def upgrade():
    op.add_column("logs", sa.Column("title", sa.Text))
    op.create_table("titles", sa.Column("log_id", sa.Integer, primary_key=True))
"""


def migrations(folder: Path) -> Path:
    """A copy of the migrations with one more."""
    made = folder / "migrations"
    shutil.copytree(migrate.migrations_path(), made)
    (made / "versions" / f"{NEXT}_next.py").write_text(_MIGRATION)
    return made


def become(folder: Path) -> None:
    """Make this process one of the next release."""
    vars(migrate).update(VERSION=NEXT, KNOWN=(VERSION, NEXT), migrations_path=lambda: folder)


def append_as_next_release(_wire: Wire, folder: str, path: str, log: str, text: str) -> int:
    """Open a store with the next release and append a message; its seq."""
    become(Path(folder))
    with msglog.sync.open(path) as store:
        return store.log(log).append({"role": "user", "content": text})
