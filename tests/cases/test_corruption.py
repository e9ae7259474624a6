from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import msglog
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
