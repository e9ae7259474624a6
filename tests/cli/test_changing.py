"""`fork`, `rewind`, `redact`, `purge`, `export`, `import`, and the care of a store."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import msglog
import msglog.sync
from msglog.storage.reader import View
from tests.cli.conftest import Run, hostile_name


def test_a_fork_begins_at_a_head_or_at_a_revision(run: Run, story: Path) -> None:
    run("fork", "customer-123", "a")
    run("fork", "customer-123", "b", "--at", "2")
    with msglog.sync.open(story, read_only=True) as store:
        assert [len(store.log("customer-123", name).all()) for name in ("a", "b")] == [3, 2]


def test_a_rewind_shows_again_what_was_shown_and_loses_nothing(run: Run, story: Path) -> None:
    ran = json.loads(run("rewind", "customer-123", "6", "--json").out)
    assert ran["messages"] == 6
    with msglog.sync.open(story, read_only=True) as store:
        log = store.log("customer-123")
        assert [message.seq for message in log.all()] == [1, 2, 3, 4, 5, 6]
        assert log.head() == ran["head"]
        assert log.history(at=ran["before"]).size == 3
        assert store.verify().ok


def test_a_redaction_names_the_summaries_over_it(run: Run, story: Path) -> None:
    assert json.loads(run("redact", "customer-123", "2", "--reason", "a name", "--json").out)["summaries"] == ["told"]
    assert run("redact", "customer-123", "answer").code == 0
    with msglog.sync.open(story, read_only=True) as store:
        assert [store.log("customer-123").get(seq).redacted for seq in (2, 5)] == [True, True]


def test_a_second_redaction_says_that_it_was_done_already(run: Run, story: Path) -> None:
    assert run("redact", "customer-123", "answer").out.startswith("message 5 of 'customer-123' is redacted\n")
    for entry in ("answer", "5"):
        again = run("redact", "customer-123", entry)
        assert (again.code, again.out.splitlines()[0]) == (0, "message 5 of 'customer-123' was redacted already")


def test_what_is_one_is_told_of_as_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSGLOG_STORE", str(tmp_path / "one.db"))
    run("append", "log", "user", "hello", "--create")
    assert run("verify").out == "all is well: 1 log, 1 message, 2 revisions\n"
    assert " shows 1 message again; " in run("rewind", "log", "1").out
    (tmp_path / "talk.json").write_text('[{"role": "user", "content": "hi"}]')
    for _ in range(2):
        brought = run("import", str(tmp_path / "talk.json")).out
    assert brought.endswith(", 1 was there already\n")
    assert run("purge", "log", "--yes").out.startswith("1 message of 'log' is gone")


def test_a_purge_without_a_terminal_or_yes_is_refused(run: Run, story: Path) -> None:
    assert run("purge", "customer-123").code == 2
    assert run("show", "customer-123").code == 0
    assert run("purge", "customer-123", "--yes").code == 0
    assert run("show", "customer-123").code == 3
    assert run("show", hostile_name()).code == 0, "the others stay"


def test_a_purge_asks(terminal: Callable[..., str], story: Path) -> None:
    asked = terminal(["purge", "customer-123"], answer="n\n")
    assert "log 'customer-123': 8 messages, 2 branches. This cannot be undone." in asked
    assert "[exit 1]" in asked
    assert "[exit 0]" in terminal(["purge", "customer-123"], answer="y\n")
    with msglog.sync.open(story, read_only=True) as store:
        assert [info.name for info in store.logs()] == [hostile_name()]


def test_what_was_purged_is_found_nowhere(run: Run, story: Path) -> None:
    run("search", "late")
    run("describe", "customer-123", "--title", "QZERASEME")
    run("purge", "customer-123", "--yes")
    assert run("search", "late").code == 1
    held = b"".join(path.read_bytes() for path in story.parent.glob("story.db*"))
    assert not any(word in held for word in (b"QZERASEME", b"minutes late", b"customer-123", b"train_status"))


def test_names_are_whole_and_compare_byte_for_byte(run: Run, story: Path) -> None:
    for name in ("u1/main", "u2/main", "a/b/c", "Main", "main", "e\u0301", "\u00e9"):
        run("append", name, "user", f"in {name}")
    for name in ("u1/main", "u2/main", "a/b/c", "Main", "main", "e\u0301", "\u00e9"):
        assert json.loads(run("show", name, "--json").out)["message"]["content"] == f"in {name}"


# Export and import


def test_a_bundle_carries_the_store_over_and_twice_is_once(run: Run, story: Path, tmp_path: Path) -> None:
    bundle, other = str(tmp_path / "all.bundle.gz"), str(tmp_path / "other.db")
    assert run("export", bundle).code == 0
    assert run("import", bundle, other).code == 0
    assert run("import", bundle, other, "--json").code == 0
    assert run("export", str(tmp_path / "again.bundle"), other).code == 0
    assert run("export", str(tmp_path / "first.bundle")).code == 0
    assert (tmp_path / "again.bundle").read_bytes() == (tmp_path / "first.bundle").read_bytes()


def test_a_dry_run_says_what_would_come_and_makes_nothing(run: Run, story: Path, tmp_path: Path) -> None:
    run("export", str(tmp_path / "all.bundle"))
    before = sorted(tmp_path.iterdir())
    ran = run("import", str(tmp_path / "all.bundle"), str(tmp_path / "none.db"), "--dry-run")
    assert (ran.code, "12 messages would come" in ran.out) == (0, True)
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_is_not_recognised_makes_no_store(run: Run, tmp_path: Path) -> None:
    source, store = tmp_path / "what.bin", tmp_path / "new.db"
    source.write_bytes(b"\x00\x01 neither this nor that")
    ran = run("import", str(source), str(store))
    assert ran.code == 3
    assert str(source) in ran.err
    assert not store.exists()


def test_what_cannot_be_carried_over_is_listed(run: Run, story: Path, tmp_path: Path) -> None:
    source = tmp_path / "talk.jsonl"
    source.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n{"messages": [{"role\n')
    ran = run("import", str(source), "--prefix", "old/")
    assert ran.code == 1
    assert "not carried over: line 2" in ran.out
    with msglog.sync.open(story, read_only=True) as store:
        assert [info.name for info in store.logs(prefix="old/")] == ["old/talk-1"]


def test_the_name_of_the_file_says_the_form(run: Run, story: Path, tmp_path: Path) -> None:
    forms = {"md": "# customer-123", "html": "<!doctype html>", "json": "[", "jsonl": '{"messages"'}
    for ending, begins in forms.items():
        path = tmp_path / f"talk.{ending}"
        assert run("export", str(path), "--log", "customer-123").code == 0
        assert path.read_text().lower().startswith(begins), ending
        assert path.stat().st_mode & 0o77 == 0
    assert run("export", str(tmp_path / "talk.txt"), "--log", "customer-123").code == 2
    assert run("export", str(tmp_path / "all.md")).code == 2, "it holds one log"


def test_a_view_of_any_branch_and_revision_can_be_exported(run: Run, story: Path) -> None:
    def seqs(*options: str) -> list[int]:
        ran = run("export", "-", "--format", "json", "--log", "customer-123", *options)
        return [message["seq"] for message in json.loads(ran.out)]

    assert seqs() == [1, 7, 6]
    assert seqs("--branch", "what-if") == [1, 2, 3, 4, 5, 6, 8]
    assert seqs("--at", "2") == [1, 2]


def test_a_view_is_exported_page_by_page(
    run: Run, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with msglog.sync.open(story) as store:
        store.log("long").append_many({"role": "user", "content": f"message {n}"} for n in range(450))
    pages: list[int] = []
    view = msglog.MessageLog.view

    async def seen(log: msglog.MessageLog, *args: Any, **options: Any) -> View:
        page = await view(log, *args, **options)
        pages.append(len(page.messages))
        return page

    monkeypatch.setattr(msglog.MessageLog, "view", seen)
    assert run("export", str(tmp_path / "long.md"), "--log", "long").code == 0
    assert (sum(pages), max(pages)) == (450, 200)
    assert "message 449" in (tmp_path / "long.md").read_text()


def test_a_training_file_has_a_line_for_each_log_that_teaches(run: Run, story: Path, tmp_path: Path) -> None:
    with msglog.sync.open(story) as store:
        store.log("silent").add("user", "Anybody there?")
    assert run("export", str(tmp_path / "all.jsonl.gz")).out.endswith("holds 3 logs, 7 messages\n")
    lines = gzip.decompress((tmp_path / "all.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line)["messages"][-1]["role"] for line in lines] == ["assistant", "assistant"]


def test_what_is_not_there_makes_no_file(run: Run, story: Path, tmp_path: Path) -> None:
    for log, *options in (["nope"], ["customer-123", "--branch", "nope"], ["customer-123", "--at", "99"]):
        ran = run("export", str(tmp_path / "talk.md"), "--log", log, *options)
        assert (ran.code, "no " in ran.err) == (3, True), options
    assert not (tmp_path / "talk.md").exists()


def test_a_file_is_not_written_to_a_terminal(terminal: Callable[..., str], story: Path) -> None:
    assert "a terminal is no place for a file" in terminal(["export", "-", "--format", "bundle"])


def test_the_formats_can_be_listed(run: Run) -> None:
    for source in ([], ["x"]):
        listed = run("import", *source, "--format", "?", "--json").out.splitlines()
        assert {"bundle", "openai"} <= {json.loads(line)["format"] for line in listed}
    unnamed = run("import")
    assert (unnamed.code, "SOURCE" in unnamed.err) == (2, True)
    assert run("import", "x", "--format", "nonsense").code == 2


def test_a_bar_is_drawn_on_a_terminal_and_nowhere_else(
    run: Run, terminal: Callable[..., str], story: Path, tmp_path: Path
) -> None:
    assert "exporting" in terminal(["export", str(tmp_path / "a.bundle")])
    assert run("export", str(tmp_path / "b.bundle")).err == ""


# Care


def test_a_damaged_store_is_verified_and_mended(run: Run, story: Path) -> None:
    assert run("verify").code == 0
    connection = sqlite3.connect(story)
    connection.execute("DROP TRIGGER entries_delete")
    connection.commit()
    connection.close()
    assert run("verify").code == 1
    assert run("repair").code == 1, "a dry run"
    assert run("verify").code == 1
    mended = json.loads(run("repair", "--apply", "--json").out)
    assert (mended["ok"], Path(mended["backup"]).exists()) == (True, True)
    assert run("verify").code == 0


def test_a_backup_is_a_store(run: Run, story: Path, tmp_path: Path) -> None:
    assert run("backup", str(tmp_path / "copy.db")).code == 0
    assert run("logs", str(tmp_path / "copy.db")).out == run("logs").out
    assert run("backup", str(tmp_path / "copy.db")).code == 3, "it never overwrites"


@pytest.mark.parametrize("command", ["logs", "show", "search", "doctor"])
def test_a_look_at_an_older_store_does_not_migrate_it(
    run: Run, story: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("msglog.storage.migrate.VERSION", "9999")
    ran = run(command, *(["customer-123"] if command in ("show", "search") else []))
    assert (ran.code, "`msglog migrate`" in ran.err) == (3, True)


def test_a_current_store_needs_no_migration(run: Run, story: Path) -> None:
    assert "is current" in run("migrate").out


def test_compacting_says_what_it_gave_back(run: Run, story: Path) -> None:
    assert json.loads(run("compact", "--json").out)["complete"] is True
