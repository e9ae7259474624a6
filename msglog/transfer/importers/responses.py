"""Responses that Claude Code wrote as several lines, and the results of the calls in them.

Each result names the line of its own call as the one before it, so that calls made at once look like alternatives.
They are not: the results follow one another, and what comes next follows them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Responses:
    """The responses met so far: for each line and result its response, and for each response its last line."""

    response_of: dict[str, str] = field(default_factory=dict)  # of lines with calls or words, and of their results
    result_of: dict[str, str] = field(default_factory=dict)
    last_line: dict[str, str] = field(default_factory=dict)
    end: dict[str, str] = field(default_factory=dict)  # what follows must follow this
    answered: set[tuple[str, str]] = field(default_factory=set)

    def parent(self, uuid: str, line: Mapping[str, Any], given: str | None) -> str | None:
        """The line that this one follows, where `given` is what it names."""
        message = line.get("message")
        response = message.get("id") if isinstance(message, dict) and line.get("type") == "assistant" else None
        if isinstance(response, str):
            self.response_of[uuid] = response
            self.last_line[response] = self.end[response] = uuid
        results = _results(message) if line.get("type") == "user" else []
        before = None if given is None else self.response_of.get(given)
        if before is not None and results and not any((before, call) in self.answered for call in results):
            self.answered.update((before, call) for call in results)
            given, self.end[before] = self.end[before], uuid
            self.result_of[uuid] = before
            self.response_of[uuid] = before
        elif given in self.result_of and self.response_of.get(uuid) != self.result_of[given]:
            given = self.end[self.result_of[given]]
        return given

    def is_last(self, uuid: str, response: str) -> bool:
        """Whether a line is the last of its response: the one whose usage is whole."""
        return self.last_line.get(response, uuid) == uuid


def _results(message: Any) -> list[str]:
    """The ids of the calls that a message answers, if it does nothing else."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list) or not content:
        return []
    found = []
    for block in content:
        call = block.get("tool_use_id") if isinstance(block, dict) and block.get("type") == "tool_result" else None
        if not isinstance(call, str):
            return []
        found.append(call)
    return found
