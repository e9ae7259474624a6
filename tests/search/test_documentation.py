"""The example of `docs/search.md` prints what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "search.md"


def test_the_example_prints_what_the_page_says(tmp_path: Path) -> None:
    [(code, expected)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    command = [sys.executable, "-W", "error", "-X", "utf8", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (expected, "")
