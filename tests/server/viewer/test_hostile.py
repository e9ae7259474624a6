"""Whatever is stored is shown as text: it does not run, it loads nothing, it leads nowhere."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.async_api import expect

from tests.server.viewer.conftest import Site, Watched
from tests.server.viewer.talks import HIDDEN, HOSTILE, MARKUP

pytestmark = pytest.mark.asyncio(loop_scope="session")

STRANGE = r"""
() => {
  const nodes = [...document.querySelectorAll("*")];
  const isOurs = (address) => address.startsWith(`${location.origin}/`);
  const isPicture = (address) => /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/.test(address);
  const addresses = [...document.querySelectorAll("[href], [src], [action]")]
    .map((node) => node.href?.baseVal ?? node.href ?? node.src ?? node.action)
    .map((address) => new URL(address, location.href).href);
  return {
    scripts: [...document.scripts].filter((script) => !isOurs(script.src)).length,
    handlers: nodes.flatMap((node) => [...node.attributes]).filter(({ name }) => name.startsWith("on")).length,
    links: addresses.filter((address) => !isOurs(address) && !isPicture(address)),
    polluted: ({}).polluted === true,
    frames: document.querySelectorAll("iframe, object, embed, base, style, meta[http-equiv]").length,
  };
}
"""
NOTHING = {"scripts": 0, "handlers": 0, "links": [], "polluted": False, "frames": 0}

ENDS = ["", "?whole=all", "?seq=1", "/graph", "/usage", "/raw", "/diff"]
ENDS += [f"{end}?branch={quote(MARKUP)}" for end in ("", "/usage", "/raw")]


@pytest.mark.parametrize("end", ENDS)
async def test_hostile_content_is_inert_on_every_page(site: Site, tab: Watched, end: str) -> None:
    page = await tab.go(site.of(HOSTILE, end))
    for button in await page.get_by_role("button", name="More about").all():
        await button.click()
    await page.locator("details:not([open])").evaluate_all("nodes => nodes.forEach((node) => { node.open = true; })")
    await tab.settled()
    assert await page.evaluate(STRANGE) == NOTHING
    assert await page.title() != "ran"
    await expect(page.get_by_role("heading", level=1)).to_have_text(MARKUP)


async def test_hostile_content_is_inert_in_the_list_and_in_results(site: Site, tab: Watched) -> None:
    for query in ("", "/?words=onerror", "/?words=script"):
        page = await tab.go(f"{site.url}{query}")
        await expect(page.locator("main")).to_contain_text("<script>")
        assert await page.evaluate(STRANGE) == NOTHING
        assert await page.title() != "ran"


async def test_two_hostile_views_are_compared_as_text(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(HOSTILE, "/graph"))
    boxes = page.locator(".pick input")
    await boxes.first.check()
    await boxes.nth(1).check()
    await page.get_by_role("link", name="Compare").click()
    await expect(page.locator(".change").first).to_be_visible()
    assert await page.evaluate(STRANGE) == NOTHING


async def test_an_image_is_shown_only_where_it_is_one_of_dots(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(HOSTILE))
    await expect(page.get_by_text("Image, not shown: image/svg+xml")).to_be_visible()
    await expect(page.get_by_text("Image, not loaded from https://tracker.example/pixel.png")).to_be_visible()
    await expect(page.locator("main img")).to_have_count(0)


async def test_characters_that_do_not_show_are_shown_by_their_code(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(HOSTILE))
    marks = page.get_by_role("article").filter(has_text="turn").locator(".hidden-character")
    codes = await marks.evaluate_all("nodes => nodes.map(node => node.dataset.code)")
    assert codes == ["U+202E", "U+200B", "U+E0041", "U+D800"]
    text = page.locator(".prose", has_text="turn")
    units = await text.evaluate("node => [...node.textContent].map((character) => character.codePointAt(0))")
    assert units == [ord(character) for character in HIDDEN]


INJECTED = """() => {
  const script = document.createElement("script");
  script.textContent = "document.title = 'ran'";
  const picture = document.createElement("img");
  picture.src = "http://127.0.0.1:9/pixel.png";
  document.body.append(script, picture);
  document.body.insertAdjacentHTML("beforeend", `<p id=styled style="color: red">x</p>
    <img src="data:image/png," onerror="document.title='ran'"><a href="javascript:document.title='ran'">x</a>`);
  document.body.lastElementChild.click();
}"""


async def test_a_page_may_run_nothing_but_its_own_files(site: Site, tab: Watched) -> None:
    tab.expected = ("Content Security Policy", "violates the following")
    page = await tab.go(site.of(HOSTILE))
    await page.evaluate(INJECTED)
    await page.wait_for_timeout(200)  # what must not happen has no end to wait for
    assert await page.title() != "ran"
    assert await page.locator("#styled").evaluate("node => getComputedStyle(node).color") != "rgb(255, 0, 0)"
