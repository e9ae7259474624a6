"""Everybody can use it: with a keyboard, with a screen reader, on a phone, in the light and in the dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, expect

from tests.server.viewer.conftest import Site, Watched
from tests.server.viewer.talks import HOSTILE, LONG, TALK

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = [
    "list",
    "results",
    "nothing found",
    "login",
    "head",
    "revision",
    "whole",
    "hostile",
    "graph",
    "diff",
    "usage",
    "raw",
    "no log",
]


def address(site: Site, name: str) -> str:
    made = site.made
    return {
        "list": site.url,
        "results": f"{site.url}/?words=late",
        "nothing found": f"{site.url}/?prefix=zzz",
        "login": f"{site.url}/login",
        "head": site.of(TALK),
        "revision": site.of(TALK, f"?revision={made.start}"),
        "whole": site.of(TALK, "?whole=all"),
        "hostile": site.of(HOSTILE),
        "graph": site.of(TALK, "/graph"),
        "diff": site.of(TALK, f"/diff?from={made.start}&to={made.summarised}"),
        "usage": site.of(TALK, "/usage"),
        "raw": site.of(TALK, "/raw"),
        "no log": site.of("none"),
    }[name]


@pytest.mark.parametrize("name", PAGES)
async def test_axe_finds_nothing_that_keeps_anybody_out(site: Site, tab: Watched, name: str) -> None:
    tab.expected = ("404",) if name == "no log" else ()
    await tab.page.emulate_media(color_scheme="light")
    page = await tab.go(address(site, name))
    for button in (await page.get_by_role("button", name="More about").all())[:2]:
        await button.click()
    found = (await Axe().run(page)).response["violations"]
    await page.emulate_media(color_scheme="dark")
    contrast = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
    found += (await Axe().run(page, options=contrast)).response["violations"]
    assert [(one["id"], [node["html"][:150] for node in one["nodes"]][:3]) for one in found] == []


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_fits_a_phone(site: Site, browser: Browser, name: str) -> None:
    context = await browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    try:
        tab = Watched(await context.new_page(), context)
        page = await tab.go(address(site, name))
        await page.locator("details:not([open])").evaluate_all(
            "nodes => nodes.forEach((node) => { node.open = true; })"
        )
        await tab.settled()
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360
        small = await page.locator("button:visible, select:visible, input:not([type=checkbox]):visible").evaluate_all(
            "nodes => nodes.filter((node) => node.offsetHeight < 24).map((node) => node.outerHTML.slice(0, 80))"
        )
        assert small == []
    finally:
        await context.close()


async def test_the_first_key_leads_past_what_is_the_same_on_every_page(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK))
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "main"


RINGED = """() => {
  const style = getComputedStyle(document.activeElement);
  const isRinged = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return isRinged || document.activeElement.matches(".skip");
}"""


async def test_what_has_the_focus_is_seen(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK))
    for _ in range(14):
        await page.keyboard.press("Tab")
        shown = await page.evaluate(RINGED)
        assert shown, await page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


async def test_messages_are_walked_by_keyboard(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(LONG, "?seq=49"))
    for key, number in (("j", 50), ("j", 51), ("k", 50)):  # over the edge of what is loaded together
        await page.keyboard.press(key)
        await expect(page.locator("article:focus")).to_contain_text(f"Message {number}.")


async def test_news_is_told_politely(site: Site, tab: Watched) -> None:
    page = await tab.go(f"{site.url}/?words=late")
    said = page.get_by_role("status")
    await expect(said).to_have_attribute("aria-live", "polite")
    await expect(said).to_have_text("2 messages found")


async def test_the_colours_follow_the_system_and_can_be_chosen(site: Site, tab: Watched) -> None:
    page = await tab.go(site.url)

    async def paper() -> str:
        return str(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))

    await page.emulate_media(color_scheme="light")
    light = await paper()
    await page.emulate_media(color_scheme="dark")
    dark = await paper()
    assert light != dark
    await page.get_by_role("button", name="Colours: as the system").click()
    await expect(page.get_by_role("button", name="Colours: light")).to_be_visible()
    assert await paper() == light
    await page.reload()  # the choice is kept
    assert await paper() == light
