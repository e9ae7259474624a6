"""Which format a file has, told from what stands in it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msglog.errors import SourceError
from msglog.transfer.importers import (
    chatgpt,
    claude_code,
    langchain,
    langgraph,
    llm,
    llm_responses,
    openai_agents,
    openai_json,
)
from msglog.transfer.importers.json_values import values
from msglog.transfer.importers.sqlite_source import Database
from msglog.transfer.report import Losses

LOOKED_AT = 20
"""Values of a JSON file that are looked at."""

_JSON: Mapping[str, Callable[[Any], bool]] = {
    "chatgpt": chatgpt.is_conversation,
    "claude-code": claude_code.is_line,
    "openai": lambda value: openai_json.is_message(value) or openai_json.is_conversation(value),
}
_COLUMNS: Mapping[str, Sequence[Sequence[str]]] = {
    "openai-agents": [openai_agents.COLUMNS],
    "langchain": [langchain.COLUMNS],
    "langgraph": [langgraph.COLUMNS],
    "llm": [llm.COLUMNS, llm_responses.COLUMNS],
}
_NONE = "of none of the formats known here; msglog.transfer.importers.FORMATS lists them"


def detected(path: str, database: Database | None) -> str:
    """The name of the file's format; `SourceError` where it is none that is known, or more than one."""
    if database is None or not database.tables:
        return _of_json(path)
    if {"logs", "entries", "revisions"} <= database.tables.keys():
        raise SourceError(path, "it is a msglog store; open it, or export a bundle of it and import that")
    found = [name for name in _COLUMNS if fitting(database, name)]
    if len(found) > 1:
        raise SourceError(path, f"it has tables of several formats, {', '.join(found)}; say which with format=")
    if not found:
        raise SourceError(path, f"it is an SQLite file, but {_NONE}")
    return found[0]


def fitting(database: Database, name: str) -> bool:
    """Whether a database has tables of a format."""
    return any(database.with_columns(*columns) for columns in _COLUMNS[name])


def _of_json(path: str) -> str:
    for found in itertools.islice(values(path, Losses()), LOOKED_AT):
        for name, fits in _JSON.items():
            if fits(found.value):
                return name
    raise SourceError(path, f"it is JSON, but {_NONE}")
