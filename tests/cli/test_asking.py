"""`logs`, `describe`, `branches`, `search`, `usage`, `sql`, `schema`: questions, and what people say of a log."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msglog.sync
from msglog.cli.ask import TABLES, VIEWS
from tests.cli.conftest import Run, environment


def lines(run: Run, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--json").out.splitlines()]


def test_logs_are_chosen_by_name_and_tag_and_ordered(run: Run, story: Path) -> None:
    run("describe", "customer-123", "--title", "The late train", "--tag", "refund", "--tag", "vip")
    assert [log["name"] for log in lines(run, "logs", "--tag", "vip")] == ["customer-123"]
    assert [log["name"] for log in lines(run, "logs", "--prefix", "customer-")] == ["customer-123"]
    assert lines(run, "logs", "--prefix", "none") == []
    assert "The late train  #refund  #vip" in run("logs").out
    assert [log["entries"] for log in lines(run, "logs", "--order", "entries")] == [4, 8]


def test_a_log_is_described_key_by_key(run: Run, story: Path) -> None:
    run("describe", "customer-123", "--title", "A", "--tag", "x", "--tag", "y", "--meta", "n=2", "--meta", "s=text")
    run("describe", "customer-123", "--untag", "x", "--tag", "z", "--meta", "n=")
    (found,) = lines(run, "describe", "customer-123")
    assert (found["title"], found["tags"], found["meta"]) == ("A", ["y", "z"], {"s": "text"})
    run("describe", "customer-123", "--title", "")
    assert lines(run, "describe", "customer-123")[0]["title"] is None
    assert run("describe", "customer-123", "--meta", "novalue").code == 2


def test_branches_say_where_they_are(run: Run, story: Path) -> None:
    main, what_if = lines(run, "branches", "customer-123")
    assert (main["name"], main["messages"], main["forkedFrom"]) == ("main", 3, None)
    assert (what_if["name"], what_if["messages"], what_if["appended"]) == ("what-if", 7, 7)


# Search


def hits(run: Run, *arguments: str) -> list[int]:
    return [line["seq"] for line in lines(run, "search", *arguments)]


def test_words_are_found_in_texts_calls_and_results_the_newest_first(run: Run, story: Path) -> None:
    assert hits(run, "late") == [7, 5]
    assert hits(run, "train_status") == [3]
    assert hits(run, "delay_minutes") == [4]


def test_a_search_is_narrowed_down(run: Run, story: Path) -> None:
    assert hits(run, "late", "--log", "customer-123", "--branch", "main") == [7]
    assert hits(run, "7", "58", "--role", "user") == [2]
    assert hits(run, "late", "--since", "1h") == [7, 5]
    assert hits(run, "late", "--since", "2999-01-01") == []
    assert hits(run, "late", "--limit", "1") == [7]
    assert run("search", "late", "--since", "yesterday").code == 2
    assert run("search", "late", "--branch", "main").code == 2


def test_since_takes_the_moment_itself_in(run: Run, story: Path) -> None:
    at = lines(run, "search", "late", "--limit", "1")[0]["at"]
    assert hits(run, "late", "--since", at) == [7]


def test_no_words_are_a_mistake(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        texts = ("see POL-358", "don't use v2.0", "C++ a*b (x) AND y")
        store.log("odd").append_many([{"role": "user", "content": text} for text in texts])
    for words in ("POL-358", "don't", "2.0", "C++", "a*b", "(x)", "AND", "*"):
        assert run("search", "--log", "odd", "--", words).code == 0, words
    for words in ('"quoted"', "-x", "NEAR(", "", "x" * 5000):
        assert run("search", "--log", "odd", "--", words).code == 1, words


def test_what_matches_is_marked_on_a_terminal(terminal: Callable[..., str], story: Path) -> None:
    assert "\x1b[1;33mlate\x1b[0m" in terminal(["search", "late"])


def test_a_read_only_file_is_searched_too(run: Run, story: Path) -> None:
    story.chmod(0o400)
    assert hits(run, "late") == [7, 5]


# Usage


def test_usage_adds_up_by_log_branch_model_and_day(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        for name, model in (("a", "claude-haiku-4-5"), ("a", "unheard-of"), ("b", "claude-haiku-4-5")):
            meta = {"model": model, "usage": {"input_tokens": 1000, "output_tokens": 100}}
            store.log(name).add("assistant", "x", meta=meta)
    run("purge", "customer-123", "--yes")
    found = {line["log"]: line for line in lines(run, "usage")}
    assert (found["a"]["responses"], found["a"]["cost"], found["a"]["partial"]) == (2, "0.0015", True)
    assert (found["b"]["cost"], found["b"]["partial"]) == ("0.0015", False)
    models = {line["model"]: line["responses"] for line in lines(run, "usage", "--by", "model")}
    assert (models["claude-haiku-4-5"], models["unheard-of"]) == (2, 1)
    (day,) = lines(run, "usage", "--by", "day")
    assert day["responses"] == 4
    assert lines(run, "usage", "--by", "branch", "--log", "b")[0]["branch"] == "main"
    assert "$0.0015+" in run("usage", "--log", "a").out
    assert "total" in run("usage").out


def test_cached_tokens_are_billed_once(run: Run, story: Path) -> None:
    with msglog.sync.open(story) as store:
        openai = {"prompt_tokens": 1000, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 500}}
        anthropic = {"input_tokens": 500, "cache_read_input_tokens": 500, "output_tokens": 200}
        for name, usage in (("o", openai), ("a", anthropic)):
            store.log(name).add("assistant", "x", meta={"model": "claude-haiku-4-5", "usage": usage})
    (one,), (other,) = (lines(run, "usage", "--log", name) for name in ("o", "a"))
    assert one["cost"] == other["cost"] == "0.00155"
    assert one["tokens"] == other["tokens"]


def test_a_store_without_usage_says_so(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "plain.db")
    run("append", "x", "user", "hi", "--create", "--store", path)
    ran = run("usage", path)
    assert (ran.code, ran.out, ran.err) == (1, "", "no response of a model says what it took\n")


# SQL


def test_sql_only_reads(run: Run, story: Path) -> None:
    assert lines(run, "sql", "SELECT count(*) AS n FROM entries WHERE kind = 'summary'") == [{"n": 1}]
    for query in ("DELETE FROM entries", "PRAGMA user_version = 3", "ATTACH 'x' AS y", "SELECT 1; SELECT 2"):
        assert run("sql", query).code == 3, query


def test_everything_that_can_be_asked_is_described(run: Run, story: Path) -> None:
    run("search", "late")  # which makes the index
    found = lines(run, "sql", "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')")
    kept = {row["name"] for row in found if not row["name"].startswith(("sqlite_", "search_"))}
    assert kept <= VIEWS.keys() | TABLES.keys()
    assert all(line["columns"] for line in lines(run, "schema"))


# What the shell offers


def offered(story: Path, words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "msglog"],
        env=environment(_MSGLOG_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1)),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_the_shell_is_offered_commands_and_the_names_of_logs(story: Path) -> None:
    assert {"lineage", "logs"} <= set(offered(story, "msglog l").split())
    assert offered(story, "msglog show c").split() == ["customer-123"]
    assert offered(story, f"msglog show --store {story} c").split() == ["customer-123"]


def test_names_that_a_shell_could_run_are_not_offered(story: Path) -> None:
    with msglog.sync.open(story) as store:
        for name in ("c$(touch x)", "c`id`", "c d", "c;e", "c'q", 'c"q', "c\nd"):
            store.log(name).add("user", "x")
    assert offered(story, "msglog show c").split("\n") == ["customer-123", ""]
