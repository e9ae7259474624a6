"""Markdown of a view: readable, and inert whatever the messages hold. A real parser of Markdown is the judge."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from msglog.message import Message, StoredMessage
from msglog.transfer import to_markdown
from tests.strategies import Json, calls, messages, reply, result, user

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PARSER.validateLink = lambda url: True  # type: ignore[method-assign]  # as a reader that lets everything pass


def written(*given: Json | Message, title: str | None = None) -> str:
    return "".join(to_markdown(given, title=title))


def tokens(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        yield token
        yield from token.children or ()


def stored(message: Message, seq: int, **fields: object) -> StoredMessage:
    given = {**message.__dict__, "seq": seq, "at": datetime(2026, 3, 8, 12, tzinfo=UTC), "entry_id": f"e{seq}"}
    return StoredMessage(**(given | fields))


def test_a_conversation_reads_as_one() -> None:
    first = stored(Message(role="user", content="Is the 7:58 **late**?"), 1)
    second = stored(Message(**calls("c1")), 2)
    third = stored(Message(**result("c1", {"delay": 12})), 3)
    fourth = stored(Message(role="assistant", content="12 minutes:\n\n```py\nx = 1\n```\nSee `a < b`."), 4)
    fifth = stored(Message(role="assistant", content="So it was."), 5, kind="summary", sources=("e1", "e2"))
    assert written(first, second, third, fourth, fifth, title="The 7:58") == (
        "# The 7\\:58\n"
        "\n## User · 2026-03-08 12:00:00 UTC · seq 1\n"
        "\n> Is the 7:58 **late**?\n"
        "\n## Assistant · 2026-03-08 12:00:00 UTC · seq 2\n"
        '\n**Call** `look`\n\n```json\n{\n  "at": "c1"\n}\n```\n'
        '\n**Result** of `look` · 2026-03-08 12:00:00 UTC · seq 3\n\n```json\n{\n  "delay": 12\n}\n```\n'
        "\n## Assistant · 2026-03-08 12:00:00 UTC · seq 4\n"
        "\n> 12 minutes:\n>\n> ```py\n> x = 1\n> ```\n> See `a < b`.\n"
        "\n## Summary of 2 · 2026-03-08 12:00:00 UTC · seq 5\n"
        "\n> So it was.\n"
    )


def test_a_call_without_its_result_and_a_result_without_its_call_say_so() -> None:
    text = written(calls("c1", "c2"), result("c2", "two"), result("c3", "three"))
    assert text.count("**Result**: none") == 1
    assert "\n## Tool\n\n```\nthree\n```\n" in text


def test_results_stand_with_their_calls_where_calls_made_at_once_are_several_messages() -> None:
    text = written(calls("c1"), calls("c2"), result("c1", "one"), result("c2", "two"))
    assert "**Result**: none" not in text
    assert text.index("one") < text.index("c2") < text.index("two")


hostile = st.lists(
    st.sampled_from(
        [
            *(
                "`",
                "``",
                "```",
                "````",
                "~~~",
                "\n",
                "\n\n",
                "\r",
                "\\",
                "|",
                "|-|\n",
                "\t",
                "    ",
                " ",
                "> ",
                "- ",
                "1. ",
            ),
            *("<script>x</script>", "<b onclick=x>", "<!--", "-->", "<?", "<![CDATA[", "</blockquote>", "<a", ">"),
            *("![i](http://t/x.png)", "![i][r]", "!", "[l](javascript:x)", "[l](java&#115;cript:x)", "[l](<data:x>)"),
            *(
                "[r]: javascript:x",
                "[r]",
                "](",
                "javascript:x)",
                "<http://a>",
                "<javascript:x>",
                "&lt;script&gt;",
                "&#60;",
            ),
            *("# ", "===", "---", "$$", "x", "word", "**", "_", "*", "\x1b[31m", "\0", "\ud800", "\u202e"),
        ]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=400)
@given(hostile)
@example("- ```\n  ```\n<script>x</script>")
@example("`x\n` <script>x</script>`")
@example("a|b\n-|-\n`x|<b>`|y")
@example("\\`<b>`")
@example("``` `\n<b>\n```\n<b>")
@example("~~~\n```\n~~~\n<b>")
@example("```\rx\r```\r<b>")
def test_nothing_in_a_text_acts_or_leaves_its_place(text: str) -> None:
    found = list(tokens(written(user(text), reply("the end"))))
    kinds = {token.type for token in found}
    assert not kinds & {"html_block", "html_inline", "image"}
    for token in found:
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith(("http://", "https://"))
    outermost = [token for token in PARSER.parse(written(user(text), reply("the end"))) if token.level == 0]
    headings = [token for token in outermost if token.type == "heading_open"]
    assert [token.tag for token in headings] == ["h2", "h2"]
    allowed = {"heading_open", "inline", "heading_close", "blockquote_open", "blockquote_close"}
    assert {token.type for token in outermost} <= allowed


@settings(max_examples=200)
@given(hostile)
def test_neither_does_anything_in_names_titles_arguments_and_results(text: str) -> None:
    call = {"role": "assistant", "content": None, "toolCalls": [{"id": "c1", "name": text, "args": {text: [text]}}]}
    page = written({**user("hi"), "name": text}, call, result("c1", text), result("c2", {text: text}), title=text)
    found = list(tokens(page))
    assert not {token.type for token in found} & {"html_block", "html_inline", "image", "link_open"}
    assert [token.tag for token in found if token.type == "heading_open"][-3:] == ["h2", "h2", "h2"]


@given(st.lists(messages(), max_size=3))
def test_any_messages_make_a_document_that_utf_8_can_hold(given: list[Json]) -> None:
    text = written(*given)
    assert text.encode().decode() == text
    assert not {c for c in text if c < " " and c not in "\n\t"} - {"\r"}
    assert not {token.type for token in tokens(text)} & {"html_block", "html_inline", "image"}


def test_long_lines_take_time_as_they_are_long() -> None:
    for text in ("` `` " * 50_000, "```" + " " * 200_000 + "`", "**a " * 50_000, "[" * 100_000, "\\`" * 100_000):
        assert written(user(text))
