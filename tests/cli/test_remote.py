"""Commands on the store of a server, which `$MSGLOG_TOKEN` opens."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import msglog
from msglog import Store
from msglog.server.app import create_app
from msglog.server.tokens import TokenFile, tokens_path
from tests.cli.conftest import Ran, environment
from tests.server.serving import served


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """The store that is served."""
    async with msglog.open(tmp_path / "served.db") as store:
        yield store


@pytest.fixture
async def url(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """Where it is served, to whoever has the token that is in the environment."""
    tokens = TokenFile(tokens_path(store.path))
    monkeypatch.setenv("MSGLOG_TOKEN", tokens.create("all", ["admin"])[1])
    async with served(create_app(store, tokens=tokens)) as url:
        yield url


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A file of another program: a conversation."""
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]))
    return path


async def ran(*arguments: str) -> Ran:
    """Run a command in a process of its own, while the service goes on in this one."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-m", "msglog", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(),
    )
    out, err = await asyncio.wait_for(child.communicate(), 60)
    return Ran(child.returncode or 0, out.decode(), err.decode())


async def test_an_import_into_the_store_of_a_server_takes_the_token(url: str, store: Store, talk: Path) -> None:
    assert (await ran("import", str(talk), "-s", url)) == Ran(0, f"openai: 2 messages came into {url}, in 1 log\n", "")
    (info,) = await store.logs()
    assert [message.content for message in await store.log(info.name).all()] == ["hi", "hello"]


async def test_a_view_of_a_log_on_a_server_is_exported(url: str, store: Store, tmp_path: Path) -> None:
    await store.log("talk").add("user", "hi")
    talk = tmp_path / "talk.md"
    assert await ran("export", str(talk), "-s", url) == Ran(0, f"{talk} holds 1 log, 1 message\n", "")
    assert "> hi\n" in talk.read_text()


async def test_a_dry_run_looks_at_the_store_of_the_server(url: str, store: Store, talk: Path) -> None:
    first = json.loads((await ran("import", str(talk), "-s", url, "--dry-run", "--json")).out)
    assert (first["entriesNew"], first["entriesKnown"], await store.logs()) == (2, 0, [])
    await ran("import", str(talk), "-s", url, "--strict")
    again = json.loads((await ran("import", str(talk), "-s", url, "--dry-run", "--json")).out)
    assert (again["entriesNew"], again["entriesKnown"]) == (0, 2)
