"""The command `msglog`: see, search, move and mend conversations from a terminal."""

from __future__ import annotations

import importlib
import sys


def main() -> None:
    """The entry point: run the command line of this process and exit with its code."""
    try:
        commands = importlib.import_module("msglog.cli.commands")
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(_without_the_extra())
    commands.app(prog_name="msglog")


def _without_the_extra() -> int:
    print("msglog: the command line is an extra: pip install 'msglog[cli]'", file=sys.stderr)  # noqa: T201 nothing else is there to say it with
    return 2
