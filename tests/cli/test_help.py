"""Help: of every command, with an example; the same as it was; and every command and option in docs/cli.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main

from msglog.cli.app import SECTIONS, app
from tests.cli.conftest import Run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
EVERYWHERE = {"--store", "--json", "--help"}


def commands() -> dict[str, Any]:
    """The commands by name, those of a group by both names."""
    group: Any = typer.main.get_command(app)
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        parts = getattr(command, "commands", None)
        found |= {name: command} if parts is None else {f"{name} {part}": each for part, each in parts.items()}
    return found


def options(command: Any) -> set[str]:
    """The long names of a command's options."""
    return {name for param in command.params for name in param.opts if name.startswith("--")}


NAMES = sorted(commands())


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_every_command_is_listed_once() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted({name.split()[0] for name in commands()})


def test_the_list_of_commands_is_as_it_was(run: Run, snapshot: Callable[[str, str], None]) -> None:
    shown = run("--help")
    assert shown.code == 0
    snapshot("help", shown.out)


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_is_as_it_was_and_has_an_example(
    name: str, run: Run, snapshot: Callable[[str, str], None]
) -> None:
    shown = run(*name.split(), "--help").out
    assert f"\n  $ msglog {name}" in shown or f"| msglog {name}" in shown
    snapshot(f"help-{name.replace(' ', '-')}", shown)


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_and_option_says_what_it_is_for(name: str) -> None:
    command = commands()[name]
    assert all(param.help for param in command.params)
    assert {"--store", "--json"} <= options(command) | ({"--json"} if name == "serve" else set())


@pytest.mark.parametrize("name", NAMES)
def test_every_command_and_option_is_in_the_documentation(name: str) -> None:
    section = re.search(rf"^### `{name.split(maxsplit=1)[0]}`.*?(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/cli.md has no chapter on {name}"
    missing = {option for option in options(commands()[name]) - EVERYWHERE if f"`{option}" not in section[0]}
    assert missing == set()


def test_options_that_every_command_has_are_in_the_documentation() -> None:
    assert all(f"`{option}" in PAGE for option in EVERYWHERE)


def test_in_a_narrow_terminal_help_is_narrow(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    wide = [line for line in run("export", "--help").out.splitlines() if len(line) > 40]
    assert [line for line in wide if not line.startswith("  $ ")] == []
