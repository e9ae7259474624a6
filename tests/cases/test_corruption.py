from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import msglog.sync
from msglog.errors import CorruptStoreError
from tests.concurrency.workers import LOG, user


@pytest.mark.parametrize(
    "change",
    [
        "parts = '{bad'",
        "parts = x'ff'",
        "parts = ''",
        "parts = '[NaN]'",
        "tool_calls = 'null'",
        "tool_calls = '5'",
        "tool_calls = '[{}]'",
        "meta = '[]'",
        'meta = \'{"turn":"x"}\'',
        "extra = '{'",
        "sources = '7'",
        "at = 9e99",
    ],
)
async def test_cor_1_a_row_that_holds_no_message_is_reported_with_its_place(path: Path, change: str) -> None:
    async with msglog.open(path) as store:
        await store.log(LOG).append_many(user(f"{i}") for i in range(1, 4))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DROP TRIGGER entries_update")
    connection.execute(f"UPDATE entries SET {change} WHERE seq = 2")
    connection.close()

    async with msglog.open(path) as store:
        log = store.log(LOG)
        for attempt in (log.all(), log.last(2), log.get(2), log.history(), log.read()):
            with pytest.raises(CorruptStoreError, match=f"log '{LOG}', seq 2"):
                await attempt
        assert [message.text for message in await log.last(1)] == ["3"]
        assert await log.count() == 3
        problems = (await store.verify()).problems
        assert (problems[0].log, problems[0].where) == (LOG, "seq 2")
        assert await log.append(user("4")) == 4


def test_cor_3_an_import_does_not_stop_silently_at_a_bad_line(tmp_path: Path) -> None:
    line = '{"role": "user", "content": "%s"}\n'
    source = tmp_path / "talk.jsonl"
    text = [line % "one", line % "two", '{"role": "user", "con\n', "\0" * 200 + "\n", "\n", (line % "six")[:20]]
    source.write_text("".join(text))

    def imported(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "msglog", "import", str(source), str(tmp_path / "agent.db"), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for options in (["--strict"], []):
        ran = imported(*options)
        assert ran.returncode == 1
        assert all(f"line {number}" in ran.stdout for number in (3, 4, 6))
        assert "line 5" not in ran.stdout
        assert (tmp_path / "agent.db").exists() == (options == [])
    with msglog.sync.open(tmp_path / "agent.db", read_only=True) as store:
        (log,) = store.logs()
        assert [message.content for message in store.log(log.name).all()] == ["one", "two"]
