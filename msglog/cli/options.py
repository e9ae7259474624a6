"""Arguments and options that commands share: the same thing has the same name everywhere."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from msglog.cli.completion import log_names

RoleName: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""The library's roles, said again: help does not wait for the library."""

StoreFile = Annotated[
    str | None,
    typer.Option(
        "--store", "-s", metavar="FILE", help="The store. Otherwise $MSGLOG_STORE, or agent.db.", show_default=False
    ),
]
WholeStore = Annotated[
    str | None, typer.Argument(metavar="STORE", help="The store, as --store names it.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
LogName = Annotated[str, typer.Argument(metavar="LOG", help="The name of the log.", autocompletion=log_names)]
OneLog = Annotated[
    str | None,
    typer.Option("--log", metavar="LOG", help="Of this log only.", autocompletion=log_names, show_default=False),
]
BranchName = Annotated[str, typer.Option("--branch", "-b", metavar="NAME", help="The branch.", show_default=True)]
Revision = Annotated[
    str,
    typer.Argument(metavar="REV", help="A revision: its id or number, a branch, or one of these with ~N."),
]
