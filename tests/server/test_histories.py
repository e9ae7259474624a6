"""Views, histories, branches and what is asked of them, over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from msglog import MessageHistory, MessageLog, Store
from msglog.adapters import to_openai
from msglog.history.difference import changed
from msglog.history.snapshot import as_delta
from msglog.wire.text import dumps, loads
from tests.strategies import entry, reply, result, user

TALK = "/v1/logs/talk"


@pytest.fixture
async def edited(log: MessageLog) -> MessageLog:
    """A log of a to e, whose view is S, d, e: S is a summary of a to c."""
    await log.append_many([entry(text) for text in "abcde"])
    summary = {"id": "S", "message": reply("a to c")}
    await log.edit({"op": "summary", "sourceIds": list("abc"), "entry": summary, "replace": True})
    return log


def ids(view: Any) -> str:
    return "".join(message["id"] for message in view["messages"])


async def test_a_view_is_what_the_branch_shows_or_what_any_revision_showed(
    http: httpx.AsyncClient, edited: MessageLog
) -> None:
    before = [revision.id async for revision in edited.revisions()][1]
    now = (await http.get(f"{TALK}/view")).json()
    assert (ids(now), now["size"], now["revision"]) == ("Sde", 3, await edited.head())
    assert ids((await http.get(f"{TALK}/view", params={"revision": before})).json()) == "abcde"
    assert ids((await http.get(f"{TALK}/view", params={"start": -2})).json()) == "de"
    assert ids((await http.get(f"{TALK}/view", params={"start": 1, "limit": 1})).json()) == "d"
    assert (await http.get(f"{TALK}/view", params={"revision": "none"})).status_code == 404


@pytest.mark.parametrize(
    ("form", "key"),
    [
        ("openai", "messages"),
        ("responses", "input"),
        ("anthropic", "messages"),
        ("gemini", "contents"),
        ("langchain", "messages"),
    ],
)
async def test_a_view_in_a_providers_format_comes_with_the_adapters_report(
    http: httpx.AsyncClient, log: MessageLog, form: str, key: str
) -> None:
    odd = {"role": "user", "content": [{"type": "odd", "x": 1}]}  # which no provider takes as it is
    await log.append_many([user("hi"), odd])
    told = (await http.get(f"{TALK}/view", params={"format": form})).json()
    assert (told["format"], told["revision"]) == (form, await log.head())
    assert told["request"][key]
    assert told["report"][0]["index"] == 1
    assert (await http.get(f"{TALK}/view", params={"format": "other"})).status_code == 400


async def test_a_replica_keeps_up_by_changes(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.append_many([user("a"), user("b")])
    replica = MessageHistory.from_snapshot((await http.get(f"{TALK}/snapshot")).json())
    await log.add("user", "c")
    await log.edit({"op": "remove", "id": (await log.get(1)).entry_id})
    changes = (await http.get(f"{TALK}/changes", params={"since": replica.revision_id})).json()
    assert replica.apply(changes) == await log.history(full=True)
    assert (await http.get(f"{TALK}/changes", params={"since": "none"})).json()["error"] == "UnknownRevisionError"


async def test_a_commit_conflicts_with_both_heads_or_is_rebased(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.append(entry("a"))
    history = await log.history()
    delta = history.append(entry("mine")).changes_since(history.revision_id).to_json()
    await log.append(entry("theirs"))
    refused = await http.post(f"{TALK}/commit", json=delta)
    facts = refused.json()["facts"]
    assert (refused.status_code, facts["expected"], facts["actual"]) == (409, history.revision_id, await log.head())
    rebased = await http.post(f"{TALK}/commit", params={"onConflict": "rebase"}, json=delta)
    assert rebased.json()["changed"]
    assert rebased.json()["head"] == await log.head()
    again = await http.post(f"{TALK}/commit", params={"onConflict": "rebase"}, json=delta)
    assert (again.json()["head"], again.json()["new"]) == (rebased.json()["head"], [])
    assert [message.entry_id for message in await log.all()] == ["a", "theirs", "mine"]


async def test_a_whole_history_begins_a_log(http: httpx.AsyncClient, log: MessageLog) -> None:
    history = MessageHistory().append(entry("a")).edit({"op": "insertBefore", "id": "a", "entries": [entry("b")]})
    told = await http.post(f"{TALK}/commit", json=history.changes_since().to_json())
    assert told.json()["head"] == history.revision_id == await log.head()
    assert [new["id"] for new in told.json()["new"]] == ["a", "b"]


async def test_a_commit_may_go_back_behind_its_base(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.append(entry("a"))
    first = await log.head()
    assert first is not None
    await log.append(entry("b"))
    full = await log.history(full=True)
    rewound = full.with_view(["a"]).append(entry("c"))
    told = await http.post(f"{TALK}/commit", json=rewound.changes_since(full.revision_id).to_json())
    assert told.status_code == 200
    assert [message.entry_id for message in await log.all()] == ["a", "c"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ([], "InvalidHistoryError"),
        ({"head": "r"}, "InvalidMessageError"),
        ({"head": "r", "entries": [], "revisions": [{"id": "r", "parent": "p"}]}, "InvalidHistoryError"),
        ({"base": "none", "head": "r", "entries": [], "revisions": []}, "ConflictError"),
        ({"head": 5, "entries": [], "revisions": []}, "InvalidMessageError"),
    ],
)
async def test_a_delta_that_is_none_is_refused(http: httpx.AsyncClient, log: MessageLog, body: Any, error: str) -> None:
    await log.append(entry("a"))
    response = await http.post(f"{TALK}/commit", json=body)
    assert (response.status_code, response.json()["error"]) in {
        (400, "InvalidHistoryError"),
        (400, error),
        (409, error),
    }
    assert await log.count() == 1


async def test_branches_are_forked_and_rewound(http: httpx.AsyncClient, edited: MessageLog) -> None:
    before = [revision.id async for revision in edited.revisions()][1]
    made = await http.post(f"{TALK}/branches", json={"name": "old", "at": before})
    assert (made.status_code, made.json()["head"]) == (201, before)
    assert (await http.post(f"{TALK}/branches", json={"name": "old"})).json()["error"] == "BranchExistsError"
    listed = (await http.get(f"{TALK}/branches")).json()["branches"]
    assert [(branch["name"], branch["forkedFrom"]) for branch in listed] == [("main", None), ("old", before)]
    moved = await http.post(f"{TALK}/rewind", json={"revision": before, "expectedHead": "other"})
    assert (moved.status_code, moved.json()["error"]) == (409, "ConflictError")
    moved = await http.post(f"{TALK}/rewind", json={"revision": before, "meta": {"reason": "wrong turn"}})
    assert moved.json()["head"] == await edited.head()
    assert [message.entry_id for message in await edited.all()] == list("abcde")


async def test_patches_are_applied_as_one_revision(http: httpx.AsyncClient, edited: MessageLog) -> None:
    patches = [{"op": "remove", "id": "d"}, {"op": "move", "ids": ["S"], "after": "e"}]
    told = await http.post(f"{TALK}/edit", json={"patches": patches, "strict": True})
    assert told.json()["head"] == await edited.head()
    assert [message.entry_id for message in await edited.all()] == ["e", "S"]
    refused = await http.post(f"{TALK}/edit", json={"patches": [{"op": "remove", "id": "none"}], "strict": True})
    assert (refused.status_code, refused.json()["facts"]["ids"]) == (400, ["none"])


async def test_revisions_and_lineage_go_page_by_page(http: httpx.AsyncClient, edited: MessageLog) -> None:
    side = await edited.fork("side", at=[revision.id async for revision in edited.revisions()][1])
    await side.add("user", "x")
    for resource, expected in (("revisions", edited.revisions()), ("lineage", edited.lineage())):
        seen: list[str] = []
        before = None
        while True:
            params = {"limit": 2} | ({} if before is None else {"before": before})
            page = (await http.get(f"{TALK}/{resource}", params=params)).json()
            seen += [revision["id"] for revision in page["revisions"]]
            before = page["next"]
            if before is None:
                break
        assert seen == [revision.id async for revision in expected]


async def test_a_summary_opens_to_what_it_stands_for(http: httpx.AsyncClient, edited: MessageLog) -> None:
    restored = (await http.post(f"{TALK}/restore", json={"entryIds": ["S"]})).json()["messages"]
    assert [message["content"] for message in restored] == list("abc")


async def test_views_are_compared(http: httpx.AsyncClient, edited: MessageLog) -> None:
    before = [revision.id async for revision in edited.revisions()][1]
    diff = (await http.get(f"{TALK}/diff", params={"from": before})).json()
    assert (diff["from"], diff["to"], diff["stablePrefix"]) == (before, await edited.head(), 0)
    assert [(run["change"], ids(run)) for run in diff["runs"]] == [
        ("removed", "abc"),
        ("added", "S"),
        ("kept", ""),
    ]
    assert [run["count"] for run in diff["runs"]] == [3, 1, 2]


async def test_long_views_are_compared_and_converted_beside_the_event_loop(
    http: httpx.AsyncClient, edited: MessageLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noted(work: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*given: Any, **options: Any) -> Any:
            threads.append(threading.current_thread())
            return work(*given, **options)

        return noting

    monkeypatch.setattr("msglog.server.routes.histories.changed", noted(changed))
    monkeypatch.setattr("msglog.adapters.to_openai", noted(to_openai))
    assert (await http.get(f"{TALK}/diff", params={"from": await edited.head()})).status_code == 200
    assert (await http.get(f"{TALK}/view", params={"format": "openai"})).status_code == 200
    assert len(threads) == 2
    assert threading.current_thread() not in threads


async def test_usage_is_told_by_branch_model_and_day_at_any_price(http: httpx.AsyncClient, log: MessageLog) -> None:
    used = {"model": "m", "usage": {"input_tokens": 1_000_000, "output_tokens": 0}}
    await log.append({"message": reply("a"), "meta": used})
    told = (await http.get(f"{TALK}/usage")).json()
    assert (told["total"]["responses"], told["total"]["unpriced"], told["parts"][0]["branch"]) == (1, ["m"], "main")
    body = {"prices": {"m": {"input_per_1m": "2.5", "output_per_1m": "1"}}}
    assert (await http.post(f"{TALK}/usage", json=body)).json()["total"]["cost"] in {"2.5", "2.50"}
    assert (await http.post(f"{TALK}/usage", json={"price": {"x": 1}})).status_code == 400


async def test_a_search_tells_where_a_message_matches(http: httpx.AsyncClient, edited: MessageLog) -> None:
    await edited.add("user", "Where is my refund?")
    hit = (await http.get(f"{TALK}/search", params={"words": "REFUND"})).json()["hits"][0]
    assert (hit["log"], hit["message"]["seq"]) == ("talk", 7)
    assert [piece["text"] for piece in hit["context"] if piece["matched"]] == ["refund"]
    assert (await http.get(f"{TALK}/search", params={"words": "b"})).json()["hits"] == []
    assert (await http.get(f"{TALK}/search", params={"words": "b", "whole": True})).json()["hits"]
    for bad in ({"words": "x", "role": "nobody"}, {"words": "x", "since": "2026-01-01T00:00:00"}):
        assert (await http.get(f"{TALK}/search", params=bad)).status_code == 400


async def test_logs_are_described_and_listed_page_by_page(http: httpx.AsyncClient, store: Store) -> None:
    names = ["a/1", "a/2", "b", "ä", "\U0001f600"]
    for name in reversed(names):
        await store.log(name).add("user", "x")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await http.get("/v1/logs", params={"limit": 2, **cursor})).json()
        seen += [info["name"] for info in page["logs"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert seen == names
    assert (await http.get("/v1/logs", params={"cursor": "x"})).status_code == 400
    assert [info["name"] for info in (await http.get("/v1/logs", params={"prefix": "a/"})).json()["logs"]] == names[:2]
    changed = await http.patch("/v1/logs/b", json={"title": "B", "tags": ["t"], "meta": {"k": 1}})
    assert (changed.json()["title"], changed.json()["tags"], changed.json()["meta"]) == ("B", ["t"], {"k": 1})
    assert [info["name"] for info in (await http.get("/v1/logs", params={"tag": "t"})).json()["logs"]] == ["b"]
    assert (await http.patch("/v1/logs/none", json={"title": "x"})).status_code == 404


@pytest.mark.parametrize(("reverse", "expected"), [(False, list("cab")), (True, list("bac"))])
async def test_logs_are_listed_by_activity_and_none_is_missed_though_one_moves(
    http: httpx.AsyncClient, store: Store, *, reverse: bool, expected: list[str]
) -> None:
    for name in expected if not reverse else expected[::-1]:
        await store.log(name).add("user", "x")
    params = {"order": "activity", "limit": "2", "reverse": str(reverse)}
    first = (await http.get("/v1/logs", params=params)).json()
    assert [info["name"] for info in first["logs"]] == expected[:2]
    await store.log(expected[1]).add("user", "moves")
    rest = (await http.get("/v1/logs", params={**params, "cursor": first["next"]})).json()
    assert expected[2] in [info["name"] for info in rest["logs"]]


async def test_a_log_is_purged_and_a_message_redacted_with_a_receipt(
    http: httpx.AsyncClient, edited: MessageLog, store: Store
) -> None:
    receipt = (await http.post(f"{TALK}/redact", json={"entry": "a", "reason": "asked for"})).json()
    assert (receipt["seq"], receipt["summaries"]) == (1, ["S"])
    assert (await http.get(f"{TALK}/messages/1")).json()["redacted"]
    purged = (await http.delete(TALK)).json()
    assert (purged["log"], purged["entries"]) == ("talk", 6)
    assert await store.logs() == []


async def test_a_bundle_goes_out_of_one_store_and_into_another(
    http: httpx.AsyncClient, edited: MessageLog, store: Store
) -> None:
    bundle = (await http.get("/v1/export")).content
    assert (await http.get("/v1/export", params={"log": "none"})).status_code == 404
    await store.purge("talk")
    tried = await http.post("/v1/import", params={"dryRun": True, "prefix": "copy/"}, content=bundle)
    assert (tried.json()["dryRun"], await store.logs()) == (True, [])
    damaged = await http.post("/v1/import", content=bundle[:-20])
    assert damaged.status_code == 400


async def test_sql_is_asked_and_the_store_counted(http: httpx.AsyncClient, edited: MessageLog) -> None:
    query = {"query": "SELECT id, chain_hash FROM entries WHERE seq = ?", "parameters": [1]}
    row = (await http.post("/v1/sql", json=query)).json()["rows"][0]
    assert (row["id"], list(row["chain_hash"])) == ("a", ["base64"])
    assert (await http.post("/v1/sql", json={"query": "DELETE FROM entries"})).status_code == 400
    assert (await http.get("/v1/stats")).json()["entries"] == 6
    assert (await http.post("/v1/verify")).json()["problems"] == []


async def test_odd_text_in_a_delta_comes_through(http: httpx.AsyncClient, log: MessageLog) -> None:
    history = MessageHistory().append(result("c", {"\ud83d": "\0"}))
    delta = history.changes_since().to_json()
    kind = {"Content-Type": "application/json"}
    assert (await http.post(f"{TALK}/commit", content=dumps(delta), headers=kind)).status_code == 200
    assert (await log.history()).render() == history.render()
    snapshot = loads((await http.get(f"{TALK}/snapshot")).content)
    assert as_delta(snapshot).entries == as_delta(delta).entries
