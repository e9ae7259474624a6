"""`MessageLog`: what each of its methods does, in a sentence each, and what it refuses."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import MessageHistory, MessageLog, Store, StoredMessage
from msglog.errors import (
    BranchExistsError,
    ConflictError,
    DuplicateEntryError,
    InvalidHistoryError,
    MsgLogError,
    PositionError,
    ReadOnlyError,
    StoreClosedError,
    TooLargeError,
    UnknownBranchError,
    UnknownEntryError,
    UnknownLogError,
    UnknownRevisionError,
)
from msglog.message import Entry, Message
from tests.strategies import Json, calls, reply, result, user

pytestmark = pytest.mark.every_engine

Work = Callable[[MessageLog], Any]


def contents(messages: list[StoredMessage]) -> list[Any]:
    return [message.content for message in messages]


def entry(entry_id: str, text: str) -> Json:
    return {"id": entry_id, "message": user(text)}


async def ids(log: MessageLog) -> list[str]:
    return [message.entry_id for message in await log.all()]


async def everything(store: Store) -> list[Json]:
    """All rows of all tables, to tell that nothing was written."""
    tables = ("logs", "entries", "revisions", "chunks", "branches", "marks")
    return [row for table in tables for row in await store.sql(f"SELECT * FROM {table}")]


async def drained(iterator: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in iterator]


# Appending


async def test_add_appends_a_message_given_by_its_parts(log: MessageLog) -> None:
    assert await log.add("user", "hi") == 1
    assert await log.add("tool", {"found": 1}, tool_call_id="c1", meta={"turn": 2}, note="kept") == 2
    message = await log.get(2)
    assert (message.tool_call_id, message.content, message.extra) == ("c1", {"found": 1}, {"note": "kept"})
    assert message.meta is not None
    assert message.meta.turn == 2


@pytest.mark.parametrize(
    "given",
    [
        user("hi"),
        Message(role="user", content="hi"),
        {"message": user("hi")},
        {"id": "mine", "message": user("hi"), "kind": "turn"},
        Entry(id="mine", message=Message(role="user", content="hi")),
    ],
)
async def test_append_takes_a_message_or_an_entry_as_a_model_or_a_dict(log: MessageLog, given: Any) -> None:
    assert await log.append(given) == 1
    message = await log.get(1)
    assert message.message == Message(role="user", content="hi")
    assert message.entry_id == "mine" or "mine" not in repr(given)


async def test_append_returns_the_seq_which_counts_from_one(log: MessageLog) -> None:
    assert [await log.append(user(text)) for text in "abc"] == [1, 2, 3]


async def test_append_many_is_all_or_none_and_returns_the_last_seq(log: MessageLog) -> None:
    assert await log.append_many(user(text) for text in "abc") == 3
    with pytest.raises(MsgLogError, match=r"\[1\]"):
        await log.append_many([user("d"), {"role": "nobody"}])
    assert contents(await log.all()) == ["a", "b", "c"]


async def test_append_many_of_nothing_returns_the_count(log: MessageLog) -> None:
    assert await log.append_many([]) == 0
    await log.append_many([user("a"), user("b")])
    assert await log.append_many([]) == 2


async def test_a_stored_message_knows_its_seq_time_id_kind_and_metadata(log: MessageLog) -> None:
    before = datetime.now(UTC)
    await log.append(
        {"id": "s", "message": user("sum"), "kind": "summary", "sources": ["a", "b"], "meta": {"labels": ["x"]}}
    )
    message = await log.get("s")
    assert (message.seq, message.entry_id, message.kind, message.sources) == (1, "s", "summary", ("a", "b"))
    assert message.meta is not None
    assert message.meta.labels == ("x",)
    assert message.at.tzinfo is UTC
    assert before <= message.at <= datetime.now(UTC)


async def test_a_message_of_a_log_can_be_appended_again_as_a_new_one(log: MessageLog) -> None:
    await log.add("user", "again")
    stored = await log.get(1)
    assert await log.append(stored) == 2
    assert (await log.get(2)).entry_id != stored.entry_id


async def test_a_message_over_the_limit_is_refused(path: Path) -> None:
    async with msglog.open(path, max_message_bytes=100) as store:
        log = store.log("talk")
        assert await log.add("user", "x" * 80) == 1
        with pytest.raises(TooLargeError) as refusal:
            await log.add("user", "x" * 101)
        assert (refusal.value.limit, await log.count()) == (100, 1)
        assert refusal.value.size > 100
        with pytest.raises(TooLargeError):
            await log.commit((await log.history()).append(user("x" * 101)))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("expected_sequence", "expected_seq"),
        ("expectedSeq", "expected_seq"),
        ("expect_head", "expected_head"),
        ("tool_callid", "tool_call_id"),
        ("tool_call", "tool_calls"),
        ("metas", "meta"),
        ("names", "name"),
    ],
)
async def test_a_misspelt_option_of_add_is_refused_with_the_one_that_is_meant(
    log: MessageLog, given: str, meant: str
) -> None:
    misspelt: dict[str, Any] = {given: 1}
    with pytest.raises(TypeError, match=f"no option '{given}': '{meant}'"):
        await log.add("user", "x", **misspelt)
    assert await log.count() == 0
    await log.add("user", "x", extra=misspelt)
    assert (await log.all())[0].extra == misspelt


async def test_a_field_of_a_provider_s_message_is_no_misspelt_option(log: MessageLog) -> None:
    await log.add("tool", "x", toolCallId="c1")
    fields: dict[str, Any] = dict.fromkeys(("refusal", "annotations", "audio", "function_call", "metadata", "uid"), 1)
    await log.add("assistant", "x", **fields)
    first, second = await log.all()
    assert (first.tool_call_id, second.extra) == ("c1", fields)


# Retries


async def test_an_append_with_its_id_may_be_repeated(log: MessageLog) -> None:
    assert await log.append(user("a"), id="one") == 1
    await log.add("user", "b")
    assert await log.append(user("a"), id="one") == 1
    assert await log.count() == 2


async def test_a_batch_may_be_repeated_in_whole_and_in_part(log: MessageLog) -> None:
    await log.append_many([entry("a", "a"), entry("b", "b")])
    assert await log.append_many([entry("a", "a"), entry("b", "b")]) == 2
    assert await log.append_many([entry("b", "b"), entry("c", "c")]) == 3
    assert await ids(log) == ["a", "b", "c"]


async def test_a_retry_finds_what_was_edited_away_meanwhile(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    await log.edit({"op": "remove", "id": "a"})
    assert await log.append(entry("a", "a")) == 1
    assert await ids(log) == []


async def test_a_conditional_append_may_be_repeated_although_its_condition_holds_no_more(log: MessageLog) -> None:
    assert await log.append(user("a"), id="one", expected_seq=0) == 1
    await log.add("user", "b")
    assert await log.append(user("a"), id="one", expected_seq=0) == 1


@pytest.mark.parametrize(
    ("stored", "again"),
    [
        (user("a"), user("b")),
        (user("a"), reply("a")),
        (result("c", 1), result("c", 1.0)),
        (result("c", 1), result("c", True)),
        (result("c", {"a": 1, "b": 2}), result("c", {"b": 2, "a": 1})),
        (user("a"), user("a") | {"name": "x"}),
    ],
)
async def test_other_content_under_a_used_id_is_refused(log: MessageLog, stored: Json, again: Json) -> None:
    await log.append({"id": "one", "message": stored})
    with pytest.raises(DuplicateEntryError) as refusal:
        await log.append({"id": "one", "message": again})
    assert refusal.value.entry_id == "one"
    assert await log.count() == 1


async def test_other_content_under_an_id_of_the_same_batch_is_refused(log: MessageLog) -> None:
    with pytest.raises(DuplicateEntryError):
        await log.append_many([entry("one", "a"), entry("one", "b")])
    assert await log.count() == 0


async def test_an_entry_given_twice_in_a_batch_is_stored_once(log: MessageLog) -> None:
    assert await log.append_many([entry("one", "a"), user("b"), entry("one", "a")]) == 1
    assert await log.count() == 2


async def test_an_id_that_came_in_through_another_branch_is_refused(log: MessageLog) -> None:
    await log.append(entry("shared", "s"))
    side = await log.fork("side")
    await side.append(entry("theirs", "t"))
    assert await side.append(entry("shared", "s")) == 1, "it is in the view that the branch began with"
    with pytest.raises(DuplicateEntryError, match="another branch"):
        await log.append(entry("theirs", "t"))


async def test_an_id_of_a_redacted_entry_is_refused(log: MessageLog) -> None:
    await log.append(entry("one", "a"))
    await log.redact("one")
    with pytest.raises(DuplicateEntryError):
        await log.append(entry("one", "a"))


async def test_the_same_id_may_be_used_in_each_log(store: Store) -> None:
    for name in ("one", "two"):
        assert await store.log(name).append(entry("same", name)) == 1


# Conditions


async def test_expected_seq_is_the_last_of_the_log_whichever_branch_it_came_through(log: MessageLog) -> None:
    await log.add("user", "a", expected_seq=0)
    side = await log.fork("side")
    await side.add("user", "b", expected_seq=1)
    with pytest.raises(ConflictError) as refusal:
        await log.add("user", "c", expected_seq=1)
    assert (refusal.value.expected, refusal.value.actual) == (1, 2)
    assert await log.append_many([user("c")], expected_seq=2) == 3


async def test_expected_head_is_that_of_the_branch(log: MessageLog) -> None:
    await log.add("user", "a")
    head = await log.head()
    side = await log.fork("side")
    await side.add("user", "b")
    await log.add("user", "c", expected_head=head)
    with pytest.raises(ConflictError) as refusal:
        await log.add("user", "d", expected_head=head)
    assert (refusal.value.expected, refusal.value.actual) == (head, await log.head())


async def test_of_many_appends_that_expect_the_same_one_succeeds(log: MessageLog) -> None:
    told = await asyncio.gather(*(log.add("user", "x", expected_seq=0) for _ in range(20)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in told) == ["ConflictError"] * 19 + ["int"]


# on_append


async def test_on_append_is_called_once_for_each_message_in_order_before_append_returns(store: Store) -> None:
    heard: list[tuple[int, Any]] = []
    log = store.log("talk", on_append=lambda message: heard.append((message.seq, message.content)))
    await log.add("user", "a")
    assert heard == [(1, "a")]
    await log.append_many([user("b"), user("c")])
    assert [seq for seq, _ in heard] == [1, 2, 3]


@pytest.mark.file_only("answers to requests that were sent at once come in any order")
async def test_on_append_is_called_in_order_although_many_tasks_append(store: Store) -> None:
    heard: list[int] = []
    log = store.log("talk", on_append=lambda message: heard.append(message.seq))
    await asyncio.gather(*(log.add("user", str(i)) for i in range(50)))
    assert heard == list(range(1, 51))


async def test_on_append_may_be_a_coroutine_function(store: Store) -> None:
    heard: list[str] = []

    async def hear(message: StoredMessage) -> None:
        await asyncio.sleep(0)
        heard.append(message.entry_id)

    await store.log("talk", on_append=hear).append(entry("one", "a"))
    assert heard == ["one"]


async def test_on_append_hears_the_message_as_it_is_stored(store: Store) -> None:
    heard: list[StoredMessage] = []
    log = store.log("talk", on_append=heard.append)
    await log.append({"id": "one", "message": calls("c1"), "meta": {"turn": 1}})
    assert heard == [await log.get(1)]


async def test_on_append_hears_nothing_of_retries_refusals_and_others(store: Store) -> None:
    heard: list[int] = []
    log = store.log("talk", on_append=lambda message: heard.append(message.seq))
    await log.append(entry("one", "a"))
    await log.append(entry("one", "a"))
    await store.log("talk").add("user", "by another object")
    with pytest.raises(ConflictError):
        await log.add("user", "x", expected_seq=0)
    assert heard == [1]


async def test_what_on_append_raises_is_logged_and_harms_nothing(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(message: StoredMessage) -> None:
        raise RuntimeError("no")

    with caplog.at_level(logging.ERROR, "msglog"):
        assert await store.log("talk", on_append=fail).append_many([user("a secret"), user("b")]) == 2
    assert [record.getMessage() for record in caplog.records] == [
        f"on_append failed for seq {seq} of log 'talk'" for seq in (1, 2)
    ]
    assert await store.log("talk").count() == 2


async def test_on_append_goes_over_to_the_branches_that_are_forked(store: Store) -> None:
    heard: list[int] = []
    log = store.log("talk", on_append=lambda message: heard.append(message.seq))
    await log.add("user", "a")
    await (await log.fork("side")).add("user", "b")
    assert heard == [1, 2]


# Reading


@pytest.fixture
async def edited(log: MessageLog) -> MessageLog:
    """A log of a to f, whose view is b, X, d, e, f."""
    await log.append_many([entry(text, text) for text in "abcdef"])
    await log.edit({"op": "remove", "id": "a"}, {"op": "replace", "id": "c", "entries": [entry("X", "X")]})
    return log


async def test_all_last_and_iterate_speak_of_the_view(edited: MessageLog) -> None:
    assert contents(await edited.all()) == list("bXdef")
    assert contents(await edited.last(2)) == list("ef")
    assert contents(await edited.last(0)) == []
    assert contents(await edited.last(99)) == list("bXdef")
    newest = await edited.last()
    assert newest is not None
    assert newest.content == "f"
    assert contents(await drained(edited.iterate(2))) == list("bXdef")


async def test_count_and_read_speak_of_what_the_lineage_brought_in(edited: MessageLog) -> None:
    assert await edited.count() == 7
    assert contents(await edited.read()) == list("abcdefX")
    assert contents(await edited.read(after=2, limit=3)) == list("cde")
    assert contents(await edited.read(after=7)) == []
    assert contents(await edited.read(limit=0)) == []


async def test_read_leaves_out_what_came_through_another_branch(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    side = await log.fork("side")
    await side.append(entry("b", "b"))
    await log.append(entry("c", "c"))
    assert contents(await log.read()) == ["a", "c"]
    assert contents(await side.read()) == ["a", "b"]
    assert (await log.count(), await side.count(), await log.seq()) == (2, 2, 3)


async def test_raw_is_the_whole_log_of_all_branches(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    await (await log.fork("side")).append(entry("b", "b"))
    await log.append(entry("c", "c"))
    raw = log.raw
    assert contents(await raw.all()) == contents(await drained(raw.iterate(1))) == ["a", "b", "c"]
    assert contents(await raw.last(2)) == ["b", "c"]
    newest = await raw.last()
    assert newest is not None
    assert (newest.content, await raw.count(), (await raw.get("b")).seq) == ("c", 3, 2)
    assert contents(await raw.read(after=1, limit=1)) == ["b"]


async def test_get_takes_a_seq_or_an_entry_id_of_any_branch(edited: MessageLog) -> None:
    assert (await edited.get(3)).content == "c"
    assert (await edited.get("X")).seq == 7


async def test_find_tells_whether_an_id_is_stored(edited: MessageLog) -> None:
    assert await edited.find("nothing") is None
    found = await edited.find("c")
    assert found is not None
    assert found.seq == 3


async def test_an_iteration_shows_the_view_that_it_began_with(log: MessageLog) -> None:
    await log.append_many([entry(text, text) for text in "abc"])
    seen = []
    async for message in log.iterate(1):
        seen.append(message.content)
        await log.add("user", "later")
        await log.edit({"op": "remove", "id": "b"})
    assert seen == ["a", "b", "c"]


async def test_a_log_that_nobody_appended_to_is_empty(log: MessageLog) -> None:
    assert (await log.all(), await log.last(3), await log.last(), await log.count(), await log.seq()) == (
        [], [], None, 0, 0
    )  # fmt: skip
    assert (await log.read(), await log.branches(), await log.head(), await log.restore()) == ([], [], None, [])
    assert await drained(log.iterate()) == await drained(log.revisions()) == await drained(log.lineage()) == []
    assert (await log.raw.all(), await log.raw.last(), await log.find("x")) == ([], None, None)
    assert len(await log.history()) == 0
    assert await log.store.logs() == []


async def test_adapters_give_the_view(edited: MessageLog) -> None:
    assert await edited.to_openai() == [user(text) for text in "bXdef"]
    assert [turn["role"] for turn in await edited.to_anthropic()] == ["user"]
    assert await edited.to_langchain() == [user(text) for text in "bXdef"]


async def test_restore_expands_summaries_to_the_turns_behind_them(log: MessageLog) -> None:
    await log.append_many([entry(text, text) for text in "abc"])
    for summary, sources in (("s", ["a", "b"]), ("t", ["s", "c"])):
        await log.edit({"op": "summary", "sourceIds": sources, "entry": entry(summary, summary), "replace": True})
    assert await ids(log) == ["t"]
    assert [message.content for message in await log.restore()] == ["a", "b", "c"]
    assert [message.content for message in await log.restore(["s"])] == ["a", "b"]


# Histories and commits


async def test_history_is_the_view_of_the_head_or_of_a_revision(edited: MessageLog) -> None:
    history = await edited.history()
    assert [each.id for each in history] == list("bXdef")
    parent = history.head.parent
    assert parent is not None
    assert [each.id for each in await edited.history(at=parent)] == list("abcdef")


async def test_history_with_last_holds_the_end_of_the_view(edited: MessageLog) -> None:
    history = await edited.history(last=2)
    assert (history.size, [each.id for each in history.refs(last=2)]) == (5, ["e", "f"])
    await edited.commit(history.append(entry("g", "g")))
    assert await ids(edited) == list("bXdefg")


async def test_full_history_holds_every_revision_and_is_limited(edited: MessageLog) -> None:
    history = await edited.history(full=True)
    assert [revision.size for revision in history.lineage()] == [5, 6, 0]
    assert len(list((await edited.history(full=True, limit=3)).lineage())) == 3
    with pytest.raises(ValueError, match="limit=None"):
        await edited.history(full=True, limit=2)


async def test_commit_writes_what_is_new_and_moves_the_branch(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    history = (await log.history()).append(entry("b", "b")).edit({"op": "remove", "id": "a"})
    assert await log.commit(history) is history
    assert (await ids(log), await log.head(), await log.count()) == (["b"], history.revision_id, 2)


async def test_a_commit_sent_again_is_recognised(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    history = await log.commit((await log.history()).append(entry("b", "b")))
    await log.append(entry("c", "c"))
    before = await everything(store)
    assert await log.commit(history) is history
    assert await everything(store) == before


async def test_a_rebased_commit_sent_again_is_recognised_by_what_it_replaced(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    stale = (await log.history()).append(entry("b", "b"))
    await log.append(entry("c", "c"))
    rebased = await log.commit(stale, "rebase")
    before = await everything(store)
    again = await log.commit(stale, "rebase")
    assert await everything(store) == before
    assert again == rebased
    assert rebased.head.replaces == stale.revision_id


async def test_a_commit_on_a_branch_that_moved_is_refused(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    history = await log.history()
    await log.append(entry("c", "c"))
    before = await everything(store)
    with pytest.raises(ConflictError) as refusal:
        await log.commit(history.append(entry("b", "b")))
    assert (refusal.value.expected, refusal.value.actual) == (history.revision_id, await log.head())
    assert await everything(store) == before


async def test_a_rebase_does_the_operations_again_on_the_new_head(log: MessageLog) -> None:
    await log.append_many([entry("a", "a"), entry("b", "b")])
    stale = (await log.history()).append(entry("x", "x")).edit({"op": "remove", "id": "a"})
    await log.append(entry("c", "c"))
    rebased = await log.commit(stale, "rebase")
    assert await ids(log) == [each.id for each in rebased] == ["b", "c", "x"]
    assert rebased.revision_id != stale.revision_id


@pytest.mark.parametrize(
    "patch",
    [
        {"op": "remove", "id": "a"},
        {"op": "replace", "id": "a", "entries": [entry("x", "x")]},
        {"op": "split", "id": "a", "entries": [entry("x", "x")]},
        {"op": "insertBefore", "id": "a", "entries": [entry("x", "x")]},
        {"op": "insertAfter", "id": "a", "entries": [entry("x", "x")]},
        {"op": "move", "ids": ["b"], "before": "a"},
        {"op": "move", "ids": ["a"]},
        {"op": "summary", "sourceIds": ["a", "b"], "entry": entry("x", "x"), "replace": True},
    ],
    ids=lambda patch: patch["op"],
)
async def test_a_rebase_needs_every_entry_that_its_operations_name(log: MessageLog, store: Store, patch: Json) -> None:
    await log.append_many([entry(text, text) for text in "abc"])
    stale = (await log.history()).edit(patch)
    await log.edit({"op": "remove", "id": "a"})
    before = await everything(store)
    with pytest.raises(ConflictError) as refusal:
        await log.commit(stale, "rebase")
    assert refusal.value.ids == ("a",)
    assert await everything(store) == before


async def test_a_rebase_of_a_summary_that_keeps_its_sources_does_not_need_them_active(log: MessageLog) -> None:
    await log.append_many([entry(text, text) for text in "ab"])
    stale = (await log.history()).edit({"op": "summary", "sourceIds": ["a"], "entry": entry("s", "s")})
    await log.edit({"op": "remove", "id": "a"})
    await log.commit(stale, "rebase")
    assert await ids(log) == ["b", "s"]


async def test_a_rebase_never_shows_an_entry_twice(log: MessageLog, store: Store) -> None:
    await log.append_many([entry(text, text) for text in "ab"])
    shown = await log.head()
    assert shown is not None
    removed = await log.edit({"op": "remove", "id": "b"})
    stale = removed.edit({"op": "insertBefore", "id": "a", "entries": [removed.entry("b")]})
    await log.rewind(shown)
    with pytest.raises(ConflictError):
        await log.commit(stale, "rebase")
    assert await ids(log) == ["a", "b"]


async def test_a_view_is_never_rebased(log: MessageLog) -> None:
    await log.append_many([entry(text, text) for text in "ab"])
    stale = (await log.history()).with_view(["b", "a"])
    await log.append(entry("c", "c"))
    with pytest.raises(ConflictError, match="view"):
        await log.commit(stale, "rebase")


async def test_a_view_of_entries_is_committed_on_the_head_that_it_was_made_from(log: MessageLog) -> None:
    await log.append_many([entry(text, text) for text in "abc"])
    await log.commit((await log.history()).with_view(["c", "a"]))
    assert await ids(log) == ["c", "a"]


async def test_a_history_of_another_beginning_is_committed_only_to_an_empty_log(log: MessageLog, store: Store) -> None:
    history = MessageHistory().append(entry("a", "a"))
    await log.commit(history)
    assert (await ids(log), await log.head()) == (["a"], history.revision_id)
    assert (await drained(log.revisions()))[-1] == list(history.lineage())[-1], "its root is revision 0"
    before = await everything(store)
    with pytest.raises(ConflictError):
        await log.commit(MessageHistory().append(entry("b", "b")))
    assert await everything(store) == before


async def test_a_loaded_history_is_not_committed_to_another_log(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    with pytest.raises(ConflictError):
        await store.log("other").commit((await log.history()).append(entry("b", "b")))
    assert [info.name for info in await store.logs()] == ["talk"]


async def test_a_history_of_a_purged_log_is_not_committed(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    history = (await log.history()).append(entry("b", "b"))
    await store.purge("talk")
    with pytest.raises(ConflictError):
        await log.commit(history)


async def test_an_id_that_is_stored_already_is_referred_to_where_the_content_is_equal(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    history = await log.history()
    side = await log.fork("side")
    await side.append(entry("b", "b"))
    await log.commit(history.append(entry("b", "b")))
    assert [(message.entry_id, message.seq) for message in await log.all()] == [("a", 1), ("b", 2)]
    assert await log.seq() == 2
    with pytest.raises(DuplicateEntryError):
        await log.commit((await log.history()).edit({"op": "remove", "id": "b"}).append(entry("c", "c")).edit(
            {"op": "insertBefore", "id": "c", "entries": [entry("b", "other")]}
        ))  # fmt: skip


async def test_a_commit_with_stored_ids_of_other_content_is_refused(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    history = await log.history()
    await (await log.fork("side")).append(entry("b", "b"))
    before = await everything(store)
    with pytest.raises(DuplicateEntryError) as refusal:
        await log.commit(history.append(entry("b", "other")))
    assert refusal.value.entry_id == "b"
    assert await everything(store) == before


async def test_a_commit_to_another_branch_is_refused_where_that_does_not_lead_to_it(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    side = await log.fork("side")
    history = await log.commit((await log.history()).append(entry("b", "b")))
    with pytest.raises(ConflictError):
        await side.commit(history)
    assert await ids(side) == ["a"]


async def test_edit_edits_the_view_and_commits_it(edited: MessageLog) -> None:
    history = await edited.edit({"op": "move", "ids": ["f"], "before": "b"}, meta={"reason": "order"})
    assert await ids(edited) == [each.id for each in history] == list("fbXde")
    assert history.head.meta == {"reason": "order"}


async def test_an_edit_that_changes_nothing_writes_nothing(edited: MessageLog, store: Store) -> None:
    before = await everything(store)
    await edited.edit({"op": "remove", "id": "nothing"})
    assert await everything(store) == before


async def test_edit_can_keep_a_call_and_its_result_together(log: MessageLog) -> None:
    await log.append_many([{"id": "q", "message": calls("c1")}, {"id": "r", "message": result("c1")}])
    await log.edit({"op": "remove", "id": "r"}, keep_pairs=True)
    assert await ids(log) == []


async def test_what_before_store_returns_is_what_is_stored(path: Path) -> None:
    def masked(each: Entry) -> Entry:
        text = str(each.message.content).replace("4242", "****")
        return Entry(id=each.id, message=Message(role=each.message.role, content=text), kind=each.kind)

    async with msglog.open(path, before_store=masked) as store:
        log = store.log("talk")
        await log.add("user", "card 4242")
        history = await log.commit((await log.history()).append(user("card 4242")))
        assert contents(await log.all()) == ["card ****"] * 2
        assert [message.content for message in history.render()] == ["card ****"] * 2


# Branches


async def test_fork_makes_a_branch_at_the_head_or_at_a_revision(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    first = await log.head()
    await log.append(entry("b", "b"))
    here, there = await log.fork("here"), await log.fork("there", at=first)
    assert (await ids(here), await ids(there), here.branch) == (["a", "b"], ["a"], "here")
    assert [(branch.name, branch.forked_from) for branch in await log.branches()] == [
        ("main", None), ("here", await log.head()), ("there", first)
    ]  # fmt: skip


async def test_branches_go_their_own_ways(log: MessageLog) -> None:
    await log.append(entry("a", "a"))
    side = await log.fork("side")
    await asyncio.gather(log.append(entry("m", "m")), side.append(entry("s", "s")))
    assert (await ids(log), await ids(side)) == (["a", "m"], ["a", "s"])
    assert [revision.size async for revision in side.lineage()] == [2, 1, 0]


async def test_rewind_shows_again_what_a_revision_showed_and_loses_nothing(edited: MessageLog) -> None:
    before = await edited.head()
    earlier = (await edited.history()).head.parent
    assert earlier is not None
    head = await edited.rewind(earlier, expected_head=before, meta={"reason": "back"})
    assert (await ids(edited), await edited.head()) == (list("abcdef"), head)
    lineage = await drained(edited.lineage())
    assert [revision.id for revision in lineage[:2]] == [head, before]
    assert lineage[0].meta == {"reason": "back"}
    assert await edited.count() == 7


async def test_rewind_to_the_head_changes_nothing(edited: MessageLog, store: Store) -> None:
    head = await edited.head()
    assert head is not None
    before = await everything(store)
    assert await edited.rewind(head) == head
    assert await everything(store) == before


async def test_rewind_that_expects_another_head_is_refused(edited: MessageLog) -> None:
    earlier = (await edited.history()).head.parent
    assert earlier is not None
    with pytest.raises(ConflictError):
        await edited.rewind(earlier, expected_head=earlier)


async def test_revisions_and_lineage_go_page_by_page(log: MessageLog) -> None:
    for text in "abcde":
        await log.append(entry(text, text))
    side = await log.fork("side")
    await side.append(entry("s", "s"))
    await log.append(entry("f", "f"))
    assert [revision.size async for revision in log.revisions(page_size=2)] == [6, 6, 5, 4, 3, 2, 1, 0]
    assert [revision.size async for revision in side.lineage(page_size=3)] == [6, 5, 4, 3, 2, 1, 0]
    head = await anext(side.lineage())
    assert head.operation is not None
    assert (head.operation.type, head.operation.entry_ids) == ("append", ("s",))


# Redaction


async def test_redact_takes_the_content_and_keeps_the_place(log: MessageLog) -> None:
    await log.append_many([entry("a", "a"), {"id": "b", "message": calls("c1")}, {"id": "c", "message": result("c1")}])
    await log.edit({"op": "summary", "sourceIds": ["a"], "entry": entry("s", "sum"), "replace": True})
    receipt = await log.redact("a", "asked for")
    assert (receipt.entry_id, receipt.seq, receipt.summaries, receipt.complete) == ("a", 1, ("s",), True)
    await log.redact(2)
    call, gone = await log.get("b"), await log.get("a")
    assert (gone.content, gone.redacted, gone.role) == ("[redacted]", True, "user")
    assert [(each.id, each.name, each.args) for each in call.tool_calls] == [("c1", "look", {})]
    assert (await log.store.verify()).ok


async def test_redact_again_gives_the_first_receipt(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    first = await log.redact("a")
    before = await everything(store)
    assert await log.redact("a", "another reason") == first
    assert await everything(store) == before


# Following


async def test_follow_gives_what_is_stored_and_then_what_comes(log: MessageLog) -> None:
    await log.append_many([user("a"), user("b")])
    async with aclosing(log.follow(after=1)) as following:  # type: ignore[type-var]  # it is a generator
        assert (await anext(following)).content == "b"
        coming = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        await log.add("user", "c")
        assert (await coming).content == "c"


async def test_followers_of_a_branch_and_of_the_whole_log_hear_their_part(log: MessageLog) -> None:
    await log.add("user", "a")
    side = await log.fork("side")
    await side.add("user", "b")
    await log.add("user", "c")
    heard = {}
    for name, following in {"main": log.follow(), "side": side.follow(), "raw": log.raw.follow()}.items():
        async with aclosing(following) as opened:  # type: ignore[type-var]  # it is a generator
            heard[name] = [(await anext(opened)).content for _ in range(3 if name == "raw" else 2)]
    assert heard == {"main": ["a", "c"], "side": ["a", "b"], "raw": ["a", "b", "c"]}


async def test_follow_after_the_end_of_the_log_is_refused(log: MessageLog) -> None:
    await log.add("user", "a")
    with pytest.raises(PositionError) as refusal:
        await anext(log.follow(after=2))
    assert (refusal.value.after, refusal.value.end) == (2, 1)


async def test_a_follower_hears_of_a_log_that_was_purged_and_begun_again(log: MessageLog, store: Store) -> None:
    await log.append_many([user("a"), user("b")])
    async with aclosing(log.follow(after=2)) as following:  # type: ignore[type-var]  # it is a generator
        coming = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        await store.purge("talk")
        await log.append_many([user(text) for text in "xyz"])
        with pytest.raises(PositionError):
            await coming


async def test_a_follower_ends_when_the_store_is_closed(path: Path) -> None:
    store = await msglog.open(path)
    async with aclosing(store.log("talk").follow()) as following:  # type: ignore[type-var]  # it is a generator
        coming = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        await store.close()
        with pytest.raises(StoreClosedError):
            await coming


# What is refused

SECRET = "the colour of the door is mauve"


class Odd:
    def __repr__(self) -> str:
        return SECRET


def nan() -> float:
    return float("nan")


REFUSED: dict[str, Callable[[Any], Any]] = {
    "add, unknown role": lambda log: log.add("nobody", SECRET),
    "add, role of another type": lambda log: log.add(5, SECRET),
    "add, content of a number": lambda log: log.add("user", 5),
    "add, content of an object": lambda log: log.add("user", {"text": SECRET}),
    "add, parts that are none": lambda log: log.add("user", [SECRET]),
    "add, a part without type": lambda log: log.add("user", [{"text": SECRET}]),
    "add, bytes": lambda log: log.add("user", SECRET.encode()),
    "add, a set": lambda log: log.add("tool", {SECRET}),
    "add, an object of Python's": lambda log: log.add("tool", {"in": [Odd()]}),
    "add, NaN": lambda log: log.add("tool", [SECRET, nan()]),
    "add, a key that is no str": lambda log: log.add("tool", {5: SECRET}),
    "add, too deep": lambda log: log.add("tool", eval("[" * 60 + "SECRET" + "]" * 60) and deep(SECRET)),
    "add, calls that are none": lambda log: log.add("assistant", None, tool_calls=SECRET),
    "add, a call without name": lambda log: log.add("assistant", None, tool_calls=[{"id": SECRET}]),
    "add, a name that is no str": lambda log: log.add("user", "x", name=[SECRET]),
    "append, a str": lambda log: log.append(SECRET),
    "append, None": lambda log: log.append(None),
    "append, a list": lambda log: log.append([user(SECRET)]),
    "append, no role": lambda log: log.append({"content": SECRET}),
    "append, nothing": lambda log: log.append({}),
    "append, an object of Python's": lambda log: log.append(Odd()),
    "append, an id that is no str": lambda log: log.append({"id": 5, "message": user(SECRET)}),
    "append, an empty id": lambda log: log.append({"id": "", "message": user(SECRET)}),
    "append, an empty id beside": lambda log: log.append(user(SECRET), id=""),
    "append, an id with NUL": lambda log: log.append(user(SECRET), id="a\0b"),
    "append, an id with surrogates": lambda log: log.append(user(SECRET), id="a\ud800"),
    "append, an id of bytes": lambda log: log.append(user(SECRET), id=b"a"),
    "append, two ids": lambda log: log.append(entry("one", SECRET), id="two"),
    "append, metadata of a str": lambda log: log.append(user(SECRET), meta=SECRET),
    "append, metadata of a set": lambda log: log.append(user("x"), meta={"k": {SECRET}}),
    "append, metadata twice": lambda log: log.append({"message": user("x"), "meta": {"a": 1}}, meta={"b": 1}),
    "append, a naive time": lambda log: log.append(user("x"), meta={"created_at": "2026-01-01T00:00:00"}),
    "append, an unknown kind": lambda log: log.append({"message": user(SECRET), "kind": "other"}),
    "append, sources of a str": lambda log: log.append({"message": user(SECRET), "sources": "abc"}),
    "append, sources that are no ids": lambda log: log.append({"message": user(SECRET), "sources": [5]}),
    "append, sources with surrogates": lambda log: log.append({"message": user(SECRET), "sources": ["\ud800"]}),
    "append_many, a str": lambda log: log.append_many(SECRET),
    "append_many, a message": lambda log: log.append_many(user(SECRET)),
    "append_many, None": lambda log: log.append_many(None),
    "append_many, one that is none": lambda log: log.append_many([user("x"), SECRET]),
    "append, expecting another seq": lambda log: log.append(user(SECRET), expected_seq=99),
    "append, expecting another head": lambda log: log.append(user(SECRET), expected_head="nothing"),
    "append, expecting a str": lambda log: log.append(user(SECRET), expected_seq="2"),
    "commit, a str": lambda log: log.commit(SECRET),
    "commit, None": lambda log: log.commit(None),
    "commit, an unknown way": lambda log: then(log.history(), lambda h: log.commit(h.append(user("x")), "perhaps")),
    "edit, a str": lambda log: log.edit(SECRET),
    "edit, an unknown op": lambda log: log.edit({"op": SECRET}),
    "edit, no op": lambda log: log.edit({"id": "a"}),
    "edit, no id": lambda log: log.edit({"op": "remove"}),
    "edit, an id that is no str": lambda log: log.edit({"op": "remove", "id": 5}),
    "edit, entries that are none": lambda log: log.edit({"op": "replace", "id": "a", "entries": [SECRET]}),
    "edit, entries of a message": lambda log: log.edit({"op": "replace", "id": "a", "entries": user(SECRET)}),
    "edit, an entry that is there": lambda log: log.edit(
        {"op": "insertAfter", "id": "a", "entries": [entry("b", "b")]}
    ),
    "edit, other content": lambda log: log.edit({"op": "insertAfter", "id": "a", "entries": [entry("b", SECRET)]}),
    "edit, an id that cannot be one": lambda log: log.edit(
        {"op": "insertAfter", "id": "a", "entries": [entry("\ud800", SECRET)]}
    ),
    "edit, sources that cannot be ids": lambda log: log.edit(
        {"op": "summary", "sourceIds": ["\ud800"], "entry": entry("s", SECRET)}
    ),
    "edit, strictly": lambda log: log.edit({"op": "remove", "id": "nothing"}, strict=True),
    "edit, metadata of a str": lambda log: log.edit({"op": "remove", "id": "a"}, meta=SECRET),
    "fork, no name": lambda log: log.fork(""),
    "fork, a name with NUL": lambda log: log.fork("a\0b"),
    "fork, a name that is no str": lambda log: log.fork(5),
    "fork, a name that is taken": lambda log: log.fork("main"),
    "fork, an unknown revision": lambda log: log.fork("new", at="nothing"),
    "fork, a revision that is no str": lambda log: log.fork("new", at=Odd()),
    "fork, a revision that cannot be one": lambda log: log.fork("new", at="\ud800"),
    "rewind, an unknown revision": lambda log: log.rewind("nothing"),
    "rewind, None": lambda log: log.rewind(None),
    "rewind, an object of Python's": lambda log: log.rewind(Odd()),
    "rewind, metadata of a str": lambda log: log.rewind("nothing", meta=SECRET),
    "redact, an unknown seq": lambda log: log.redact(99),
    "redact, zero": lambda log: log.redact(0),
    "redact, an unknown id": lambda log: log.redact("nothing"),
    "redact, a float": lambda log: log.redact(1.5),
    "redact, True": lambda log: log.redact(True),
    "redact, a seq that cannot be one": lambda log: log.redact(2**70),
    "redact, an id that cannot be one": lambda log: log.redact("\ud800"),
    "redact, a reason that is no str": lambda log: log.redact("a", 5),
    "last, negative": lambda log: log.last(-1),
    "last, a str": lambda log: log.last("1"),
    "last, None": lambda log: log.last(None),
    "last, True": lambda log: log.last(True),
    "iterate, zero": lambda log: drained(log.iterate(0)),
    "iterate, a float": lambda log: drained(log.iterate(1.5)),
    "read, after a negative": lambda log: log.read(-1),
    "read, a negative limit": lambda log: log.read(limit=-1),
    "read, a str": lambda log: log.read("1"),
    "read, a limit that cannot be one": lambda log: log.read(limit=2**70),
    "get, zero": lambda log: log.get(0),
    "get, negative": lambda log: log.get(-1),
    "get, an unknown seq": lambda log: log.get(99),
    "get, an unknown id": lambda log: log.get("nothing"),
    "get, a float": lambda log: log.get(1.5),
    "get, None": lambda log: log.get(None),
    "get, True": lambda log: log.get(True),
    "get, a seq that cannot be one": lambda log: log.get(2**70),
    "get, an id that cannot be one": lambda log: log.get("\ud800"),
    "find, an object of Python's": lambda log: log.find(Odd()),
    "history, an unknown revision": lambda log: log.history("nothing"),
    "history, a revision that cannot be one": lambda log: log.history("\ud800"),
    "history, an object of Python's": lambda log: log.history(Odd()),
    "history, a negative last": lambda log: log.history(last=-1),
    "history, full and last": lambda log: log.history(full=True, last=1),
    "history, too many": lambda log: log.history(full=True, limit=1),
    "restore, an unknown id": lambda log: log.restore(["nothing"]),
    "restore, an id that cannot be one": lambda log: log.restore(["\ud800"]),
    "restore, a number": lambda log: log.restore(5),
    "follow, negative": lambda log: anext(log.follow(-1)),
    "follow, a str": lambda log: anext(log.follow("1")),
    "follow, beyond the end": lambda log: anext(log.follow(99)),
    "revisions, zero": lambda log: drained(log.revisions(0)),
    "lineage, negative": lambda log: drained(log.lineage(-1)),
    "raw, a negative limit": lambda log: log.raw.read(limit=-1),
    "raw, negative": lambda log: log.raw.last(-1),
}


def deep(value: Any) -> Any:
    """Deeper than anything that is kept."""
    for _ in range(300):
        value = [value]
    return value


async def then(first: Any, work: Callable[[Any], Any]) -> Any:
    return await work(await first)


@pytest.mark.parametrize("work", REFUSED.values(), ids=REFUSED.keys())
async def test_bad_input_is_refused_with_a_typed_error_and_nothing_written(
    log: MessageLog, store: Store, work: Work
) -> None:
    await log.append_many([entry("a", SECRET), entry("b", "b")])
    before = await everything(store)
    with pytest.raises((MsgLogError, TypeError, ValueError)) as refusal:
        await work(log)
    shown = "".join(traceback.format_exception(refusal.value))
    assert SECRET not in shown
    assert not isinstance(refusal.value, (AttributeError, KeyError, UnicodeError))
    assert await everything(store) == before
    assert await log.add("user", "goes on") == 3


@pytest.mark.parametrize(
    ("name", "branch"),
    [("", "main"), ("a\0b", "main"), ("a\ud800", "main"), (5, "main"), (None, "main"), ("a", ""), ("a", 5)],
)
def test_a_name_that_cannot_be_one_is_refused_at_once(name: Any, branch: Any, tmp_path: Path) -> None:
    async def work() -> None:
        async with msglog.open(tmp_path / "a.db") as store:
            with pytest.raises(msglog.errors.InvalidNameError):
                store.log(name, branch)

    asyncio.run(work())


ON_A_BRANCH: dict[str, Work] = {
    "all": lambda log: log.all(),
    "last": lambda log: log.last(1),
    "iterate": lambda log: drained(log.iterate()),
    "count": lambda log: log.count(),
    "read": lambda log: log.read(),
    "follow": lambda log: anext(log.follow()),
    "history": lambda log: log.history(),
    "restore": lambda log: log.restore(),
    "head": lambda log: log.head(),
    "lineage": lambda log: drained(log.lineage()),
    "to_openai": lambda log: log.to_openai(),
    "add": lambda log: log.add("user", "x"),
    "append_many": lambda log: log.append_many([user("x")]),
    "append_many of nothing": lambda log: log.append_many([]),
    "edit": lambda log: log.edit({"op": "remove", "id": "a"}),
    "commit": lambda log: log.commit(MessageHistory().append(user("x"))),
    "fork": lambda log: log.fork("new"),
    "rewind": lambda log: log.rewind("nothing"),
}


@pytest.mark.parametrize("work", ON_A_BRANCH.values(), ids=ON_A_BRANCH.keys())
async def test_an_unknown_branch_is_refused(log: MessageLog, store: Store, work: Work) -> None:
    await log.add("user", "a")
    before = await everything(store)
    with pytest.raises(UnknownBranchError) as refusal:
        await work(store.log("talk", "nowhere"))
    assert (refusal.value.log, refusal.value.branch) == ("talk", "nowhere")
    assert await everything(store) == before


@pytest.mark.parametrize(
    ("work", "refusal"),
    [
        (lambda log: log.fork("new"), UnknownLogError),
        (lambda log: log.rewind("nothing"), UnknownLogError),
        (lambda log: log.redact(1), UnknownLogError),
        (lambda log: log.history(at="nothing"), UnknownLogError),
        (lambda log: log.get(1), UnknownEntryError),
        (lambda log: log.restore(["a"]), UnknownEntryError),
        (lambda log: log.follow(after=1).__anext__(), PositionError),
    ],
)
async def test_a_log_that_does_not_exist_yet_lacks_what_it_is_asked_for(
    log: MessageLog, store: Store, work: Work, refusal: type[MsgLogError]
) -> None:
    with pytest.raises(refusal):
        await work(log)
    assert await store.logs() == []


async def test_what_is_unknown_is_named(log: MessageLog) -> None:
    await log.add("user", "a")
    with pytest.raises(UnknownRevisionError, match="'nothing'"):
        await log.history(at="nothing")
    with pytest.raises(UnknownEntryError, match="'nothing'"):
        await log.get("nothing")
    with pytest.raises(BranchExistsError, match="'main'"):
        await log.fork("main")


WRITING: dict[str, Work] = {
    "add": lambda log: log.add("user", "x"),
    "append": lambda log: log.append(user("x")),
    "append_many": lambda log: log.append_many([user("x")]),
    "commit": lambda log: log.commit(MessageHistory().append(user("x"))),
    "edit": lambda log: log.edit({"op": "remove", "id": "a"}),
    "fork": lambda log: log.fork("new"),
    "rewind": lambda log: log.rewind("nothing"),
    "redact": lambda log: log.redact("a"),
    "purge": lambda log: log.store.purge("talk"),
    "describe with a title": lambda log: log.describe(title="Trains"),
}

READING: dict[str, Work] = {
    **{name: work for name, work in ON_A_BRANCH.items() if name not in {*WRITING, "append_many of nothing"}},
    "get": lambda log: log.get(1),
    "find": lambda log: log.find("a"),
    "seq": lambda log: log.seq(),
    "branches": lambda log: log.branches(),
    "revisions": lambda log: drained(log.revisions()),
    "raw.all": lambda log: log.raw.all(),
    "raw.last": lambda log: log.raw.last(1),
    "to_anthropic": lambda log: log.to_anthropic(),
    "to_langchain": lambda log: log.to_langchain(),
    "describe": lambda log: log.describe(sizes=True),
    "store.logs": lambda log: log.store.logs(),
    "store.stats": lambda log: log.store.stats(),
    "store.verify": lambda log: log.store.verify(),
    "store.sql": lambda log: log.store.sql("SELECT 1"),
    "store.follow": lambda log: anext(log.store.follow()),
}


@pytest.mark.parametrize("work", WRITING.values(), ids=WRITING.keys())
async def test_a_store_that_was_opened_read_only_writes_nothing(path: Path, work: Work) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").append(entry("a", "a"))
        before = await everything(store)
    async with msglog.open(path, read_only=True) as store:
        with pytest.raises(ReadOnlyError):
            await work(store.log("talk"))
        assert await everything(store) == before


@pytest.mark.parametrize("work", WRITING.values(), ids=WRITING.keys())
async def test_a_read_only_store_writes_nothing_while_another_store_has_the_file_open_for_writing(
    path: Path, work: Work
) -> None:
    async with msglog.open(path) as writing, msglog.open(path, read_only=True) as store:
        await writing.log("talk").append(entry("a", "a"))
        before = await everything(store)
        with pytest.raises(ReadOnlyError):
            await work(store.log("talk"))
        assert await everything(store) == before


@pytest.mark.parametrize("work", READING.values(), ids=READING.keys())
async def test_a_store_that_was_opened_read_only_reads_everything(path: Path, work: Work) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").append(entry("a", "a"))
        expected = repr(await work(store.log("talk")))
    async with msglog.open(path, read_only=True) as store:
        if "wal_bytes" not in expected:
            assert repr(await work(store.log("talk"))) == expected


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "while another has the file open"])
@pytest.mark.parametrize("work", (WRITING | READING).values(), ids=(WRITING | READING).keys())
async def test_a_closed_store_does_nothing_any_more(path: Path, work: Work, *, shared: bool) -> None:
    store = await msglog.open(path)
    other = await msglog.open(path) if shared else None
    log = store.log("talk")
    await log.append(entry("a", "a"))
    await store.close()
    with pytest.raises(StoreClosedError):
        await work(log)
    if other is not None:
        assert await other.log("talk").count() == 1
        await other.close()


async def test_a_history_that_contradicts_its_log_is_refused(log: MessageLog, store: Store) -> None:
    await log.append(entry("a", "a"))
    history = await log.history(full=True)
    data = history.append(entry("b", "b")).to_json()
    data["revisions"][-1]["size"] = 5
    with pytest.raises(InvalidHistoryError):
        await log.commit(MessageHistory.from_json(data))
