"""Every state of the moderator's page: readable, accessible, at every size; and on bad days."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, WebSocketRoute, expect

from tests.e2e.moderator_page import ANSWERS, ModeratorPage, interview, tab, token_of
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240), pytest.mark.thorough]

SIZES = {"320": (320, 700), "768": (768, 1024), "1440": (1440, 900)}
MANY = 500


def row(number: int, **more: Any) -> dict[str, Any]:
    """A row of the overview as the server sends it."""
    usual = {
        "session_id": f"session-{number:04d}", "concept_id": "coffee_mec", "concept_name": "coffee", "state": "active",
        "phase": "mid", "turn_number": 5, "max_turns": 15, "engagement": [0.5, 0.7], "depth": [2, 3],
        "saturation": 0.4, "last_question": "Why?", "last_answer": f"Because of {number}", "watchers": [],
        "alerts": [], "connected": True, "activity": "thinking", "llm": "ok", "kiosk": None, "claimed_by": None,
        "paused_by": None, "waiting": False, "respondent_ref": f"R-{number}", "reason": "", "language": "en",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2099-01-01T00:00:00Z",
    }  # fmt: skip
    return {**usual, **more}


async def fed(desk: ModeratorPage, rows: list[dict[str, Any]]) -> Callable[[dict[str, Any]], None]:
    """Put the page on a line that sends these rows; what the caller hands in afterwards is sent too."""
    lines: list[WebSocketRoute] = []

    def answer(line: WebSocketRoute) -> None:
        lines.append(line)

        def heard(data: str | bytes) -> None:
            kind = json.loads(data)["type"]
            if kind == "hello":
                line.send(json.dumps({"type": "ready", "name": "moderator", "token_id": "root", "concepts": None}))
            elif kind == "overview":
                line.send(json.dumps({"type": "overview.rows", "rows": rows, "total": len(rows)}))

        line.on_message(heard)

    await desk.page.route_web_socket("**/ws/moderator", answer)
    return lambda message: lines[-1].send(json.dumps(message))


async def by_day_and_night(desk: ModeratorPage, name: str, *, whole: bool = False) -> None:
    """The state is sound in light and in dark; a picture of both."""
    for scheme in ("light", "dark"):
        await desk.page.emulate_media(color_scheme=scheme)
        await desk.sound(f"{name}, {scheme}")
        await desk.shot(f"{name}-{scheme}", whole=whole)


@pytest.mark.parametrize("size", SIZES)
async def test_states_axe_clean_and_no_sideways_scrolling(
    server: ServerProcess, browser: Browser, shots: Path | None, size: str
) -> None:
    width, height = SIZES[size]
    options: dict[str, Any] = {"viewport": {"width": width, "height": height}}
    async with tab(browser, server.url, shots, **options) as desk, interview(server, respondent_ref="R-9") as one:
        page = desk.page
        await page.goto(f"{server.url}/moderator")
        await page.locator("#token").wait_for()
        await by_day_and_night(desk, f"{size}-1-door")
        await one.answers(*ANSWERS)
        await desk.sign_in(token_of(server))
        await desk.row(one.id)
        await by_day_and_night(desk, f"{size}-2-overview")
        await page.locator("#overview-search").fill("nobody said this")
        await page.locator("#overview-empty button").wait_for()
        await desk.sound("no match")
        await desk.open(one.id)
        await page.locator(".graph-canvas canvas").first.wait_for()
        await page.locator(".multiple-plot canvas").first.wait_for()
        await by_day_and_night(desk, f"{size}-3-interview", whole=True)
        await page.locator("#graph-table").click()
        await page.locator(".node-link").first.click()
        await page.locator("[data-turn='2']").click()
        await page.locator(".panel-signals .link").click()
        await by_day_and_night(desk, f"{size}-4-tables", whole=True)
        await page.locator("#turn-live").click()
        await page.locator(".panel-signals .link").click()
        await page.locator("#act-steer").click()
        await page.locator("#steer-strategy").select_option("clarify")
        await page.locator("#steer-preview").click()
        await page.locator(".preview .quote").wait_for()
        await by_day_and_night(desk, f"{size}-5-steering")
        await page.keyboard.press("Escape")
        await expect(page.locator("#act-steer")).to_be_focused()
        await page.locator("#act-end").click()
        await desk.sound("ending")
        await page.keyboard.press("Escape")
        await page.locator(".taking summary").click()
        await by_day_and_night(desk, f"{size}-6-downloads")
        await page.keyboard.press("Escape")
        await expect(page.locator(".taking summary")).to_be_focused()
        await expect(page.locator(".taking-files")).to_be_hidden()


async def test_interview_that_is_not_there_is_explained(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk:
        await desk.sign_in(token_of(server))
        await desk.page.evaluate("location.hash = '#/interview/no-such-interview'")
        await expect(desk.page.locator(".detail .empty h1")).to_be_visible()
        await desk.sound("missing")
        await desk.page.locator(".detail .empty a").click()
        await desk.page.locator("#overview-count:not(:empty)").wait_for()


async def test_without_the_libraries_tables_stand_in(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk, interview(server) as one:
        page = desk.page
        await page.route("**/static/vendor/**", lambda route: route.fulfill(status=404))
        await one.answers(*ANSWERS[:2])
        await desk.sign_in(token_of(server))
        await desk.open(one.id)
        await expect(page.locator(".panel-signals tbody tr").first).to_be_visible()
        await expect(page.locator(".graph-table tbody tr").first).to_be_visible()
        await expect(page.locator(".panel-graph .panel-body > .fine").first).to_contain_text("make vendor")
        await expect(page.locator(".panel-signals .panel-body > .fine")).to_contain_text("make vendor")
        await desk.sound("without libraries")


async def test_hundreds_of_interviews_are_a_few_rows_of_the_page(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk:
        page = desk.page
        send = await fed(desk, [row(number) for number in range(MANY)])
        await desk.sign_in(token_of(server))
        await page.locator("#overview-sort").select_option("started")
        await expect(page.locator("#overview-count")).to_contain_text(str(MANY))
        assert await page.locator(".row").count() < 40
        for number in range(MANY):
            send({"type": "overview.row", **row(number, turn_number=6)})
        await expect(page.locator('.row[data-id="session-0003"] .row-turn')).to_contain_text("6")
        last = page.locator(f'.row[data-id="session-{MANY - 1:04d}"]')
        await page.locator('.row-link[tabindex="0"]').focus()
        await page.keyboard.press("End")
        await expect(last).to_be_visible()
        await expect(last.locator(".row-link")).to_be_focused()
        await expect(last).to_have_attribute("aria-posinset", str(MANY))
        assert await page.locator(".row").count() < 40
        await page.locator("#overview-search").fill("R-123")
        await expect(page.locator(".row")).to_have_count(1)
        await desk.sound("many")


async def test_alerts_are_told_where_nobody_looks(server: ServerProcess, browser: Browser) -> None:
    async with tab(browser, server.url) as desk:
        page = desk.page
        await page.add_init_script(
            """window.told = [];
               window.Notification = class { constructor(title, more) { window.told.push(title, more.body); } };
               Object.assign(Notification, { permission: "granted", requestPermission: async () => "granted" });"""
        )
        send = await fed(desk, [row(1), row(2)])
        await desk.sign_in(token_of(server))
        await page.locator("#bell").click()
        await expect(page.locator("#bell")).to_have_attribute("aria-pressed", "true")
        await expect(page.locator(".toast")).to_be_visible()
        await page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
        alert = {"code": "stuck", "since": "2026-01-01T00:00:00Z"}
        send({"type": "overview.row", **row(2, alerts=[alert])})
        await expect(page).to_have_title(re.compile(r"^\(1\) "))
        assert await page.evaluate("window.told") == ["Stuck", "coffee"]
        send({"type": "overview.row", **row(2, alerts=[alert], turn_number=6)})
        send({"type": "overview.row", **row(2, turn_number=7)})
        await expect(page).to_have_title(re.compile("^[^(]"))
        assert len(await page.evaluate("window.told")) == 2, "an alert is told once"
        await page.evaluate("Object.defineProperty(document, 'hidden', { value: false, configurable: true })")
        send({"type": "overview.row", **row(1, alerts=[{**alert, "code": "of_a_newer_server"}])})
        await expect(page.locator('.row[data-id="session-0001"] .row-alerts')).to_have_text("of a newer server")
        await expect(page.locator(".row").first).to_have_attribute("data-id", "session-0001")


async def test_finished_interviews_leave_the_overview_and_erased_ones_at_once(
    server: ServerProcess, browser: Browser
) -> None:
    async with tab(browser, server.url) as desk:
        page = desk.page
        await page.clock.install()
        send = await fed(desk, [row(1), row(2), row(3)])
        await desk.sign_in(token_of(server))
        send({"type": "overview.gone", "session_id": "session-0003"})
        await expect(page.locator(".row")).to_have_count(2)
        send({"type": "overview.row", **row(2, state="completed", updated_at="2020-01-01T00:00:00Z")})
        await expect(page.locator('.row[data-id="session-0002"]')).to_contain_text("Finished")
        await page.clock.fast_forward(70_000)
        await expect(page.locator(".row")).to_have_count(1)


async def test_page_reads_from_right_to_left_and_at_twice_the_size(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    options: dict[str, Any] = {"viewport": {"width": 720, "height": 900}, "locale": "ar", "device_scale_factor": 1}
    async with tab(browser, server.url, shots, **options) as desk, interview(server) as one:
        page = desk.page
        await one.answers(*ANSWERS[:3])
        await desk.sign_in(token_of(server))
        await expect(page.locator("html")).to_have_attribute("dir", "rtl")
        await desk.row(one.id)
        await desk.sound("overview, right to left")
        await desk.shot("rtl-overview")
        await page.locator(f'.row[data-id="{one.id}"] .row-link').click()
        await page.locator(".multiple-plot canvas").first.wait_for()
        await desk.sound("interview, right to left")
        await desk.shot("rtl-interview", whole=True)
        turns = page.locator(".line.respondent:not(.forming)")
        await page.keyboard.press("ArrowRight")
        await expect(turns).to_have_count(2)
