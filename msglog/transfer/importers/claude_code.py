"""Sessions of Claude Code: JSON lines that name the line before them. What agents of its own did are branches.

The lines of one response stay entries of their own, since a session may be read while it is written.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Any, BinaryIO

from msglog.adapters import from_anthropic
from msglog.codec import freeze
from msglog.errors import CodecError, InvalidMessageError
from msglog.message import Entry
from msglog.transfer.importers.conversation import Node, Tree, digest_of, entries_of
from msglog.transfer.importers.json_values import line_at, values
from msglog.transfer.importers.links import arranged
from msglog.transfer.importers.reading import Reading, is_name
from msglog.transfer.importers.responses import Responses
from msglog.transfer.importers.times import from_text

_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}  # the last kind wins
_FACTS = ("sessionId", "cwd", "gitBranch", "version")
_ELSEWHERE = {*_FACTS, "uuid", "parentUuid", "type", "message", "timestamp", "userType", "entrypoint", "toolUseResult"}
_LABELS = {"isMeta": "meta", "isSidechain": "sidechain", "isApiErrorMessage": "api-error"}


def is_line(value: Any) -> bool:
    """Whether a value is a line of a session."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    return bool({"sessionId", "leafUuid"} & value.keys()) or {"uuid", "parentUuid"} <= value.keys()


def read(reading: Reading) -> Iterator[Tree]:
    """One tree: a file is a session."""
    reading.total = os.stat(reading.path).st_size
    name = reading.name(reading.stem, "")
    lines = _Lines(reading, name)
    for found in values(reading.path, reading.losses):
        reading.done = found.read
        lines.note(found.value, found.where, found.start)
    for kind, count in sorted(lines.left_out.items()):
        reading.losses.add(name, f"lines left out of the type {kind!r}: {count}")
    if lines.tool_results:
        reading.losses.add(name, f"lines of which toolUseResult was left out, but no result: {lines.tool_results}")
    with open(reading.path, "rb") as file:
        yield lines.tree(file)


@dataclass(slots=True)
class _Lines:
    """The lines of a session, without what they say."""

    reading: Reading
    name: str
    parents: dict[str, str | None] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)  # of those with messages
    sides: dict[str, str] = field(default_factory=dict)  # of those of an agent: the name of its branch
    summaries: set[str] = field(default_factory=set)
    responses: Responses = field(default_factory=Responses)
    titles: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    tool_results: int = 0

    def note(self, line: Any, where: str, start: int) -> None:
        """Take note of a line."""
        kind = line.get("type") if isinstance(line, dict) else None
        if not isinstance(line, dict) or not isinstance(kind, str):
            self.reading.losses.add(where, "is no line of a session")
            return
        if kind in _TITLES and isinstance(line.get(_TITLES[kind]), str):
            self.titles[kind] = line[_TITLES[kind]]
            return
        uuid, has_message = line.get("uuid"), kind in {"user", "assistant"} and isinstance(line.get("message"), dict)
        if not is_name(uuid):
            self.left_out[kind] += 1
            return
        if not has_message:
            self.left_out[kind] += 1
        if uuid in self.parents:
            self._note_again(line, where, uuid)
            return
        uuid = intern(str(uuid))
        parent = line.get("parentUuid") or line.get("logicalParentUuid")
        self.parents[uuid] = self.responses.parent(uuid, line, intern(parent) if isinstance(parent, str) else None)
        if has_message:
            self.starts[uuid] = start
            self._note_message(line, uuid)

    def _note_again(self, line: Mapping[str, Any], where: str, uuid: str) -> None:
        if uuid in self.starts:
            with open(self.reading.path, "rb") as file:
                first: Any = line_at(file, self.starts[uuid])
            if first.get("message") != line.get("message"):
                self.reading.losses.add(where, "its uuid was that of another line before; it was left out")

    def _note_message(self, line: Mapping[str, Any], uuid: str) -> None:
        if line.get("isSidechain") is True:
            agent = line.get("agentId")
            self.sides[uuid] = f"sidechain-{agent if isinstance(agent, str) and is_name(agent) else uuid}"
        if line.get("isCompactSummary") is True:
            self.summaries.add(uuid)
        for fact in _FACTS:
            if line.get(fact):
                self.facts.setdefault(fact, line[fact])
        self.tool_results += "toolUseResult" in line

    def tree(self, file: BinaryIO) -> Tree:
        """The tree of the messages. The newest line that is no agent's ends the main path."""
        newest = [uuid for uuid in reversed(self.starts) if uuid not in self.sides] or list(reversed(self.starts))
        current = newest[0] if newest else None
        order = arranged(self.parents, self.starts.keys(), current, self.reading.losses, self.name)
        nodes = [
            Node(uuid, before, self.sides.get(uuid, uuid), self.starts[uuid], summary=uuid in self.summaries)
            for uuid, before in order
        ]
        title = next((self.titles[kind] for kind in reversed(_TITLES) if kind in self.titles), None)
        return Tree(self.name, nodes, lambda node: self._load(file, node), current, title, self.facts)

    def _load(self, file: BinaryIO, node: Node) -> list[Entry]:
        line: Any = line_at(file, node.place)
        message = line["message"]
        told = {key: message.get(key) for key in ("role", "content")}
        try:
            return entries_of(node.id, from_anthropic([told]), digest_of(freeze(told)), self._meta(node.id, line))
        except (CodecError, InvalidMessageError) as error:
            self.reading.losses.add(f"{self.name}, {node.id}", f"is no message that can be kept: {error}")
            return []

    def _meta(self, uuid: str, line: Mapping[str, Any]) -> dict[str, Any]:
        message = line["message"]
        meta: dict[str, Any] = {
            "created_at": from_text(line.get("timestamp")),
            "labels": [label for key, label in _LABELS.items() if line.get(key) is True],
        }
        if line["type"] == "assistant":
            model, response, usage = message.get("model"), message.get("id"), message.get("usage")
            meta |= {"model": model} if isinstance(model, str) else {}
            meta |= {"response_id": response} if isinstance(response, str) else {}
            if isinstance(usage, dict) and (not isinstance(response, str) or self.responses.is_last(uuid, response)):
                meta["usage"] = usage
        rest = {key: value for key, value in line.items() if key not in _ELSEWHERE and key not in _LABELS and value}
        return meta | ({"claudeCode": rest} if rest else {})
