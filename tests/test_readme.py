"""The README's code is run, in order, in one empty folder, and prints what it says that it prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(
    r"```(python|console)\n((?:(?!```).)*)```\n\n```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL
)


def test_the_readme_has_examples_with_output() -> None:
    assert len(BLOCKS) >= 5


def test_every_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    for language, code, expected in BLOCKS:
        if language == "console":
            if shutil.which("sqlite3") is None:
                pytest.skip("no sqlite3 command here to run the README's queries with")
            command = ["bash", "-c", code.removeprefix("$ ")]
        else:
            command = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert (done.stdout, done.stderr) == (expected, ""), code
