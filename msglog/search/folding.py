"""Text as it is compared: one form for what differs in case, diacritics or width only, cut into tokens.

The form of a text is made character by character, so that a place in it leads back to the text. Its tokens are runs
of letters, runs of digits, single characters of scripts that are written without spaces between words, and signs.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

EDGE, SIGN, GLYPH = "\x1f", "\x1e", "\x1d"
"""Between tokens, but for letters and digits; before a sign; before a character of a script without spaces."""

LONGEST = 64
"""Characters of a word that the index holds."""

# Thai and Lao, Tibetan, Myanmar, conjoining Hangul, Khmer, Tai, Balinese, Chinese, Japanese, Korean, Yi, Javanese.
_WITHOUT_SPACES = (
    *((0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x1950, 0x19FF), (0x1A20, 0x1AAF)),
    *((0x1B00, 0x1B7F), (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x318F), (0x31A0, 0x31FF), (0x3400, 0xA4CF)),
    *((0xA960, 0xA9DF), (0xA9E0, 0xA9FF), (0xAA60, 0xAADF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
_PICTURES = ((0x2300, 0x23FF), (0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F000, 0x1FAFF))
# Marks without which a word is the same: accents, Hebrew points, Arabic vowels and stretching, variation selectors.
# Those of other scripts, such as the vowels of Thai and Hindi, are letters in all but name.
_DIACRITICS = (
    *((0x0300, 0x036F), (0x0483, 0x0487), (0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C7), (0x0610, 0x061A)),
    *((0x0640, 0x0640), (0x064B, 0x065F), (0x0670, 0x0670), (0x06D6, 0x06ED), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF)),
    *((0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F), (0xE0100, 0xE01EF)),
)
# Single and double quotes, apostrophes, the minus sign.
_ALIKE = str.maketrans("\u2018\u2019\u201a\u201b\u02bc\u201c\u201d\u201e\u201f\u2212", "'" * 5 + '"' * 4 + "-")
_JOINED = re.compile(
    "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u3041-\u30ff\uff66-\uff9d][\u3099\u309a\uff9e\uff9f]"
)
"""Characters that are one: a Hangul syllable in its parts, a kana and its voicing mark."""
_UNIT = re.compile(f"{_JOINED.pattern}|.", re.DOTALL)


def _within(code: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _form(character: str) -> str:
    """The form of one character."""
    parts = unicodedata.normalize("NFKD", character.translate(_ALIKE))
    kept = "".join(c for c in parts if not _within(ord(c), _DIACRITICS) and unicodedata.category(c) != "Cf")
    return "".join(map(_token, unicodedata.normalize("NFC", kept.casefold())))


def _token(c: str) -> str:
    category = unicodedata.category(c)
    if category[0] in "LMN":
        return f"{EDGE}{GLYPH}{c}{EDGE}" if _within(ord(c), _WITHOUT_SPACES) else c
    if category in ("So", "Sk") and _within(ord(c), _PICTURES):
        return f"{EDGE}{GLYPH}{c}{EDGE}"
    if category[0] == "Z" or category in ("Cc", "Cs"):
        return EDGE
    return f"{EDGE}{SIGN}{'-' if category == 'Pd' else c}{EDGE}"


class _Forms(dict[int, str]):
    def __missing__(self, code: int) -> str:
        form = self[code] = _form(chr(code))
        return form


_forms = _Forms()


def _composed(text: str) -> str:
    return text if text.isascii() else _JOINED.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def folded(text: str) -> str:
    """The form of a text, between edges."""
    return f"{EDGE}{_composed(text).translate(_forms)}{EDGE}"


tokens = re.compile(rf"{SIGN}[^{EDGE}]*|{GLYPH}.|\d+|[^\d{EDGE}]+").findall
"""The tokens of a form; signs and single characters keep their marker."""


def index_words(forms: Iterable[str]) -> set[str]:
    """What the index holds of a message: its words, and of characters without spaces between them every pair."""
    words: set[str] = set()
    for form in forms:
        found = [token for token in tokens(form) if token[0] != SIGN]
        if GLYPH not in form:
            words.update([token[:LONGEST] for token in found])
            continue
        before = ""
        for token in [*found, ""]:
            glyph = token[1:] if token[:1] == GLYPH else ""
            if before:
                words.add(before + glyph)  # the last one of a run stands alone
            if token and not glyph:
                words.add(token[:LONGEST])
            before = glyph
    return words


class Places:
    """Leads from the places of a form back to its text."""

    def __init__(self, text: str) -> None:
        units = list(text) if text.isascii() else _UNIT.findall(text)
        self._forms = list(accumulate((len(_composed(unit).translate(_forms)) for unit in units), initial=1))
        self._starts = list(accumulate(map(len, units), initial=0))
        self._text = text

    def span(self, form: str, start: int, end: int) -> tuple[int, int]:
        """Where in the text the part of the form from `start` to `end` comes from."""
        while form[start] == EDGE and start < end - 1:
            start += 1
        first = bisect_right(self._forms, start) - 1
        last = bisect_left(self._forms, end)
        stop = self._starts[min(last, len(self._starts) - 1)]
        while stop < len(self._text) and unicodedata.category(self._text[stop])[0] == "M":
            stop += 1  # a mark belongs to the letter before it
        return self._starts[first], stop
