"""What is wrong with a bundle is told with its place, and nothing of it from there on is stored."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import zstandard

import msglog
from msglog import Store
from msglog.errors import (
    BundleError,
    BundleVersionError,
    CannotOpenError,
    DivergedError,
    InvalidNameError,
    LogExistsError,
    MissingExtraError,
    MsgLogError,
    TooLargeError,
)
from msglog.message import Entry, as_message
from msglog.storage import copies
from msglog.transfer import import_bundle, intake
from tests.strategies import calls, result, user
from tests.transfer.bundles import Line, altered, exported, fill, lines, rehashed, sealed, taken_in

Change = Callable[[list[Line]], object]


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "PART_REVISIONS", 3)


@pytest.fixture
async def bundle(tmp_path: Path) -> bytes:
    """The bundle of a small log: two branches, an edit, a redaction, calls."""
    async with msglog.open(tmp_path / "source.db", durability="normal") as store:
        log = store.log("talk")
        await log.append_many([user("one"), user("tw\0o"), user("three")])
        await log.append_many([calls("c1"), result("c1", {"x": 1})])
        side = await log.fork("side")
        await side.add("user", "aside", meta={"turn": 1})
        await log.edit({"op": "remove", "id": (await log.all())[0].entry_id})
        await log.add("user", "four")
        await log.redact(3, "secret")
        await store.log("more").add("user", "five")
        return await exported(store)


async def refused(bundle: bytes, **options: Any) -> MsgLogError:
    """The error of an import, whose store is sound and holds a beginning of what was to come."""
    async with msglog.open(":memory:", durability="normal") as store:
        with pytest.raises(MsgLogError) as caught:
            await taken_in(store, bundle, **options)
        assert (await store.verify()).problems == []
        for info in await store.logs():
            await store.log(info.name).raw.all()
            await store.log(info.name).history(full=True)
    return caught.value


# Damage


async def test_every_flipped_byte_is_found(bundle: bytes) -> None:
    chance = Random(5)
    places = range(0, len(bundle), max(1, len(bundle) // 60))
    for place in places:
        flipped = bytearray(bundle)
        flipped[place] ^= 1 << chance.randrange(8)
        error = await refused(bytes(flipped))
        assert isinstance(error, (BundleError, BundleVersionError)), (place, error)
        if isinstance(error, BundleError):
            line = bundle.count(b"\n", 0, place) + 1
            assert error.line is not None
            assert error.line >= line, "what comes before it is not blamed"


async def test_every_cut_is_found_and_the_whole_bundle_then_goes_on_from_there(bundle: bytes) -> None:
    ends = [i for i, byte in enumerate(bundle) if byte == 10]
    for cut in [0, 1, *ends[:-1:2], *(end - 3 for end in ends[::5]), len(bundle) - 1]:
        async with msglog.open(":memory:", durability="normal") as store:
            with pytest.raises(BundleError):
                await taken_in(store, bundle[:cut])
            stored = (await store.stats()).entries
            report = await taken_in(store, bundle)
            assert (report.entries_known, report.entries_new) == (stored, 8 - stored)
            assert await exported(store) == bundle


@pytest.mark.parametrize("where", ["middle", "end"])
@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
async def test_a_compressed_bundle_that_is_cut_or_damaged_is_an_error(
    bundle: bytes, compress: Callable[[bytes], bytes], where: str
) -> None:
    packed = compress(bundle)
    for damaged in (packed[: len(packed) // 2 if where == "middle" else -2], _flipped(packed, where)):
        assert isinstance(await refused(damaged), BundleError)


def _flipped(data: bytes, where: str) -> bytes:
    at = len(data) // 2 if where == "middle" else len(data) - 6
    return data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :]


@pytest.mark.parametrize(
    ("garbage", "told"),
    [
        (b"", "it is empty"),
        (b"hello\n", "no JSON object"),
        (b"\xff\xfe\n", "no JSON object"),
        (b"null\n", "no type"),
        (b"[1]\n", "no type"),
        (b'{"type":["bundle"]}\n', "no type"),
        (b'{"role":"user","content":"hi"}\n', "no type"),
        (b'{"type":"bundle"', "ends early"),
        (b'{"type":"bundle","format":"tar","version":1,"logs":0,"entries":0,"revisions":0}\n', "no bundle of msglog"),
        (b'{"type":"bundle","format":"msglog","version":true,"logs":0,"entries":0,"revisions":0}\n', "version is not"),
        (b'{"type":"bundle","format":"msglog","version":1,"logs":-1,"entries":0,"revisions":0}\n', "logs is not"),
        (b'{"type":"bundle","type":"bundle"}\n', "no JSON object"),
        (b"[" * 100_000 + b"\n", "no JSON object"),
        (b'{"type":"log","version":' + b"9" * 5000 + b"}\n", "no JSON object"),
        (b'{"type":"entry","seq":1e999}\n', "no JSON object"),
        (b"SQLite format 3\0" + b"\0" * 100, "ends early"),
    ],
)
async def test_what_is_no_bundle_is_an_error_of_its_first_line(garbage: bytes, told: str) -> None:
    error = await refused(garbage)
    assert isinstance(error, BundleError)
    assert error.line == 1
    assert told in str(error)


async def test_a_newer_version_is_refused(bundle: bytes) -> None:
    error = await refused(altered(bundle, lambda changed: changed[0].update(version=2)))
    assert isinstance(error, BundleVersionError)
    assert (error.found, error.known) == (2, 1)


async def test_a_line_without_end_is_not_read_to_its_end(bundle: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LINE_BYTES", 4096)
    first = bundle[: bundle.index(b"\n") + 1]
    bomb = gzip.compress(first + b'{"type":"' + b"x" * 10**7, 1)
    error = await refused(bomb)
    assert isinstance(error, BundleError)
    assert "longer than" in str(error)
    assert error.line == 2


async def test_a_part_without_end_is_not_read_to_its_end(bundle: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "FURTHER_BYTES", 10_000)
    head = b"".join(bundle.splitlines(keepends=True)[:3])
    error = await refused(head + b'{"type":"chunk","chunk":1,"spans":"[]"}\n' * 100_000)
    assert "more than 10,000 bytes" in str(error)
    monkeypatch.setattr(intake, "BATCH_BYTES", 5)
    assert "more than 5 bytes" in str(await refused(bundle))


async def test_what_follows_the_end_is_an_error(bundle: bytes) -> None:
    for more in (b"\n", b"x", bundle):
        assert "follows the bundle's end" in str(await refused(bundle + more)) or more == b"x"


# What somebody made who knows the format


def _row(changed: list[Line], kind: str, at: int = 0) -> Line:
    return [line for line in changed if line["type"] == kind][at]


def _without_revisions(changed: list[Line]) -> None:
    changed[:] = [line for line in changed if line["type"] != "revision"]


FORGED: dict[str, tuple[Change, str]] = {
    "another text": (lambda c: _row(c, "entry").update(text="forged"), "the content is not what was stored"),
    "another role": (lambda c: _row(c, "entry").update(role="system"), "not what was stored"),
    "another time": (lambda c: _row(c, "entry").update(at=5), "not what was stored"),
    "another salt": (lambda c: _row(c, "entry").update(salt="0" * 32), "not what was stored"),
    "another chain": (lambda c: _row(c, "entry", 1).update(chainHash="0" * 32), "not what was stored"),
    "another uid": (lambda c: _row(c, "log").update(uid="0" * 32), "not what was stored"),
    "another size": (lambda c: _row(c, "revision", 2).update(size=9), "not what was stored"),
    "another operation": (lambda c: _row(c, "revision", 1).update(operation='{"type":"fork"}'), "not what was stored"),
    "another meta": (lambda c: _row(c, "revision", 1).update(meta='{"a":1}'), "not what was stored"),
    "another branch": (lambda c: _row(c, "branch").update(name="trunk"), "does not follow"),
    "another fork": (
        lambda c: _row(c, "branch", 1).update(forkedFrom=1),
        "does not follow|cannot stand|begins nowhere",
    ),
    "an entry less": (lambda c: c.remove(_row(c, "entry", 1)), "missing"),
    "an entry twice": (lambda c: c.insert(4, _row(c, "entry")), "missing|twice"),
    "a revision less": (lambda c: c.remove(_row(c, "revision", 1)), "missing"),
    "no revision": (_without_revisions, "without a revision"),
    "no log": (lambda c: c.remove(_row(c, "log")), "of no log"),
    "a log in a part": (lambda c: c.insert(4, dict(_row(c, "log"))), "cannot stand here"),
    "a head in a part": (lambda c: c.insert(4, dict(c[0])), "cannot stand here"),
    "fewer than it says": (lambda c: c[0].update(entries=99), "other numbers"),
    "more than it says": (lambda c: c[0].update(logs=1), "other numbers"),
    "an unknown key": (lambda c: _row(c, "entry").update(color="red"), "1 more keys"),
    "a key too few": (lambda c: _row(c, "entry").pop("id"), "id is missing"),
    "a null id": (lambda c: _row(c, "entry").update(id=None), "id is missing"),
    "a number as text": (lambda c: _row(c, "entry").update(text=5), "text is not text"),
    "a bool as number": (lambda c: _row(c, "entry").update(seq=True), "seq is not an integer"),
    "a huge number": (lambda c: _row(c, "entry").update(at=2**63), "at is not an integer"),
    "a far time": (lambda c: _row(c, "entry").update(at=2**62), "it is no entry"),
    "a short hash": (lambda c: _row(c, "entry").update(chainHash="00"), "chainHash is not a hash"),
    "a lone surrogate": (lambda c: _row(c, "entry").update(text="\ud800"), "no JSON object|text without surrogates"),
    "no base64": (lambda c: _row(c, "entry").update(text={"base64": "*"}), "text is not base64"),
    "an odd object": (lambda c: _row(c, "entry").update(text={"base64": "AA==", "x": 1}), "text is not"),
    "an unknown role": (lambda c: _row(c, "entry").update(role="pirate"), "it is no entry"),
    "an unknown kind": (lambda c: _row(c, "entry").update(kind="note"), "it is no entry"),
    "an empty id": (lambda c: _row(c, "entry").update(id=""), "it is no entry"),
    "parts that are no JSON": (lambda c: _row(c, "entry").update(parts="{"), "it is no entry"),
    "parts in the deep": (lambda c: _row(c, "entry").update(parts="[" * 99_999), "it is no entry"),
    "calls without names": (lambda c: _row(c, "entry", 3).update(toolCalls='[{"id":"x"}]'), "it is no entry"),
    "meta that is no object": (lambda c: _row(c, "entry").update(meta="[]"), "it is no entry"),
    "a text with NUL": (lambda c: _row(c, "entry").update(text="a\0b"), "it is no entry"),
    "an operation that is none": (lambda c: _row(c, "revision", 1).update(operation="[]"), "it is no revision"),
    "an operation in the deep": (lambda c: _row(c, "revision", 1).update(operation="[" * 99_999), "it is no revision"),
    "no parent": (lambda c: _row(c, "revision", 1).pop("parent"), "it is no revision"),
    "a name that is none": (lambda c: _row(c, "log").update(name=""), "it is no log"),
    "a title that is none": (lambda c: _row(c, "log").update(meta='{"title":5}'), "it is no log"),
    "a branch without name": (lambda c: _row(c, "branch").update(name=""), "it is no branch"),
}


@pytest.mark.parametrize("forgery", FORGED)
async def test_a_forgery_is_refused(bundle: bytes, forgery: str) -> None:
    change, told = FORGED[forgery]
    error = await refused(altered(bundle, change))
    assert isinstance(error, BundleError), error
    assert any(words in str(error) for words in told.split("|")), error
    assert error.line is not None
    if "not what was stored" in told:
        assert error.log in ("talk", "more")


CONTRADICTORY: dict[str, Change] = {
    "a view that is not what its operation makes": lambda c: _last_edit(c).update(tail="[[0,1,2]]", size=2),
    "a view of entries that are not there": lambda c: _last_edit(c).update(tail="[[0,1,999]]", size=999),
    "a view that begins elsewhere": lambda c: _row(c, "revision", 2).update(tail="[[1,1,5]]"),
    "an entry twice in a view": lambda c: _row(c, "revision", 2).update(tail="[[0,1,5],[5,1]]", size=6),
    "a size that is not the view's": lambda c: _row(c, "revision", 2).update(size=4),
    "other numbers of entries": lambda c: _row(c, "revision", 2).update(appended=4),
    "an edit of what is not shown": lambda c: _last_edit(c).update(
        operation='{"type":"edit","patches":[{"op":"remove","id":"nobody"}]}'
    ),
    "a chunk that nobody has": lambda c: _last_edit(c).update(chunks="[[7,0]]", anchor=_last_edit(c)["number"]),
    "an anchor that is none": lambda c: _row(c, "revision", 2).update(anchor=1),
    "a parent that is not the branch's head": lambda c: _last_edit(c).update(parent=0),
    "a parent that comes later": lambda c: _row(c, "revision", 1).update(parent=2),
    "an entry of a revision that never comes": lambda c: [e.update(revision=99) for e in c if e.get("seq") == 5],
    "an entry of a revision before": lambda c: [e.update(revision=1) for e in c if e.get("seq") == 5],
}


def _last_edit(changed: list[Line]) -> Line:
    return [line for line in changed if '"edit"' in line.get("operation", "")][-1]


@pytest.mark.parametrize("contradiction", CONTRADICTORY)
async def test_right_hashes_over_what_contradicts_itself_do_not_help(bundle: bytes, contradiction: str) -> None:
    assert rehashed(lines(bundle)) == bundle
    changed = lines(bundle)
    CONTRADICTORY[contradiction](changed)
    error = await refused(rehashed(changed))
    assert isinstance(error, BundleError)
    assert error.where is not None


async def test_an_error_names_line_log_and_seq(bundle: bytes) -> None:
    error = await refused(altered(bundle, lambda changed: _row(changed, "entry", 1).update(text="forged")))
    assert isinstance(error, BundleError)
    assert (error.line, error.log, error.where) == (6, "talk", "seq 2")
    assert "forged" not in str(error)


async def test_two_entries_of_one_id_are_refused_whatever_their_hashes_say(store: Store) -> None:
    log = store.log("talk")
    await log.add("user", "one", id="same")
    await log.add("user", "two", id="other")

    def forge(changed: list[Line]) -> None:
        from msglog.storage.hashes import chain_hash  # noqa: PLC0415

        before, entry, log_line = _row(changed, "entry"), _row(changed, "entry", 1), _row(changed, "log")
        entry["id"] = "same"
        header = (2, "same", "turn", "user", entry["at"], 2)
        hashed = bytes.fromhex(entry["contentHash"])
        chained = chain_hash(bytes.fromhex(before["chainHash"]), bytes.fromhex(log_line["uid"]), header, hashed)
        entry["chainHash"] = chained.hex()

    error = await refused(altered(await exported(store), forge))
    assert "used twice" in str(error)


# Stores that do not take it


async def test_a_log_of_the_same_name_is_not_mixed_up_with_another_one(bundle: bytes, store: Store) -> None:
    await store.log("talk").add("user", "mine")
    with pytest.raises(LogExistsError) as caught:
        await taken_in(store, bundle)
    assert caught.value.log == "talk"
    with pytest.raises(LogExistsError):
        await taken_in(store, bundle, dry_run=True)
    assert [message.text for message in await store.log("talk").all()] == ["mine"]
    await taken_in(store, bundle, rename={"talk": "old talk"})
    await taken_in(store, bundle, prefix="x/")  # they are there already, whatever they are called
    assert sorted(info.name for info in await store.logs()) == ["more", "old talk", "talk"]
    assert (await store.verify()).ok


async def test_a_new_name_must_be_one(bundle: bytes, store: Store) -> None:
    with pytest.raises(InvalidNameError):
        await taken_in(store, bundle, rename={"talk": ""})
    with pytest.raises(BundleError, match="it is no log"):
        await taken_in(store, bundle, prefix="\0")
    with pytest.raises(TypeError, match="a binary stream"):
        await import_bundle(store, io.StringIO("text"))  # type: ignore[call-overload]
    assert await store.logs() == []


async def test_a_prefix_stands_before_every_new_name(bundle: bytes, store: Store) -> None:
    report = await taken_in(store, bundle, prefix="from elsewhere/")
    assert {log.name for log in report.logs} == {"from elsewhere/more", "from elsewhere/talk"}
    assert (await taken_in(store, bundle)).entries_new == 0


async def test_copies_that_went_different_ways_are_not_mixed(bundle: bytes, store: Store) -> None:
    await taken_in(store, bundle)
    async with msglog.open(":memory:") as other:
        await taken_in(other, bundle)
        await other.log("talk").add("user", "there")
        theirs = await exported(other)
    await store.log("talk").add("user", "here")
    with pytest.raises(DivergedError) as caught:
        await taken_in(store, theirs)
    assert (caught.value.log, caught.value.where) == ("talk", "revision 6")
    assert (await store.log("talk").last()).text == "here"  # type: ignore[union-attr]
    assert (await store.verify()).ok


async def test_a_purged_log_does_not_come_back(bundle: bytes, store: Store) -> None:
    await taken_in(store, bundle)
    await store.purge("talk")
    report = await taken_in(store, bundle)
    assert [info.name for info in await store.logs()] == ["more"]
    assert [(loss.where, "purged" in loss.what) for loss in report.losses] == [("log 'talk'", True)]


async def test_an_import_neither_redacts_nor_brings_back_what_was_redacted(bundle: bytes, store: Store) -> None:
    await taken_in(store, bundle)
    before = await exported(store)
    await store.log("talk").redact(1)
    report = await taken_in(store, before)
    assert report.losses == ()
    assert (await store.log("talk").get(1)).redacted
    after = await exported(store)
    async with msglog.open(":memory:") as other:
        await taken_in(other, before)
        losses = (await taken_in(other, after)).losses
        assert [loss.where for loss in losses] == ["log 'talk', seq 1"]
        assert not (await other.log("talk").get(1)).redacted


async def test_a_message_that_the_store_would_not_take_is_refused(bundle: bytes) -> None:
    async with msglog.open(":memory:", max_message_bytes=8) as store:
        with pytest.raises(TooLargeError):
            await taken_in(store, bundle)


async def test_a_hook_that_takes_out_secrets_is_not_passed_by(bundle: bytes) -> None:
    def cleaned(entry: Entry) -> Entry:
        if "four" not in entry.message.text:
            return entry
        return Entry(id=entry.id, message=as_message(user(entry.message.text.replace("four", "****"))))

    async with msglog.open(":memory:", before_store=cleaned) as store:
        with pytest.raises(BundleError, match="before_store") as caught:
            await taken_in(store, bundle)
        assert caught.value.where == "seq 7"
        assert all("four" not in message.text for message in await store.log("talk").raw.all())


async def test_a_dry_run_verifies_everything_and_stores_nothing(bundle: bytes, store: Store) -> None:
    report = await taken_in(store, bundle, dry_run=True)
    assert (report.entries_new, report.entries_known, report.dry_run) == (8, 0, True)
    assert await store.logs() == []
    half = altered(bundle, lambda changed: _row(changed, "entry", -1).update(text="forged"))
    with pytest.raises(BundleError):
        await taken_in(store, half, dry_run=True)
    await taken_in(store, bundle)
    await store.log("talk").add("user", "later")
    report = await taken_in(store, bundle, dry_run=True)
    assert (report.entries_new, report.entries_known) == (0, 8)


async def test_a_missing_file_and_a_missing_package_are_told(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CannotOpenError):
        await import_bundle(store, tmp_path / "nowhere.jsonl")
    with pytest.raises(CannotOpenError):
        await import_bundle(store, tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"msglog\[zstd\]"):
        await import_bundle(store, io.BytesIO(b"\x28\xb5\x2f\xfd"))


async def test_everything_of_a_full_store_is_covered(store: Store) -> None:
    """Each value of each line is changed alone; nothing of it may pass unseen but what no hash covers."""
    await fill(store)
    bundle = await exported(store, logs=["one"])
    chance = Random(3)
    seen: set[tuple[str, str]] = set()
    found = lines(bundle)
    for place, line in enumerate(found):
        for key, value in line.items():
            if key == "type" or (line["type"], key) in seen or line["type"] in ("check", "end", "bundle"):
                continue
            if (line["type"], key) in UNCOVERED or (line.get("redactedAt") and key in ("toolCalls", "redactedReason")):
                continue
            seen.add((line["type"], key))
            changed = json.loads(json.dumps(found))
            changed[place][key] = _another(value, chance)
            assert isinstance(await refused(sealed(changed)), MsgLogError), (line["type"], key)
    assert len(seen) > 30


UNCOVERED = {
    ("log", "name"),
    ("log", "createdAt"),
    ("log", "meta"),
    ("branch", "createdAt"),
    ("entry", "redactedAt"),
    ("entry", "redactedReason"),
}


def _another(value: Any, chance: Random) -> Any:
    if isinstance(value, int):
        return value + 1
    if isinstance(value, dict):
        return {"base64": "AAAA"}
    at = chance.randrange(len(value)) if value else 0
    return value[:at] + ("1" if value[at : at + 1] != "1" else "2") + value[at + 1 :]
