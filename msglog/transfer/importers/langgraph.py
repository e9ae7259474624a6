"""LangGraph's SQLite checkpointer: the messages of each checkpoint are what one revision shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msglog.adapters import from_openai
from msglog.adapters.langchain import from_langchain_dicts
from msglog.codec import encode, freeze
from msglog.errors import CodecError, InvalidMessageError, MissingExtraError
from msglog.message import Entry, Message
from msglog.transfer.importers.conversation import Checkpoint, Checkpoints, digest_of, entries_of
from msglog.transfer.importers.langchain import told
from msglog.transfer.importers.links import arranged
from msglog.transfer.importers.reading import Reading, is_name
from msglog.transfer.importers.sqlite_source import Database
from msglog.transfer.importers.unpacking import Model, Unpacking, UnreadableError

COLUMNS = ("thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "type", "checkpoint")
"""The columns of the table of checkpoints."""

_OF_THREAD = "FROM checkpoints WHERE thread_id IS ? AND checkpoint_ns IS ?"
_CHANNEL = "messages"
_TYPES = {"HumanMessage": "human", "AIMessage": "ai", "SystemMessage": "system", "ToolMessage": "tool"}


def read(reading: Reading, database: Database) -> Iterator[Checkpoints]:
    """The checkpoints of each thread, and of each graph within a thread that has some of its own."""
    reading.total = database.count("checkpoints")
    threads = "SELECT thread_id, checkpoint_ns FROM checkpoints GROUP BY thread_id, checkpoint_ns ORDER BY min(rowid)"
    for thread, space in list(database.rows(threads)):
        given = f"{thread}/{space}" if space and isinstance(thread, str) else thread
        yield _Thread(reading, database, reading.name(given, reading.stem), (thread, space)).checkpoints()


@dataclass(slots=True)
class _Thread:
    """One thread's checkpoints, read one by one."""

    reading: Reading
    database: Database
    name: str
    key: tuple[Any, Any]

    def checkpoints(self) -> Checkpoints:
        """Parents before their children, the path to the newest first."""
        query = (
            "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id IS ? AND checkpoint_ns IS ?"
        )
        parents: dict[str, str | None] = {}
        for checkpoint, parent in self.database.rows(f"{query} ORDER BY checkpoint_id", self.key):
            if is_name(checkpoint):
                parents[checkpoint] = parent if isinstance(parent, str) and parent else None
            else:
                self.reading.losses.add(f"{self.name}, a checkpoint", "has no id that can be one")
        newest = next(reversed(parents), None)
        order = list(arranged(parents, parents.keys(), newest, self.reading.losses, self.name))
        self._note_pending(newest)
        return Checkpoints(self.name, order, lambda name: self._load(name, is_newest=name == newest), newest)

    def _note_pending(self, newest: str | None) -> None:
        if "writes" in self.database.tables:
            query = "SELECT count(*) FROM writes WHERE thread_id IS ? AND checkpoint_ns IS ? AND checkpoint_id = ?"
            ((pending,),) = self.database.rows(query, (*self.key, newest))
            if pending:
                self.reading.losses.add(self.name, f"{pending} pending writes of its newest checkpoint were left out")

    def _load(self, checkpoint: str, *, is_newest: bool) -> Checkpoint | None:
        metadata = "metadata" if "metadata" in self.database.tables["checkpoints"] else "NULL"
        query = f"SELECT type, checkpoint, {metadata} {_OF_THREAD} AND checkpoint_id = ?"
        ((kind, data, metadata),) = self.database.rows(query, (*self.key, checkpoint))
        self.reading.done += 1
        where = f"{self.name}, checkpoint {checkpoint}"
        unpacking = Unpacking()
        try:
            state = unpacking.value(kind, data)
            channels = dict(state["channel_values"])
        except MissingExtraError:
            raise
        except UnreadableError as error:
            self.reading.losses.add(where, f"cannot be read: {error}")
            return None
        except (ValueError, TypeError, KeyError, RecursionError):
            self.reading.losses.add(where, "cannot be read: it is none that LangGraph wrote")
            return None
        channel = _channel_of(channels)
        if is_newest:
            self._note_left_out(channels, channel, unpacking)
        if channel is None and _CHANNEL in _object(state.get("channel_versions")):
            self.reading.losses.add(where, "its messages are only in its writes (a delta channel), and were left out")
            return None
        return Checkpoint(self._entries(where, channels.get(channel, [])), _meta(checkpoint, state, metadata))

    def _note_left_out(self, channels: dict[str, Any], channel: str | None, unpacking: Unpacking) -> None:
        own = ("__", "branch:", "start:")
        others = sorted(name for name in channels if name != channel and not name.startswith(own))
        if others:
            self.reading.losses.add(self.name, f"the channels {', '.join(map(repr, others))} were left out")
        if unpacking.reduced:
            self.reading.losses.add(self.name, f"of {', '.join(sorted(unpacking.reduced))} only the plain data came")

    def _entries(self, where: str, values: list[Any]) -> list[Entry]:
        entries: list[Entry] = []
        times: Counter[str] = Counter()
        for n, value in enumerate(values, 1):
            try:
                fields = freeze(dict(value.fields) if isinstance(value, Model) else value)
                message = _message(value, fields)
                given = fields.get("id")
                digest = digest_of(encode(fields))
                # A message that was changed keeps its id there, and is another entry here.
                entry_id = f"{given if is_name(given) else 'message'}-{digest}"
                times[entry_id] += 1
                entry_id += f"-{times[entry_id]}" if times[entry_id] > 1 else ""
                entries += entries_of(entry_id, [message], encode(fields), told(fields))
            except (CodecError, InvalidMessageError, AttributeError) as error:
                self.reading.losses.add(f"{where}, message {n}", f"is no message that can be kept: {error}")
        return entries


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _channel_of(channels: Mapping[str, Any]) -> str | None:
    """The channel of messages: the one that is called so, else the first that holds nothing but messages."""
    if isinstance(channels.get(_CHANNEL), list):
        return _CHANNEL
    for name, value in sorted(channels.items()):
        if isinstance(value, list) and value and all(isinstance(item, Model) for item in value):
            return name
    return None


def _message(value: Any, fields: Mapping[str, Any]) -> Message:
    if isinstance(value, Model):
        kind = fields.get("type") or _TYPES.get(value.name.removesuffix("Chunk"), value.name)
        return from_langchain_dicts([{"type": kind, "data": fields}])[0]
    return from_openai([fields])[0]


def _meta(checkpoint: str, state: Mapping[str, Any], metadata: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {"checkpoint": checkpoint}
    if isinstance(state.get("ts"), str):
        meta["at"] = state["ts"]
    try:
        noted = json.loads(metadata) if isinstance(metadata, (str, bytes)) else {}
    except ValueError:
        noted = {}
    return meta | {key: noted[key] for key in ("source", "step") if isinstance(noted, dict) and key in noted}
