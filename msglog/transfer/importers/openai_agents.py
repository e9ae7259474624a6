"""Sessions of the OpenAI Agents SDK (`agents.SQLiteSession`): a row for each item of the Responses format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msglog.adapters import from_openai_responses
from msglog.adapters.responses import ItemReader
from msglog.codec import decode
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Entry, Message
from msglog.transfer.importers.conversation import Conversation, entries_of
from msglog.transfer.importers.reading import Reading
from msglog.transfer.importers.sqlite_source import Database
from msglog.transfer.importers.times import from_text

COLUMNS = ("id", "session_id", "message_data")
"""The columns of the table of items, whatever its name."""


def read(reading: Reading, database: Database) -> Iterator[Conversation]:
    """A conversation for each session."""
    tables = database.with_columns(*COLUMNS)
    reading.total = sum(map(database.count, tables))
    for table in tables:
        if any("branch_id" in columns and "message_id" in columns for columns in database.tables.values()):
            reading.losses.add(table, "branches of an AdvancedSQLiteSession stand in one line")
        for session, first in database.sessions(table):
            yield Conversation(reading.name(session, table), _entries(reading, database, table, first))


def _entries(reading: Reading, database: Database, table: str, first: int) -> Iterator[Entry]:
    at = "created_at" if "created_at" in database.tables[table] else "NULL"
    joining = _Joining()
    for row, data, created in database.in_session(table, f"id, message_data, {at}", first):
        reading.done += 1
        try:
            item = decode(data)
            from_openai_responses([item])  # an item that is none must not spoil those beside it
        except (CodecError, InvalidMessageError) as error:
            reading.losses.add(f"{table}, row {row}", f"is no item that can be kept: {error}")
        except (ValueError, TypeError, RecursionError):
            reading.losses.add(f"{table}, row {row}", "is no JSON")
        else:
            yield from joining.read(str(row), data, item, created)
    yield from joining.end()


@dataclass(slots=True)
class _Joining:
    """Joins rows to messages: what a model made in one go is one message, with the id of its first row."""

    reader: ItemReader = field(default_factory=ItemReader)
    rows: list[tuple[str, str, Any]] = field(default_factory=list)

    def read(self, row: str, data: str, item: Any, created: Any) -> list[Entry]:
        """The entries that are complete with this row."""
        self.reader.read(dict(item))
        found = self.reader.messages[:]
        self.reader.messages.clear()
        alone = [] if self.reader.is_open else [found.pop()]
        ended = self._entries(found)
        self.rows.append((row, data, created))
        return ended + self._entries(alone)

    def end(self) -> list[Entry]:
        """The entries of the rows that nothing ended."""
        self.reader.flush()
        return self._entries(self.reader.messages)

    def _entries(self, messages: list[Message]) -> list[Entry]:
        if not messages:
            return []
        rows, self.rows = self.rows, []
        meta = {"created_at": from_text(rows[0][2])}
        return entries_of(rows[0][0], messages, "\n".join(data for _, data, _ in rows), meta)
