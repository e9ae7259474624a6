"""The README's code is run, in order, in one empty folder, and prints what it says that it prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
BLOCKS = re.findall(
    r"```(python|console)\n((?:(?!```).)*)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
)
TIMES = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?|\w+day, \d\d \w+ \d{4}")


def test_the_readme_has_examples_with_output() -> None:
    assert len(BLOCKS) >= 5


def test_every_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    if SHARED.exists():
        (tmp_path / "shared").symlink_to(SHARED)
    for language, code, expected in BLOCKS:
        if language == "python":
            done = run([sys.executable, "-W", "error", "-c", code], folder)
            assert (done.stdout, done.stderr) == (expected, ""), code
            continue
        name = code.removeprefix("$ ").split()[0]
        if name == "sqlite3" and shutil.which(name) is None:
            pytest.skip("no sqlite3 command here to run the README's queries with")
        if name == "msglog" and not SHARED.exists():
            continue  # these are about the conversations that lie there
        done = run(["bash", "-c", code.removeprefix("$ ")], folder)
        assert TIMES.sub("", done.stdout + done.stderr) == TIMES.sub("", expected), code


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with the commands that are installed beside this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False, env=environment)
