"""Where tokens are on: the way in, and what each may do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

import msglog
import msglog.sync
from msglog.server.tokens import Right, TokenFile, tokens_path
from tests.server.viewer.conftest import CHROMIUM, Watched, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True, slots=True)
class Guarded:
    """Where it is served, and where it is."""

    url: str
    path: Path

    @property
    def tokens(self) -> TokenFile:
        return TokenFile(tokens_path(str(self.path)))

    def token(self, *rights: Right, prefix: str = "") -> str:
        return self.tokens.create("person", rights, prefix)[1]


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A served store with tokens."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (apt-get install chromium)")
    path = tmp_path_factory.mktemp("guarded") / "agent.db"
    with msglog.sync.open(path) as store:
        for name in ("eu/talk", "us/talk", "edited"):
            for n in range(3):
                store.log(name).add("user", f"message {n}")
    TokenFile(tokens_path(str(path))).create("unused", ["read"])
    with serving(path) as url:
        yield Guarded(url, path)


async def log_in(tab: Watched, url: str, text: str) -> Page:
    page = await tab.go(url)
    await page.get_by_label("Token").fill(text)
    await page.get_by_role("button", name="Log in").click()
    await tab.settled()
    return page


async def test_a_token_lets_in_to_the_page_that_was_wanted(tab: Watched, guarded: Guarded) -> None:
    page = await log_in(tab, f"{guarded.url}/logs/eu%2Ftalk?seq=2", guarded.token("read"))
    await expect(page.locator("article:focus")).to_contain_text("message 1")
    assert await page.evaluate("document.cookie") == ""  # no script reads it
    cookie = (await tab.context.cookies())[0]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    await page.get_by_role("button", name="Log out").click()
    await page.goto(guarded.url)
    await expect(page.get_by_label("Token")).to_be_visible()


async def test_a_wrong_token_is_told_so(tab: Watched, guarded: Guarded) -> None:
    tab.expected = ("401",)
    page = await log_in(tab, guarded.url, "msglog_no_such")
    await expect(page.get_by_role("alert")).to_contain_text("This token is not known.")


async def test_a_token_that_is_revoked_leads_to_the_login(tab: Watched, guarded: Guarded) -> None:
    tab.expected = ("401",)
    text = guarded.token("read")
    page = await log_in(tab, guarded.url, text)
    await page.wait_for_load_state("networkidle")  # whatever asks first finds out
    guarded.tokens.revoke(text.split("_")[1])
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_label("Token")).to_be_visible()


async def test_a_prefix_hides_the_other_logs(tab: Watched, guarded: Guarded) -> None:
    tab.expected = ("403",)
    page = await log_in(tab, guarded.url, guarded.token("read", prefix="eu/"))
    await expect(page.locator(".log-row")).to_have_count(1)
    await page.goto(f"{guarded.url}/logs/us%2Ftalk")
    await expect(page.get_by_role("alert")).to_contain_text("for logs that begin with 'eu/' only")


async def test_who_may_only_read_is_offered_no_edit(tab: Watched, guarded: Guarded) -> None:
    page = await log_in(tab, f"{guarded.url}/logs/eu%2Ftalk", guarded.token("read"))
    await page.get_by_role("button", name="More about message 1").click()
    await expect(page.get_by_role("button", name="Copy JSON")).to_be_visible()
    for name in ("Fork", "Rewind", "Redact"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)


async def test_who_may_edit_forks_rewinds_and_redacts(tab: Watched, guarded: Guarded) -> None:
    page = await log_in(tab, f"{guarded.url}/logs/edited/graph", guarded.token("read", "edit"))
    await page.get_by_label("Every append by itself").check()
    await page.locator(".row-link").nth(1).click()
    await page.get_by_role("button", name="Rewind to here…").click()
    await page.get_by_label("Reason").fill("went astray")
    await page.get_by_role("button", name="Rewind", exact=True).click()
    await expect(page.get_by_role("article")).to_have_count(2)

    await page.get_by_role("button", name="Fork…").click()
    await page.get_by_label("Name of the branch").fill("what-if")
    await page.get_by_role("button", name="Make the branch").click()
    await expect(page.locator("#branch")).to_have_value("what-if")

    await page.get_by_role("button", name="More about message 2").click()
    await page.get_by_role("button", name="Redact…").click()
    await page.get_by_label("Reason").fill("asked for")
    await page.get_by_label("Type 2 to confirm").fill("1")
    await page.get_by_role("button", name="Erase the content").click()
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("Type the number 2")
    await page.get_by_label("Type 2 to confirm").fill("2")
    await page.get_by_role("button", name="Erase the content").click()
    await expect(page.locator("article.is-redacted")).to_have_count(1)
    await expect(page.get_by_text("Message #2 was redacted.")).to_be_visible()
    await page.close()

    async with msglog.open(guarded.path) as store:
        log = store.log("edited")
        assert [message.redacted for message in await log.all()] == [False, True]
        revision = await anext(aiter(log.lineage()))
        assert revision.meta["reason"] == "went astray"
        assert {branch.name for branch in await log.branches()} == {"main", "what-if"}


async def test_a_dialog_is_left_without_a_change(tab: Watched, guarded: Guarded) -> None:
    page = await log_in(tab, f"{guarded.url}/logs/eu%2Ftalk", guarded.token("admin"))
    await page.get_by_role("button", name="Fork…").click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.close()
    async with msglog.open(guarded.path) as store:
        assert len(await store.log("eu/talk").branches()) == 1
