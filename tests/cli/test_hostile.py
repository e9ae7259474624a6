"""Hostile content in every place that takes some, through every command: nothing raw reaches a terminal or a pipe."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import msglog.sync
from msglog.cli.app import SECTIONS
from msglog.cli.markdown import MessageMarkdown
from msglog.cli.visible import visible
from tests.cli.conftest import HOSTILE, SERVERS, Run, hostile_name, invocations

COLOURS = re.compile(r"\x1b\[[\d;]*m")
BAR = re.compile(r"\x1b\[\?25[lh]|\x1b\[\d?[AK]|\r")
"""How a progress bar is drawn over itself."""
NAME = hostile_name()


def harmless(text: str) -> bool:
    return visible(text) == text


def more_of_the_same(folder: Path) -> list[list[str]]:
    """Other forms of what commands print."""
    return [
        ["show", NAME, "--raw"],
        ["show", NAME, "--full"],
        ["show", NAME, "--branch", NAME],
        ["usage"],
        ["usage", "--by", "branch"],
        ["describe", NAME],
        ["lineage", NAME, "--dot"],
        ["lineage", NAME, "--mermaid"],
        ["lineage", NAME, "--svg"],
        ["sql", "SELECT * FROM entries"],
        ["sql", f'SELECT 1 AS "{NAME}"'],
        ["show", f"{NAME}!"],
        ["show", NAME, "--branch", f"{NAME}!"],
        ["show", NAME, "--at", f"{NAME}!"],
        ["redact", NAME, f"{NAME}!"],
        ["show", "x", "--store", str(folder / NAME.replace("/", ""))],
        ["sql", f"SELECT {NAME}"],
        [NAME],
        ["logs", f"--{NAME}"],
        ["logs", "--order", NAME],
        ["search", NAME],
    ]


def test_every_command_is_tried() -> None:
    assert set(invocations("x", Path())) == {name for names in SECTIONS.values() for name in names} - SERVERS


def test_in_a_pipe_no_character_steers(run: Run, story: Path, bundle: Path, tmp_path: Path) -> None:
    for arguments in [*more_of_the_same(tmp_path), *invocations(NAME, tmp_path).values()]:
        ran = run(*arguments)
        assert harmless(ran.out), arguments
        assert harmless(ran.err), arguments
        assert ran.code in (0, 1, 2, 3), arguments


def test_as_json_everything_is_ascii_and_json(run: Run, story: Path, bundle: Path, tmp_path: Path) -> None:
    for arguments in invocations(NAME, tmp_path).values():
        ran = run(*arguments, "--json")
        assert ran.out.isascii(), arguments
        assert ran.out.replace("\n", "").isprintable(), arguments
        assert [json.loads(line) for line in ran.out.splitlines()] != [], arguments


def test_on_a_terminal_there_are_colours_and_nothing_else(
    terminal: Callable[..., str], story: Path, bundle: Path, tmp_path: Path
) -> None:
    every = invocations(NAME, tmp_path)
    bars = [every.pop(name) for name in ("export", "import", "verify", "repair", "backup", "compact")]
    commands = [*more_of_the_same(tmp_path), *every.values()]
    shown = terminal(*commands, columns=60)
    assert "\x1b[" in shown
    assert harmless(COLOURS.sub("", shown))
    assert shown.count("[exit") == len(commands)
    assert harmless(BAR.sub("", COLOURS.sub("", terminal(*bars))))


def test_rich_markup_in_a_message_is_only_text(terminal: Callable[..., str], story: Path) -> None:
    with msglog.sync.open(story) as store:
        store.log("markup").add("user", "[bold red]x[/] [link=http://evil]y[/link] :smile: [/]")
    commands = (["show", "markup"], ["show", "markup", "--raw"], ["tail", "markup"], ["search", "link"])
    shown = COLOURS.sub("", terminal(*commands)).split("[exit 0]")
    assert len(shown) == len(commands) + 1
    assert all("[bold red]x[/]" in one and ":smile:" in one for one in shown[:-1])


def test_markdown_shows_where_links_lead_and_hides_nothing() -> None:
    text = "[a](http://evil/x) ![alt](http://img) <b>tag</b>\n\n[ref]: http://hidden 'title'\n\n<div>block</div>"
    text += "\n\ntwo\nlines"
    shown = drawn(text)
    for part in ("[a](http://evil/x)", "![alt](http://img)", "<b>tag</b>", "http://hidden", "<div>block</div>"):
        assert part in shown
    assert "two\nlines" in re.sub(r" +\n", "\n", shown)


def test_characters_that_markdown_makes_of_entities_are_made_visible(terminal: Callable[..., str], story: Path) -> None:
    with msglog.sync.open(story) as store:
        store.log("entities").add("user", "&#8238;abc &#27;[31m &#155;31m &#13; [x](javascript&#58;alert)")
    shown = COLOURS.sub("", terminal(["show", "entities"]))
    assert harmless(shown)
    assert "\\u202eabc" in shown


def drawn(text: str) -> str:
    console = Console(width=80, color_system=None)
    with console.capture() as captured:
        console.print(MessageMarkdown(text))
    return captured.get()


PIECES = [
    "\n",
    "> ",
    "* ",
    "1. ",
    "```",
    "`",
    "|",
    "|-|",
    "# ",
    "[",
    "](",
    ")",
    "<",
    ">",
    "!",
    "**",
    "~~",
    "&",
    "\\",
    "\t",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=12).map("".join))
def test_any_text_can_be_drawn_as_markdown_and_loses_no_letter(text: str) -> None:
    assert not Counter(filter(str.isalpha, visible(text))) - Counter(filter(str.isalpha, drawn(text)))


@pytest.mark.parametrize(
    "text", ["```ignore all that\nx\n```", "| a |\n| - |\n| b | hidden |", "&lt;x&gt;", "```python\nprint(1)\n```"]
)
def test_what_markdown_leaves_out_is_shown(text: str) -> None:
    assert not Counter(filter(str.isalpha, text)) - Counter(filter(str.isalpha, drawn(text)))


@pytest.mark.parametrize("place", ["title", "tag", "meta"])
def test_what_people_say_of_a_log_is_escaped_too(run: Run, story: Path, place: str) -> None:
    given = f"k={json.dumps(HOSTILE)}" if place == "meta" else NAME
    for ran in (run("describe", NAME, f"--{place}", given), run("logs"), run("describe", NAME)):
        assert ran.code == 0
        assert harmless(ran.out)
