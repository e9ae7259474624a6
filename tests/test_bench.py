"""`scripts/bench` measures every row that it names, and says so in JSON and in Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts import bench
from scripts.benchmarks import report
from scripts.benchmarks.peers import harness, table
from scripts.benchmarks.peers.contender import Contender, Conversation
from scripts.benchmarks.setting import Setting, Sizes

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
    "moved": 100,
}
SIZES = [word for name, size in TINY.items() for word in (f"--{name}", str(size))]


NO_PROCESSES = "^(?!10 |13 |14 |5 .*CPU)"  # fresh processes are what costs most here


def test_every_row_is_measured_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold figures\n{report.END}\nafter\n")
    told = ["--only", NO_PROCESSES, "--json", str(tmp_path / "it.json"), "--markdown", str(page)]
    bench.main([*SIZES, "--rounds", "1", *told])
    printed = capsys.readouterr().out
    data = json.loads((tmp_path / "it.json").read_text())
    assert data["sizes"] == TINY
    assert {row["point"] for row in data["rows"]} == {1, 2, 3, 4, 5, 6, 7, 8, 9, 11}
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


def test_fresh_processes_are_measured(tmp_path: Path) -> None:
    where = tmp_path / "it.json"
    bench.main([*SIZES, "--rounds", "1", "--only", "import msglog,|one caller, followed", "--json", str(where)])
    rows = json.loads(where.read_text())["rows"]
    assert [row["point"] for row in rows] == [5, 10]
    assert all(row["figure"] > 0 for row in rows)


def test_the_service_is_measured(tmp_path: Path) -> None:
    where = tmp_path / "it.json"
    told = [
        "--rounds",
        "1",
        "--only",
        "13 one client over HTTP / a Star|13 16 followers over HTTP, ",
        "--json",
        str(where),
    ]
    bench.main([*SIZES, *told])
    rows = json.loads(where.read_text())["rows"]
    assert [row["point"] for row in rows] == [13, 13]
    assert all(row["figure"] > 0 for row in rows)


def test_moving_is_measured(tmp_path: Path) -> None:
    where = tmp_path / "it.json"
    bench.main([*SIZES, "--rounds", "1", "--only", "14 next search, .* MB", "--json", str(where)])
    assert [row["figure"] > 0 for row in json.loads(where.read_text())["rows"]] == [True]


def test_a_page_without_a_place_for_figures_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing here")
    with pytest.raises(ValueError, match="no place for figures"):
        report.rewrite(page, "figures")
    assert page.read_text() == "nothing here"


def contender(name: str, opening: Any) -> Contender:
    return Contender(name, opening, asynchronous=False)


def test_contenders_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = tmp_path / "it.json"
    bench.main([*SIZES, "--rounds", "2", "--peers", "--only", "msglog|plain sqlite3", "--json", str(where)])
    printed = capsys.readouterr().out
    peers = json.loads(where.read_text())["peers"]
    assert [peer["name"] for peer in peers] == [
        "**msglog**",
        "**msglog.sync**",
        "plain sqlite3, one INSERT a transaction",
    ]
    for peer in peers:
        assert peer["failure"] is None
        assert len(peer["rounds"]) == 2
        assert (peer["figures"]["lost"], peer["figures"]["refused"]) == (0, 0)
        assert f"| {peer['name']} |" in printed


def test_a_contender_that_fails_says_why_in_its_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> Conversation:
        raise RuntimeError("no | such\nlibrary")

    monkeypatch.setattr(table, "CONTENDERS", [contender("broken", broken)])
    standings = table.measure(Setting(tmp_path, Sizes(**TINY)), 1, lambda _: True)
    assert "| failed: RuntimeError: no / such library |" in table.as_markdown(table.as_data(standings), TINY)


def test_messages_that_a_contender_loses_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def forgetful(_: Setting, path: str, __: str) -> Conversation:
        kept = Path(f"{path}.kept")
        kept.touch()

        def append(_: object) -> None:
            with kept.open("a") as file:
                file.write("x")

        return Conversation(append, lambda: len(kept.read_text()) - 1, lambda: None)

    monkeypatch.setattr(harness, "aged", lambda *_: {"ageing": 1.0, "load": 1.0})
    monkeypatch.setattr(table, "CONTENDERS", [contender("forgetful", forgetful)])
    standings = table.measure(Setting(tmp_path, Sizes(**TINY)), 1, lambda _: True)
    assert "| 3 lost |" in table.as_markdown(table.as_data(standings), TINY)
