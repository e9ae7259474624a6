"""What a terminal could take for its own becomes an escape; everything else stays as it is."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from msglog.cli.visible import exact_line, one_line, visible

NEEDED = "\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters that are seen, or that a script cannot do without."""


def test_whatever_steers_or_hides_is_made_visible() -> None:
    for code in range(0x110000):
        character = chr(code)
        category = unicodedata.category(character)
        if category in ("Cc", "Cs", "Zl", "Zp") and character not in "\n\t":
            assert visible(character).isascii(), hex(code)
        if category == "Cf" and character not in NEEDED and not 0x13430 <= code < 0x13440:
            assert visible(character).isascii(), hex(code)


@given(st.text())
def test_what_is_visible_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


def test_letters_of_all_scripts_and_emoji_stay() -> None:
    text = "Größe 重置密码 नमस्ते שלום مرحبا 👩‍👩‍👧 🏳️‍🌈 می‌خواهم\n\tend"
    assert visible(text) == text


def test_escapes_say_which_character_it_was() -> None:
    assert visible("\x1b[31m \u202e \U000e0041 \ud83d \r") == "\\x1b[31m \\u202e \\U000e0041 \\ud83d \\x0d"


def test_lines_of_windows_are_lines() -> None:
    assert visible("a\r\nb") == "a\nb"


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_line_of_at_most_so_many_characters(text: str, most: int) -> None:
    line = one_line(text, most)
    assert "\n" not in line
    assert len(line) <= most


def test_a_cut_line_ends_with_an_ellipsis() -> None:
    assert (one_line("abc def", 7), one_line("abc  defg", 7)) == ("abc def", "abc de…")


def test_an_exact_line_keeps_what_is_within_it_apart() -> None:
    assert exact_line("a\nb\tc") == "a\\nb\\tc"
