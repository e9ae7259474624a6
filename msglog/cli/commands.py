"""Every command, registered by being imported."""

from msglog.cli import (
    append,
    ask,
    branches,
    care,
    diff,
    erase,
    lineage,
    logs,
    search,
    serve,
    show,
    tail,
    token,
    transfer,
    usage,
)
from msglog.cli.app import app

__all__ = [
    "app",
    "append",
    "ask",
    "branches",
    "care",
    "diff",
    "erase",
    "lineage",
    "logs",
    "search",
    "serve",
    "show",
    "tail",
    "token",
    "transfer",
    "usage",
]
