"""The moderator's page: coming in, watching, understanding, acting, looking back."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, expect

from tests.e2e.moderator_page import ANSWERS, caller, finish, interview, tab, token_of
from tests.support.cutting import Wire
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

MARKUP = '<img src=x onerror="window.run=1"> & <b>bold</b>'
EVIL = f"Why {MARKUP} do you say so?"


async def test_wrong_token_is_refused_and_signing_out_closes_the_door(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk:
        page = desk.page
        await page.goto(f"{server.url}/moderator")
        await page.locator("#token").fill("nonsense")
        await page.keyboard.press("Enter")
        await expect(page.locator("#token-fault")).not_to_be_empty()
        await expect(page.locator("#token")).to_be_focused()
        await desk.sign_in(token_of(server))
        await expect(page.locator("#who-name")).to_have_text("moderator")
        await page.reload()
        await page.locator("#overview-count:not(:empty)").wait_for()
        await page.locator("#sign-out").click()
        await page.locator("#token").wait_for()
        await page.reload()
        await page.locator("#token").wait_for()
        assert [cookie for cookie in await page.context.cookies() if cookie["value"]] == []


async def test_signing_out_ends_other_tabs_and_the_cookie_itself(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk:
        page = desk.page
        await desk.sign_in(token_of(server))
        second = await page.context.new_page()
        await second.goto(f"{server.url}/moderator")
        await second.locator("#overview-count:not(:empty)").wait_for()
        kept = {"cookie": "; ".join(f"{one['name']}={one['value']}" for one in await page.context.cookies())}
        await page.route("**/api/logout", lambda route: route.abort())
        await page.locator("#sign-out").click()
        await expect(page.get_by_text("You are still signed in")).to_be_visible()
        await expect(page.locator("#who-name")).to_be_visible()
        await page.unroute("**/api/logout")
        await page.locator("#sign-out").click()
        await page.locator("#token").wait_for()
        await second.locator("#token").wait_for()
        await expect(second.get_by_text("You are signed out")).to_be_visible()
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as thief:
            assert (await thief.get("/api/me", headers=kept)).status_code == 401


async def test_overview_follows_interviews_as_they_happen(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk:
        page = desk.page
        await desk.sign_in(token_of(server))
        async with interview(server, respondent_ref="R-7") as one, interview(server, "commute_jtbd") as two:
            assert "R-7" in await desk.row(one.id)
            await one.answers(ANSWERS[0], MARKUP)
            row = page.locator(f'.row[data-id="{one.id}"]')
            await expect(row).to_contain_text(MARKUP)
            await expect(row.locator(".row-turn")).to_contain_text("2")
            await expect(row.locator(".row-engagement path")).to_have_attribute("d", re.compile("^M.+L"))
            await page.locator("#overview-search").fill("R-7")
            await expect(page.locator(f'.row[data-id="{two.id}"]')).to_have_count(0)
            await page.locator("#overview-search").fill("no such words at all")
            await page.locator("#overview-empty button").click()
            await page.locator("#overview-concept").select_option("commute_jtbd")
            await expect(page.locator(".row")).to_have_count(1)
            await page.locator("#overview-concept").select_option("")
            assert await page.evaluate("window.run") is None


async def test_keyboard_goes_through_the_overview_and_into_an_interview(
    server: ServerProcess, browser: Browser
) -> None:
    async with tab(browser, server.url) as desk, interview(server) as one, interview(server) as two:
        page = desk.page
        await desk.sign_in(token_of(server))
        await desk.row(one.id)
        await desk.row(two.id)
        await page.locator("#overview-sort").select_option("started")
        await page.keyboard.press("Escape")
        await page.locator('.row-link[tabindex="0"]').focus()
        await page.keyboard.press("Home")
        first = await page.evaluate("document.activeElement.closest('.row').dataset.id")
        await page.keyboard.press("ArrowDown")
        second = await page.evaluate("document.activeElement.closest('.row').dataset.id")
        assert first != second
        assert await page.locator('.row-link[tabindex="0"]').count() == 1
        await page.keyboard.press("/")
        await expect(page.locator("#overview-search")).to_be_focused()
        await page.locator(f'.row[data-id="{second}"] .row-link').focus()
        await page.keyboard.press("Enter")
        await page.locator(".detail-head:not([hidden])").wait_for()
        await expect(page.locator("h1")).to_be_focused()


async def test_interview_shows_words_reasons_graph_and_signals_live(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk, interview(server) as one:
        page = desk.page
        await one.answers(ANSWERS[0])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        await expect(page.locator(".line-text").filter(has_text=ANSWERS[0])).to_have_count(1)
        await one.answers(ANSWERS[1])
        await expect(page.locator(".line-text").filter(has_text=ANSWERS[1])).to_have_count(1)
        await expect(page.locator(".candidates .chosen")).to_have_count(1)
        rows = page.locator(".decomposition tbody tr")
        assert await rows.count() > 2
        parts = await page.locator(".decomposition tbody td:last-child").all_inner_texts()
        base = await page.locator(".decomposition tfoot tr:first-child td").inner_text()
        assert sum(map(float, parts)) == pytest.approx(float(base), abs=0.02 * len(parts))
        await page.locator(".multiple-plot canvas").first.wait_for()
        await page.locator(".graph-canvas canvas").first.wait_for()
        await page.locator("#graph-table").click()
        names = await page.locator(".node-link").all_inner_texts()
        assert len(names) >= 3
        await page.locator(".node-link").first.click()
        await expect(page.locator(".node-card")).to_be_focused()
        await expect(page.locator(".node-card .quote").first).not_to_be_empty()
        await one.answers(ANSWERS[2])
        await expect(page.locator(".node-link")).not_to_have_count(len(names))
        await page.locator("#graph-canonical").click()
        await expect(page.locator(".graph-table tbody tr").first).to_be_visible()
        assert desk.errors == []


async def test_node_clicked_in_the_picture_shows_its_quotes(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url, viewport={"width": 1440, "height": 1000}) as desk, interview(server) as one:
        page = desk.page
        await one.answers(*ANSWERS[:2])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        canvas = page.locator(".graph-canvas")
        await canvas.locator("canvas").first.wait_for()
        await canvas.scroll_into_view_if_needed()
        spot = await canvas.evaluate(
            """box => { const node = box._cyreg.cy.nodes()[0]; const at = node.renderedPosition();
                 return { x: at.x, y: at.y, label: node.data("label") }; }"""
        )
        await canvas.click(position={"x": spot["x"], "y": spot["y"]})
        await expect(page.locator(".node-card h3")).to_have_text(spot["label"])
        await expect(page.locator(".node-quotes .quote").first).not_to_be_empty()
        assert desk.errors == []


async def test_looking_back_shows_the_turn_and_coming_back_follows_again(
    server: ServerProcess, browser: Browser
) -> None:
    async with tab(browser, server.url) as desk, interview(server) as one:
        page = desk.page
        await one.answers(*ANSWERS[:3])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        await page.locator('[data-turn="1"]').click()
        await expect(page.locator("#turn-where")).to_contain_text("1")
        await expect(page.locator(".line.respondent:not(.forming)")).to_have_count(1)
        await page.locator("#turn-live").click()
        await expect(page.locator(".line.respondent:not(.forming)")).to_have_count(3)
        await one.answers(ANSWERS[3])
        await expect(page.locator(".line.respondent:not(.forming)")).to_have_count(4)


async def test_injected_markup_is_asked_word_for_word_and_shown_as_text(
    server: ServerProcess, browser: Browser
) -> None:
    async with tab(browser, server.url) as desk, tab(browser, server.url) as other, interview(server) as one:
        page = desk.page
        await one.answers(ANSWERS[0])
        for one_desk in (desk, other):
            await one_desk.sign_in(token_of(server))
            await one_desk.open(one.id)
        await page.locator("#act-inject").click()
        await page.locator("#inject-question").fill("x" * 10_000)
        await page.locator("#ask-inject-confirm").click()
        await expect(page.locator("#ask-inject-fault")).not_to_be_empty()
        await page.locator("#inject-question").fill(EVIL)
        await page.locator("#ask-inject-confirm").dblclick()
        await expect(page.locator("#ask-inject")).to_have_count(0)
        await expect(page.locator("#acting-told")).to_have_attribute("data-kind", "good")
        await one.answers(ANSWERS[1])
        asked = [frame["text"] for frame in one.respondent.seen if frame["type"] == "question.completed"]
        assert asked.count(EVIL) == 1
        await expect(page.locator(".line-text").filter(has_text=EVIL)).to_have_count(1)
        for one_desk in (desk, other):
            await expect(one_desk.page.locator(".actions-list li")).to_have_count(1)
            await expect(one_desk.page.locator(".action-detail")).to_have_text(EVIL)
            assert await one_desk.page.evaluate("window.run") is None


async def test_moderators_see_each_others_acts_and_who_holds_it(server: ServerProcess, browser: Browser) -> None:
    async with caller(server) as http:
        made = (await http.post("/api/tokens", json={"kind": "moderator", "name": "Anna"})).json()
    async with tab(browser, server.url) as desk, tab(browser, server.url) as anna, interview(server) as one:
        await one.answers(ANSWERS[0])
        await desk.sign_in(token_of(server))
        await anna.sign_in(made["token"])
        for one_desk in (desk, anna):
            await one_desk.open(one.id)
        await expect(desk.page.locator(".facts")).to_contain_text("Anna")
        await desk.page.locator("#act-pause").click()
        await expect(anna.page.locator("#act-pause")).to_have_text("Resume")
        await anna.page.locator("#act-pause").click()
        await expect(desk.page.locator("#act-pause")).to_have_text("Pause")
        await anna.page.locator("#act-claim").click()
        await expect(desk.page.locator(".badges")).to_contain_text("Held by Anna")
        await anna.page.locator("#act-claim").click()
        await expect(desk.page.locator(".badges")).not_to_contain_text("Held by Anna")
        await desk.page.locator("#act-note").click()
        await desk.page.locator("#note-text").fill("She laughs here")
        await desk.page.locator("#ask-note-confirm").click()
        await expect(anna.page.locator(".action-detail").first).to_have_text("She laughs here")
        await expect(anna.page.locator(".actions-list li")).to_have_count(5)


async def test_steering_shows_its_question_before_it_is_asked(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk, interview(server) as one:
        page = desk.page
        await one.answers(*ANSWERS[:2])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        await page.locator("#act-steer").click()
        await page.locator("#ask-steer-confirm").click()
        await expect(page.locator("#ask-steer-fault")).not_to_be_empty()
        await page.locator("#steer-strategy").select_option("clarify")
        await page.locator("#steer-preview").click()
        await expect(page.locator(".preview .quote")).not_to_be_empty()
        await expect(page.locator(".actions-list li")).to_have_count(0)
        await page.locator("#ask-steer-confirm").click()
        await expect(page.locator("#ask-steer")).to_have_count(0)
        await one.answers(ANSWERS[2])
        await expect(page.locator(".panel-ranking .notice")).to_contain_text("clarify")


async def test_ended_interview_says_that_nothing_can_be_changed(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk, interview(server) as one:
        page = desk.page
        await one.answers(ANSWERS[0])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        facts = page.locator(".facts")
        await expect(facts).to_contain_text("1 of ")
        most = int((await facts.inner_text()).split("1 of ")[1].split()[0])
        await page.locator("#act-extend").click()
        await page.locator("#extend-turns").fill("2")
        await page.locator("#ask-extend-confirm").click()
        await expect(facts).to_contain_text(f"1 of {most + 2}")
        await page.locator("#act-end").click()
        await page.locator("#ask-end-confirm").click()
        await expect(page.locator("#ask-end-fault")).not_to_be_empty()
        await page.locator("#end-reason").fill("Enough was said")
        await page.locator("#ask-end-confirm").click()
        await one.respondent.until("session.state", state="completed")
        await expect(page.locator(".acting-over")).to_be_visible()
        await expect(page.locator(".acting")).to_be_hidden()


async def test_interview_is_taken_home_in_every_format(server: ServerProcess, browser: Browser) -> None:
    async with interview(server) as one:
        await one.answers(*ANSWERS[:2])
        await finish(server, one)
    async with tab(browser, server.url) as desk:
        page = desk.page
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        zipped = dict.fromkeys(("docx", "csv", "qdpx"), b"PK")
        begins = {**zipped, "graphml": b"<?xml", "vtt": b"WEBVTT", "json": b"{", "md": b"#"}
        links = page.locator(".taking-files a")
        await expect(links).to_have_count(len(begins))
        for name, first in begins.items():
            await page.locator(".taking summary").focus()
            await page.keyboard.press("Enter")
            async with page.expect_download() as waiting:
                await page.locator(f'.taking-files a[href$="format={name}"]').click()
            download = await waiting.value
            assert download.suggested_filename.startswith(f"askwell-coffee_mec-{one.id[:8]}.{name}")
            assert (await download.path()).read_bytes().startswith(first)
            await expect(links.first).to_be_hidden()
        await page.locator(".taking summary").click()
        await page.locator("h1").click()
        await expect(links.first).to_be_hidden()


async def test_finished_interview_is_found_and_replayed_turn_by_turn(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    async with interview(server, respondent_ref="Replay-1") as one:
        await one.answers(*ANSWERS[:4])
        await finish(server, one)
    size = {"width": 1440, "height": 900}
    async with tab(browser, server.url, shots, viewport=size) as desk:
        page = desk.page
        await desk.sign_in(token_of(server))
        await page.locator('#nav [data-place="finished"]').click()
        await page.locator("#finished-search").fill("grandmother")
        await expect(page.locator(".found-item").first).to_contain_text("grandmother")
        await desk.sound("finished")
        await page.locator("#finished-search").fill("Replay-1")
        await expect(page.locator(".found-item")).to_have_count(1)
        await page.locator(".found-item a").click()
        await page.locator(".detail-head:not([hidden])").wait_for()
        await expect(page.locator(".acting-over")).to_be_visible()
        await expect(page.locator(".line.respondent:not(.forming)")).to_have_count(4)
        await page.locator("#turn-first").click()
        await expect(page.locator(".line.respondent:not(.forming)")).to_have_count(0)
        for turn in (1, 2, 3):
            await page.keyboard.press("ArrowRight")
            await expect(page.locator(".line.respondent:not(.forming)")).to_have_count(turn)
            await expect(page.locator(".candidates .chosen")).to_have_count(1)
        assert await page.locator(".candidate").count() > 3, "the runners-up of a turn long past"
        await page.locator("#turn-slider").focus()
        await page.keyboard.press("Home")
        await expect(page.locator("#turn-where")).to_contain_text("0")
        await page.keyboard.press("End")
        await desk.sound("replay")
        await desk.shot("replay", whole=True)


async def test_tokens_are_made_limited_listed_and_revoked(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    async with tab(browser, server.url, shots) as desk, tab(browser, server.url) as guest:
        page = desk.page
        await desk.sign_in(token_of(server))
        await page.locator('#nav [data-place="access"]').click()
        await page.locator("#token-create").click()
        await expect(page.locator(".token-form [role=alert]")).not_to_be_empty()
        await page.locator("#token-name").fill("<b>Guest</b>")
        await page.locator("#token-all").uncheck()
        await page.locator('.concept-boxes input[value="commute_jtbd"]').check()
        await page.locator("#token-create").click()
        token = await page.locator(".token-code").inner_text()
        row = page.locator(".token-table tr", has_text="<b>Guest</b>")
        await expect(row).to_have_count(1)
        await expect(row).to_contain_text("moderator")
        await desk.sound("access")
        await desk.shot("access", whole=True)
        async with interview(server) as hers, interview(server, "commute_jtbd") as his:
            await guest.sign_in(token)
            await guest.row(his.id)
            await expect(guest.page.locator(f'.row[data-id="{hers.id}"]')).to_have_count(0)
            await row.get_by_role("button").click()
            await row.get_by_role("button").click()
            await expect(row).to_contain_text("Revoked")
            await guest.page.locator("#token").wait_for()


async def test_lost_connection_is_said_and_what_is_seen_is_marked_as_old(
    server: ServerProcess, wire: Wire, browser: Browser
) -> None:
    async with tab(browser, wire.url) as desk, interview(server) as one:
        page = desk.page
        await one.answers(ANSWERS[0])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        wire.cut()
        await page.locator("#banner:not([hidden])").wait_for()
        await expect(page.locator("body")).to_have_class("moderator stale")
        await desk.sound("connection lost")
        await one.answers(ANSWERS[1])
        await page.locator("#act-pause").click()
        wire.mend()
        await page.locator("#banner").wait_for(state="hidden")
        await expect(page.locator(".line-text").filter(has_text=ANSWERS[1])).to_have_count(1)
        await expect(page.locator("#act-pause")).to_have_text("Resume")
        await expect(page.locator(".actions-list li")).to_have_count(1)


async def test_question_that_waits_for_a_connection_is_taken_back(
    server: ServerProcess, wire: Wire, browser: Browser
) -> None:
    async with tab(browser, wire.url) as desk, interview(server) as one:
        page = desk.page
        await one.answers(ANSWERS[0])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        wire.cut()
        await page.locator("#banner:not([hidden])").wait_for()
        await page.locator("#act-inject").click()
        await page.locator("#inject-question").fill("What would you never ask?")
        await page.locator("#ask-inject-confirm").click()
        await expect(page.locator("#ask-inject [role=status]")).to_contain_text("No connection")
        await page.locator("#ask-inject button.quiet").click()
        await expect(page.locator("#acting-told")).to_have_text("Taken back before it was sent.")
        wire.mend()
        await page.locator("#banner").wait_for(state="hidden")
        await one.answers(ANSWERS[1])
        asked = [frame["text"] for frame in one.respondent.seen if frame["type"] == "question.completed"]
        assert "What would you never ask?" not in asked


async def test_interview_that_is_withdrawn_leaves_the_page_at_once(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk, interview(server) as one:
        page = desk.page
        await one.answers(ANSWERS[0])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        await expect(page.locator(".line-text").filter(has_text=ANSWERS[0])).to_have_count(1)
        await page.locator("#act-inject").click()
        async with caller(server) as anybody:
            gone = await anybody.delete(f"/api/sessions/{one.id}")
        assert gone.status_code == 202
        await expect(page.get_by_text("There is no such interview, or it was erased.")).to_be_visible()
        await expect(page.locator(".detail-body")).to_be_hidden()
        await expect(page.locator("#act-inject")).to_be_hidden()
        await expect(page.locator("dialog")).to_have_count(0)


async def test_store_out_of_reach_is_said_until_it_is_back(server: ServerProcess, browser: Browser) -> None:
    lost = {"ready": False, "checks": {"redis": "ok", "database": "the store was deleted or moved", "writer": "ok"}}
    async with tab(browser, server.url) as desk:
        page = desk.page
        await page.route("**/readyz", lambda route: route.fulfill(status=503, json=lost))
        await desk.sign_in(token_of(server))
        await expect(page.locator("#banner")).to_contain_text("the store was deleted or moved")
        await desk.sound("the store is out of reach")
        await desk.shot("store-lost")
        await page.unroute("**/readyz")
        await page.locator("#banner").wait_for(state="hidden")
