"""`msglog show`: the transcript, and the log as it is stored."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import msglog.sync
from tests.cli.conftest import Run

TIMES = re.compile(r"\d\d:\d\d:\d\d|\w+day, \d\d \w+ \d{4}|\d{4}-\d\d-\d\dT[\d:.]+Z")
IDS = re.compile(r"\b1[0-9a-z]{15}\b")
COLOURS = re.compile(r"\x1b\[[\d;]*m")


def timeless(text: str) -> str:
    return IDS.sub("(id)", TIMES.sub("(time)", text))


def test_the_transcript_is_as_it_was(run: Run, story: Path, snapshot: Callable[[str, str], None]) -> None:
    shown = [run("show", "customer-123"), run("show", "customer-123", "--branch", "what-if")]
    snapshot("show", timeless("\n".join(ran.out for ran in shown)))


@pytest.mark.parametrize("columns", [40, 100])
def test_the_transcript_on_a_terminal_is_as_it_was(
    terminal: Callable[..., str], story: Path, snapshot: Callable[[str, str], None], columns: int
) -> None:
    commands = [["show", "customer-123", "--branch", "what-if"], ["tail", "customer-123"], ["logs"]]
    commands += [["branches", "customer-123"], ["diff", "customer-123", "6", "7"], ["lineage", "customer-123"]]
    shown = terminal(*commands, columns=columns)
    lines = [line.rstrip() for line in COLOURS.sub("", shown).splitlines()]
    snapshot(f"terminal-{columns}", re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "(moment)", timeless("\n".join(lines) + "\n")))


def test_the_stored_form_shows_every_entry_of_all_branches_with_ids(
    run: Run, story: Path, snapshot: Callable[[str, str], None]
) -> None:
    snapshot("show-raw", timeless(run("show", "customer-123", "--raw").out))


def test_a_summary_says_how_many_messages_it_stands_for_through_summaries_of_summaries(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        log = store.log("nested")
        log.append_many([{"role": "user", "content": str(i)} for i in range(6)])
        for size in (4, 2):
            ids = [entry.id for entry in log.history().refs()][:size]
            entry = {"message": {"role": "user", "content": "so far"}}
            log.edit({"op": "summary", "sourceIds": ids, "entry": entry, "replace": True})
    assert "summary of 5 messages" in run("show", "nested").out


def test_a_result_stands_beneath_its_call_and_long_ones_are_folded(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        log = store.log("tools")
        calls = [{"id": "a", "name": "first", "args": {"q": "x" * 1000}}, {"id": "b", "name": "second"}]
        log.append({"role": "assistant", "content": None, "tool_calls": calls})
        log.add("tool", "of the second", tool_call_id="b")
        log.add("tool", "y" * 1000, tool_call_id="a", isError=True)
    folded, full = run("show", "tools").out, run("show", "tools", "--full").out
    assert re.search(r"first\(q: \"x+…\)? ?\+\d+\n +✗ y+… \+\d+\n +second\(\)\n +↳ of the second", folded)
    assert "x" * 1000 in full
    assert "y" * 1000 in full


def test_a_call_without_a_result_says_so_and_a_stray_result_stands_alone(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        log = store.log("stray")
        log.append({"role": "assistant", "content": None, "tool_calls": [{"id": "a", "name": "open"}]})
        log.add("user", "hello?")
        log.add("tool", "late", tool_call_id="a")
    shown = run("show", "stray").out
    assert "no result" in shown
    assert re.search(r"3  tool  a .*\n +↳ late", shown)


def test_long_instructions_are_folded(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        store.log("long").add("system", "\n".join(f"rule {i}" for i in range(100)))
    assert "… 92 more lines" in run("show", "long").out
    assert "rule 99" in run("show", "long", "--full").out


def test_what_was_redacted_is_shown_as_redacted(run: Run, story: Path) -> None:
    shown = run("show", "customer-123")
    assert "[redacted]" in shown.out
    assert "4111" not in shown.out + run("show", "customer-123", "--raw").out


def test_any_revision_can_be_shown(run: Run, story: Path) -> None:
    def seqs(at: str) -> list[int]:
        return [json.loads(line)["seq"] for line in run("show", "customer-123", "--at", at, "--json").out.splitlines()]

    assert seqs("6") == seqs("main~1") == seqs("~1") == seqs("what-if~1") == [1, 2, 3, 4, 5, 6]
    assert seqs("7") == seqs("main") == [1, 7, 6]
    assert seqs("0") == []


def test_windows_are_the_newest_oldest_first_and_never_all_by_accident(run: Run, story: Path) -> None:
    def seqs(*options: str) -> list[int]:
        shown = run("show", "customer-123", "--branch", "what-if", "--json", *options)
        return [json.loads(line)["seq"] for line in shown.out.splitlines()]

    assert seqs("--last", "3") == [5, 6, 8]
    assert seqs("--last", "99") == seqs()
    assert seqs("--last", "0") == []
    assert run("show", "customer-123", "--last", "-1").code == 2
    assert run("show", "customer-123", "--last", "x").code == 2
    assert run("logs", "--last", "0").out == run("tail", "customer-123", "--last", "0").out == ""
    assert run("search", "late", "--limit", "-1").code == 2


def test_a_text_with_nul_and_surrogates_is_shown_whole(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        store.log("odd").add("user", "a\0b \ud83d end")
    assert "a\\x00b \\ud83d end" in run("show", "odd").out
    assert json.loads(run("show", "odd", "--json").out)["message"]["content"] == "a\0b \ud83d end"
    assert json.loads(run("search", "b", "--log", "odd", "--json").out)["seq"] == 1
