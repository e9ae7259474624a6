"""A view as Markdown: each message under its own heading, in a quote that nothing in it can leave.

Words keep their Markdown. What could act on a page that shows them does not: HTML, images, and links to anything but
the web are shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from msglog.message import Message, StoredMessage, ToolCall
from msglog.transfer.prose import LINE_END, blocks, facts, in_line, json_text, pieces, shown
from msglog.transfer.turns import Given, Turn, rendered


def to_markdown(messages: Iterable[Given], *, title: str | None = None) -> Iterator[str]:
    """The pieces of a Markdown document of messages."""
    return rendered(partial(Markdown, title), messages)


class Markdown:
    """Writes turns as Markdown."""

    def __init__(self, title: str | None = None) -> None:
        self._title = title

    def begin(self) -> str:
        """The title."""
        return f"# {_line(self._title)}\n" if self._title else ""

    def turn(self, turn: Turn) -> str:
        """A message, and under it each of its calls with what came of it."""
        message = turn.message
        found = [f"\n## {_heading(message)}\n"]
        if message.role == "tool":
            found.append(_result(message))
        else:
            found.append(_content(message))
            for call, result in zip(message.tool_calls, turn.results, strict=False):
                found.append(f"\n**Call** {_code(call.name)}\n{_fenced(_arguments(call), 'json')}")
                if result is None:
                    found.append("\n**Result**: none\n")
                else:
                    found.append(f"\n**Result** of {_code(call.name)}{_beside(result)}\n{_result(result)}")
        return "".join(found)

    def end(self) -> str:
        """Nothing."""
        return ""


def _heading(message: Message) -> str:
    words = [message.role.capitalize()]
    if isinstance(message, StoredMessage) and message.kind == "summary":
        words[0] = f"Summary of {len(message.sources)}" if message.sources else "Summary"
    if message.name:
        words.append(f"({_line(message.name)})")
    return " ".join(words) + _beside(message)


def _beside(message: Message) -> str:
    return f" · {found}" if (found := facts(message)) else ""


def _content(message: Message) -> str:
    found = []
    for piece in pieces(message):
        if piece.kind == "json":
            found.append(_fenced(piece.text, "json"))
        elif piece.kind == "media":
            found.append(f"\n*[{_line(piece.text)}]*\n")
        else:
            label = "\n*Thinking*\n" if piece.kind == "thought" else ""
            found.append(label + _quoted(piece.text))
    return "".join(found)


def _result(message: Message) -> str:
    if isinstance(message.content, str):
        return _fenced(shown(message.content), "")
    return _content(message)


def _arguments(call: ToolCall) -> str:
    return json_text(call.args) if call.raw is None or not call.broken else shown(call.raw)


def _fenced(text: str, language: str) -> str:
    """Code in a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = "\n".join(LINE_END.split(text))
    return f"\n{fence}{language}\n{lines}\n{fence}\n"


def _quoted(text: str) -> str:
    found: list[str] = []
    for block in blocks(text):
        if block.code:
            if found and found[-1]:
                found.append("")
            found += _fenced("\n".join(block.lines), block.language).strip("\n").split("\n")
        else:
            found += map(_inert, block.lines)
    while found and not found[0].strip():
        del found[0]
    while found and not found[-1].strip():
        del found[-1]
    quoted = "\n".join(f"> {line}" if line else ">" for line in found)
    return f"\n{quoted}\n" if quoted else ""


def _line(text: str) -> str:
    """A text as words in a line of ours: every sign that Markdown reads is escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!$^=@:])", r"\\\1", in_line(text))


def _code(text: str) -> str:
    """A name as code in a line."""
    words = in_line(text)
    return f"`{words}`" if words and "`" not in words else _line(words) or "?"


_TOKEN = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|(?P<fence>~{3,})"
    r"|(?P<image>!(?=\[))"
    r"|(?P<link>\](?=[(:]))"
    r"|(?P<tag><)"
    r"|(?P<entity>&(?=#|\w+;))"
)
_WEB = re.compile(r"\]\(https?://[A-Za-z0-9._~/?#=,;@+%:-]*\)")


def _inert(line: str) -> str:
    """A line of prose whose Markdown only shows.

    Code in a line is kept as it is, where it is sure that a reader of Markdown sees code there too: it begins and
    ends in this line, of which no table can cut a piece.
    """
    found: list[str] = []
    at = 0
    while match := _TOKEN.search(line, at):
        found.append(line[at : match.start()])
        at = match.end()
        kind, text = match.lastgroup, match[0]
        if kind == "ticks":
            sure = len(text) < 3 and "|" not in line
            close = re.compile(rf"(?<!`){text}(?!`)").search(line, at) if sure else None
            if close:
                found.append(line[match.start() : close.end()])
                at = close.end()
            else:
                found.append("\\`" * len(text))
        elif kind == "fence":
            found.append("\\~" * len(text))
        elif kind == "link":
            found.append("]" if _WEB.match(line, match.start()) else "]\\")
        elif kind == "tag":
            found.append("&lt;")
        elif kind == "entity":
            found.append("&amp;")
        else:
            found.append("\\!" if kind == "image" else text)
    found.append(line[at:])
    return "".join(found)


__all__ = ["Markdown", "to_markdown"]
