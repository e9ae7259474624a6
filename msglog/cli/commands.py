"""Every command, registered by being imported."""

from msglog.cli import append, ask, branches, care, erase, lineage, logs, show, tail, usage
from msglog.cli.app import app

__all__ = ["app", "append", "ask", "branches", "care", "erase", "lineage", "logs", "show", "tail", "usage"]
