"""What matches: the rule, apart from any store."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from msglog.search.context import context_of
from msglog.search.folding import folded, index_words
from msglog.search.query import Query
from tests.strategies import texts

scripts = st.text(st.sampled_from("aAbé ßǅ12٣_-*\"'.…密码重がガｶﾞกิ๑हि학ᄒ\u1161\u11a8\u0301🎉\u200d\0\n"), max_size=12)
any_text = texts | scripts


def found(words: str, text: str) -> str | None:
    """The context of a match in brackets, or None."""
    query, form = Query(words), folded(text)
    if not query.terms or not query.matches([form]):
        return None
    return "".join(f"[{f.text}]" if f.matched else f.text for f in context_of(query, [text], [form]))


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ("refund", "A Refund, please", "A [Refund], please"),
        ("fund", "A refund", None),
        ("please refund", "a refund, please", "a [refund], [please]"),
        ("please now", "a refund, please", None),
    ],
)
def test_every_word_must_be_there_in_any_order(words: str, text: str, shown: str | None) -> None:
    assert found(words, text) == shown


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ('"the cat"', "the cat, the hat", "[the cat], the hat"),
        ('"the hat"', "the cat, the hat", "the cat, [the hat]"),
        ('"cat the"', "the cat, the hat", "the [cat, the] hat"),
        ('"cat hat"', "the cat, the hat", None),
        ("\u201cthe cat\u201d", "the cat", "[the cat]"),
        ('"the', 'say "the', 'say ["the]'),
        ('"the', "the", None),
    ],
)
def test_a_phrase_is_words_in_a_row_whatever_signs_stand_between(words: str, text: str, shown: str | None) -> None:
    assert found(words, text) == shown


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ("canc*", "Cancelled", "[Canc]elled"),
        ("ancel*", "Cancelled", None),
        ('"was can*"', "was cancelled", None),
        ('"was can"*', "was cancelled", "[was can]celled"),
        ("12*", "flight 1234", "flight [12]34"),
        ("a*b", "a*b", "[a*b]"),
        ("a*b", "ab", None),
        ("密*", "密码", "[密]码"),
    ],
)
def test_a_star_ends_the_beginning_of_a_word(words: str, text: str, shown: str | None) -> None:
    assert found(words, text) == shown


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ("POL-358", "see pol-358.", "see [pol-358]."),
        ("POL-358", "see POL 358", None),
        ("POL-358", "see POL\u2011358", "see [POL\u2011358]"),
        ("C++", "C, C++", "C, [C++]"),
        ("don't", "I don\u2019t", "I [don\u2019t]"),
        ("user_id", "the user_id is", "the [user_id] is"),
        ("id", "the user_id is", "the user_[id] is"),
        ("->", "a->b", "a[->]b"),
        ("$5", "it is $5", "it is [$5]"),
        ("2.0", "v2.0", "v[2.0]"),
        ("v2", "v2.0", "[v2].0"),
        ("2", "v20", None),
    ],
)
def test_signs_count_where_they_are_given(words: str, text: str, shown: str | None) -> None:
    assert found(words, text) == shown


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ("strasse", "Straße", "[Straße]"),
        ("cafe", "un café", "un [café]"),
        ("café", "un cafe", "un [cafe]"),
        ("cafe", "un cafe\u0301 noir", "un [cafe\u0301] noir"),
        ("abc", "\uff21\uff22\uff23", "[\uff21\uff22\uff23]"),
        ("файл", "Файл", "[Файл]"),
        ("σοφος", "ΣΟΦΟΣ", "[ΣΟΦΟΣ]"),
        ("istanbul", "İstanbul", "[İstanbul]"),
        ("كتاب", "كِتَابٌ", "[كِتَابٌ]"),
        ("soft", "so\u00adft", "[so\u00adft]"),
    ],
)
def test_case_diacritics_and_width_make_no_difference(words: str, text: str, shown: str | None) -> None:
    assert found(words, text) == shown


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        ("密码", "请重置密码。", "请重置[密码]。"),
        ("置码", "请重置密码。", None),
        ("东京", "iPhone在东京3台", "iPhone在[东京]3台"),
        ("iphone在", "iPhone在东京", "[iPhone在]东京"),
        ("がく", "ガクがか\u3099く", "ガクが[か\u3099く]"),
        ("カ", "ガ", None),
        ("ガ", "ｶﾞ", "[ｶﾞ]"),
        ("กิน", "ผมกินข้าว", "ผม[กิน]ข้าว"),
        ("กัน", "ผมกินข้าว", None),
        ("학교", "나는 학교에서 왔다", "나는 [학교]에서 왔다"),
        ("학교", "\u1112\u1161\u11a8\u1100\u116d에서", "[\u1112\u1161\u11a8\u1100\u116d]에서"),
        ("हिन्दी", "यह हिन्दी है", "यह [हिन्दी] है"),
        ("हिन", "यह हिन्दी है", None),
        ("🎉", "yes🎉!", "yes[🎉]!"),
    ],
)
def test_scripts_without_spaces_are_matched_character_by_character(words: str, text: str, shown: str | None) -> None:
    assert found(words, text) == shown


@given(any_text)
def test_every_text_finds_itself(text: str) -> None:
    query = Query(text)
    assert query.terms == [] or query.matches([folded(text)])


@given(any_text, st.integers(0, 12), st.integers(1, 12), any_text, st.sampled_from(["", "*", '"']))
def test_the_index_knows_of_every_message_that_matches(before: str, at: int, length: int, more: str, end: str) -> None:
    text = before + more
    query, form = Query(text[at : at + length] + end), folded(text)
    assume(query.matches([form]))
    held = index_words([form])
    for word, beginning in query.indexed():
        assert word in held or (beginning and any(each.startswith(word) for each in held))


@given(any_text, st.integers(0, 12), st.integers(1, 12), any_text)
def test_a_context_is_a_piece_of_the_text_with_something_marked(before: str, at: int, length: int, more: str) -> None:
    text = before + more
    query, form = Query(text[at : at + length]), folded(text)
    assume(query.terms)
    assume(query.matches([form]))
    context = context_of(query, [text], [form])
    assert "".join(fragment.text for fragment in context) == text
    assert any(fragment.matched for fragment in context)
    assert all(fragment.text for fragment in context)


def test_a_context_shows_the_first_match_of_a_long_text_between_cuts() -> None:
    text = "word " * 100 + "here it is " + "word " * 100
    query = Query("it")
    context = context_of(query, ["other", text], [folded("other"), folded(text)])
    assert [fragment.text for fragment in context if fragment.matched] == ["it"]
    assert (context[0].text, context[-1].text) == ("\u2026", "\u2026")
    assert sum(len(fragment.text) for fragment in context) < 200


def test_a_query_of_any_length_asks_the_index_for_few_words() -> None:
    assert len(Query(" ".join(f"w{i}" for i in range(5000))).indexed()) == 32
    assert Query("a" * 100_000).indexed() == [("a" * 64, False)]


def test_of_a_query_without_end_only_the_beginning_is_looked_for() -> None:
    assert len(Query("a b " * 1_000_000 + "c").terms) == 2
    text = " ".join(f"word{i}" for i in range(5000))
    assert Query(text).matches([folded(text)])


def test_signs_without_end_between_two_words_are_passed_over() -> None:
    assert found('"a b"', "a " + "( " * 100_000 + "c") is None
    assert Query('"a c"').matches([folded("a " + "( " * 100_000 + "c")])
