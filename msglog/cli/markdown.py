"""Markdown of messages, on a terminal: nothing of the text is hidden, joined, or made a link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.text import Text

from msglog.cli.visible import visible

_PARSER = (
    MarkdownIt("commonmark", {"html": False})  # tags are shown as they are written
    .enable(["strikethrough", "table"])
    .disable(["reference", "image", "link", "autolink"])  # where they lead is read as it is written
)


class _PlainHeading(Heading):
    """A heading as a bold line, where it stands."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _NamedCode(CodeBlock):
    """A block of code below what stands beside its fence."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _NamedCode:
        """The block of a token."""
        made = cls(token.info.partition(" ")[0] or "text", markdown.code_theme)
        made.info = token.info.strip()
        return made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.info:
            yield Text(self.info, style="dim")
        yield from super().__rich_console__(console, options)


class MessageMarkdown(Markdown):
    """The Markdown of a message; the text as it is written, where drawing it would leave out a letter of it."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
        "fence": _NamedCode,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.markup = visible(text)
        self.parsed = list(_lines_kept(_PARSER.parse(self.markup)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts = super().__rich_console__(console, options)
        segments = [segment for part in parts for segment in _drawn(part, console, options)]
        drawn = "".join(segment.text for segment in segments)
        if Counter(filter(str.isalpha, self.markup)) - Counter(filter(str.isalpha, drawn)):
            yield Text(self.markup)
        else:
            yield from segments


def _drawn(part: RenderableType | Segment, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
    return [part] if isinstance(part, Segment) else console.render(part, options)


def _lines_kept(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens with every line break of the text as one: in a message, lines are lines."""
    for token in tokens:
        changes: dict[str, Any] = {}
        if token.type == "softbreak":
            changes["type"] = "hardbreak"
        if token.children:
            changes["children"] = list(_lines_kept(token.children))
        yield token.copy(**changes) if changes else token
