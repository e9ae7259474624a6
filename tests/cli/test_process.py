"""The command as a process: exit codes, pipes, signals, colours, and what it is without its extra."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import get_args

import pytest

import msglog.sync
from msglog.cli.commands import app
from msglog.cli.options import RoleName
from msglog.message import Role
from tests.cli.conftest import Ran, Run, environment

COMMAND = [sys.executable, "-W", "error", "-m", "msglog"]
Process = Callable[..., Ran]


def test_exit_codes_are_those_that_are_documented(run: Run, story: Path, tmp_path: Path) -> None:
    assert run("logs").code == 0
    assert run("search", "nowhere to be found").code == 1
    assert run("show", "--no-such-option").code == 2
    assert run("nosuchcommand").code == 2
    assert run("show", "customer-123", "--store", str(tmp_path / "none.db")).code == 3


def test_a_failure_is_one_line_on_standard_error(run: Run, story: Path, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no store")
    for arguments in (
        ["show", "nobody"],
        ["show", "customer-123", "--branch", "none"],
        ["show", "customer-123", "--at", "main~99"],
        ["fork", "customer-123", "what-if"],
        ["logs", str(tmp_path / "none.db")],
        ["logs", str(tmp_path / "text.db")],
        ["logs", str(tmp_path)],
        ["backup", str(story)],
        ["export", str(story), "--format", "bundle"],
        ["import", str(tmp_path / "none.json")],
        ["sql", "DELETE FROM entries"],
        ["redact", "customer-123", "99"],
        ["purge", "nobody", "--yes"],
    ):
        ran = run(*arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1), arguments
        assert ran.err.startswith("msglog: "), arguments
        assert "Traceback" not in ran.err


def test_a_role_is_one_of_those_that_there_are(run: Run, story: Path) -> None:
    ran = run("search", "late", "--role", "usr")
    assert (ran.code, ran.out, "Traceback" in ran.err) == (2, "", False)
    assert "'assistant'" in ran.err
    assert get_args(RoleName) == get_args(Role)


@pytest.mark.parametrize("url", ["http://[::1", "http://host:port", "http://host:99999", "http://", "http://a\nb"])
def test_a_url_that_is_none_is_a_failure_in_one_line(run: Run, url: str) -> None:
    ran = run("logs", "--store", url)
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert ran.err.startswith("msglog: http")


def test_what_the_library_refuses_is_a_wrong_command_line_in_one_line(
    run: Run, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("msglog.cli.search._moment", lambda _: datetime(2026, 1, 1))  # noqa: DTZ001 refused for that
    ran = run("search", "late", "--since", "7d")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "msglog: since must have a time zone, such as datetime.UTC\n"


def test_a_bug_is_not_taken_for_a_wrong_command_line(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("msglog.cli.search._moment", lambda _: int("no number"))
    with pytest.raises(ValueError, match="no number"):
        app(["search", "late", "--since", "7d"], prog_name="msglog")


def test_two_different_stores_are_a_mistake(run: Run, story: Path) -> None:
    assert run("logs", "a.db", "--store", "b.db").code == 2


def test_the_store_is_that_of_the_option_then_of_the_environment_then_agent_db(
    run: Run, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with msglog.sync.open("agent.db") as store:
        store.log("here").add("user", "hi")
    assert "customer-123" in run("logs").out
    assert run("logs", "--store", "agent.db").out == run("logs", "agent.db").out
    monkeypatch.delenv("MSGLOG_STORE")
    assert "here" in run("logs").out


def test_reading_makes_no_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MSGLOG_STORE", raising=False)
    for arguments in (["logs"], ["show", "x"], ["search", "x"], ["verify"], ["compact"], ["append", "x", "user", "y"]):
        assert run(*arguments).code == 3
    assert list(tmp_path.iterdir()) == []


def test_python_m_and_the_installed_command_are_the_same(process: Process, story: Path) -> None:
    installed = Path(sys.executable).with_name("msglog")
    done = subprocess.run([installed, "logs"], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout == process("logs").out != ""


def test_a_reader_that_leaves_ends_the_command_without_a_word(story: Path) -> None:
    with msglog.sync.open(story) as store:
        store.log("long").append_many([{"role": "user", "content": f"line {i} {'x' * 400}"} for i in range(500)])
    with subprocess.Popen(
        [*COMMAND, "show", "long", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


def test_an_interrupt_ends_a_tail_without_a_traceback(story: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "tail", "customer-123", "-f"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert child.stderr.read() == b""
    assert child.returncode == 130


def test_in_a_pipe_there_is_no_escape_code(process: Process, story: Path) -> None:
    for arguments in (["show", "customer-123"], ["show", "--help"]):
        ran = process(*arguments, TERM="xterm-256color", COLORTERM="truecolor")
        assert ran.code == 0
        assert "\x1b" not in ran.out + ran.err


def test_no_color_is_honoured_and_a_dumb_terminal_gets_plain_text(terminal: Callable[..., str], story: Path) -> None:
    assert "\x1b[36m" in terminal(["tail", "customer-123"])
    assert re.search(r"\x1b\[[\d;]*3[0-7][;m]", terminal(["tail", "customer-123"], NO_COLOR="1")) is None
    assert "\x1b" not in terminal(["tail", "customer-123"], TERM="dumb")


@pytest.mark.parametrize("columns", [40, 100])
def test_no_line_is_wider_than_the_terminal(terminal: Callable[..., str], story: Path, columns: int) -> None:
    commands = ["logs", "show customer-123", "tail customer-123", "search late", "lineage customer-123", "stats"]
    commands += ["diff customer-123 7 8", "branches customer-123", "usage", "doctor", "schema", "describe customer-123"]
    shown = terminal(*(command.split() for command in commands), columns=columns, NO_COLOR="1")
    lines = re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()
    assert [line for line in lines if len(line) > columns] == []


def test_without_the_extra_it_says_how_to_install_it() -> None:
    code = "import sys; sys.modules['typer'] = None; from msglog.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "msglog: the command line is an extra: pip install 'msglog[cli]'\n"


def test_help_loads_neither_the_library_nor_rich() -> None:
    code = """
import sys
from msglog.cli.commands import app
try:
    app(["show", "--help"], prog_name="msglog")
except SystemExit:
    print([name for name in ("sqlalchemy", "rich.console", "msglog.message") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_full_disk_under_the_output_is_a_failure_like_any(story: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "logs"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment()
        )
    assert (done.returncode, done.stderr) == (3, "msglog: No space left on device\n")


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").out.startswith("msglog 0.")


def test_streams_that_are_closed_lead_nowhere(story: Path) -> None:
    for closed, code in ((">&-", 0), ("2>&-", 0), ("<&-", 0), (">&- 2>&- <&-", 0)):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m msglog append new user hi {closed}"], check=False, env=environment()
        )
        assert done.returncode == code, closed
    with msglog.sync.open(story, read_only=True) as store:
        assert store.log("new").count() == 4
        assert store.verify().ok


def test_an_encoding_that_lacks_a_character_gets_an_escape(process: Process, story: Path) -> None:
    ran = process("lineage", "customer-123", PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")
    assert "\\u2192" in ran.out
