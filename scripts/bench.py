"""Benchmarks: msglog beside plain `sqlite3` that runs the same statements, in interleaved rounds.

Each figure is the median over the rounds; a ratio is taken within a round, so that it holds where the machine's
speed drifts. Nothing is asserted: bounds are printed beside what was measured.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from scripts.benchmarks import (
    ageing,
    appending,
    conversions,
    disk,
    memory,
    moving,
    processes,
    reading,
    report,
    service,
)
from scripts.benchmarks.measure import Group, run
from scripts.benchmarks.peers import table
from scripts.benchmarks.setting import HELP, QUICK, Setting, Sizes

LIBRARIES = {"sqlite3": "sqlite3", "pysqlite3": "pysqlite3.dbapi2"}


def groups(setting: Setting) -> Iterator[Group]:
    """Everything that is measured, in order."""
    for chapter in (appending, ageing, reading, conversions, memory, disk, processes, service, moving):
        yield from chapter.groups(setting)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    parser.add_argument(
        "--only",
        metavar="PATTERN",
        help="rows whose point and words match a regular expression; with --peers, of their names instead",
    )
    parser.add_argument("--list", action="store_true", help="name the rows, measure nothing")
    parser.add_argument("--peers", action="store_true", help="what users pick instead, too; many minutes")
    parser.add_argument("--rounds", type=int, help="rounds of each comparison (5; with --quick 3)")
    parser.add_argument("--sqlite", choices=LIBRARIES, default="sqlite3", help="the SQLite library of both sides")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write what was measured as JSON")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="put the tables into a page, between its marks")
    parser.add_argument("--from-json", metavar="FILE", type=Path, help="measure nothing: the tables of such a file")
    sizes = parser.add_argument_group("sizes")
    for field in fields(Sizes):
        words = f"{HELP[field.name]} ({field.default:,}; with --quick {getattr(QUICK, field.name):,})"
        sizes.add_argument(f"--{field.name}", type=int, metavar="N", help=words)
    return parser.parse_args(given)


def measured(told: argparse.Namespace) -> dict[str, Any]:
    """What was measured, as it is written to JSON."""
    given = {field.name: getattr(told, field.name) for field in fields(Sizes)}
    sizes = replace(QUICK if told.quick else Sizes(), **{name: n for name, n in given.items() if n is not None})
    rounds = told.rounds or (3 if told.quick else 5)
    pattern = re.compile(told.only or "")

    def wanted(words: str) -> bool:
        return pattern.search(words) is not None

    library = importlib.import_module(LIBRARIES[told.sqlite])
    with tempfile.TemporaryDirectory(prefix="msglog-bench-", dir=os.environ.get("MSGLOG_BENCH_DIR")) as name:
        setting = Setting(Path(name), sizes, library)
        about = report.machine(setting.folder, library)
        standings = table.measure(setting, rounds, wanted) if told.peers else []
        rows = [] if told.peers and told.only else run(groups(setting), rounds, wanted)
    return report.as_data(about, rounds, asdict(sizes), [*rows, *table.bounds(standings)], standings)


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print."""
    told = arguments(given)
    if told.list:
        sizes = QUICK if told.quick else Sizes()
        for group in groups(Setting(Path(), sizes)):
            for row in group.rows:
                print(row.point, row.what, row.bound or "")
        return
    data = json.loads(told.from_json.read_text(encoding="utf-8")) if told.from_json else measured(told)
    tables = report.as_markdown(data)
    print(tables)
    if told.json:
        told.json.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if told.markdown:
        report.rewrite(told.markdown, tables)


if __name__ == "__main__":
    main()
