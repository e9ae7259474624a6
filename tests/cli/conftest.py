"""A store of every kind of thing, and three ways to run the command: in this process, in a pipe, on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import msglog.sync
from msglog.cli.commands import app
from msglog.transfer import export_bundle

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


Run = Callable[..., Ran]


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
    meta = {"model": text, "usage": {"input_tokens": 9}, "labels": [text], text: text}
    log.add("user", text, id=name, name=name, meta=meta)
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
def bundle(story_file: Path, tmp_path: Path) -> Path:
    """A bundle of the store."""
    path = tmp_path / "backup.bundle"
    with msglog.sync.open(story_file, read_only=True) as store:
        export_bundle(store, path)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run a command in this process, without a terminal."""

    def run(*arguments: str, stdin: str | bytes = "") -> Ran:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        capsys.readouterr()
        with tempfile.TemporaryFile("w+", encoding="utf-8") as given:
            given.buffer.write(data)
            given.seek(0)
            monkeypatch.setattr(sys, "stdin", given)
            with pytest.raises(SystemExit) as ended:
                app(list(arguments), prog_name="msglog")
        printed = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else int(code is not None), printed.out, printed.err)

    return run


def invocations(log: str, folder: Path) -> dict[str, list[str]]:
    """Every command, on a log that holds something; those that change it come last. Servers are tested elsewhere."""
    return {
        "logs": ["logs", "--sizes"],
        "show": ["show", log],
        "tail": ["tail", log, "--all"],
        "search": ["search", "over"],
        "lineage": ["lineage", log],
        "diff": ["diff", log, "0", "main"],
        "branches": ["branches", log],
        "usage": ["usage", "--by", "model"],
        "sql": ["sql", "SELECT * FROM active_entries"],
        "schema": ["schema"],
        "stats": ["stats"],
        "verify": ["verify"],
        "doctor": ["doctor"],
        "repair": ["repair"],
        "backup": ["backup", str(folder / "backup.db")],
        "export": ["export", str(folder / "talk.md"), "--log", log],
        "import": ["import", str(folder / "backup.bundle"), "--dry-run"],
        "compact": ["compact"],
        "migrate": ["migrate"],
        "describe": ["describe", log, "--title", hostile_name(), "--tag", hostile_name()],
        "append": ["append", log, "user", "hello"],
        "fork": ["fork", log, f"{hostile_name()}2"],
        "rewind": ["rewind", log, "1"],
        "redact": ["redact", log, "1"],
        "purge": ["purge", log, "--yes"],
    }


SERVERS = {"serve", "token"}


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


ONE_AFTER_ANOTHER = """
import json, sys
from msglog.cli.commands import app
for arguments in json.loads(sys.argv[1]):
    try:
        app(arguments, prog_name="msglog")
    except SystemExit as ended:
        print("[exit", str(ended.code) + "]", flush=True)
"""
"""What runs several commands in one process, since starting one takes longer than most of them."""


@pytest.fixture
def terminal() -> Callable[..., str]:
    """Run commands on a terminal of so many columns, which types an answer; what it shows, each with its exit code."""

    def terminal(*commands: list[str], columns: int = 80, answer: str = "", **more: str) -> str:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = [sys.executable, "-W", "error", "-c", ONE_AFTER_ANOTHER, json.dumps(commands)]
        with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(**more)) as child:
            os.close(theirs)
            os.write(ours, answer.encode())
            shown = b""
            while piece := _read(ours):
                shown += piece
        os.close(ours)
        assert child.returncode == 0
        return shown.decode().replace("\r\n", "\n")

    return terminal


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody holds the other end any more
        return b""


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the one that is kept under a name; with MSGLOG_RENEW=1 in the environment, keep it."""

    def check(name: str, text: str) -> None:
        kept = Path(__file__).parent / "snapshots" / f"{name}.txt"
        if os.environ.get("MSGLOG_RENEW"):
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(text, encoding="utf-8")
        assert text == kept.read_text(encoding="utf-8"), f"{kept} says otherwise; MSGLOG_RENEW=1 renews it"

    return check
