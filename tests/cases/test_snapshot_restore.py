from __future__ import annotations

import copy
import json
from pathlib import Path

import msglog
from msglog import MessageHistory
from tests.concurrency.processes import at_once
from tests.concurrency.workers import LOG, render_log, render_snapshot, user


async def test_snp_1_a_restore_gives_the_very_history_that_was_saved(path: Path) -> None:
    history = MessageHistory().append(*(user(f"m{i}") for i in range(1, 31)))
    sources = [entry.id for entry in history.refs()[2:25]]
    history = history.edit({"op": "summary", "sourceIds": sources, "entry": user("summary"), "replace": True})
    async with msglog.open(path) as store:
        await store.log(LOG).commit(history)

    rendered = [message.to_json() for message in history.render()]
    assert [message["content"] for message in rendered] == ["m1", "m2", "summary", *(f"m{i}" for i in range(26, 31))]
    assert at_once(render_log, [(str(path),)]) == [rendered]
    assert at_once(render_snapshot, [(json.dumps(history.to_json()),)]) == [rendered]


async def test_snp_1_a_log_gives_back_the_whole_graph_that_was_committed(path: Path) -> None:
    history = MessageHistory().append(*(user(f"m{i}") for i in range(1, 6)))
    history = history.edit({"op": "remove", "id": history.refs()[1].id}).fork().append(user("m6"))
    async with msglog.open(path) as store:
        await store.log(LOG).commit(history)
        assert await store.log(LOG).history(full=True) == history
    assert MessageHistory.from_json(json.loads(json.dumps(history.to_json()))) == history


async def test_snp_3_an_edited_message_has_no_twin_after_a_restore(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.append(user("start"), id="first")
        edited = await log.edit({"op": "replace", "id": "first", "entries": [user("start\nguidance")]})

    async with msglog.open(path) as store:
        loaded = await store.log(LOG).history(full=True)
    restored = MessageHistory.from_json(copy.deepcopy(loaded.to_json()))
    for history in (loaded, restored):
        assert [(entry.id, entry.message.text) for entry in history] == [(edited.refs()[0].id, "start\nguidance")]
        assert history.changes_since(edited.revision_id).entries == ()
        assert history.changes_since(edited.revision_id).revisions == ()
