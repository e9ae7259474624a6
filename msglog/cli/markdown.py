"""Markdown of messages, on a terminal: nothing of the text is hidden, joined, or made a link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement

from msglog.cli.visible import visible

_PARSER = (
    MarkdownIt("commonmark", {"html": False})  # tags are shown as they are written
    .enable(["strikethrough", "table"])
    .disable(["reference", "image"])  # what is written there would not be seen
)


class _PlainHeading(Heading):
    """A heading as a bold line, where it stands."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class MessageMarkdown(Markdown):
    """The Markdown of a message."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _PlainHeading}

    def __init__(self, text: str) -> None:
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.markup = visible(text)
        self.parsed = list(_lines_kept(_PARSER.parse(self.markup)))


def _lines_kept(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens with every line break of the text as one: in a message, lines are lines."""
    for token in tokens:
        changes: dict[str, Any] = {}
        if token.type == "softbreak":
            changes["type"] = "hardbreak"
        if token.children:
            changes["children"] = list(_lines_kept(token.children))
        yield token.copy(**changes) if changes else token
