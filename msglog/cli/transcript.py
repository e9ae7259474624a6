"""A conversation as a transcript: who spoke, when, and beneath each call of a tool what came back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, cast

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from msglog.cli.output import on_terminal, width
from msglog.cli.visible import exact_line, one_line, visible
from msglog.cli.words import many
from msglog.message import StoredMessage, ToolCall
from msglog.transfer.turns import Turn, Turns

ROLES = {"system": "yellow", "developer": "yellow", "user": "green", "assistant": "cyan", "tool": "magenta"}
"""The colours of the roles."""

_PREVIEW = 200
"""Characters of a call's arguments or of a result that are shown, where no terminal says what fits."""
_PROMPT_LINES = 8
"""Lines of an instruction that are shown: they are long, and the same in every conversation."""


def turns(messages: Iterable[StoredMessage]) -> Iterator[Turn]:
    """The messages, each with the results of its calls that follow it at once."""
    made = Turns()
    for message in messages:
        yield from made.add(message)
    yield from made.end()


@dataclass(frozen=True, slots=True)
class Transcript:
    """How turns are drawn. `stands_for` says how many messages a summary stands for; `full` folds nothing."""

    stands_for: Callable[[StoredMessage], int]
    full: bool = False

    def drawn(self, turn: Turn) -> RenderableType:
        """A turn: a head, the words, and the calls with what came back."""
        message = cast("StoredMessage", turn.message)
        body: list[RenderableType] = []
        if message.redacted and not message.tool_calls:
            body.append(Text("[redacted]", style="dim italic"))
        elif message.role == "tool":
            body.append(self._result(message, ""))
        elif message.text.strip():
            body.append(self._words(message))
        for call, result in zip_longest(message.tool_calls, turn.results):
            body.append(self._call(call))
            if result is None:
                body.append(Text("  no result", style="dim italic"))
            else:
                body.append(self._result(cast("StoredMessage", result), "  "))
        return Group(self._head(message), Padding(Group(*body), (0, 0, 0, _indent()), expand=False))

    def _head(self, message: StoredMessage) -> RenderableType:
        left = Text.assemble(
            (f"{message.seq:>{_indent() - 2}}  ", "dim"), (message.role, f"bold {ROLES[message.role]}")
        )
        if message.name is not None:
            left.append(f" {one_line(message.name, 40)}")
        if message.kind == "summary":
            left.append(f"  summary of {many(self.stands_for(message), 'message')}", "italic")
        if message.role == "tool":
            left.append(f"  {one_line(message.tool_call_id or '', 40)}", "dim")
        time = Text(f"{message.at:%H:%M:%S}", style="dim")
        if not on_terminal():
            return Text.assemble(left, "  ", time)
        head = Table.grid(expand=True)
        head.add_column()
        head.add_column(justify="right", no_wrap=True)
        head.add_row(left, time)
        return head

    def _words(self, message: StoredMessage) -> RenderableType:
        text = message.text.rstrip()
        hidden = 0
        lines = text.splitlines()
        if message.role in ("system", "developer") and not self.full and len(lines) > _PROMPT_LINES + 2:
            text = "\n".join(lines[:_PROMPT_LINES])
            hidden = len(lines) - _PROMPT_LINES
        more = [Text(f"… {many(hidden, 'more line')}", style="dim")] if hidden else []
        if not on_terminal():
            return Group(Text(visible(text)), *more)
        from msglog.cli.markdown import MessageMarkdown

        return Group(MessageMarkdown(text), *more)

    def _call(self, call: ToolCall) -> Text:
        given = f"({arguments(call)})"
        return Text.assemble((one_line(call.name, 60), "bold magenta"), given if self.full else _cut(given, 0))

    def _result(self, message: StoredMessage, indent: str) -> RenderableType:
        failed = message.extra.get("isError") is True
        mark = Text(f"{indent}{'✗' if failed else '↳'} ", style="red" if failed else "dim")
        if message.redacted:
            words = Text("[redacted]", style="dim italic")
        elif not message.text:
            words = Text("nothing", style="dim italic")
        else:
            words = Text(visible(message.text) if self.full else _cut(message.text, len(indent) + 2))
        result = Table.grid()
        result.add_column(no_wrap=True)
        result.add_column(overflow="fold")
        result.add_row(mark, words)
        return result


def _cut(text: str, before: int) -> str:
    """A text on one line, or two on a terminal, and how many characters more there are."""
    lines, room = (2, width() - _indent() - before) if on_terminal() else (1, _PREVIEW)
    most = max(20, room * lines - 12)
    shown = one_line(text, most)
    return f"{shown} +{len(text) - most:,}" if shown.endswith("…") and len(text) > most else shown


def arguments(call: ToolCall) -> str:
    """The arguments of a call, on one line: `name: value, …`."""
    if call.broken:
        return call.arguments
    if not isinstance(call.args, dict):
        return _json(call.args)
    return ", ".join(f"{exact_line(name)}: {_json(value)}" for name, value in call.args.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indent() -> int:
    return 6 if width() >= 60 else 4
