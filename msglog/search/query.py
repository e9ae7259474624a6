"""What is looked for. Any text is a query, and is meant as it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from msglog.search.folding import EDGE, GLYPH, LONGEST, SIGN, folded, tokens

LONGEST_QUERY = 8192
"""Characters of a query that are looked for; what stands beyond is not."""
MOST_INDEXED = 32
"""Words of a query that the index is asked for."""

_TERM = re.compile(r'"([^"]*)"(\*?)|(\S+)')
_NEXT = f"{EDGE}*+"
_OVER_SIGNS = f"{EDGE}*+(?:{SIGN}[^{EDGE}]*+{EDGE}++)*+"
"""What may stand between tokens. Never tried again shorter: what follows begins otherwise, and texts may be long."""


class Term:
    """Tokens that must follow each other: a word, a phrase, or a word with signs such as `POL-358`."""

    def __init__(self, found: Sequence[str], *, prefix: bool) -> None:
        self.tokens = tuple(found)
        self.prefix = prefix and found[-1][0] not in (SIGN, GLYPH)

    @property
    def key(self) -> tuple[tuple[str, ...], bool]:
        """Equal for terms that find the same."""
        return self.tokens, self.prefix

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the term in the form of a text. Signs between words may be passed over, those of the term may not."""
        text = ""
        for i, token in enumerate(self.tokens):
            if i:
                text += _NEXT if SIGN in (token[0], self.tokens[i - 1][0]) else _OVER_SIGNS
            text += _exactly(token, prefix=self.prefix and i == len(self.tokens) - 1)
        return re.compile(text)

    def is_in(self, form: str) -> bool:
        """Whether the form of a text holds the term."""
        return all(token in form for token in self.tokens) and self.pattern.search(form) is not None

    def indexed(self) -> list[tuple[str, bool]]:
        """What the index holds of every message with the term: words, and whether each is only a beginning."""
        words: list[tuple[str, bool]] = []
        run = ""
        for i, token in enumerate((*self.tokens, "")):
            if token[:1] == SIGN:
                continue
            if token[:1] == GLYPH:
                run += token[1:]
                continue
            words += [(run[j : j + 2], False) for j in range(len(run) - 1)] or [(run, True)] * bool(run)
            run = ""
            if token:
                beginning = self.prefix and i == len(self.tokens) - 1 and len(token) < LONGEST
                words.append((token[:LONGEST], beginning))
        return words


def _exactly(token: str, *, prefix: bool) -> str:
    """A pattern for a token, from its beginning to its end."""
    text = re.escape(token)
    if token[0] in (SIGN, GLYPH):
        return text
    inside = r"\d" if token[0].isdecimal() else rf"[^\d{EDGE}]"
    begun = f"{text}(?<!{inside}{text})"  # looks behind last, so that the text itself is what is searched for
    return begun if prefix else f"{begun}(?!{inside})"


class Query:
    """The terms that a message must hold, all of them."""

    def __init__(self, words: str) -> None:
        if len(words) > LONGEST_QUERY:
            words = words[:LONGEST_QUERY].rpartition(" ")[0] or words[:LONGEST_QUERY]
        terms = {}
        for phrase, star, word in _TERM.findall(words.translate(_QUOTES)):
            text, prefix = (phrase, bool(star)) if not word else (word, False)
            found = tokens(folded(text))
            if word and len(found) > 1 and found[-1] == f"{SIGN}*" and found[-2][0] != SIGN:
                found, prefix = found[:-1], True
            if found:
                term = Term(found, prefix=prefix)
                terms[term.key] = term
        self.terms = list(terms.values())

    def matches(self, forms: Sequence[str]) -> bool:
        """Whether texts, given in their form, hold every term, each within one of them."""
        return all(any(term.is_in(form) for form in forms) for term in self.terms)

    def indexed(self) -> list[tuple[str, bool]]:
        """What to ask the index for: the longest words, and whether each is only a beginning."""
        words = dict.fromkeys(word for term in self.terms for word in term.indexed())
        return sorted(words, key=lambda word: (word[1], -len(word[0])))[:MOST_INDEXED]


_QUOTES = str.maketrans("\u201c\u201d\u201e\u201f", '"' * 4)
