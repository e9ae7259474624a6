"""The immutable history: pure, in memory, no I/O."""

from msglog.history.graph import Revision
from msglog.history.history import MessageHistory
from msglog.history.operations import Operation
from msglog.history.patches import InsertAfter, InsertBefore, Move, Patch, Remove, Replace, Split, Summary
from msglog.history.snapshot import HistoryDelta, Snapshot

__all__ = [
    "HistoryDelta",
    "InsertAfter",
    "InsertBefore",
    "MessageHistory",
    "Move",
    "Operation",
    "Patch",
    "Remove",
    "Replace",
    "Revision",
    "Snapshot",
    "Split",
    "Summary",
]
