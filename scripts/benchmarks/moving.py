"""Conversations that move: a large file imported, searched, exported and imported again, by the command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from scripts.benchmarks.measure import Figures, Group, Row, at_most
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import varied

ROOT = Path(__file__).resolve().parents[2]
ONE_TALK = 1000
"""Messages of each conversation in the file."""


def command(*words: str) -> Figures:
    """What a command takes: seconds of CPU, and megabytes of memory at its most."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(sys.executable, [sys.executable, "-m", "msglog", *words], environment, file_actions=quiet)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"msglog {words[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return {"seconds": usage.ru_utime + usage.ru_stime, "MB": usage.ru_maxrss / 1024}


def written(setting: Setting, count: int) -> str:
    """A file of conversations in OpenAI's chat format, a line each."""
    path = f"{setting.path()}.jsonl"
    messages = varied(count)
    with open(path, "w", encoding="utf-8") as file:
        for start in range(0, count, ONE_TALK):
            talk = [message for _, message in zip(range(min(ONE_TALK, count - start)), messages, strict=False)]
            file.write(json.dumps({"messages": talk}) + "\n")
    return path


class Journey:
    """So many messages on their way. Each step is made once, and stands on the one before it."""

    def __init__(self, setting: Setting, count: int) -> None:
        self._setting = setting
        self._count = count
        self.steps = {
            "import": cache(lambda: command("import", self._source(), self._store)),
            "import again": cache(lambda: (self.steps["import"](), command("import", self._source(), self._store))[1]),
            "first search": cache(lambda: (self.steps["import"](), self._search())[1]),
            "next search": cache(lambda: (self.steps["first search"](), self._search())[1]),
            "export": cache(lambda: (self.steps["import"](), command("export", self._bundle, self._store))[1]),
            "import of the bundle": cache(
                lambda: (self.steps["export"](), command("import", self._bundle, setting.path()))[1]
            ),
        }
        self._source = cache(lambda: written(setting, count))
        self._store = setting.path()
        self._bundle = f"{setting.path()}.bundle.gz"

    def _search(self) -> Figures:
        word = next(varied(1))["content"].split()[0]
        return command("search", word, "--limit", "20", "--store", self._store)


def groups(setting: Setting) -> Iterator[Group]:
    """The rows about moving: point 14."""
    count = setting.sizes.moved
    large, small = Journey(setting, count), Journey(setting, count // 10)
    for step in large.steps:
        what = f"{step}, {count:,} messages"
        yield Group(
            {what: large.steps[step], f"{what}, a tenth": small.steps[step]},
            [
                Row(14, f"{what}: seconds of CPU", what),
                Row(14, f"{what}: MB at most", what, figure="MB"),
                Row(14, f"{what} / a tenth of it: memory", what, f"{what}, a tenth", "MB", at_most(1.5)),
            ],
            rounds=1,
        )
