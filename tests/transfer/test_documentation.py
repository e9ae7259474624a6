"""`docs/transfer.md`: its example prints what it says, and what it says of the format is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import msglog.transfer
from msglog.storage import copies
from msglog.transfer.lines import LINES, VERSION
from msglog.transfer.view import ViewFormat

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "transfer.md").read_text("utf-8")
IMPORTERS = (Path(__file__).resolve().parents[2] / "docs" / "importers.md").read_text("utf-8")


def test_the_example_prints_what_the_page_says(tmp_path: Path) -> None:
    [(code, expected)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    command = [sys.executable, "-W", "error", "-X", "utf8", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (expected, "")


def test_every_type_of_line_is_told_with_its_keys_in_their_order() -> None:
    told = {}
    for kind, cell in re.findall(r"^\| `(\w+)` \| (`.*?) \| ", PAGE, re.MULTILINE):
        keys = re.findall(r"`(\w+)`(?: \([^)]*\))?(\??)", re.sub(r'\(`"\w+"`\)', "", cell))
        told[kind] = [(key, mark == "?") for key, mark in keys]
    for kind, columns in LINES.items():
        assert told[kind] == [(column.key, column.optional) for column in columns], kind


def test_every_number_of_the_format_is_the_one_of_the_code() -> None:
    assert f"`version` ({VERSION})" in PAGE
    assert f"more than {copies.PART_REVISIONS}, or" in PAGE
    assert copies.PART_BYTES == 2**20
    assert "more than 1 MiB" in PAGE


def test_every_name_and_every_form_is_told() -> None:
    words = set(re.findall(r"\w+", PAGE + IMPORTERS))
    assert set(msglog.transfer.__all__) - words == set()
    assert msglog.transfer.__all__ == sorted(msglog.transfer.__all__)
    assert set(get_args(ViewFormat)) - set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set()
