"""Real agent traffic: conversations from outside go in one append at a time, and come out as they were."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import Store
from msglog.adapters import from_openai

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "airline-conversations.jsonl"

pytestmark = pytest.mark.skipif(not FILE.exists(), reason=f"{FILE} is not here")


def conversations() -> dict[str, list[dict[str, Any]]]:
    """The messages of each conversation, in OpenAI's chat format."""
    read = (json.loads(line) for line in FILE.read_text().splitlines())
    return {conversation["id"]: conversation["messages"] for conversation in read}


def exact(value: object) -> str:
    """A text that tells `1`, `1.0` and `True` apart."""
    return json.dumps(value, sort_keys=True)


async def imported(store: Store, name: str, messages: list[dict[str, Any]]) -> None:
    for message in from_openai(messages):
        await store.log(name).append(message)


async def test_conversations_come_back_from_disk_as_they_went_in(path: Path) -> None:
    given = conversations()
    assert len(given) == 40
    async with msglog.open(path, durability="normal") as store:
        await asyncio.gather(*(imported(store, name, messages) for name, messages in given.items()))
    async with msglog.open(path, create=False) as store:
        for name, messages in given.items():
            log = store.log(name)
            stored = await log.all()
            assert [message.seq for message in stored] == list(range(1, len(messages) + 1))
            assert [message.message for message in stored] == from_openai(messages)
            assert exact(await log.to_openai()) == exact(messages)
        report = await store.verify()
        assert (report.problems, report.entries) == ([], sum(map(len, given.values())))


async def test_conversations_show_in_sql_as_they_read(path: Path) -> None:
    given = conversations()
    async with msglog.open(path, durability="normal") as store:
        await asyncio.gather(*(store.log(name).append_many(from_openai(messages)) for name, messages in given.items()))
        for name, messages in given.items():
            rows = await store.sql("SELECT role, text FROM active_entries WHERE log = ? ORDER BY position", (name,))
            assert [(row["role"], row["text"]) for row in rows] == [(m["role"], m["content"]) for m in messages]
