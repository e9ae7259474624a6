"""The code of docs/operations.md is run, in order, and prints what it says that it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CHAPTER = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", CHAPTER, re.DOTALL)


def test_every_example_prints_what_the_chapter_says(tmp_path: Path) -> None:
    assert len(EXAMPLES) == CHAPTER.count("```python")
    for code, expected in EXAMPLES:
        command = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert (done.stdout, done.stderr) == (expected, "")
