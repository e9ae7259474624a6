"""What is shown of a message that was found: the place where it matches, with what stands around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from msglog.message import StoredMessage
from msglog.search.folding import Places
from msglog.search.query import Query

BEFORE, LENGTH = 50, 180
"""Characters of a context before its first match, and in all."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a context: text as it was stored, and whether it is what was searched for."""

    text: str
    matched: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found, in which log, and the place in it that matches, in fragments; `…` marks a cut."""

    log: str
    message: StoredMessage
    context: tuple[Fragment, ...]


def context_of(query: Query, texts: Sequence[str], forms: Sequence[str]) -> tuple[Fragment, ...]:
    """The context of a match: of the text that holds most of the terms, from its first match on."""
    held = [[term for term in query.terms if term.is_in(form)] for form in forms]
    best = max(range(len(texts)), key=lambda i: len(held[i]))
    text, form = texts[best], forms[best]
    places = Places(text)
    spans = _joined(
        sorted(places.span(form, *found.span()) for term in held[best] for found in term.pattern.finditer(form))
    )
    start, stop = _window(text, *spans[0])
    cuts = [start]
    for first, last in spans:
        if first < stop:
            cuts += [first, min(last, stop)]
    cuts.append(stop)
    pieces = [Fragment(text[a:b], i % 2 == 1) for i, (a, b) in enumerate(pairwise(cuts)) if a < b]
    if start > 0:
        pieces.insert(0, Fragment("…", matched=False))
    if stop < len(text):
        pieces.append(Fragment("…", matched=False))
    return tuple(pieces)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in spans:
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _window(text: str, first: int, last: int) -> tuple[int, int]:
    """A stretch of the text around a match, cut between words where there are any."""
    start = max(0, first - BEFORE)
    if start > 0:
        space = text.find(" ", start, first)
        start = start if space < 0 else space + 1
    stop = max(last, start + LENGTH)
    if stop < len(text):
        space = text.rfind(" ", last, stop)
        stop = stop if space < 0 else space
    return start, min(stop, len(text))
