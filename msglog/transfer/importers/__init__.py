"""Importers of other stores' files: conversations that are kept elsewhere today, brought over in one call."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from msglog.errors import SourceError
from msglog.store import Store
from msglog.transfer.faces import OfStores
from msglog.transfer.importers import chatgpt, claude_code, langchain, langgraph, llm, openai_agents, openai_json
from msglog.transfer.importers.conversation import Checkpoints, Conversation, Tree
from msglog.transfer.importers.detecting import detected, fitting
from msglog.transfer.importers.planting import Planting
from msglog.transfer.importers.pouring import Pouring, Progress
from msglog.transfer.importers.reading import Reading
from msglog.transfer.importers.revising import Revising
from msglog.transfer.importers.sqlite_source import Database, opened
from msglog.transfer.report import ImportReport, printable

Source: TypeAlias = "Conversation | Tree | Checkpoints"

_JSON_READERS: Mapping[str, Callable[[Reading], Iterator[Source]]] = {
    "chatgpt": chatgpt.read,
    "claude-code": claude_code.read,
    "openai": openai_json.read,
}
_SQLITE_READERS: Mapping[str, Callable[[Reading, Database], Iterator[Source]]] = {
    "openai-agents": openai_agents.read,
    "langchain": langchain.read,
    "langgraph": langgraph.read,
    "llm": llm.read,
}

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "chatgpt": "ChatGPT's export, conversations.json",
        "claude-code": "a session of Claude Code as JSON Lines",
        "langchain": "LangChain's SQLChatMessageHistory in SQLite",
        "langgraph": "LangGraph's checkpoints in SQLite (SqliteSaver): the message channel",
        "llm": "the log of the command llm, logs.db",
        "openai-agents": "sessions of the OpenAI Agents SDK in SQLite (SQLiteSession)",
        "openai": "messages in OpenAI's chat format as JSON or JSON Lines: alone, in lists, or in conversations",
    }
)
"""The formats that `import_file` reads, each with a line that says what it is."""


@OfStores
async def import_file(
    store: Store,
    source: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 the word that users know
    prefix: str = "",
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Bring the conversations of another store's file over, each into a log of its own.

    What is there already is recognised, so that a second run adds nothing, one after the source grew adds what is
    new, and one after an interruption goes on. The source is only read. What cannot be carried is listed in the
    report. The file is read in steps on the calling thread.

    - `format`: one of `FORMATS`; told from the file itself where it is not given.
    - `prefix`: stands before the names of the logs.
    - `dry_run`: nothing is written; the report says what would be.
    - `progress`: called as `progress(done, total)`, with bytes of a text, rows of a database; total may be None.

    Raises `SourceError` where the file cannot be read as what it is said to be.
    """
    path = _checked(source, store.path)
    reading = Reading(path)
    pouring = Pouring(store, reading, prefix, dry_run, progress)
    with opened(path) as database:
        name = _named(path, format, database)
        for conversation in _conversations(name, reading, database):
            if isinstance(conversation, Tree):
                await Planting(pouring, conversation).plant()
            elif isinstance(conversation, Checkpoints):
                await Revising(pouring, conversation).revise()
            else:
                await pouring.pour(conversation)
    losses = reading.losses
    return ImportReport(name, tuple(pouring.logs.values()), tuple(losses.listed), losses.unlisted, dry_run)


def format_of(source: str | os.PathLike[str]) -> str:
    """Which of `FORMATS` a file is of, as `import_file` tells; `SourceError` where it is of none."""
    path = _checked(source)
    with opened(path) as database:
        return detected(path, database)


def _named(path: str, given: str | None, database: Database | None) -> str:
    if given is not None and given not in FORMATS:
        raise SourceError(path, f"{given!r} is none of the formats {', '.join(FORMATS)}")
    return given or detected(path, database)


def _conversations(name: str, reading: Reading, database: Database | None) -> Iterator[Source]:
    if name in _JSON_READERS:
        if database is not None and database.tables:
            raise SourceError(reading.path, f"it is an SQLite file, not one of the format {name!r}")
        return _JSON_READERS[name](reading)
    if database is None or not fitting(database, name):
        raise SourceError(reading.path, f"it has no tables of the format {name!r}")
    return _SQLITE_READERS[name](reading, database)


def _checked(source: str | os.PathLike[str], store: str | None = None) -> str:
    """The path of a source that exists and is not the file of a store."""
    path = os.fspath(source)
    if not isinstance(path, str):
        raise TypeError(f"a path must be a str or a path, not {type(path).__name__}")
    if "\0" in path:
        raise SourceError(printable(path), "a path cannot hold NUL")
    path = os.path.abspath(os.path.expanduser(path))
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
        is_store = store is not None and os.path.exists(store) and os.path.samefile(path, store)  # a server's is a URL
    except OSError as error:
        raise SourceError(path, error.strerror or str(error)) from error
    if is_store or not is_file:
        raise SourceError(path, "it is the store itself" if is_store else "it is no file")
    return path


__all__ = ["FORMATS", "format_of", "import_file"]
