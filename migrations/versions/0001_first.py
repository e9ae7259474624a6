"""The first schema.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create every table."""
    op.create_table(
        "logs",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("uid", sa.LargeBinary, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("meta", sa.Text),
        sa.Column("entry_count", sa.Integer, nullable=False),
        sa.Column("revision_count", sa.Integer, nullable=False),
        sa.Column("chain_hash", sa.LargeBinary, nullable=False),
        sa.Column("purged_at", sa.Integer),
        sa.Column("purged_root", sa.Text),
        sa.Column("purged_n", sa.Integer),
        sa.UniqueConstraint("name", name="logs_name"),
        sa.UniqueConstraint("uid", name="logs_uid"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "entries",
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("log_id", sa.Integer, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("text", sa.Text),
        sa.Column("parts", sa.Text),
        sa.Column("tool_calls", sa.Text),
        sa.Column("tool_call_id", sa.Text),
        sa.Column("sources", sa.Text),
        sa.Column("meta", sa.Text),
        sa.Column("extra", sa.Text),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("salt", sa.LargeBinary),
        sa.Column("content_hash", sa.LargeBinary, nullable=False),
        sa.Column("chain_hash", sa.LargeBinary, nullable=False),
        sa.Column("redacted_at", sa.Integer),
        sa.Column("redacted_reason", sa.Text),
        sa.UniqueConstraint("log_id", "seq", name="entries_seq"),
        sa.UniqueConstraint("id", "log_id", name="entries_id"),
    )
    op.create_table(
        "revisions",
        sa.Column("log_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("replaces", sa.Text),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("parent", sa.Integer),
        sa.Column("operation", sa.Text),
        sa.Column("anchor", sa.Integer, nullable=False),
        sa.Column("chunks", sa.Text),
        sa.Column("tail", sa.Text, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("appended", sa.Integer, nullable=False),
        sa.Column("meta", sa.Text),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("log_id", "number"),
        sa.UniqueConstraint("id", "log_id", name="revisions_id"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "revisions_replaces", "revisions", ["log_id", "replaces"], sqlite_where=sa.text("replaces IS NOT NULL")
    )
    op.create_table(
        "chunks",
        sa.Column("log_id", sa.Integer, nullable=False),
        sa.Column("chunk", sa.Integer, nullable=False),
        sa.Column("spans", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("log_id", "chunk"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "branches",
        sa.Column("log_id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("head", sa.Integer, nullable=False),
        sa.Column("forked_from", sa.Integer),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("log_id", "name"),
        sa.ForeignKeyConstraint(["log_id", "head"], ["revisions.log_id", "revisions.number"]),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "marks",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Refuse: a store is never taken back to nothing."""
    raise RuntimeError("the first schema has no older one; restore a backup instead")
