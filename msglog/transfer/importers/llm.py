"""The log of `llm` (logs.db): threads over messages that are stored once, and the rows of its older releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msglog.codec import decode
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Entry, Message, ToolCall
from msglog.transfer.importers import llm_responses
from msglog.transfer.importers.conversation import Conversation, Node, Tree, entries_of
from msglog.transfer.importers.links import arranged
from msglog.transfer.importers.llm_parts import Shared
from msglog.transfer.importers.reading import Reading, is_name
from msglog.transfer.importers.sqlite_source import Database
from msglog.transfer.importers.times import from_text

COLUMNS = ("hash", "parent_hash", "role")
"""The columns of its table of messages."""

CHAIN = """
WITH RECURSIVE chain(hash, parent_hash) AS (
    SELECT hash, parent_hash FROM messages WHERE hash = ?
    UNION SELECT m.hash, m.parent_hash FROM chain AS c JOIN messages AS m ON m.hash = c.parent_hash
) SELECT hash, parent_hash FROM chain
"""
TURN = """
SELECT id, coalesce(resolved_model, model), input_tokens, output_tokens, token_details, options_json, datetime_utc
FROM turns WHERE {} = ? ORDER BY id LIMIT 1
"""


def read(reading: Reading, database: Database) -> Iterator[Tree | Conversation]:
    """A tree for each thread, with the threads that were forked from it, and a conversation for each older one."""
    shared = Shared(reading, database)
    threads: dict[str, _Thread] = {}
    if {"messages", "threads", "turns"} <= database.tables.keys():
        reading.total = database.count("messages")
        for key, *rest in database.rows("SELECT id, name, tip_message_hash, forked_from FROM threads ORDER BY rowid"):
            if is_name(key):
                threads[key] = _Thread(key, *rest)
        _note_left_out(reading, database)
    for thread in threads.values():
        origin = _origin(threads, thread)
        if origin is not thread:
            origin.forks.append(thread)
    for thread in [each for each in threads.values() if _origin(threads, each) is each]:
        yield _Reader(reading, database, shared, reading.name(thread.key, ""), thread).tree()
    yield from llm_responses.read(reading, database, shared, threads.keys())


@dataclass(slots=True)
class _Thread:
    key: str
    name: Any
    tip: Any
    forked_from: Any
    forks: list[_Thread] = field(default_factory=list)


def _origin(threads: Mapping[str, _Thread], thread: _Thread) -> _Thread:
    """The thread that a thread was forked from in the first place; in a circle, the one that is listed first."""
    seen = {thread.key: thread}
    while isinstance(thread.forked_from, str) and thread.forked_from in threads:
        thread = threads[thread.forked_from]
        if thread.key in seen:
            return next(each for each in threads.values() if each.key in seen)
        seen[thread.key] = thread
    return thread


def _note_left_out(reading: Reading, database: Database) -> None:
    if "response_json" in database.tables["turns"]:
        ((count,),) = database.rows("SELECT count(*) FROM turns WHERE response_json IS NOT NULL")
        if count:
            reading.losses.add("turns", f"the raw response_json of {count} turns was left out")
    if "turn_tools" in database.tables and database.count("turn_tools"):
        reading.losses.add("turn_tools", "the tools that turns were offered were left out; calls and results came")


@dataclass(slots=True)
class _Reader:
    """Reads one thread with its forks."""

    reading: Reading
    database: Database
    shared: Shared
    name: str
    thread: _Thread

    def tree(self) -> Tree:
        """The messages of the thread, of its forks, and of turns that neither goes through any more."""
        parents: dict[str, str | None] = {}
        branch: dict[str, str] = {}
        for thread in [self.thread, *self.thread.forks]:
            before = len(parents)
            for key, parent in self._chains(thread, parents):
                parents[key] = parent
                branch[key] = key if thread is self.thread else thread.key
            if thread is not self.thread and len(parents) == before:
                self.reading.losses.add(self.name, f"the fork {thread.key} has no messages of its own; it was left out")
        tip = self.thread.tip if isinstance(self.thread.tip, str) else None
        order = arranged(parents, parents.keys(), tip, self.reading.losses, self.name)
        nodes = [Node(key, before_it, branch[key]) for key, before_it in order]
        title = self.thread.name if isinstance(self.thread.name, str) and self.thread.name else None
        return Tree(self.name, nodes, self._load, tip if tip in parents else None, title)

    def _chains(self, thread: _Thread, known: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        """The messages before the thread's end and before those of its turns, with the one before each."""
        turns = self.database.rows("SELECT tip_message_hash FROM turns WHERE thread_id = ?", (thread.key,))
        for tip in [thread.tip, *[tip for (tip,) in list(turns)]]:
            if isinstance(tip, str) and tip not in known:
                for key, parent in list(self.database.rows(CHAIN, (tip,))):
                    if is_name(key) and key not in known:
                        yield key, parent if isinstance(parent, str) else None

    def _load(self, node: Node) -> list[Entry]:
        self.reading.done += 1
        where = f"{self.name}, message {node.id}"
        query = "SELECT role, provider_metadata FROM messages WHERE hash = ?"
        ((role, told),) = self.database.rows(query, (node.id,))
        try:
            return entries_of(node.id, self._messages(node.id, role, where), node.id, self._meta(node.id, role, told))
        except (CodecError, InvalidMessageError) as error:
            self.reading.losses.add(where, f"is no message that can be kept: {error}")
        except (ValueError, TypeError, RecursionError):
            self.reading.losses.add(where, "has parts that are no JSON")
        return []

    def _messages(self, key: str, role: Any, where: str) -> list[Message]:
        """One message, or one for each result."""
        query = "SELECT type, text, payload FROM parts WHERE message_hash = ? ORDER BY position"
        content: list[Any] = []
        calls: list[ToolCall] = []
        results: list[Message] = []
        for kind, text, payload in list(self.database.rows(query, (key,))):
            part: dict[str, Any] = dict(decode(payload)) if payload else {}
            if text is not None:
                part["text"] = text
            if "text_ref" in part:
                part["text"] = self.shared.text(part.pop("text_ref"), where)
            if kind == "tool_call" and not part.get("server_executed"):
                calls.append(_call(part))
            elif kind == "tool_result" and not part.get("server_executed"):
                results.append(self._result(part, where))
            elif kind == "attachment":
                content.append(self.shared.attachment(_id_in(part.get("attachment")), where))
            else:
                content.append({"type": kind, **part})
        if results and not content and not calls:
            return results
        plain = len(content) == 1 and content[0].keys() == {"type", "text"} and content[0]["type"] == "text"
        said = content[0]["text"] if plain else content or (None if calls else "")
        return [*results, Message(role=role, content=said, tool_calls=tuple(calls))]

    def _result(self, part: Mapping[str, Any], where: str) -> Message:
        output: Any = part.get("output")
        if part.get("attachments"):
            shown = [self.shared.attachment(_id_in(each), where) for each in part["attachments"]]
            output = [{"type": "text", "text": output}, *shown]
        extra = {"isError": True} if part.get("exception") else {}
        call = part.get("tool_call_id") or part.get("name")
        return Message(role="tool", content=output, name=part.get("name"), tool_call_id=call, extra=extra)

    def _meta(self, key: str, role: Any, told: Any) -> dict[str, Any]:
        """What the call of the model that brought the message in, or that it led to, tells of it."""
        meta: dict[str, Any] = {}
        column = "tip_message_hash" if role == "assistant" else "parent_message_hash"
        for turn, model, tokens_in, tokens_out, details, options, at in self.database.rows(TURN.format(column), (key,)):
            meta["created_at"] = from_text(at)
            if role == "assistant":
                meta |= {"response_id": turn} if isinstance(turn, str) else {}
                meta |= {"model": model} if isinstance(model, str) else {}
                usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "details": _json(details)}
                usage = {name: value for name, value in usage.items() if value is not None}
                meta |= {"usage": usage} if usage else {}
                meta |= {"options": _json(options)} if options else {}
        return meta | ({"llm": _json(told)} if told else {})


def _call(part: Mapping[str, Any]) -> ToolCall:
    name: Any = part.get("name")
    extra = {"llm": part["provider_metadata"]} if part.get("provider_metadata") else {}
    return ToolCall(id=part.get("tool_call_id") or name, name=name, args=part.get("arguments"), extra=extra)


def _id_in(reference: Any) -> Any:
    return reference.get("id") if isinstance(reference, Mapping) else None


def _json(text: Any) -> Any:
    try:
        return decode(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
