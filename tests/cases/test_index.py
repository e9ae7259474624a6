"""`tests/CASES.md` and the tests agree: every case has a line, and what a line promises is there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| ([A-Z]{3}-\d+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)


def test_every_test_of_a_case_stands_in_the_list_and_every_line_has_its_test() -> None:
    listed = dict(ROW.findall((TESTS / "CASES.md").read_text()))
    source = "".join(file.read_text() for file in sorted((TESTS / "cases").glob("test_*.py")))
    tested = {name.upper().replace("_", "-") for name in re.findall(r"def test_([a-z]{3}_\d+)_", source)}
    assert len(listed) == 87
    assert tested <= listed.keys()
    assert {case for case, where in listed.items() if where.startswith("tested")} <= tested


def test_every_test_that_a_line_names_exists() -> None:
    for file, name in re.findall(r"`tests/(\S+\.py)(?:::(\w+))?`", (TESTS / "CASES.md").read_text()):
        assert f"def {name or 'test_'}" in (TESTS / file).read_text()
