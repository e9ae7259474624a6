"""Who may do what, from where, and how much of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import msglog
from msglog import Store
from msglog.errors import AccessDeniedError, MsgLogError
from msglog.server.access import COOKIE
from msglog.server.app import create_app
from msglog.server.run import is_loopback, serve
from msglog.server.settings import Limits, Settings
from msglog.server.tokens import RIGHTS, Right, TokenFile
from tests.server.serving import client, free_port, served
from tests.strategies import user

EACH = "/v1/logs/{}"
REQUESTS: dict[str, tuple[Right, str, str, Any]] = {
    "messages": ("read", "GET", f"{EACH}/messages", None),
    "message": ("read", "GET", f"{EACH}/messages/1", None),
    "entry": ("read", "GET", f"{EACH}/entries/a", None),
    "find": ("read", "POST", f"{EACH}/find", {"id": "a"}),
    "view": ("read", "GET", f"{EACH}/view", None),
    "describe": ("read", "GET", EACH, None),
    "position": ("read", "GET", f"{EACH}/position", None),
    "history": ("read", "GET", f"{EACH}/history", None),
    "snapshot": ("read", "GET", f"{EACH}/snapshot", None),
    "changes": ("read", "GET", f"{EACH}/changes", None),
    "diff": ("read", "GET", f"{EACH}/diff?from=r", None),
    "usage, asked": ("read", "POST", f"{EACH}/usage", {}),
    "restore": ("read", "POST", f"{EACH}/restore", {}),
    "branches": ("read", "GET", f"{EACH}/branches", None),
    "revisions": ("read", "GET", f"{EACH}/revisions", None),
    "lineage": ("read", "GET", f"{EACH}/lineage", None),
    "usage": ("read", "GET", f"{EACH}/usage", None),
    "search": ("read", "GET", f"{EACH}/search?words=x", None),
    "search, asked": ("read", "POST", f"{EACH}/search", {"words": "x"}),
    "append": ("append", "POST", f"{EACH}/messages", user("hi")),
    "change": ("edit", "PATCH", EACH, {"title": "x"}),
    "commit": ("edit", "POST", f"{EACH}/commit", {"head": "r", "entries": [], "revisions": []}),
    "edit": ("edit", "POST", f"{EACH}/edit", {"patches": []}),
    "fork": ("edit", "POST", f"{EACH}/branches", {"name": "side"}),
    "rewind": ("edit", "POST", f"{EACH}/rewind", {"revision": "r"}),
    "redact": ("edit", "POST", f"{EACH}/redact", {"entry": 1}),
    "purge": ("admin", "DELETE", EACH, None),
    "steps": ("read", "GET", f"{EACH}/steps", None),
    "place": ("read", "GET", f"{EACH}/place?seq=1", None),
    "responses": ("read", "GET", f"{EACH}/responses", None),
    "whole store": ("read", "GET", "/v1/messages", None),
    "stats": ("read", "GET", "/v1/stats", None),
    "export": ("read", "GET", "/v1/export", None),
    "sql": ("admin", "POST", "/v1/sql", {"query": "SELECT 1"}),
    "verify": ("admin", "POST", "/v1/verify", None),
    "import": ("admin", "POST", "/v1/import", None),
    "metrics": ("admin", "GET", "/metrics", None),
}


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(str(tmp_path / "agent.db-tokens"))


@pytest.fixture
async def guarded(store: Store, tokens: TokenFile) -> AsyncIterator[str]:
    """The URL of a service that asks for tokens."""
    for name in ("eu/talk", "us/talk"):
        await store.log(name).add("user", "hi")
    async with served(create_app(store, tokens=tokens)) as url:
        yield url


async def ask(http: httpx.AsyncClient, name: str, log: str = "eu%2Ftalk") -> httpx.Response:
    _, method, path, body = REQUESTS[name]
    return await http.request(method, path.format(log), json=body)


def test_every_resource_is_tried(store: Store) -> None:
    """What is served and not tried below would be a hole that nobody looks at."""
    described = create_app(store).openapi()["paths"]
    tried = {
        (
            method.lower(),
            path.format("{log}").split("?")[0].replace("/1", "/{seq}").replace("entries/a", "entries/{entry}"),
        )
        for _, method, path, _ in REQUESTS.values()
    }
    tried = {(method, path.replace("/v{seq}", "/v1")) for method, path in tried}
    served_ = {(method, path) for path, methods in described.items() for method in methods}
    elsewhere = {"/healthz", "/readyz", "/v1/store", "/v1/logs", "/v1/search", "/v1/follow", "/v1/logs/{log}/follow"}
    assert {(m, p) for m, p in served_ - tried if p not in elsewhere} == set()


async def test_a_request_takes_its_right_and_no_other(guarded: str, tokens: TokenFile) -> None:
    for right in RIGHTS:
        _, text = tokens.create("one", [right])
        async with client(guarded, text) as http:
            answers = {name: await ask(http, name) for name in REQUESTS}
        refused = {name for name, answer in answers.items() if answer.status_code in {401, 403}}
        assert refused == {name for name, (needed, *_) in REQUESTS.items() if right not in {needed, "admin"}}
        assert all(answers[name].json()["facts"]["needed"] == REQUESTS[name][0] for name in refused)


async def test_what_is_outside_a_prefix_is_refused_whether_or_not_it_exists(guarded: str, tokens: TokenFile) -> None:
    _, text = tokens.create("eu only", ["admin"], "eu/")
    async with client(guarded, text) as http:
        for name in REQUESTS:
            there, not_there = [await ask(http, name, log) for log in ("us%2Ftalk", "us%2Fnone")]
            assert (there.status_code, there.content) == (403, not_there.content), name


async def test_nothing_is_answered_without_a_token_that_is_known(guarded: str, tokens: TokenFile) -> None:
    _, text = tokens.create("revoked", ["admin"])
    assert tokens.revoke(text.split("_")[1])
    for wrong in (None, "msglog", "msglog_x_y", text, text + "x"):
        async with client(guarded, wrong) as http:
            for name in REQUESTS:
                response = await ask(http, name)
                assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer"), name


async def test_a_list_and_a_search_show_only_what_a_token_covers(guarded: str, tokens: TokenFile) -> None:
    _, text = tokens.create("eu only", ["read"], "eu/")
    async with client(guarded, text) as http:
        assert [log["name"] for log in (await http.get("/v1/logs")).json()["logs"]] == ["eu/talk"]
        for params in ({"words": "hi"}, {"words": "hi", "prefix": "eu/t"}, {"words": "hi", "prefix": "e"}):
            assert [hit["log"] for hit in (await http.get("/v1/search", params=params)).json()["hits"]] == ["eu/talk"]
        assert (await http.get("/v1/search", params={"words": "hi", "prefix": "us/"})).json()["hits"] == []
        assert (await http.post("/v1/search", json={"words": "hi", "log": "us/talk"})).status_code == 403
        assert (await http.get("/v1/export", params={"log": "eu/talk"})).status_code == 200
        for path in ("/v1/export?log=us%2Ftalk", "/v1/follow", "/v1/logs/us%2Ftalk/follow"):
            assert (await http.get(path)).status_code == 403
        assert (await http.get("/v1/store")).json()["rights"] == ["read"]


async def test_health_takes_no_token(guarded: str) -> None:
    async with client(guarded) as http:
        assert [(await http.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]


# The file of tokens


def test_tokens_are_kept_hashed_in_a_private_file(tokens: TokenFile) -> None:
    token, text = tokens.create("agent", ["append", "read"], "eu/")
    kept = Path(tokens.path).read_text()
    assert text.split("_", 2)[2] not in kept
    assert stat.S_IMODE(os.stat(tokens.path).st_mode) == 0o600
    assert (token.rights, token.prefix, tokens.find(text)) == (("read", "append"), "eu/", token)


def test_what_another_process_changes_is_seen_at_once(tokens: TokenFile) -> None:
    _, text = tokens.create("agent", ["read"])
    other = TokenFile(tokens.path)
    assert other.find(text)
    tokens.revoke(text.split("_")[1])
    assert other.find(text) is None
    assert not tokens.revoke("none")
    with pytest.raises(MsgLogError):
        tokens.create("nothing", [])


def test_a_damaged_file_of_tokens_lets_nobody_in(tokens: TokenFile) -> None:
    _, text = tokens.create("agent", ["read"])
    Path(tokens.path).write_text("{")
    with pytest.raises(MsgLogError, match="no file of tokens"):
        tokens.find(text)
    os.unlink(tokens.path)
    assert tokens.find(text) is None


# Where a request comes from


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("example.com", False)],
)
def test_loopback_addresses_are_known(host: str, *, own: bool) -> None:
    assert is_loopback(host) is own


async def test_another_address_takes_tokens(path: Path) -> None:
    with pytest.raises(AccessDeniedError, match="msglog token create"):
        await serve(str(path), host="0.0.0.0", port=0)
    assert list(path.parent.iterdir()) == []


async def test_a_foreign_host_name_is_refused(store: Store) -> None:
    settings = Settings(hosts=("localhost", "msglog.example.com"))
    async with served(create_app(store, settings=settings)) as url, client(url) as http:
        for host, status in (("localhost:1", 200), ("MSGLOG.example.com", 200), ("evil.com", 421), ("", 421)):
            assert (await http.get("/v1/logs", headers={"Host": host})).status_code == status


async def test_a_page_of_another_origin_changes_nothing_and_reads_nothing(
    http: httpx.AsyncClient, store: Store
) -> None:
    evil = {"Origin": "http://evil.com"}
    path = "/v1/logs/talk/messages"
    assert (await http.post(path, json=user("x"), headers=evil)).status_code == 403
    assert (await http.post(path, content=b"{}", headers={"Content-Type": "text/plain"})).status_code == 400
    assert (await http.delete("/v1/logs/talk", headers=evil)).status_code == 403
    for response in (await http.get("/v1/logs", headers=evil), await http.options(path, headers=evil)):
        assert "access-control-allow-origin" not in response.headers
    assert await store.logs() == []


async def test_an_origin_that_was_named_may_use_the_service(store: Store) -> None:
    settings = Settings(origins=("https://app.example.com",))
    mine = {"Origin": "https://app.example.com"}
    async with served(create_app(store, settings=settings)) as url, client(url) as http:
        asked = await http.options("/v1/logs", headers=mine | {"Access-Control-Request-Method": "POST"})
        assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, mine["Origin"])
        written = await http.post("/v1/logs/talk/messages", json=user("x"), headers=mine)
        assert (written.status_code, written.headers["vary"]) == (201, "Origin")
        assert "access-control-allow-origin" not in (await http.get("/v1/logs", headers={"Origin": "null"})).headers


@pytest.mark.parametrize("resource", ["/", "/login", "/v1/logs", "/v1/none", "/v1/logs/%FF", "/static/msglog.css"])
async def test_every_answer_forbids_inline_scripts_framing_and_sniffing(http: httpx.AsyncClient, resource: str) -> None:
    headers = (await http.get(resource)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")


async def test_who_logs_in_gets_a_cookie_that_no_script_reads(guarded: str, tokens: TokenFile) -> None:
    _, text = tokens.create("person", ["read"])
    async with client(guarded) as http:
        assert (await http.get("/")).headers["location"] == "/login?next=%2F"
        assert (await http.post("/login", data={"token": "msglog_x_y"})).status_code == 401
        cookie = (await http.post("/login", data={"token": text})).headers["set-cookie"]
        assert all(word in cookie for word in (COOKIE, "HttpOnly", "SameSite=strict"))
        assert (await http.get("/v1/logs")).status_code == 200
        await http.post("/logout")
        assert (await http.get("/v1/logs")).status_code == 401


# How much


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_the_limit_is_refused(store: Store, *, announced: bool) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 100

    settings = Settings(limits=Limits(body_bytes=1000))
    async with served(create_app(store, settings=settings)) as url, client(url) as http:
        content = b" " * 2000 if announced else body()
        kind = {"Content-Type": "application/json"}
        response = await http.post("/v1/logs/talk/messages", content=content, headers=kind)
    assert (response.status_code, response.json()["error"]) == (413, "TooLargeError")
    assert response.json()["facts"]["limit"] == 1000


async def test_batches_and_pages_are_limited(store: Store) -> None:
    settings = Settings(limits=Limits(batch=2, page=5))
    async with served(create_app(store, settings=settings)) as url, client(url) as http:
        batch = await http.post("/v1/logs/talk/messages", json=[user("x")] * 3)
        assert (batch.status_code, "at most 2 messages" in batch.text) == (400, True)
        page = await http.get("/v1/logs/talk/messages", params={"limit": 6})
        assert (page.status_code, "at most 5 items" in page.text) == (400, True)


async def test_a_caller_in_a_hurry_is_told_when_to_come_again(store: Store) -> None:
    settings = Settings(limits=Limits(rate=0.5, burst=3))
    async with served(create_app(store, settings=settings)) as url, client(url) as http:
        answers = [await http.get("/v1/logs") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].json()["error"] == "LimitError"
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 3


async def test_a_request_that_takes_too_long_is_ended(store: Store) -> None:
    settings = Settings(limits=Limits(deadline=0.05))
    async with served(create_app(store, settings=settings)) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        head = "POST /v1/logs/talk/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: 100\r\n\r\n{{".encode())  # and the rest never comes
        assert b" 504 " in await reader.readline()
        assert b"DeadlineError" in await reader.readuntil(b"}}")
        writer.close()


# What is written down


async def test_the_access_log_tells_of_requests_and_never_of_messages(
    http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "msglog.access"):
        await http.post("/v1/logs/talk/messages", json=user("hunter2"))
        await http.get("/v1/logs/talk/search", params={"words": "hunter2"})
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "msglog.access"]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("POST", "/v1/logs/talk/messages", 201),
        ("GET", "/v1/logs/talk/search", 200),
    ]
    assert "hunter2" not in caplog.text


async def test_metrics_count_appends_and_followers(http: httpx.AsyncClient) -> None:
    await http.post("/v1/logs/talk/messages", json=[user("a"), user("b")])
    async with http.stream("GET", "/v1/logs/talk/follow"):
        assert "msglog_followers 1.0" in (await http.get("/metrics")).text
    await http.request("MADE-UP", "/v1/made-up")
    text = (await http.get("/metrics")).text
    assert 'msglog_requests_total{method="other",route="none",status="404"} 1.0' in text
    assert "made-up" not in text.lower()
    for line in (
        "msglog_appended_messages_total 2.0",
        "msglog_entries 2.0",
        "msglog_commit_seconds_count 1.0",
        'msglog_append_messages_bucket{le="2.0"} 1.0',
    ):
        assert line in text
    assert "msglog_wal_bytes" in text


# Stopping


async def test_a_service_that_stops_takes_no_new_work_and_finishes_what_runs(store: Store) -> None:
    app = create_app(store)
    async with served(app) as url, client(url) as http:
        async with http.stream("GET", "/v1/logs/talk/follow") as response:
            pieces = response.aiter_text()
            await anext(pieces)
            app.service.hub.stop()
            assert "event: end" in await anext(pieces)
        refused = await http.post("/v1/logs/talk/messages", json=user("x"))
        assert (refused.status_code, refused.json()["error"]) == (503, "StoppingError")
        assert ((await http.get("/healthz")).status_code, (await http.get("/readyz")).status_code) == (200, 503)
    assert await store.log("talk").count() == 0


async def test_a_stopped_process_closes_its_store_and_ends_well(path: Path) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "msglog", "serve", str(path), "--create", "--port", str(port),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    assert f"http://127.0.0.1:{port}" in (await process.stderr.readline()).decode()
    async with msglog.open(f"http://127.0.0.1:{port}") as store:
        await store.log("talk").add("user", "hi")
        follower = asyncio.ensure_future(anext(store.log("talk").follow(after=1)))
        process.send_signal(signal.SIGTERM)
        out, err = await process.communicate()
        follower.cancel()
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out.splitlines()[0])["path"] == "/v1/store"
    assert not os.path.exists(f"{path}-wal"), "the store was closed"  # noqa: ASYNC240 nothing else runs
