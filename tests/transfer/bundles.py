"""Bundles for tests: exported, taken apart and put together again."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from msglog import MessageLog, Store
from msglog.storage.hashes import chain_hash, content_hash, revision_hash
from msglog.transfer import export_bundle, export_view, import_bundle
from msglog.transfer.lines import row_of
from msglog.transfer.report import ImportReport
from msglog.transfer.view import ViewFormat
from tests.strategies import calls, result, user

Line = dict[str, Any]


async def exported(store: Store, **options: Any) -> bytes:
    """The bytes of a store's bundle."""
    stream = io.BytesIO()
    await export_bundle(store, stream, **options)
    return stream.getvalue()


async def exported_view(log: MessageLog, form: ViewFormat) -> str:
    """The text of a view of a log."""
    stream = io.BytesIO()
    await export_view(log, stream, form)
    return stream.getvalue().decode()


async def taken_in(store: Store, bundle: bytes, **options: Any) -> ImportReport:
    """The report of an import."""
    return await import_bundle(store, io.BytesIO(bundle), **options)


def lines(bundle: bytes) -> list[Line]:
    """The lines of a bundle."""
    return [json.loads(line) for line in bundle.splitlines()]


def sealed(changed: list[Line]) -> bytes:
    """A bundle of lines whose checks are right, as somebody makes one who means harm."""
    hashed = blake2b(digest_size=16)
    made = []
    for line in changed:
        if line["type"] in ("check", "end"):
            line["hash"] = hashed.hexdigest()
        text = json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        hashed.update(text)
        made.append(text)
    return b"".join(made)


def rehashed(changed: list[Line]) -> bytes:
    """A bundle of lines whose hashes are right, too: only what the lines say of each other can be wrong."""
    uid = previous = b""
    hashes: dict[int | None, bytes] = {}
    for line in changed:
        if line["type"] == "log":
            uid = previous = bytes.fromhex(line["uid"])
            hashes = {None: uid}
        elif line["type"] == "entry":
            _, row = row_of(json.dumps(line).encode())
            seq, entry_id, revision, *content, at, salt, hashed, _, redacted_at, _ = row
            hashed = content_hash(salt, content) if redacted_at is None else hashed
            previous = chain_hash(previous, uid, (seq, entry_id, *content[:2], at, revision), hashed)
            line |= {"contentHash": hashed.hex(), "chainHash": previous.hex()}
        elif line["type"] == "revision":
            _, row = row_of(json.dumps(line).encode())
            hashes[row[0]] = revision_hash(hashes.get(row[4], uid), row[:-1])
            line["hash"] = hashes[row[0]].hex()
    return sealed(changed)


def altered(bundle: bytes, change: Callable[[list[Line]], object]) -> bytes:
    """A bundle with a change that its checks do not tell."""
    changed = lines(bundle)
    change(changed)
    return sealed(changed)


async def fill(store: Store) -> None:
    """Every kind of thing that a store holds, in three logs."""
    log = store.log("one")
    await log.append_many([user(f"text {i}") for i in range(90)])
    odd = {"name": "na\ud800me", "extra": {"k": [1, None, 10**60, -0.0, "\ud83d\ude00", "\ud83d\ude01 \0"]}}
    await log.append(user("a\0b\ud800") | odd, meta={"turn": 3, "note": "\udc97"})
    await log.append_many([calls("c1", "c2"), result("c1"), result("c2", {"x": 2**70, "blob": [1.0, 1, True]})])
    await log.edit(*[{"op": "remove", "id": message.entry_id} for message in (await log.all())[:80:2]])
    shown = await log.all()
    sources = [message.entry_id for message in shown[:2]]
    entry = {"message": user("summary"), "meta": {"turn": 1}}
    await log.edit({"op": "summary", "sourceIds": sources, "entry": entry, "replace": True}, meta={"reason": "tidy"})
    side = await log.fork("side")
    await log.fork("idle")
    for i in range(20):
        await (side if i % 2 else log).add("user", f"turn {i}")
    stale = (await log.history()).append(user("stale"))
    await log.add("user", "newer")
    await log.commit(stale, "rebase")
    await log.rewind([revision.id async for revision in log.revisions()][-2])
    await log.redact(2, "a secret")
    await log.redact(92)
    await store.describe("one", title="A title \udc97", tags=["x", "y"], meta={"k": 2**80})
    await store.log("two").append_many([user("x"), user("y")])
    await store.log("three").add("user", "z")
