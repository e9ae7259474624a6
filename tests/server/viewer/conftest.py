"""A real browser, and the service in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.server.serving import free_port
from tests.server.viewer.talks import Made, make

CHROMIUM = shutil.which("chromium")
_QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@dataclass(slots=True)
class Site:
    """A served store, and what is in it."""

    url: str
    path: Path
    made: Made

    def of(self, log: str, end: str = "") -> str:
        """The address of a log's page."""
        return f"{self.url}/logs/{quote(log, safe='')}{end}"


@contextlib.contextmanager
def serving(path: Path) -> Iterator[str]:
    """The URL of a service over a store, while it runs."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "msglog.server", str(path), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            ends = time.monotonic() + 60
            while not _is_ready(url):
                assert process.poll() is None, "the service ended"
                assert time.monotonic() < ends, "the service does not answer"
                time.sleep(0.02)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _is_ready(url: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
    return False


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The store of `talks`, served. Tests that change something take one of their own."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (apt-get install chromium)")
    path = tmp_path_factory.mktemp("viewer") / "agent.db"
    made = asyncio.run(make(path))
    with serving(path) as url:
        yield Site(url, path, made)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser, with nothing of it asking the net."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (apt-get install chromium)")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*_QUIET, "--disable-sync"])
        yield launched
        await launched.close()


@dataclass(slots=True)
class Watched:
    """A tab. What must not happen in it is written down: errors, dialogs, requests to anybody else."""

    page: Page
    context: BrowserContext
    troubles: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.page.on("console", lambda said: self._note(said.type in {"error", "warning"}, f"console: {said.text}"))
        self.page.on("pageerror", lambda error: self._note(True, f"error: {error}"))
        self.page.on("dialog", lambda dialog: self._note(True, f"dialog: {dialog.message}"))
        self.page.on("request", lambda sent: self._note(_is_foreign(sent.url), f"request: {sent.url}"))

    def _note(self, is_trouble: bool, what: str) -> None:  # noqa: FBT001
        if is_trouble and not any(expected in what for expected in self.expected):
            self.troubles.append(what)

    async def go(self, url: str) -> Page:
        """Open a page, and wait until it shows what it has to show."""
        await self.page.goto(url)
        await self.settled()
        return self.page

    async def settled(self) -> None:
        """Wait until nothing is being loaded."""
        await expect(self.page.locator("main [aria-busy=true]")).to_have_count(0, timeout=20_000)


def _is_foreign(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "data:", "about:"))


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser) -> AsyncIterator[Watched]:
    """A tab of a browser that knows nothing yet. At the end, nothing bad may have happened in it."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(20_000)
    watched = Watched(await context.new_page(), context)
    yield watched
    await context.close()
    assert watched.troubles == []
