"""A part of a log that does not hold fails alone: what else its transaction does is done, and known to be."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from pathlib import Path

import pytest

import msglog
from msglog import Store
from msglog.codec import EMPTY
from msglog.errors import BundleError
from msglog.message import as_entry
from msglog.storage.dispatch import carry_out
from msglog.storage.ledger import Ledger
from msglog.storage.requests import Append, Receive
from msglog.storage.rows import draft
from msglog.storage.sqlite import SqliteDriver
from msglog.storage.transaction import Transaction
from msglog.transfer.intake import Intake
from tests.strategies import user
from tests.transfer.bundles import exported, taken_in


@pytest.fixture
async def part(store: Store) -> Receive:
    """A log of another store, as one part."""
    async with msglog.open(":memory:", durability="normal") as other:
        await other.log("other").append_many([user("one"), user("two")])
        await other.log("other").fork("side")
        intake = Intake(io.BytesIO(await exported(other)), store, str)
        piece = intake.next_piece()
        intake.close()
    assert piece is not None
    return piece.part


def forged(part: Receive) -> Receive:
    """The part with the second entry's hash in the place of the first one's."""
    first, second = part.entries
    return replace(part, entries=[(*first[:-3], second[-3], *first[-2:]), second])


async def test_a_part_that_fails_leaves_the_rest_of_its_transaction(store: Store, path: Path, part: Receive) -> None:
    append = Append("talk", "main", [draft(as_entry({"id": "a", "message": user("hi")}), 1, fresh=False)], EMPTY)
    connection, beside = SqliteDriver().connect(str(path)), SqliteDriver().connect(str(path), read_only=True)
    try:
        connection.execute("BEGIN IMMEDIATE")
        transaction = Transaction(connection, Ledger(), str(path))
        carry_out(transaction, append)
        with pytest.raises(BundleError):
            carry_out(transaction, forged(part))
        transaction.flush()
        assert not transaction.is_stored(beside), "nobody else sees it yet"
        connection.execute("COMMIT")
        assert transaction.is_stored(beside), "what tells is a row that is there"
        assert carry_out(Transaction(connection, Ledger(), str(path)), part).entries == 2
    finally:
        beside.close()
        connection.close()
    assert [info.name for info in await store.logs()] == ["talk", "other"]
    assert (await store.verify()).ok


async def test_parts_that_fail_harm_no_append_beside_them(store: Store, part: Receive) -> None:
    log = store.log("talk")

    async def fail() -> None:
        with pytest.raises(BundleError):
            await store._access.write(forged(part))

    await asyncio.gather(*(work for i in range(40) for work in (log.add("user", f"{i}"), fail())))
    assert sorted(message.text for message in await log.all()) == sorted(str(i) for i in range(40))
    assert [info.name for info in await store.logs()] == ["talk"]
    assert (await store.verify()).ok


async def test_what_is_received_goes_on_as_a_log_of_this_store(store: Store) -> None:
    async with msglog.open(":memory:", durability="normal") as other:
        log = other.log("other")
        await log.append_many([user(f"{i}") for i in range(50)])
        await log.edit(*[{"op": "remove", "id": message.entry_id} for message in (await log.all())[::2]])
        await taken_in(store, await exported(other))
    ours = store.log("other")
    assert await ours.add("user", "on") == 51
    await ours.edit({"op": "remove", "id": (await ours.all())[0].entry_id})
    assert await (await ours.fork("side")).add("user", "aside") == 52
    assert (await store.verify()).ok
