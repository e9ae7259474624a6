"""LangChain's `SQLChatMessageHistory`: a row for each message, in the form in which LangChain stores one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msglog.adapters.langchain import from_langchain_dicts
from msglog.codec import decode
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Entry
from msglog.transfer.importers.conversation import Conversation, digest_of, entries_of
from msglog.transfer.importers.reading import Reading
from msglog.transfer.importers.sqlite_source import Database

COLUMNS = ("id", "session_id", "message")
"""The columns of the table of messages, whatever its name."""


def read(reading: Reading, database: Database) -> Iterator[Conversation]:
    """A conversation for each session."""
    tables = database.with_columns(*COLUMNS)
    reading.total = sum(map(database.count, tables))
    for table in tables:
        further = sorted(database.tables[table].difference(COLUMNS))
        if further:
            reading.losses.add(table, f"its columns {', '.join(further)} were left out")
        for session, first in database.sessions(table):
            yield Conversation(reading.name(session, table), _entries(reading, database, table, first))


def _entries(reading: Reading, database: Database, table: str, first: int) -> Iterator[Entry]:
    for row, text in database.in_session(table, "id, message", first):
        reading.done += 1
        try:
            stored = decode(text)
            messages = from_langchain_dicts([stored])
        except (CodecError, InvalidMessageError) as error:
            reading.losses.add(f"{table}, row {row}", f"is no message that can be kept: {error}")
        except (ValueError, TypeError, RecursionError):
            reading.losses.add(f"{table}, row {row}", "is no JSON")
        else:
            # Numbers of rows come again after `clear`, so that they alone are no ids.
            yield from entries_of(f"{row}-{digest_of(text)}", messages, text, told(stored["data"]))


def told(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a message of LangChain tells of the response that it was: usage, and the model."""
    usage, response = data.get("usage_metadata"), data.get("response_metadata")
    found: dict[str, Any] = {"usage": usage} if isinstance(usage, Mapping) else {}
    if isinstance(response, Mapping):
        model = response.get("model_name", response.get("model"))
        found |= {"model": model} if isinstance(model, str) else {}
        found |= {"response_id": response["id"]} if isinstance(response.get("id"), str) else {}
    return found
