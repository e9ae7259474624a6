"""`msglog tail`: the end of a log, live, across processes, resumable."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msglog.sync
from tests.cli.conftest import Run, environment


def seqs(text: str) -> list[int]:
    return [json.loads(line)["seq"] for line in text.splitlines()]


def test_the_newest_of_the_branch_or_of_all(run: Run, story: Path) -> None:
    assert seqs(run("tail", "customer-123", "--json", "--last", "3").out) == [5, 6, 7]
    assert seqs(run("tail", "customer-123", "--json", "-n", "3", "-b", "what-if").out) == [5, 6, 8]
    assert seqs(run("tail", "customer-123", "--json", "--all", "-n", "3").out) == [6, 7, 8]
    assert seqs(run("tail", "customer-123", "--json", "-n", "99").out) == [1, 2, 3, 4, 5, 6, 7]


def test_after_a_seq(run: Run, story: Path) -> None:
    assert seqs(run("tail", "customer-123", "--json", "--after", "5").out) == [6, 7]
    assert run("tail", "customer-123", "-f", "--after", "99").code == 3


def test_a_line_has_one_message(run: Run, story: Path) -> None:
    lines = run("tail", "customer-123", "--after", "2").out.splitlines()
    assert len(lines) == 5
    assert "train_status" in lines[0]
    assert "(summary) The 7:58" in lines[-1]


def test_the_newest_of_a_branch_are_found_behind_many_of_another(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        store.log("customer-123").append_many([{"role": "user", "content": "x"}] * 300)
    assert seqs(run("tail", "customer-123", "--json", "-b", "what-if", "-n", "2").out) == [6, 8]


class Tail:
    """A `tail -f` in a process of its own."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "msglog", "tail", "customer-123", "-f", "--json", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())

    def line(self) -> int:
        assert self.process.stdout is not None
        return int(json.loads(self.process.stdout.readline())["seq"])

    def kill(self) -> None:
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_it_follows_other_processes_line_by_line_and_goes_on_where_it_was_killed(story: Path) -> None:
    tail = Tail("--after", "6")
    assert tail.line() == 7
    with msglog.sync.open(story) as store:
        log = store.log("customer-123")
        last = log.add("user", "one")
        assert tail.line() == last
        tail.kill()
        log.append_many([{"role": "user", "content": "two"}, {"role": "user", "content": "three"}])
        again = Tail("--after", str(last))
        assert [again.line(), again.line()] == [last + 1, last + 2]
        log.add("user", "four")
        assert again.line() == last + 3
        again.kill()
