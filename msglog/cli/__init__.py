"""The command `msglog`: see, search, move and mend conversations from a terminal."""

from __future__ import annotations

import importlib
import io
import os
import sys


def main() -> None:
    """The entry point: run the command line of this process and exit with its code."""
    _make_streams_whole()
    try:
        commands = importlib.import_module("msglog.cli.commands")
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.stderr.write("msglog: the command line is an extra: pip install 'msglog[cli]'\n")
        sys.exit(2)
    commands.app(prog_name="msglog")


def _make_streams_whole() -> None:
    """Have all three streams, and none that fails at a character which its encoding lacks.

    One that was closed leads nowhere; left closed, the store's file could be opened in its place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 it lives as long as the process
        elif isinstance(stream, io.TextIOWrapper) and mode == "w":
            stream.reconfigure(errors="backslashreplace")
