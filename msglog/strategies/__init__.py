"""What an agent does with its history before each call of a model."""

from msglog.strategies.append_only import append_only_history_strategy
from msglog.strategies.durable import durable_history_strategy
from msglog.strategies.protocol import (
    HistoryAppendContext,
    HistoryReadContext,
    HistoryStrategy,
    HistoryView,
    MemoryStore,
    Model,
    ModelRequest,
    ModelResult,
)
from msglog.strategies.selective import selective_summary_history_strategy
from msglog.strategies.signalling import HistorySignal, signal_history_strategy
from msglog.strategies.summarizing import summarizing_history_strategy

__all__ = [
    "HistoryAppendContext",
    "HistoryReadContext",
    "HistorySignal",
    "HistoryStrategy",
    "HistoryView",
    "MemoryStore",
    "Model",
    "ModelRequest",
    "ModelResult",
    "append_only_history_strategy",
    "durable_history_strategy",
    "selective_summary_history_strategy",
    "signal_history_strategy",
    "summarizing_history_strategy",
]
