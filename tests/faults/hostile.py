"""Attack 10: what comes from outside tries to be something else: it is stored, compared and shown as what it is."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import msglog
from msglog import MsgLogError, Store
from tests.faults.world import seen

HOSTILE = [
    "a') OR 1=1 --",
    '"; DROP TABLE entries; --',
    "x' UNION SELECT name, uid FROM logs --",
    "?1",
    ":name",
    "%",
    "_",
    "*",
    "NEAR(a b)",
    '"unclosed',
    "text:*",
    "a AND NOT b OR (",
    "^first",
    "{0.__class__.__mro__}",
    "%s%n%(x)s",
    "${HOME}",
    "$(id)",
    "`id`",
    "../../etc/passwd",
    "/dev/null",
    "file:x?mode=memory",
    "C:\\con",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m",
    "\u202eevil",
    "a\r\nSet-Cookie: b",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "=cmd|' /C calc'!A0",
    "__proto__",
    "__class__",
    "null",
    "NaN",
    "$.x[0]",
    "main",
    "msglog",
]
"""Texts that mean something to SQL, full-text search, formats, shells, paths, terminals, pages and decoders."""

TAGS: list[dict[str, Any]] = [
    {"__type__": "datetime", "value": "2026-01-01"},
    {"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}, ["id"]]},
    {"$ref": "#/definitions/x", "$type": "System.Object"},
    {"type": "image", "url": "file:///etc/passwd"},
    {"!!python/object/apply:os.system": ["id"]},
    {"redacted_at": 1, "seq": 1, "id": "first", "role": "system"},
]
"""Objects that mean something to decoders that trust them, or to our own columns."""


async def attack(folder: Path, seed: int, rounds: int) -> Counter[str]:
    """Put hostile words wherever words go in; the logs of others, the schema and what is shown stay what they are."""
    random, figures = Random(seed), Counter[str]()
    async with msglog.open(folder / "agent.db", durability="normal") as store:
        victim = store.log("victim")
        await victim.append({"role": "user", "content": "untouched secret"}, id="first")
        schema = await store.sql("SELECT type, name, sql FROM sqlite_master")
        before = (await seen(store))["victim"]
        for number in range(rounds):
            await _everywhere(store, random, number)
            figures["words"] += 7
        assert (await seen(store))["victim"] == before, "another log's content was changed"
        assert await store.sql("SELECT type, name, sql FROM sqlite_master") == schema
        assert (await store.verify()).ok
        for word in HOSTILE:
            await _asked_for(store, word)
            figures["questions"] += 1
        assert (await seen(store))["victim"] == before
        assert [name for name in os.listdir(folder) if not name.startswith("agent.db")] == [], "no other file is made"
    return figures


async def _everywhere(store: Store, random: Random, number: int) -> None:
    """A log, a branch, ids, metadata, tool calls and texts of hostile words: they come back equal."""
    name, text, key, other = (random.choice(HOSTILE) for _ in range(4))
    tag = random.choice(TAGS)
    log = store.log(f"{name} {number}")
    assert await log.all() == []
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": text}, tag | {"type": "custom"}],
        "name": other,
        "toolCalls": [{"id": key, "name": text, "args": {key: tag, other: [text]}}],
        "extra": {key: other, "tag": tag},
    }
    assert await log.append(message, id=key, meta={"labels": [text, other], key: tag}) == 1
    stored = await log.get(key)
    shown = stored.to_json()
    assert shown["toolCalls"][0]["args"] == {key: tag} | {other: [text]}
    assert stored.extra["tag"] == tag
    assert stored.meta is not None
    assert stored.meta.labels == (text, other)
    branch = await log.fork(f"{other} fork")
    assert await branch.append({"role": "user", "content": text}, id=f"{text} {key}") == 2
    assert [each.entry_id for each in await branch.all()] == [key, f"{text} {key}"]
    assert await log.count() == 1
    rows = await store.sql("SELECT count(*) AS n FROM active_entries WHERE log = ?", (log.name,))
    assert rows == [{"n": 3}], "the log's name finds it and nothing else"
    await log.redact(key, reason=text)
    assert (await log.get(key)).redacted


async def _asked_for(store: Store, word: str) -> None:
    """Names, ids, revisions and words that are not there: nothing is found by them, what is said is safe to print."""
    log, victim = store.log(f"absent {word}"), store.log("victim")
    assert await log.find(word) is None
    assert await victim.find(word) is None
    assert not [hit for hit in await store.search(f"{word} untouchedx") if hit.log == "victim"]
    assert not await victim.search(f"{word} untouchedx")
    for attempt in (
        log.get(word),
        victim.get(word),
        victim.rewind(word),
        victim.redact(word),
        victim.fork("x", at=word),
        store.log("victim", word if word != "main" else "other").all(),
        log.rewind(word),
        store.purge(f"absent {word}"),
        store.sql(word),
        store.verify(f"absent {word}"),
        victim.edit({"op": "remove", "id": word}, strict=True),
        victim.append({"role": word, "content": "x"}),
        victim.append({"role": "user", "content": "x"}, expected_head=word),
    ):
        try:
            await attempt
        except MsgLogError as error:
            assert is_printable(str(error)), f"{error!r} would reach the terminal"  # noqa: PT017 whichever it is
        else:
            raise AssertionError(f"{word!r} was taken for something")
    assert is_printable(repr(log))
    assert is_printable(repr(victim))


def is_printable(text: str) -> bool:
    """Whether a terminal shows it and does nothing else."""
    return not any(unicodedata.category(letter) in ("Cc", "Cf") for letter in text if letter != "\n")
