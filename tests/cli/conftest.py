"""A store of every kind of thing, and three ways to run the command: in this process, in a pipe, on a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import msglog.sync
from msglog.cli.commands import app

HOSTILE = (
    "\x1b]8;;http://evil\x07[b]x[/b] \r over \x9b31m \u202eabc \u200b \U000e0041 \x00 <b> `code` [l](javascript:a)"
)
"""Text that steers a terminal, turns its direction, hides, and means something to Rich and to Markdown."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of the command gave."""

    code: int
    out: str
    err: str


def make_story(path: Path) -> None:
    """A store with a summary, branches, tool calls, a rewind, a redaction; and a log that is hostile all over."""
    with msglog.sync.open(path) as store:
        log = store.log("customer-123")
        log.add("system", "You help travellers.")
        log.add("user", "Is the **7:58** on time?", id="question")
        calls = [{"id": "c1", "name": "train_status", "args": {"departs": "07:58"}}]
        log.append({"role": "assistant", "content": None, "tool_calls": calls})
        log.add("tool", {"delay_minutes": 12}, tool_call_id="c1")
        log.add("assistant", "It runs 12 minutes late.", id="answer")
        log.add("user", "My card is 4111.", id="secret")
        history = log.history()
        before = history.revision_id
        entry = {"id": "told", "message": {"role": "assistant", "content": "The 7:58 runs 12 minutes late; told so."}}
        sources = [entry.id for entry in history.refs()[1:5]]
        log.commit(history.edit({"op": "summary", "sourceIds": sources, "entry": entry, "replace": True}))
        log.fork("what-if", at=before).add("user", "And the 9:58?")
        log.redact("secret", "card number")
        make_hostile(store.log(hostile_name()))


def hostile_name() -> str:
    """Hostile, as far as a name may be."""
    return HOSTILE.replace("\0", "")


def make_hostile(log: msglog.sync.MessageLog) -> None:
    """Hostile content in every place that takes some."""
    text, name = HOSTILE + "\ud800", hostile_name()
    log.add("user", text, id=name, name=name, meta={"model": text, "labels": [text], text: text})
    call = {"id": name, "name": text, "args": {text: [text]}}
    log.append({"role": "assistant", "content": [{"type": text, "x": text}], "tool_calls": [call], text: text})
    log.add("tool", {text: text}, tool_call_id=name)
    log.fork(name).add("assistant", text)


@pytest.fixture(scope="session")
def story_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store, made once; not to be written to."""
    path = tmp_path_factory.mktemp("cli") / "story.db"
    make_story(path)
    return path


@pytest.fixture
def story(story_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the store, as the one that commands work on."""
    path = tmp_path / "story.db"
    shutil.copy(story_file, path)
    monkeypatch.setenv("MSGLOG_STORE", str(path))
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run a command in this process, without a terminal."""

    def run(*arguments: str, stdin: str | bytes = "") -> Ran:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            app(list(arguments), prog_name="msglog")
        printed = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else int(code is not None), printed.out, printed.err)

    return run


def environment(**more: str) -> dict[str, str]:
    """The environment for a process: this one's, without what says how terminals are."""
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM")}
    return kept | {"TERM": "xterm-256color", **more}


@pytest.fixture
def process() -> Callable[..., Ran]:
    """Run a command in a process of its own, in a pipe."""

    def process(*arguments: str, stdin: str = "", **more: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "msglog", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
            env=environment(**more),
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return process


@pytest.fixture
def terminal() -> Callable[..., Ran]:
    """Run a command on a terminal of so many columns, which answers what it is told to; all it shows is in `out`."""

    def terminal(*arguments: str, columns: int = 80, answer: str = "", **more: str) -> Ran:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command: list[Any] = [sys.executable, "-W", "error", "-m", "msglog", *arguments]
        with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(**more)) as child:
            os.close(theirs)
            os.write(ours, answer.encode())
            shown = b""
            while True:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # how Linux says that the other end is closed
                    break
                if not piece:
                    break
                shown += piece
        os.close(ours)
        return Ran(child.returncode, shown.decode().replace("\r\n", "\n"), "")

    return terminal
