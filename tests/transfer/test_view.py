"""A view in a file: of any branch and any revision, page by page, in every form."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import msglog.sync
from msglog import MessageLog, Store
from msglog.errors import UnknownBranchError, UnknownLogError, UnknownRevisionError
from msglog.message import as_message
from msglog.transfer import export_view, to_json
from msglog.transfer import view as module
from msglog.transfer.view import ViewFormat
from tests.strategies import Json, calls, exact, messages, reply, result, user

pytestmark = pytest.mark.every_engine


async def written(log: MessageLog, form: ViewFormat, **options: Any) -> str:
    stream = io.BytesIO()
    await export_view(log, stream, form, **options)
    return stream.getvalue().decode()


async def test_any_branch_and_any_revision_can_be_written(log: MessageLog) -> None:
    await log.append_many([user("first"), reply("second")])
    before = await log.head()
    await log.edit({"op": "remove", "id": (await log.all())[0].entry_id})
    side = await log.fork("side")
    await side.append(user("aside"))
    for form in get_args(ViewFormat):
        now = await written(log, form)
        assert "second" in now
        assert "first" not in now
        assert "first" in await written(log, form, at=before)
        assert ("aside" in await written(side, form)) == (form != "finetuning"), "there is nothing to learn in it"


@pytest.mark.parametrize("form", get_args(ViewFormat))
async def test_pages_make_no_difference(log: MessageLog, form: ViewFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    await log.append_many(
        [user("hi"), calls("c1", "c2"), result("c1"), result("c2"), reply("so"), user("x"), reply("y")]
    )
    whole = await written(log, form)
    done: list[tuple[int, int | None]] = []
    for size in (1, 2, 3):
        monkeypatch.setattr(module, "PAGE", size)
        assert await written(log, form, progress=lambda *where: done.append(where)) == whole
    assert done[-1] == (7, 7)


async def test_the_title_is_the_log_s(store: Store, log: MessageLog) -> None:
    await log.append(user("hi"))
    assert (await written(log, "markdown")).startswith("# talk\n")
    await store.describe("talk", title="About\ntrains")
    assert (await written(log, "markdown")).startswith("# About trains\n")
    assert (await written(log, "markdown", title="Mine")).startswith("# Mine\n")
    assert '<h1 dir="auto">About trains</h1>' in await written(log, "html")


async def test_what_is_not_there_is_told(store: Store, log: MessageLog, tmp_path: Path) -> None:
    target = tmp_path / "out" / "talk.md"
    with pytest.raises(UnknownLogError):
        await export_view(log, target)
    await log.append(user("hi"))
    with pytest.raises(UnknownBranchError):
        await export_view(store.log("talk", "nowhere"), target)
    with pytest.raises(UnknownRevisionError):
        await export_view(log, target, at="nowhere")
    with pytest.raises(ValueError, match="format must be one of"):
        await export_view(log, target, "pdf")  # type: ignore[call-overload]


def test_the_blocking_face_blocks_and_a_file_is_compressed_by_its_name(tmp_path: Path) -> None:
    with msglog.sync.open(tmp_path / "agent.db") as store:
        log = store.log("talk")
        log.append(user("hi"))
        assert export_view(log, tmp_path / "talk.html.gz", "html") == 1
        with pytest.raises(FileExistsError):
            export_view(log, tmp_path / "talk.html.gz", "html")
    assert b"<!doctype html>" in gzip.decompress((tmp_path / "talk.html.gz").read_bytes())


async def test_json_says_what_is_stored_of_each_message(log: MessageLog) -> None:
    await log.append(user("hi"), id="e1", meta={"turn": 1})
    await log.append_many([user("secret"), user("x")])
    await log.redact(2)
    entry = {"id": "s1", "message": reply("sum")}
    await log.edit({"op": "summary", "sourceIds": ["e1"], "entry": entry, "replace": True})
    summary, redacted, plain = json.loads(await written(log, "json"))
    assert (summary["kind"], summary["sources"], summary["id"], summary["seq"]) == ("summary", ["e1"], "s1", 4)
    assert (redacted["redacted"], redacted["content"]) == (True, "[redacted]")
    stored = (await log.all())[2]
    expected = {"seq": 3, "id": stored.entry_id, "at": stored.at.isoformat(), "role": "user", "content": "x"}
    assert plain == expected


@given(st.lists(messages(), max_size=4))
def test_json_of_any_messages_reads_back(given: list[Json]) -> None:
    text = "".join(to_json(given))
    text.encode()
    expected = [as_message(message).to_json() for message in given]
    assert exact(json.loads(text)) == exact(json.loads(json.dumps(expected)))
