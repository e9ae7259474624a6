"""The pages before any script runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

import msglog
from msglog import Store
from msglog.server.app import create_app
from msglog.server.tokens import TokenFile
from tests.server.serving import client, served


@pytest.fixture
async def locked(store: Store, tmp_path: Path) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A client of a service with tokens, and a token."""
    tokens = TokenFile(str(tmp_path / "tokens"))
    _, text = tokens.create("person", ["read"])
    async with served(create_app(store, tokens=tokens)) as url, client(url) as http:
        yield http, text


@pytest.mark.parametrize("page", ["/", "/?words=x", "/logs/a%2Fb", "/logs/talk/graph", "/logs/talk?seq=2"])
async def test_who_is_not_known_logs_in_and_comes_back(locked: tuple[httpx.AsyncClient, str], page: str) -> None:
    http, text = locked
    asked = await http.get(page)
    assert asked.status_code == 303
    form = await http.get(asked.headers["location"])
    wanted = form.text.split('name="next" value="')[1].split('"')[0]
    entered = await http.post("/login", data={"token": text, "next": wanted})
    assert (entered.status_code, entered.headers["location"]) == (303, page)
    assert (await http.get(page)).status_code == 200


ELSEWHERE = ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nX: y", ""]


@pytest.mark.parametrize("wanted", ELSEWHERE)
async def test_the_login_leads_nowhere_else(locked: tuple[httpx.AsyncClient, str], wanted: str) -> None:
    http, text = locked
    entered = await http.post("/login", data={"token": text, "next": wanted})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")


async def test_a_page_of_another_site_logs_nobody_in_or_out(locked: tuple[httpx.AsyncClient, str]) -> None:
    http, text = locked
    for origin in ("https://evil.example", "null"):
        for path in ("/login", "/logout"):
            answer = await http.post(path, data={"token": text}, headers={"Origin": origin})
            assert answer.status_code == 403


async def test_a_page_holds_nothing_of_what_is_stored(store: Store) -> None:
    await store.log("talk").add("user", "a secret")
    async with served(create_app(store)) as url, client(url) as http:
        for path in ("/", "/logs/talk", "/logs/talk/graph", "/logs/talk/usage", "/logs/talk/raw", "/logs/talk/diff"):
            page = await http.get(path)
            assert (page.status_code, "secret" in page.text, "<style" in page.text, " style=" in page.text) == (
                200,
                False,
                False,
                False,
            )


async def test_a_name_is_escaped_in_a_page(store: Store) -> None:
    async with served(create_app(store)) as url, client(url) as http:
        page = (await http.get("/logs/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E")).text
        assert "<script>alert" not in page
        assert page.count("&lt;script&gt;alert") >= 2


async def test_files_are_asked_for_again_only_when_they_changed(http: httpx.AsyncClient) -> None:
    first = await http.get("/static/msglog.css")
    assert first.headers["cache-control"] == "no-cache"
    again = await http.get("/static/msglog.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_a_store_that_is_not_to_be_written_offers_no_edit(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").add("user", "hi")
    async with msglog.open(path, read_only=True) as store, served(create_app(store)) as url, client(url) as http:
        assert 'data-may-edit="no"' in (await http.get("/logs/talk")).text
