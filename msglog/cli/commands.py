"""Every command, registered by being imported."""

from msglog.cli import append, ask, branches, care, logs, show
from msglog.cli.app import app

__all__ = ["app", "append", "ask", "branches", "care", "logs", "show"]
