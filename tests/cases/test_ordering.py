from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest

import msglog
from tests.transfer.bundles import exported, exported_view


async def test_ord_1_messages_of_one_clock_tick_keep_append_order(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instant = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: instant)
    texts = [f"m{i:03}" for i in range(300)] + [f"n{i:03}" for i in range(300)]
    async with msglog.open(path) as store:
        await store.log().append_many({"role": "user", "content": text} for text in texts[:300])
        for text in texts[300:]:
            await store.log().add("user", text)

    async with msglog.open(path) as store:
        for _ in range(20):
            messages = await store.log().all()
            assert [message.content for message in messages] == texts
            assert [message.seq for message in messages] == list(range(1, 601))
            assert len({message.at for message in messages}) == 1


async def test_ord_2_every_read_is_ordered_by_seq(path: Path) -> None:
    async with msglog.open(path) as store:
        for i in range(50):
            await store.log("AB"[i % 2]).add("user", f"{i}")
        await store.log("A").redact(10, "a secret")
    with sqlite3.connect(path) as plain:
        plain.execute("VACUUM")
    plain.close()

    async with msglog.open(path) as store:
        log = store.log("A")
        assert await log.add("user", "50") == 26
        everything = [str(i) for i in range(0, 51, 2)]
        everything[9] = "[redacted]"
        for _ in range(20):
            assert [message.content for message in await log.all()] == everything
            assert [message.content for message in await log.raw.all()] == everything
            assert [message.content for message in await log.last(7)] == everything[-7:]
            assert [info.name for info in await store.logs()] == ["B", "A"]
        assert [message["content"] for message in json.loads(await exported_view(log, "json"))] == everything
        lines = [json.loads(line) for line in (await exported(store, logs=["A"])).splitlines()]
        assert [line["seq"] for line in lines if line["type"] == "entry"] == list(range(1, 27))
