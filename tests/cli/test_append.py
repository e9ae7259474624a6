"""`msglog append`: from arguments and from JSON lines."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import msglog.sync
from tests.cli.conftest import Run, environment


def contents(path: Path, log: str) -> list[object]:
    with msglog.sync.open(path, read_only=True) as store:
        return [message.content for message in store.log(log).all()]


def test_a_role_and_a_text_are_a_message(run: Run, story: Path) -> None:
    assert run("append", "new", "user", "hello").code == 0
    assert contents(story, "new") == ["hello"]


def test_a_dash_reads_the_text_from_standard_input(run: Run, story: Path) -> None:
    run("append", "new", "user", "-", stdin="two\nlines\n")
    assert contents(story, "new") == ["two\nlines\n"]


def test_an_id_makes_a_retry_safe(run: Run, story: Path) -> None:
    for _ in range(2):
        assert json.loads(run("append", "new", "user", "hello", "--id", "one", "--json").out)["seq"] == 1
    assert contents(story, "new") == ["hello"]


def test_json_lines_are_messages_or_entries(run: Run, story: Path) -> None:
    lines = [{"role": "user", "content": "a"}, {"id": "b", "message": {"role": "user", "content": "b"}}]
    ran = run("append", "new", stdin="\n".join(map(json.dumps, lines)))
    assert (ran.code, contents(story, "new")) == (0, ["a", "b"])


def test_what_show_prints_as_json_can_be_appended(run: Run, story: Path) -> None:
    printed = run("show", "customer-123", "--branch", "what-if", "--json").out
    assert run("append", "copy", stdin=printed).code == 0
    with msglog.sync.open(story, read_only=True) as store:
        copied = [(m.entry_id, m.message) for m in store.log("copy").all()]
        assert copied == [(m.entry_id, m.message) for m in store.log("customer-123", "what-if").all()]


def test_a_bad_line_is_named_and_the_lines_before_it_are_stored(run: Run, story: Path) -> None:
    bads = ('{"role": "user"', '{"role": "nobody"}', '"x"', "[" * 100_000, '{"role": "user", "content": NaN}')
    for number, bad in enumerate(bads):
        log = f"log-{number}"
        ran = run("append", log, stdin='{"role": "user", "content": "a"}\n\n' + bad + "\n")
        assert ran.code == 3
        assert "line 3: " in ran.err
        assert contents(story, log) == ["a"]


def test_nothing_is_made_where_no_store_is(run: Run, tmp_path: Path) -> None:
    refused = run("append", "new", "user", "hello", "--store", str(tmp_path / "none.db"))
    assert (refused.code, "--create" in refused.err) == (3, True)
    assert list(tmp_path.iterdir()) == []
    assert run("append", "new", "user", "hello", "--store", str(tmp_path / "none.db"), "--create").code == 0
    assert contents(tmp_path / "none.db", "new") == ["hello"]


def test_it_ends_in_good_order_while_its_input_stays_open(story: Path) -> None:
    """At a bad line, and at an interrupt: a thread waits for more lines meanwhile, and must not be in the way."""
    good = b'{"role": "user", "content": "a"}\n'
    for given, interrupted, code in ((good + b"bad\n", False, 3), (good, True, 130)):
        with subprocess.Popen(
            [sys.executable, "-m", "msglog", "append", "new", "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            assert child.stderr is not None
            child.stdin.write(given)
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["messages"] == 1
            if interrupted:
                child.send_signal(signal.SIGINT)
            told = child.stderr.read().decode()
            assert (child.wait(60), "1 stored" in told) == (code, True), told
            assert "Fatal" not in told
            assert "Traceback" not in told
