"""The rows that older releases of `llm` wrote: one for each response, with the prompt that led to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msglog.codec import decode
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Entry, Message, ToolCall
from msglog.transfer.importers.conversation import Conversation, entries_of
from msglog.transfer.importers.llm_parts import Shared
from msglog.transfer.importers.reading import Reading
from msglog.transfer.importers.sqlite_source import Database
from msglog.transfer.importers.times import from_text

COLUMNS = ("id", "model", "prompt", "response", "conversation_id")
"""The columns of the table of responses that are always there."""

_FURTHER = ("system", "reasoning", "resolved_model", "datetime_utc", "input_tokens", "output_tokens", "options_json")
_LEFT_OUT = ("prompt_json", "response_json", "schema_id")
_KEY = "coalesce(conversation_id, id)"


def read(reading: Reading, database: Database, shared: Shared, threads: Collection[str]) -> Iterator[Conversation]:
    """A conversation for each of the older ones that is not in a thread as a whole."""
    if "responses" not in database.with_columns(*COLUMNS):
        return
    reading.total = (reading.total or 0) + database.count("responses")
    for column in _LEFT_OUT:
        if column in database.tables["responses"]:
            ((count,),) = database.rows(f"SELECT count(*) FROM responses WHERE {column} IS NOT NULL")
            if count:
                reading.losses.add("responses", f"{column} of {count} rows was left out")
    for key, first in list(database.rows(f"SELECT {_KEY}, min(rowid) FROM responses GROUP BY {_KEY} ORDER BY 2")):
        if key in threads:
            reading.losses.add(str(key), "its rows in responses were left out: its thread has all of it")
            continue
        title = None
        if "conversations" in database.tables:
            for (name,) in database.rows("SELECT name FROM conversations WHERE id = ?", (key,)):
                title = name if isinstance(name, str) and name else None
        rows = _Responses(reading, database, shared)
        yield Conversation(reading.name(key, reading.stem), rows.entries(first), title)


@dataclass(slots=True)
class _Responses:
    reading: Reading
    database: Database
    shared: Shared
    system: str | None = None  # what the system was told last

    def entries(self, first: int) -> Iterator[Entry]:
        """The entries of the conversation that begins with a row."""
        known = self.database.tables["responses"]
        columns = ", ".join(name if name in known else "NULL" for name in _FURTHER)
        same = f"{_KEY} IS (SELECT {_KEY} FROM responses WHERE rowid = ?)"
        query = f"SELECT id, model, prompt, response, {columns} FROM responses WHERE {same} ORDER BY rowid"
        for key, *values in self.database.rows(query, (first,)):
            self.reading.done += 1
            row = dict(zip(("model", "prompt", "response", *_FURTHER), values, strict=True))
            try:
                yield from self._entries(str(key), row)
            except (CodecError, InvalidMessageError) as error:
                self.reading.losses.add(f"responses, row {key}", f"is no exchange that can be kept: {error}")

    def _entries(self, key: str, row: dict[str, Any]) -> list[Entry]:
        where = f"responses, row {key}"
        created = {"created_at": from_text(row["datetime_utc"])}
        given = [row["system"]] if row["system"] else []
        system = "\n".join([*self._fragments("system_fragments", key, where), *given])
        found: list[Entry] = []
        if system and system != self.system:
            found += entries_of(f"{key}/system", [Message(role="system", content=system)], system, created)
        self.system = system or self.system
        for number, result in self._results(key):
            found += entries_of(f"{key}/result-{number}", [result], result.to_json(), created)
        asked = self._asked(key, row["prompt"], where)
        if asked:
            found += entries_of(f"{key}/prompt", [Message(role="user", content=asked)], [asked], created)
        answer = self._answer(key, row)
        return found + entries_of(key, [answer], answer.to_json(), created | _told(key, row))

    def _answer(self, key: str, row: dict[str, Any]) -> Message:
        calls = self._calls(key)
        said: Any = row["response"] or (None if calls else "")
        if row["reasoning"]:
            said = [{"type": "reasoning", "text": row["reasoning"]}]
            said += [{"type": "text", "text": row["response"]}] if row["response"] else []
        return Message(role="assistant", content=said, tool_calls=tuple(calls))

    def _asked(self, key: str, prompt: Any, where: str) -> Any:
        """The prompt with its fragments before it, and parts where there are attachments."""
        text = "\n".join([*self._fragments("prompt_fragments", key, where), *([prompt] if prompt else [])])
        shown = [
            self.shared.attachment(attachment, where)
            for (attachment,) in self._of("prompt_attachments", "attachment_id", key, '"order"')
        ]
        if not shown:
            return text
        return [*([{"type": "text", "text": text}] if text else []), *shown]

    def _fragments(self, table: str, key: str, where: str) -> list[str]:
        return [self.shared.fragment(fragment, where) for (fragment,) in self._of(table, "fragment_id", key, '"order"')]

    def _calls(self, key: str) -> list[ToolCall]:
        rows = self._of("tool_calls", "name, arguments, tool_call_id", key, "id")
        return [ToolCall.from_text(call or name, name, arguments) for name, arguments, call in rows]

    def _results(self, key: str) -> list[tuple[Any, Message]]:
        failed = "exception" if "exception" in self.database.tables.get("tool_results", ()) else "NULL"
        rows = self._of("tool_results", f"id, name, output, tool_call_id, {failed}", key, "id")
        return [
            (
                number,
                Message(
                    role="tool",
                    content=output,
                    name=name,
                    tool_call_id=call or name,
                    extra={"isError": True} if exception else {},
                ),
            )
            for number, name, output, call, exception in rows
        ]

    def _of(self, table: str, columns: str, key: str, order: str) -> Sequence[tuple[Any, ...]]:
        """Rows beside a response, of a table that older files lack."""
        if table not in self.database.tables:
            return ()
        return list(self.database.rows(f"SELECT {columns} FROM {table} WHERE response_id = ? ORDER BY {order}", (key,)))


def _told(key: str, row: dict[str, Any]) -> dict[str, Any]:
    usage = {name: row[name] for name in ("input_tokens", "output_tokens") if row[name] is not None}
    meta: dict[str, Any] = {"model": row["resolved_model"] or row["model"], "response_id": key}
    meta |= {"usage": usage} if usage else {}
    return meta | ({"options": _json(row["options_json"])} if row["options_json"] else {})


def _json(text: Any) -> Any:
    try:
        return decode(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
