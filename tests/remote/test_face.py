"""A store on a server: the library's face, in tasks and in threads, whatever the network does."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import msglog
import msglog.sync
from msglog import ConflictError, MessageHistory, MessageLog, Store
from msglog.budget import Usage, UsageTotal
from msglog.errors import (
    AccessDeniedError,
    OnlyLocalError,
    ReadOnlyError,
    StoreClosedError,
    UnreachableError,
)
from msglog.raw import RawLog
from msglog.remote.log import RemoteLog
from msglog.remote.server import Server
from msglog.remote.store import RemoteStore
from msglog.remote.transport import Outgoing, Reply
from msglog.server.app import create_app
from msglog.server.tokens import TokenFile
from msglog.storage.report import Problem, Report
from msglog.transfer import export_bundle, import_bundle
from msglog.wire.problems import error_of, problem_of
from msglog.wire.text import dumps, loads
from msglog.wire.values import plain, value_of
from tests.server.serving import free_port, listening, served
from tests.strategies import SPLIT_EMOJI, exact, messages, metas, user
from tests.test_errors import EXAMPLES


@pytest.fixture
async def url(store: Store) -> AsyncIterator[str]:
    """Where the store is served."""
    async with served(create_app(store)) as url:
        yield url


def test_every_method_that_takes_the_file_is_replaced() -> None:
    """A method that is inherited must get along without the file: those are listed here."""
    inherited = {
        MessageLog: {"add", "append", "append_many", "edit", "follow", "lineage", "raw", "read", "revisions", "store"}
        | {"to_anthropic", "to_langchain", "to_openai"},
        Store: {"log", "max_message_bytes", "poll_interval", "read_only"},
    }
    for original, remote in ((MessageLog, RemoteLog), (Store, RemoteStore)):
        public = {name for name in vars(original) if not name.startswith("_")}
        assert public - set(vars(remote)) == inherited[original]
        for name in public & set(vars(remote)):
            of, on = getattr(original, name), getattr(remote, name)
            if inspect.isfunction(of) and name != "describe":
                assert inspect.signature(of).parameters.keys() == inspect.signature(on).parameters.keys(), name


@pytest.mark.parametrize("error", [e for e, _ in EXAMPLES], ids=lambda error: type(error).__name__)
def test_every_error_crosses_the_wire_as_itself(error: Any) -> None:
    again = error_of(problem_of(error), getattr(error, "path", ""))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_where_the_file_lies_is_not_told() -> None:
    problem = problem_of(msglog.errors.StoreFullError("/srv/secret/agent.db"))
    assert "secret" not in str(problem)
    again = error_of(problem, "http://host")
    assert isinstance(again, msglog.errors.StoreFullError)
    assert (again.path, str(again).startswith("http://host: no space left")) == ("http://host", True)


REPORT = Report(
    logs=1, entries=2, problems=[Problem("talk", "entry", 5, "gone"), Problem(None, "table", "logs", "gone")]
)
USED = UsageTotal(1, Usage(1, 2), Decimal("0.5"), frozenset([None, "m"]))


@pytest.mark.parametrize("value", [REPORT, USED], ids=lambda value: type(value).__name__)
def test_what_a_store_tells_of_itself_crosses_the_wire_equal(value: Any) -> None:
    assert value_of(type(value), loads(dumps(plain(value)))) == value


async def test_a_log_made_by_its_class_is_one_on_the_server(url: str) -> None:
    async with msglog.open(url) as store:
        log = MessageLog(store, "talk")
        assert await log.add("user", "hi") == 1
        assert isinstance(log, RemoteLog)
        assert isinstance(log.raw, RawLog)


@settings(max_examples=15)
@given(st.data())
def test_whatever_a_store_keeps_comes_through(data: st.DataObject) -> None:
    batch = [
        {"message": message, "meta": meta}
        for message, meta in data.draw(st.lists(st.tuples(messages(), metas()), min_size=1, max_size=5))
    ]

    async def there_and_back() -> None:
        async with msglog.open(":memory:") as store, served(create_app(store)) as url, msglog.open(url) as remote:
            await remote.log("talk").append_many(batch)
            far, near = remote.log("talk"), store.log("talk")
            assert exact(await far.all()) == exact(await near.all())
            expected = exact((await near.history()).refs())
            assert [exact((await far.history(full=full)).refs()) for full in (False, True)] == [expected] * 2

    asyncio.run(there_and_back())


async def test_split_surrogates_come_through_a_stream(url: str) -> None:
    async with msglog.open(url) as store:
        await store.log("talk").append(user(SPLIT_EMOJI) | {"\udc00": "odd"})
        async for message in store.log("talk").follow():
            assert (message.content, message.extra) == (SPLIT_EMOJI, {"\udc00": "odd"})
            break


async def test_the_blocking_face_works_from_a_thread(url: str) -> None:
    def work() -> list[str]:
        with msglog.sync.open(url) as store:
            log = store.log("talk")
            log.add("user", "a")
            log.append_many([user("b"), user("c")])
            log.commit(log.history().append(user("d")))
            seen = []
            for message in log.follow():
                seen.append(message.text)
                if message.seq == 4:
                    break
            assert isinstance(log.fork("side"), msglog.sync.MessageLog)
            assert [info.name for info in store.logs()] == ["talk"]
            return seen

    assert await asyncio.to_thread(work) == list("abcd")


# What is refused


async def test_a_server_that_is_not_there_is_said_when_it_is_opened() -> None:
    with pytest.raises(UnreachableError, match="no answer"):
        await msglog.open(f"http://127.0.0.1:{free_port()}", busy_timeout=0.1)


async def test_something_else_than_a_server_is_told_apart() -> None:
    async def other(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b"<h1>Not found</h1>"})

    async with listening(other) as url:
        with pytest.raises(UnreachableError, match="404"):
            await msglog.open(url)


async def test_a_token_is_asked_for_and_sent(store: Store, tmp_path: Path) -> None:
    tokens = TokenFile(str(tmp_path / "tokens"))
    _, text = tokens.create("agent", ["read", "append"], "eu/")
    async with served(create_app(store, tokens=tokens)) as url:
        for wrong in (None, "msglog_x_y", text[:-1]):
            with pytest.raises(AccessDeniedError):
                await msglog.open(url, token=wrong)
        async with msglog.open(url, token=text) as remote:
            assert await remote.log("eu/talk").add("user", "hi") == 1
            with pytest.raises(AccessDeniedError) as refusal:
                await remote.log("us/talk").add("user", "hi")
            assert refusal.value.needed == "append"


async def test_a_token_for_a_file_is_a_mistake(path: Path) -> None:
    with pytest.raises(TypeError, match="file"):
        await msglog.open(path, token="msglog_x_y")


async def test_what_takes_the_file_is_refused(url: str, tmp_path: Path) -> None:
    async with msglog.open(url) as store:
        for call in (store.backup(tmp_path / "b.db"), store.doctor(), store.repair(), store.compact()):
            with pytest.raises(OnlyLocalError):
                await call


async def test_a_bundle_takes_the_file_and_the_way_over_http_is_said(url: str, tmp_path: Path, store: Store) -> None:
    await store.log("talk").add("user", "hi")
    await export_bundle(store, tmp_path / "bundle")
    async with msglog.open(url) as remote:
        for call in (export_bundle(remote, tmp_path / "b"), import_bundle(remote, tmp_path / "bundle")):
            with pytest.raises(OnlyLocalError, match=r"_bundle .*GET /v1/export, POST /v1/import"):
                await call
    assert not os.path.exists(tmp_path / "b")  # noqa: ASYNC240 nothing else runs


async def test_a_store_that_was_opened_read_only_writes_nothing(url: str) -> None:
    async with msglog.open(url, read_only=True) as store:
        with pytest.raises(ReadOnlyError):
            await store.log("talk").add("user", "hi")
        assert await store.log("talk").all() == []


async def test_everything_after_close_says_so(url: str) -> None:
    store = await msglog.open(url)
    log = store.log("talk")
    follower = asyncio.ensure_future(anext(log.follow()))
    await log.add("user", "a")
    assert (await follower).text == "a"
    waiting = asyncio.ensure_future(anext(log.follow(after=1)))
    while not waiting.done():
        await asyncio.sleep(0.001)
        await store.close()
    for work in (log.count(), log.add("user", "b"), store.logs(), waiting):
        with pytest.raises(StoreClosedError):
            await work


# Answers that are lost


class Lossy:
    """A transport that loses the answer to every request once: it was carried out, and nobody is told."""

    def __init__(self, inner: Any, loses: Callable[[Outgoing], bool]) -> None:
        self._inner = inner
        self._loses = loses
        self._lost: set[tuple[str, bytes | None]] = set()

    async def send(self, request: Outgoing) -> Reply:
        reply: Reply = await self._inner.send(request)
        key = (request.url, request.content)
        if self._loses(request) and key not in self._lost:
            self._lost.add(key)
            raise httpx.ReadError("the connection broke")
        return reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def lossy(store: Store) -> MessageLog:
    """A log whose every answer is lost once."""
    assert isinstance(store, RemoteStore)
    server: Server = store.server
    server.transport = Lossy(server.transport, lambda _: True)
    return store.log("talk")


async def test_appends_commits_and_forks_whose_answers_are_lost_are_done_once(url: str, log: MessageLog) -> None:
    async with msglog.open(url) as store:
        far = lossy(store)
        assert [await far.add("user", text) for text in "ab"] == [1, 2]
        assert await far.append_many([user("c"), user("d")]) == 4
        history = await far.commit((await far.history()).append(user("e")))
        assert history.revision_id == await log.head()
        side = await far.fork("side")
        assert await side.add("user", "f") == 6
        assert (await far.redact(1)).seq == 1
    assert [message.text for message in await log.all()] == ["[redacted]", *"bcde"]
    assert [branch.name for branch in await log.branches()] == ["main", "side"]
    assert len([revision async for revision in log.revisions()]) == 6


async def test_what_cannot_be_sent_again_says_that_it_may_be_done(url: str, log: MessageLog) -> None:
    await log.add("user", "a")
    before = await log.head()
    await log.add("user", "b")
    assert before is not None
    async with msglog.open(url) as store:
        far = lossy(store)
        for work in (far.rewind(before), store.purge("talk")):
            with pytest.raises(UnreachableError) as refusal:
                await work
            assert refusal.value.uncertain


async def test_a_conflict_names_both_heads_and_a_rebase_goes_on(url: str, log: MessageLog) -> None:
    await log.add("user", "a")
    async with msglog.open(url) as store:
        far = store.log("talk")
        mine = (await far.history()).append(user("mine"))
        base = await log.head()
        await log.add("user", "theirs")
        with pytest.raises(ConflictError) as refusal:
            await far.commit(mine)
        assert (refusal.value.expected, refusal.value.actual) == (base, await log.head())
        rebased = await far.commit(mine, "rebase")
        assert [message.text for message in rebased.render()] == ["a", "theirs", "mine"]


async def test_a_commit_sends_only_what_the_server_lacks(url: str) -> None:
    async with msglog.open(url) as store:
        assert isinstance(store, RemoteStore)
        log = store.log("talk")
        history = await log.commit(MessageHistory().append(user("x" * 10_000)))
        sizes: list[int] = []

        class Watching(Lossy):
            async def send(self, request: Outgoing) -> Reply:
                sizes.append(len(request.content or b""))
                reply: Reply = await self._inner.send(request)
                return reply

        store.server.transport = Watching(store.server.transport, lambda _: False)
        for number in range(3):
            history = await log.commit(history.append(user(str(number))))
        assert max(sizes) < 1000


async def test_many_threads_use_one_blocking_store(url: str, log: MessageLog) -> None:
    def work() -> None:
        with msglog.sync.open(url) as store:
            threads = [threading.Thread(target=store.log("talk").add, args=("user", str(n))) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    await asyncio.to_thread(work)
    assert sorted(message.text for message in await log.all()) == [str(number) for number in range(8)]
