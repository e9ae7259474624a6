"""The environment of the migrations: msglog takes them as statements; `alembic -x path=FILE …` runs them by hand."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import context

from msglog.storage.schema import metadata


def run(**target: Any) -> None:
    """Run the migrations, in one transaction."""
    context.configure(target_metadata=metadata, transactional_ddl=True, **target)
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():  # msglog asks for the statements and runs them itself
    run(dialect_name="sqlite")
else:
    path = context.get_x_argument(as_dictionary=True).get("path")
    if not path:
        raise SystemExit("say which file: alembic -x path=agent.db …")
    with sa.create_engine(f"sqlite:///{path}").connect() as opened:
        run(connection=opened)
