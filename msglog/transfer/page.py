"""A view as one HTML page that needs nothing else: it opens from disk, loads nothing, and runs nothing.

Everything that a message holds is escaped; the page's own policy forbids scripts, and every address but the images
in it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from html import escape
from importlib.resources import files

from msglog.adapters.media import IMAGE_TYPES
from msglog.message import Message, StoredMessage, ToolCall
from msglog.transfer.prose import Piece, blocks, facts, in_line, json_text, pieces, shown
from msglog.transfer.turns import Given, Turn, rendered

_STYLE = files("msglog.transfer").joinpath("page.css").read_text(encoding="utf-8")
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(sha256(_STYLE.encode()).digest()).decode()}';"
    " img-src data:; base-uri 'none'; form-action 'none'"
)
_PREVIEW = 90


def to_html(messages: Iterable[Given], *, title: str | None = None) -> Iterator[str]:
    """The pieces of an HTML page of messages."""
    return rendered(partial(Page, title), messages)


class Page:
    """Writes turns as an HTML page."""

    def __init__(self, title: str | None = None) -> None:
        self._title = escape(in_line(title or "Conversation"))
        self._count = 0

    def begin(self) -> str:
        """The head, and the title."""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n'
            f"<title>{self._title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            f'<main>\n<header><h1 dir="auto">{self._title}</h1></header>\n'
        )

    def turn(self, turn: Turn) -> str:
        """A message, and in it each of its calls with what came of it, folded."""
        message = turn.message
        self._count += 1 + sum(result is not None for result in turn.results)
        inner = _content(message)
        if message.role == "tool":
            inner = _fold(f"<b>{escape(in_line(message.tool_call_id or ''))}</b> {_preview(message)}", inner)
        calls = "".join(_call(call, result) for call, result in zip(message.tool_calls, turn.results, strict=False))
        kind = message.kind if isinstance(message, StoredMessage) else "turn"
        marks = f"{message.role} {kind}{' redacted' if getattr(message, 'redacted', False) else ''}"
        return f'<article class="{marks}"{_anchor(message)}>\n{_heading(message)}{inner}{calls}</article>\n'

    def end(self) -> str:
        """How much it was."""
        return f"<footer>{self._count:,} messages</footer>\n</main>\n</body>\n</html>\n"


def _anchor(message: Message) -> str:
    return f' id="seq-{message.seq}"' if isinstance(message, StoredMessage) else ""


def _heading(message: Message) -> str:
    role = message.role.capitalize()
    if isinstance(message, StoredMessage) and message.kind == "summary":
        role = f"Summary of {len(message.sources)}" if message.sources else "Summary"
    name = f' <span dir="auto">{escape(in_line(message.name))}</span>' if message.name else ""
    beside = facts(message)
    if beside and isinstance(message, StoredMessage):
        beside = f'<a href="#seq-{message.seq}">{beside}</a>'
    return f"<h2>{role}{name}<small>{beside}</small></h2>\n"


def _content(message: Message) -> str:
    return "".join(map(_piece, pieces(message)))


def _piece(piece: Piece) -> str:
    if piece.kind == "json":
        return _pre(piece.text)
    if piece.kind == "thought":
        return _fold("<b>thinking</b>", _text(piece.text), "thought")
    media = piece.media
    if media is None:
        return _text(piece.text)
    if media.data and media.kind == "image" and media.media_type in IMAGE_TYPES:
        return f'<img src="{escape(media.data_url)}" alt="{escape(piece.text)}">\n'
    label = escape(piece.text)
    if media.web_url:
        label += (
            f' <a href="{escape(shown(media.web_url))}" rel="noreferrer noopener">{escape(in_line(media.web_url))}</a>'
        )
    return f'<p class="media">{label}</p>\n'


def _call(call: ToolCall, result: Message | None) -> str:
    arguments = shown(call.raw) if call.raw is not None and call.broken else json_text(call.args)
    inner = _pre(arguments)
    if result is None:
        head = "<em>no result</em>"
    else:
        head = _preview(result)
        inner += f'<div class="result"{_anchor(result)}><small>{facts(result)}</small>\n{_result(result)}</div>\n'
    return _fold(f"<b>{escape(in_line(call.name)) or '?'}</b> {head}", inner)


def _result(message: Message) -> str:
    return _pre(shown(message.content)) if isinstance(message.content, str) else _content(message)


def _preview(message: Message) -> str:
    words = in_line(message.text[: 4 * _PREVIEW])
    cut = words if len(words) <= _PREVIEW else words[: _PREVIEW - 1] + "…"
    return f'<span dir="auto">{escape(cut)}</span>'


def _fold(head: str, inner: str, kind: str = "call") -> str:
    return f'<details class="{kind}"><summary>{head}</summary>\n{inner}</details>\n'


def _pre(text: str) -> str:
    return f"<pre>\n{escape(text)}</pre>\n"  # HTML takes away a line feed at the beginning: let it be this one


def _text(text: str) -> str:
    found = []
    for block in blocks(text):
        if block.code:
            found.append(_pre("\n".join(block.lines)))
        else:
            found += map(_paragraph, _paragraphs(block.lines))
    return "".join(found)


_HEADING = re.compile(r" {0,3}#{1,6} +(?=\S)")
_ITEM = re.compile(r"( *)(?:[-*+]|\d{1,9}[.)]) +(?=\S)")


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines of each paragraph; headings and the items of lists have their own."""
    so_far: list[str] = []
    for line in lines:
        begins = _HEADING.match(line) or _ITEM.match(line)
        if so_far and (begins or not line.strip() or _HEADING.match(so_far[0])):
            yield so_far
            so_far = []
        if line.strip():
            so_far.append(line)
    if so_far:
        yield so_far


def _paragraph(lines: list[str]) -> str:
    """A paragraph, with what Markdown would make of its beginning, of code, and of words in bold."""
    heading, item = _HEADING.match(lines[0]), _ITEM.match(lines[0])
    if heading:
        return f'<h3 dir="auto">{_inline(lines[0][heading.end() :])}</h3>\n'
    inner = "\n".join(map(_inline, lines))
    if item:
        depth = min(len(item[1]) // 2, 4)
        return f'<p class="item in{depth}" dir="auto">{inner.strip()}</p>\n'
    return f'<p dir="auto">{inner}</p>\n'


def _inline(line: str) -> str:
    spans = line.split("`")
    if len(spans) % 2 == 0:  # one is left open: none can be told for sure
        return _bold(line)
    return "".join(f"<code>{escape(span)}</code>" if i % 2 and span else _bold(span) for i, span in enumerate(spans))


def _bold(text: str) -> str:
    spans = escape(text).split("**")
    if len(spans) % 2 == 0:
        return "**".join(spans)
    return "".join(f"<b>{span}</b>" if i % 2 and span.strip() else span for i, span in enumerate(spans))
