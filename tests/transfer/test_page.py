"""The HTML page of a view: nothing of a message is anything but text on it."""

from __future__ import annotations

import base64
import re
from hashlib import sha256
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from msglog.message import Message
from msglog.transfer import to_html
from tests.strategies import Json, calls, messages, reply, result, user
from tests.transfer.test_markdown import hostile, stored

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


class Read(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def written(*given: Json | Message, title: str | None = None) -> str:
    return "".join(to_html(given, title=title))


ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "footer",
        "article",
        "h1",
        "h2",
        "h3",
        "small",
    ),
    *("span", "p", "pre", "code", "b", "em", "details", "summary", "div", "img", "a"),
}
ATTRIBUTES = {"class", "id", "dir", "lang", "charset", "http-equiv", "content", "name", "src", "alt", "href", "rel"}


def check(page: str) -> Read:
    read = Read(page)
    assert read.open == []
    assert {tag for tag, _ in read.tags} <= ALLOWED
    for tag, attributes in read.tags:
        assert attributes.keys() <= ATTRIBUTES
        if tag == "img":
            assert re.fullmatch(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*", attributes["src"] or "")
        if tag == "a":
            assert re.match(r"#seq-\d+$|https?://", attributes["href"] or "")
    assert page.encode().decode() == page
    return read


@settings(max_examples=200)
@given(hostile)
def test_nothing_in_a_text_acts_and_every_word_of_it_shows(text: str) -> None:
    call = {"role": "assistant", "content": text, "toolCalls": [{"id": "c1", "name": text, "args": {text: text}}]}
    given = [{**user(text), "name": text}, call, result("c1", text), result("c2", {text: [text]}), reply("</article>")]
    read = check(written(*given, title=text))
    assert sum(tag == "article" for tag, _ in read.tags) == 4
    assert read.text.count("x</script>") >= text.count("x</script>")


@given(st.lists(messages(), max_size=3))
def test_any_messages_make_a_page(given: list[Json]) -> None:
    check(written(*given))


def test_the_page_forbids_everything_but_its_own_style_and_the_images_in_it() -> None:
    page = written(user("hi"))
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    policy = next(a["content"] for tag, a in Read(page).tags if a.get("http-equiv") == "Content-Security-Policy")
    hashed = base64.b64encode(sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashed}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert "http" not in style
    assert "url(" not in style
    assert "<script" not in page


def test_images_of_raster_types_show_and_others_are_named() -> None:
    parts = [
        {"type": "image", "mediaType": "image/png", "data": PNG},
        {"type": "image_url", "image_url": {"url": f"data:image/gif;base64,{PNG}"}},
        {"type": "image", "mediaType": "image/svg+xml", "data": base64.b64encode(b"<svg onload=x>").decode()},
        {"type": "image", "url": "https://example.org/a.png?x=1&y=2"},
        {"type": "image", "url": "javascript:alert(1)"},
        {"type": "image", "mediaType": 'image/png" onerror="x', "data": PNG},
        {"type": "input_audio", "input_audio": {"format": "mp3", "data": PNG}},
    ]
    read = check(written({"role": "user", "content": parts}))
    images = [attributes for tag, attributes in read.tags if tag == "img"]
    assert [image["src"] for image in images] == [f"data:image/png;base64,{PNG}", f"data:image/gif;base64,{PNG}"]
    links = [attributes for tag, attributes in read.tags if tag == "a"]
    assert [link["href"] for link in links] == ["https://example.org/a.png?x=1&y=2"]
    assert links[0]["rel"] == "noreferrer noopener"
    assert "image/svg+xml" in read.text
    assert "audio/mp3" in read.text


def test_a_call_is_folded_with_its_result() -> None:
    read = check(written(calls("c1", "c2"), result("c1", "it is late"), reply("so")))
    assert [tag for tag, _ in read.tags].count("details") == 2
    assert "look it is late" in read.text
    assert "look no result" in read.text
    assert "3 messages" in read.text


def test_headings_lists_code_and_bold_words_show_as_such() -> None:
    page = written(reply("# Title\nwords **bold** `a<b`\nmore\n\n- one\n- two **\n\n```py\nif a < b:\n```"))
    assert '<h3 dir="auto">Title</h3>\n<p dir="auto">words <b>bold</b> <code>a&lt;b</code>\nmore</p>\n' in page
    assert '<p class="item in0" dir="auto">- one</p>\n<p class="item in0" dir="auto">- two **</p>\n' in page
    assert "<pre>\nif a &lt; b:</pre>" in page


def test_where_each_message_stands_can_be_pointed_at() -> None:
    read = check(written(stored(Message(**user("hi")), 7), stored(Message(**reply("ho")), 9, kind="summary")))
    assert [a["id"] for tag, a in read.tags if tag == "article"] == ["seq-7", "seq-9"]
    assert "2026-03-08 12:00:00 UTC · seq 7" in read.text


def test_what_was_redacted_says_so() -> None:
    page = written(stored(Message(**user("[redacted]")), 1, redacted=True))
    assert '<article class="user turn redacted" id="seq-1">' in page
    assert "[redacted]" in page


def test_long_lines_take_time_as_they_are_long() -> None:
    for text in ("**a " * 50_000, "` `` " * 50_000, " " * 200_000, "- " * 100_000, "#" * 200_000):
        assert written(user(text))
