"""What the model saw, and why: the ways of a person through the viewer, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

import msglog
from msglog.adapters import from_openai
from tests.server.viewer.conftest import Site, Watched
from tests.server.viewer.talks import BIG, LENGTH, LONG, TALK

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_log_is_found_in_the_list_and_opened(site: Site, tab: Watched) -> None:
    page = await tab.go(site.url)
    row = page.get_by_role("link", name="The 7:58 to Basel")
    await expect(row).to_contain_text("Is the 7:58 on time?")  # what it is about, the first user says
    await row.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("The 7:58 to Basel")
    await expect(page.get_by_role("article").first).to_contain_text("You are the assistant of a railway.")


async def test_the_list_is_filtered_and_says_when_nothing_is_left(site: Site, tab: Watched) -> None:
    page = await tab.go(site.url)
    await page.get_by_label("Tag").fill("trains")
    await page.keyboard.press("Enter")
    await expect(page.locator(".log-row")).to_have_count(1)
    await page.get_by_label("Name begins with").fill("zzz")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("No log like that")).to_be_visible()


async def test_a_search_leads_to_the_place_in_the_log(site: Site, tab: Watched) -> None:
    page = await tab.go(f"{site.url}/?words=half+hour")
    await page.get_by_role("link", name="half hour").click()
    await expect(page.locator("article:focus")).to_contain_text("There is a train every half hour.")


async def test_a_message_that_was_edited_away_is_shown_beside_the_view(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, "?seq=5"))
    await expect(page.get_by_text("Message #5 is not in this view")).to_be_visible()
    await expect(page.locator("#found article")).to_contain_text("It runs 12 minutes late.")


async def test_calls_results_reasoning_and_images_are_shown_as_what_they_are(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, f"?revision={site.made.start}"))
    call = page.get_by_role("article", name="message 3")
    await expect(call.get_by_text("The 7:58 is the IC 61.")).to_be_visible()
    await expect(call.locator(".call")).to_contain_text("train_status")
    await expect(page.get_by_role("article", name="message 4")).to_contain_text("result of train_status")
    drawn = page.get_by_role("img", name="Image of the message")
    assert await drawn.evaluate("image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])") == [
        24,
        12,
    ]


async def test_reasoning_beside_the_content_is_shown(site: Site, tab: Watched) -> None:
    async with msglog.open(site.url) as store:
        said = {"role": "assistant", "content": "Late.", "reasoning_content": "I looked at the board."}
        await store.log("reasons").append_many([said, *from_openai([said])])
    page = await tab.go(site.of("reasons"))
    await expect(page.locator(".reasoning", has_text="I looked at the board.")).to_have_count(2)


async def test_numbers_are_shown_as_they_are_stored(site: Site, tab: Watched) -> None:
    """JavaScript would make 12345678901234567000 of one, and 1 of the other."""
    page = await tab.go(site.of(TALK, f"?revision={site.made.start}"))
    call = page.locator(".call").first
    await expect(call).to_contain_text(f'"ticket": {BIG}')
    await expect(call).to_contain_text('"factor": 1.0')


async def test_a_text_keeps_every_character_under_its_look(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, f"?revision={site.made.start}"))
    prose = page.locator(".prose").first
    assert await prose.text_content() == (
        "You are the assistant of a railway.\n\n- Look at the **status** first, with `train_status`."
    )
    await expect(prose.locator("strong")).to_have_text("**status**")


async def test_a_long_output_is_folded_and_opens(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK))
    result = page.get_by_role("article", name="Tool result")
    await expect(result).not_to_contain_text("row 2999")
    await result.get_by_role("button", name="Show all").click()
    await expect(result).to_contain_text("row 2999 of the timetable")
    await result.get_by_role("button", name="Fold").click()
    await expect(result).not_to_contain_text("row 2999")


async def test_a_summary_opens_to_the_messages_it_stands_for(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK))
    summary = page.get_by_role("article", name="Summary")
    await summary.get_by_text("Stands for 5 messages").click()
    await expect(summary.get_by_role("article")).to_have_count(5)
    await expect(summary.get_by_role("article").last).to_contain_text("The board says so too.")


async def test_a_redacted_message_keeps_its_place_and_says_so(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK))
    await expect(page.locator("article.is-redacted")).to_contain_text("Redacted: its content was erased.")
    await expect(page.locator("body")).not_to_contain_text("4111")


async def test_the_graph_shows_branches_summaries_and_forks(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, "/graph"))
    rows = page.get_by_role("list", name="Revisions").get_by_role("listitem")
    texts = [re.sub(r"shows.*", "", text, flags=re.DOTALL) for text in await rows.all_inner_texts()]
    assert [" ".join(text.split()) for text in texts] == [
        "Appended 1 message what-if",
        "Appended 2 messages in 2 steps main",
        "Summarised 5 messages",
        "Appended 9 messages in 9 steps",
        "Beginning",
    ]
    places = await page.locator(".node").evaluate_all("nodes => nodes.map(node => node.style.left)")
    assert len(set(places)) == 2  # two branches, side by side
    await page.get_by_label("Every append by itself").check()
    await expect(rows).to_have_count(14)


async def test_the_graph_is_walked_by_keyboard(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, "/graph"))
    await page.locator(".row-link").first.focus()
    steps = {"ArrowLeft": "Appended 9", "ArrowRight": "Summarised 5", "End": "Beginning", "ArrowUp": "Appended 9"}
    for key, words in steps.items():
        await page.keyboard.press(key)
        await expect(page.locator(".row-link:focus")).to_contain_text(words)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("What the model saw at revision")).to_be_visible()


async def test_two_picked_revisions_are_compared(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, "/graph"))
    await page.get_by_label("Compare Summarised 5 messages").check()
    await page.get_by_label("Compare Appended 9 messages").check()
    await page.get_by_role("link", name="Compare").click()
    await expect(page.locator(".change.is-removed")).to_have_count(5)
    await expect(page.locator(".change.is-added")).to_contain_text("the customer knows")
    await expect(page.locator(".figures")).to_contain_text("1 message")  # the system prompt is still cached
    await expect(page.get_by_role("link", name="3 messages as before")).to_be_visible()


async def test_a_revision_leads_to_what_it_changed_and_to_the_one_before(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, f"?revision={site.made.summarised}"))
    await page.get_by_role("link", name="What it changed").click()
    await expect(page.locator(".change.is-added")).to_have_count(1)
    await page.go_back()
    await page.get_by_role("link", name="The one before").click()
    await expect(page.get_by_text("Appended 1 message")).to_be_visible()
    await expect(page.locator("#where")).to_contain_text("9 messages")


async def test_thousands_of_revisions_and_many_branches_have_room(site: Site, tab: Watched) -> None:
    async with msglog.open(site.url) as store:
        log = store.log("wide")
        for n in range(30):
            await log.add("user", f"message {n}")
            side = await log.fork(f"side-{n}")
            await side.add("user", "aside")
    page = await tab.go(site.of("wide", "/graph"))
    rows = page.get_by_role("list", name="Revisions").get_by_role("listitem")
    await expect(rows).to_have_count(61)
    widths = await page.locator(".rail").evaluate_all("rails => rails.map((rail) => rail.offsetWidth)")
    assert max(widths) <= 300
    outside = "nodes => nodes.filter((node) => node.offsetLeft > node.parentElement.offsetWidth).length"
    assert await page.locator(".node").evaluate_all(outside) == 0


async def test_usage_tells_the_cost_and_what_changes_did_to_the_cached_prompt(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(TALK, "/usage"))
    await expect(page.locator("#cost .figures")).to_contain_text("$0.04")
    await expect(page.get_by_role("group", name="Tokens of each response").get_by_role("link")).to_have_count(5)
    changes = page.get_by_role("group", name="Changes of the view").get_by_role("row")
    await expect(changes).to_have_count(2)
    await expect(changes.last).to_contain_text(re.compile(r"Edited.*5 messages.*1 message, \d+ tokens"))
    await changes.last.get_by_role("link").click()
    await expect(page.locator(".change.is-added")).to_be_visible()


@pytest.mark.parametrize("query", ["", "?revision="])
async def test_the_sql_of_a_page_gives_what_the_page_shows(site: Site, tab: Watched, query: str) -> None:
    page = await tab.go(site.of(TALK, f"/raw{query}{site.made.start if query else ''}"))
    statement = await page.locator("#sql pre").inner_text()
    async with msglog.open(site.path, read_only=True) as store:
        rows = await store.sql(statement)
        view = await store.log(TALK).view(site.made.start if query else None)
    assert [row["seq"] for row in rows] == [message.seq for message in view.messages]


async def test_raw_json_is_given_as_stored_and_as_a_provider_takes_it(site: Site, tab: Watched) -> None:
    await tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await tab.go(site.of(TALK, f"/raw?revision={site.made.start}"))
    await page.locator("#json").get_by_role("button", name="Copy").click()
    await expect(page.locator("#json").get_by_role("button", name="Copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert (f'"ticket": {BIG}' in copied, '"factor": 1.0' in copied) == (True, True)
    await page.locator("#format").select_option("anthropic")
    await expect(page.locator("#json")).to_contain_text('"system": "You are the assistant of a railway.')


async def test_what_is_appended_elsewhere_comes_by_itself_and_an_edit_too(site: Site, tab: Watched) -> None:
    async with msglog.open(site.url) as store:
        log = store.log("live")
        await log.add("user", "first")
        page = await tab.go(site.of("live"))
        await expect(page.locator("#live-text")).to_have_text("live")
        await log.add("assistant", "second")
        await expect(page.get_by_role("article")).to_have_count(2)
        history = await log.history()
        await log.commit(history.edit({"op": "remove", "id": history.refs()[0].id}))
        await expect(page.get_by_role("article")).to_have_count(1, timeout=20_000)
        await expect(page.get_by_text("The view was edited")).to_be_visible()


async def test_twenty_thousand_messages_scroll(site: Site, tab: Watched) -> None:
    page = await tab.go(site.of(LONG))
    articles = page.get_by_role("article")
    assert await articles.count() < 300
    await page.get_by_role("button", name="End").click()
    await expect(articles.last).to_contain_text(f"Message {LENGTH}.")
    await expect(articles.last).to_be_in_viewport()
    await page.mouse.move(600, 500)
    for _ in range(10):
        await page.mouse.wheel(0, -3000)
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    await tab.settled()
    await expect(page.locator("#where")).to_have_text(re.compile(r"^(9|10|11),\d{3} of 20,000 messages$"))
    await tab.settled()
    assert await articles.count() < 400  # what is far away has left the document
    await page.goto(site.of(LONG, "?seq=12345"))
    await expect(page.locator("article:focus")).to_contain_text("Message 12345.")
    await expect(page.locator("article:focus")).to_be_in_viewport()
