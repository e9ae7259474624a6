"""What the processes of the tests do. Each gets a wire to its test first, and mostly the path of a store."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import msglog.sync
from msglog import ConflictError, MessageHistory
from tests.concurrency.processes import Wire

LOG = "talk"


def user(text: str) -> dict[str, Any]:
    """A user's message."""
    return {"role": "user", "content": text}


def append_each(_wire: Wire, path: str, texts: list[str], log: str = LOG) -> list[int]:
    """Append messages one by one; their seqs."""
    with msglog.sync.open(path) as store:
        return [store.log(log).append(user(text)) for text in texts]


def append_with_id(_wire: Wire, path: str, entry_id: str, text: str) -> int:
    """Append a message under an id; its seq."""
    with msglog.sync.open(path) as store:
        return store.log(LOG).append(user(text), id=entry_id)


def append_singles_and_batches(_wire: Wire, path: str, name: str, singles: int, batches: int, log: str = LOG) -> None:
    """Append single messages, and among them batches of five, whose texts say whose and which they are."""
    with msglog.sync.open(path, durability="normal") as store:
        talk = store.log(log)
        every = max(1, singles // max(1, batches))
        for i in range(singles):
            talk.append(user(f"{name} single {i}"))
            if i % every == 0 and i // every < batches:
                talk.append_many(user(f"{name} batch {i // every} {k}") for k in range(5))


def append_until_killed(wire: Wire, path: str, name: str, start: int = 0, log: str = LOG) -> None:
    """Append numbered messages under ids of their own, and say each one's number and seq once it is acknowledged."""
    with msglog.sync.open(path) as store:
        number = start
        while True:
            wire.say((number, store.log(log).append(user(f"{name} {number}"), id=f"{name}-{number}")))
            number += 1


def append_when_told(wire: Wire, path: str, log: str = LOG) -> None:
    """Append each message that the test says, and answer with its seq; end with None."""
    with msglog.sync.open(path) as store:
        wire.say("open")
        while (text := wire.hear()) is not None:
            wire.say(store.log(log).append(user(text)))


def append_pairs_until_told(wire: Wire, path: str, log: str = LOG) -> int:
    """Append a question with its answer over and over, until the test says something; how many pairs."""
    with msglog.sync.open(path, durability="normal") as store:
        pairs = 0
        while not wire.asked():
            store.log(log).append_many([user(f"q{pairs}"), {"role": "assistant", "content": f"a{pairs}"}])
            pairs += 1
            if pairs == 1:
                wire.say("begun")
        return pairs


def texts(_wire: Wire, path: str, log: str = LOG) -> list[str]:
    """The texts of a log's view."""
    with msglog.sync.open(path) as store:
        return [message.text for message in store.log(log).all()]


def hold(wire: Wire, path: str, *statements: str) -> None:
    """Run statements on a plain connection and stay as they leave it, until the test says something."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement).fetchall()
    wire.say("held")
    wire.hear()
    connection.close()


def follow_to(wire: Wire, path: str, last: int, after: int = 0, log: str = LOG) -> list[tuple[int, str]]:
    """Follow a log across processes to a seq; each seq and text."""
    with msglog.sync.open(path) as store:
        talk = store.log(log)
        found = []
        wire.say("follows")
        for message in talk.raw.follow(after):
            found.append((message.seq, message.text))
            if message.seq >= last:
                break
        return found


def commit_appends(_wire: Wire, path: str, name: str, commits: int, *, rebase: bool) -> int:
    """Load, append and commit over and over; how many of the commits came through."""
    won = 0
    with msglog.sync.open(path, durability="normal") as store:
        log = store.log(LOG)
        for i in range(commits):
            history = log.history().append(user(f"{name} {i}"))
            try:
                log.commit(history, on_conflict="rebase" if rebase else "raise")
            except ConflictError:
                continue
            won += 1
    return won


def render_log(_wire: Wire, path: str) -> list[dict[str, Any]]:
    """The view of a log as a history renders it, as JSON."""
    with msglog.sync.open(path) as store:
        return [message.to_json() for message in store.log(LOG).history().render()]


def render_snapshot(_wire: Wire, text: str) -> list[dict[str, Any]]:
    """The view of a snapshot's text, as JSON."""
    return [message.to_json() for message in MessageHistory.from_json(json.loads(text)).render()]
