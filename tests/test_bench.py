"""`scripts/bench` measures every row that it names, and says so in JSON and in Markdown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import bench
from scripts.benchmarks import report

TINY = {
    "appends": 20,
    "callers": 3,
    "each": 2,
    "batch": 5,
    "entries": 1000,
    "fragments": 4,
    "turns": 4,
    "cleared": 3,
    "load": 10,
    "memory": 1500,
    "revisions": 100,
}
SIZES = [word for name, size in TINY.items() for word in (f"--{name}", str(size))]


def test_every_row_is_measured_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold figures\n{report.END}\nafter\n")
    bench.main([*SIZES, "--rounds", "1", "--json", str(tmp_path / "it.json"), "--markdown", str(page)])
    printed = capsys.readouterr().out
    data = json.loads((tmp_path / "it.json").read_text())
    assert data["sizes"] == TINY
    assert {row["point"] for row in data["rows"]} >= {1, 2, 3, 4, 5, 6, 8, 9, 11}
    for row in data["rows"]:
        assert row["low"] <= row["figure"] <= row["high"]
        assert row["figure"] > 0, row
        assert f"| {row['what']} |" in printed
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old figures" not in text
    assert printed.strip() in text


def test_rows_can_be_chosen_by_point_and_words(tmp_path: Path) -> None:
    where = tmp_path / "it.json"
    bench.main([*SIZES, "--rounds", "2", "--only", "^3 |last.50", "--json", str(where)])
    rows = json.loads(where.read_text())["rows"]
    assert [row["point"] for row in rows] == [3, 6]


def test_a_page_without_a_place_for_figures_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing here")
    with pytest.raises(ValueError, match="no place for figures"):
        report.rewrite(page, "figures")
    assert page.read_text() == "nothing here"
