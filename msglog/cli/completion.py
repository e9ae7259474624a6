"""What the shell offers for a log: the names that are in the store."""

from __future__ import annotations

import re

import typer

_HARMLESS = re.compile(r"[\w.@%+=,/-]+\Z", re.ASCII)


def log_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of logs that begin as typed; none where the store cannot be read.

    Shells evaluate what they are offered, so a name with anything else in it than letters, digits and
    harmless marks has to be typed.
    """
    from msglog.cli.opening import chosen, reading

    try:
        with reading(chosen(ctx.params.get("store"), ctx.params.get("whole_store"))) as store:
            names = [info.name for info in store.logs()]
    except Exception:  # noqa: BLE001 a failed completion offers nothing, and must print nothing
        return []
    return sorted(name for name in names if name.startswith(incomplete) and _HARMLESS.match(name))
