"""What was measured, as Markdown and as JSON."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.benchmarks.measure import Measured
from scripts.benchmarks.peers import table
from scripts.benchmarks.workload import JSON_BYTES

BEGIN = "<!-- figures: written by scripts/bench -->"
END = "<!-- end of figures -->"
HEADS = "| point | what | measured | spread | bound | holds | detail |"
MARKS = {True: "yes", False: "**no**", None: ""}


def syncs_a_second(folder: Path) -> float:
    """How many fsyncs of a page the disk does in a second."""
    descriptor = os.open(folder / "sync", os.O_RDWR | os.O_CREAT)
    started = time.perf_counter()
    for page in range(500):
        os.pwrite(descriptor, bytes(4096), page * 4096)
        os.fsync(descriptor)
    taken = time.perf_counter() - started
    os.close(descriptor)
    return 500 / taken


def machine(folder: Path, sqlite: Any) -> str:
    """The machine in words."""
    return (
        f"{os.cpu_count()} cores, about {syncs_a_second(folder):,.0f} fsyncs a second, "
        f"Python {platform.python_version()}, SQLite {sqlite.sqlite_version} of `{sqlite.__name__}`"
    )


def as_data(
    about: str, rounds: int, sizes: Mapping[str, int], rows: Sequence[Measured], peers: Sequence[table.Standing]
) -> dict[str, Any]:
    """Everything, as it is written to JSON."""
    return {
        "machine": about,
        "message_bytes": JSON_BYTES,
        "rounds": rounds,
        "sizes": dict(sizes),
        "rows": [asdict(row) for row in rows],
        "peers": table.as_data(peers),
    }


def as_markdown(data: Mapping[str, Any]) -> str:
    """The tables, made of what `as_data` gave."""
    lines = [
        f"{data['machine']}; messages of {data['message_bytes']} bytes; medians of {data['rounds']} rounds.",
        "",
        *([table.as_markdown(data["peers"], data["sizes"])] if data["peers"] else []),
        *([HEADS, "| --- " * HEADS.count("| ") + "|"] if data["rows"] else []),
    ]
    for row in sorted(data["rows"], key=lambda row: row["point"]):
        spread = f"{number(row['low'])} to {number(row['high'])}" if row["low"] != row["high"] else ""
        marks = row["bound"], MARKS[row["holds"]]
        cells = (row["point"], row["what"], number(row["figure"]), spread, *marks, row["detail"])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def number(value: float) -> str:
    """A figure with three digits or so."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"


def rewrite(page: Path, tables: str) -> None:
    """Put the tables between a page's marks; `ValueError` where it has none."""
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{page} has no place for figures: the lines {BEGIN!r} and {END!r}")
    before, rest = text.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n{END}{after}", encoding="utf-8")
