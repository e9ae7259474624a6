"""Messages over HTTP: appended, retried, read, in any form that a store takes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given

import msglog
from msglog import Message, MessageLog, Store
from msglog.codec import freeze
from msglog.server.app import create_app
from msglog.wire.text import EXACT, dumps, loads, segment
from tests.server.serving import client, served
from tests.strategies import SPLIT_EMOJI, calls, json_values, reply, user

TALK = "/v1/logs/talk/messages"


def seqs(response: httpx.Response) -> list[int]:
    return [message["seq"] for message in response.json()["messages"]]


async def test_a_message_is_stored_when_the_answer_is_there(http: httpx.AsyncClient, log: MessageLog) -> None:
    response = await http.post(TALK, json=user("hi"))
    stored = await log.get(1)
    assert (response.status_code, response.headers["etag"]) == (201, '"1"')
    assert response.json() == {"seq": 1, "new": [{"seq": 1, "id": stored.entry_id, "at": stored.at.isoformat()}]}


async def test_several_messages_are_stored_together_or_not_at_all(http: httpx.AsyncClient, log: MessageLog) -> None:
    assert (await http.post(TALK, json=[user("a"), calls("c1")])).json()["seq"] == 2
    refused = await http.post(TALK, json=[user("b"), {"role": "nobody", "content": "c"}])
    assert (refused.status_code, refused.json()["error"]) == (400, "InvalidMessageError")
    assert refused.json()["facts"]["path"] == "[1].role"
    assert await log.count() == 2


async def test_an_entry_that_is_sent_again_is_recognised_by_its_id(http: httpx.AsyncClient) -> None:
    entry = {"id": "one", "message": user("a")}
    assert [(await http.post(TALK, json=entry)).status_code for _ in range(2)] == [201, 200]
    again = await http.post(TALK, json=entry | {"message": user("b")})
    assert (again.status_code, again.json()["facts"]["entry_id"]) == (409, "one")


async def test_an_idempotency_key_makes_messages_without_ids_safe_to_send_again(
    http: httpx.AsyncClient, log: MessageLog
) -> None:
    key = {"Idempotency-Key": "k1"}
    for _ in range(2):
        assert (await http.post(TALK, json=user("a"), headers=key)).json()["seq"] == 1
    key = {"Idempotency-Key": "k2"}
    for _ in range(2):
        assert (await http.post(TALK, json=[user("b"), user("c")], headers=key)).json()["seq"] == 3
    assert [message.entry_id for message in await log.all()] == ["k1", "k2/1", "k2/2"]


async def test_if_match_makes_an_append_conditional_on_the_last_seq(http: httpx.AsyncClient) -> None:
    assert (await http.post(TALK, json=user("a"), headers={"If-Match": '"0"'})).status_code == 201
    refused = await http.post(TALK, json=user("b"), headers={"If-Match": '"0"'})
    assert (refused.status_code, refused.json()["error"]) == (412, "ConflictError")
    assert (refused.json()["facts"]["expected"], refused.json()["facts"]["actual"]) == (0, 1)


async def test_messages_are_read_after_a_seq_page_by_page(http: httpx.AsyncClient) -> None:
    await http.post(TALK, json=[user(str(number)) for number in range(5)])
    first = await http.get(TALK, params={"limit": 3})
    assert (seqs(first), first.json()["next"]) == ([1, 2, 3], 3)
    assert seqs(await http.get(TALK, params={"after": 3})) == [4, 5]
    assert (await http.get(f"{TALK}/2")).json()["message"] == user("1")
    assert (await http.get(f"{TALK}/9")).json()["error"] == "UnknownEntryError"


async def test_a_message_is_found_by_its_id(http: httpx.AsyncClient) -> None:
    await http.post(TALK, json={"id": "a/b c", "message": user("a")})
    assert (await http.get("/v1/logs/talk/entries/a%2Fb%20c")).json()["seq"] == 1
    assert (await http.get("/v1/logs/talk/entries/other")).status_code == 404


async def test_a_branch_has_its_own_messages_and_the_whole_log_all(http: httpx.AsyncClient, log: MessageLog) -> None:
    await log.add("user", "a")
    await (await log.fork("side")).add("user", "b")
    await log.add("user", "c")
    assert seqs(await http.get(TALK)) == [1, 3]
    assert seqs(await http.get(TALK, params={"branch": "side"})) == [1, 2]
    assert seqs(await http.get(TALK, params={"whole": True})) == [1, 2, 3]
    assert (await http.get(TALK, params={"branch": "none"})).json()["error"] == "UnknownBranchError"


@pytest.mark.parametrize(
    "name", ["a/b", "a b", "..", ".", "x/../y", "%2F", "ä€😀", "?a=b#c", "a\nb", "~", "con'\"<b>", ";--", "\u202e", "+"]
)
async def test_a_log_may_have_any_name(http: httpx.AsyncClient, store: Store, name: str) -> None:
    path = f"/v1/logs/{segment(name)}"
    assert (await http.post(f"{path}/messages", json=user("hi"))).status_code == 201
    assert [info.name for info in await store.logs()] == [name]
    assert (await http.get(f"{path}/messages")).json()["messages"][0]["message"]["content"] == "hi"
    assert (await http.get(path)).json()["name"] == name


@pytest.mark.parametrize("part", ["%FF", "%00", "a%00b", "%ED%A0%80"])
async def test_a_name_that_cannot_be_one_is_refused(http: httpx.AsyncClient, part: str) -> None:
    response = await http.get(f"/v1/logs/{part}/messages")
    assert (response.status_code, response.json()["error"]) == (400, "InvalidNameError")


ODD = [
    reply("\0 NUL"),
    reply("\ud83d lone"),
    reply("\u2028\r\n"),
    {
        "role": "tool",
        "content": {"big": 10**4000, "zero": -0.0, "one": 1.0, "deep": [[{"\udc00": []}]]},
        "toolCallId": "c",
    },
    {"role": "assistant", "content": [{"type": "new", "x": None}], "finish": {"a": 1}},
]


@pytest.mark.parametrize("message", ODD, ids=range(len(ODD)))
async def test_what_a_store_keeps_comes_through_plain_json(http: httpx.AsyncClient, message: Any) -> None:
    body = dumps(message)
    assert (await http.post(TALK, content=body, headers={"Content-Type": "application/json"})).status_code == 201
    text = (await http.get(TALK)).content
    text.decode()  # it is UTF-8 all the same
    kept = json.loads(text)["messages"][0]["message"]
    further = kept.pop("extra", {})
    assert repr(kept | further) == repr(message)


async def test_the_exact_form_keeps_even_the_halves_of_an_emoji_apart(http: httpx.AsyncClient) -> None:
    exact = {"Content-Type": EXACT, "Accept": EXACT}
    await http.post(TALK, content=dumps(user(SPLIT_EMOJI), exact=True), headers=exact)
    response = await http.get(TALK, headers=exact)
    assert response.headers["content-type"] == EXACT
    assert loads(response.content)["messages"][0]["message"]["content"] == SPLIT_EMOJI


@given(json_values)
def test_the_exact_form_is_lossless(value: Any) -> None:
    assert repr(loads(dumps(freeze(value), exact=True))) == repr(value)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "RequestError"),
        (b"{", "RequestError"),
        (b'{"role":"user","content":NaN}', "RequestError"),
        (b'"text"', "InvalidMessageError"),
        (b"[[]]", "InvalidMessageError"),
        (b"\xff", "RequestError"),
        (b"[" * 100_000, "RequestError"),
        (b'{"role":"tool","toolCallId":"c","content":' + b"[" * 300 + b"]" * 300 + b"}", "CodecError"),
        (b'{"role":"tool","toolCallId":"c","content":' + b"9" * 5000 + b"}", "RequestError"),
    ],
)
async def test_a_body_that_is_none_is_refused_and_nothing_stored(
    http: httpx.AsyncClient, store: Store, body: bytes, error: str
) -> None:
    response = await http.post(TALK, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["error"]) == (400, error)
    assert response.headers["content-type"] == "application/problem+json"
    assert await store.logs() == []


async def test_a_refusal_never_repeats_what_was_sent(http: httpx.AsyncClient) -> None:
    for path, secret in ((TALK, [{"role": "hunter2", "content": {"hunter2": 1}}]), (TALK, ["hunter2"])):
        assert "hunter2" not in (await http.post(path, json=secret)).text
    assert "hunter2" not in (await http.get(TALK, params={"after": "hunter2"})).text


async def test_a_long_poll_is_answered_as_soon_as_there_is_a_message(http: httpx.AsyncClient, store: Store) -> None:
    await store.log("talk").add("user", "a")
    async with http.stream("GET", TALK, params={"after": 0, "wait": 20}) as response:
        assert loads(await response.aread())["next"] == 1
    waiting = http.get(TALK, params={"after": 1, "wait": 20})
    task = asyncio.create_task(waiting)
    await store.log("talk").add("user", "b")
    assert seqs(await task) == [2]
    assert seqs(await http.get(TALK, params={"after": 2, "wait": 0.01})) == []
    beyond = await http.get(TALK, params={"after": 9, "wait": 1})
    assert (beyond.status_code, beyond.json()["error"]) == (409, "PositionError")


async def test_what_the_server_changes_on_the_way_to_the_disk_is_told(path: Path) -> None:
    def hide(entry: msglog.Entry) -> msglog.Entry:
        return msglog.Entry(id=entry.id, message=Message(**reply("hidden")))

    async with msglog.open(path, before_store=hide) as store, served(create_app(store)) as url, client(url) as http:
        told = await http.post(TALK, params={"return": "messages"}, json=user("secret"))
        assert told.json()["new"][0]["message"] == reply("hidden")
