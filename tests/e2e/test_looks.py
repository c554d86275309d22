"""The pages in German and Arabic: whole in their language, the right way round, usable for everybody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.page_language import DIRECTIONS, in_language
from tests.e2e.respondent_page import RespondentPage, axe_violations, settled
from tests.e2e.test_states import DESK, PHONE
from tests.e2e.tongues import ANSWERS, CONSENT, OPENING, QUESTIONS, polyglot_server
from tests.support.process import ServerProcess

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(240),
    pytest.mark.needs("chromium"),
    pytest.mark.thorough,
]

TABLET = {"width": 768, "height": 1024}
MOST_BYTES = 150_000
NAMES = {"de": "German", "ar": "Arabic"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def polyglot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """A server whose language model speaks German and Arabic."""
    async with polyglot_server(tmp_path_factory.mktemp("tongues")) as process:
        yield process


async def whole(page: Page, language: str, what: str) -> None:
    """In the language, in its direction, clean by axe, and nowhere wider than the screen."""
    await settled(page)
    await in_language(page, language, what)
    assert await axe_violations(page) == [], what
    wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{what}: {wide} px too wide"


async def visited(browser: Browser, language: str, shots: Path | None, name: str, **context: Any) -> RespondentPage:
    page = await (await browser.new_context(locale=language, **context)).new_page()
    return RespondentPage(page, shots, name)


@pytest.mark.parametrize(
    ("language", "size", "scheme"),
    [
        ("de", PHONE, "light"),
        ("de", DESK, "dark"),
        ("ar", PHONE, "dark"),
        ("ar", TABLET, "light"),
        ("ar", DESK, "light"),
    ],
    ids=["de-320", "de-1440", "ar-320", "ar-768", "ar-1440"],
)
async def test_interview_in_a_language_whole_in_it_from_first_page_to_last(
    polyglot: ServerProcess,
    browser: Browser,
    shots: Path | None,
    language: str,
    size: dict[str, int],
    scheme: Literal["light", "dark"],
) -> None:
    name = f"{language}-{size['width']}-{scheme}"
    respondent = await visited(
        browser, language, shots, name, viewport=size, color_scheme=scheme, has_touch=size is PHONE
    )
    page = respondent.page
    await page.goto(polyglot.url)
    await page.locator("[data-concept-id=bread]").first.wait_for()
    await whole(page, language, "first page")
    await respondent.shot("1-home")
    await page.locator("[data-concept-id=bread]").first.click()
    await expect(page.locator("#consent-text")).to_contain_text(CONSENT[language].split("\n")[0])
    await whole(page, language, "consent")
    await respondent.shot("2-consent")
    await page.locator("#consent-agree").click()
    await page.locator("#stimulus").wait_for()
    await whole(page, language, "stimulus")
    await page.locator("#stimulus-close").click()
    assert await respondent.asked() == OPENING[language]
    await whole(page, language, "first question")
    await respondent.shot("3-question")
    await respondent.answer(ANSWERS[language])
    assert await respondent.next_question(1) in QUESTIONS[NAMES[language]]
    assert (
        await page.locator("#log .said").last.evaluate("at => getComputedStyle(at).direction") == DIRECTIONS[language]
    )
    await page.locator("#correct").click()
    await page.locator("#edit").wait_for()
    await whole(page, language, "correcting")
    await page.locator("#correct-cancel").click()
    await page.locator("#pause").click()
    await page.locator('#status[data-state="paused"]').wait_for()
    await whole(page, language, "paused")
    await page.locator("#resume").click()
    await page.locator('#status[data-state="yours"]').wait_for(state="attached")
    await page.locator("#answer").fill("ب" * 8_001)
    await expect(page.locator("#answer-count")).to_be_visible()
    await page.locator("#send").click()
    await page.locator("#error").wait_for()
    await whole(page, language, "answer too long")
    await respondent.shot("4-too-long")
    await page.locator("#answer").fill("")
    await page.locator("#finish").click()
    await page.locator("#dialog-confirm").wait_for()
    await whole(page, language, "dialog")
    await respondent.shot("5-dialog")
    await page.locator("#dialog-confirm").click()
    await page.locator("#thanks").wait_for()
    await whole(page, language, "thanks")
    await respondent.shot("6-thanks")
    await page.locator("#withdraw-late").click()
    await page.locator("#dialog-confirm").click()
    await page.locator("#goodbye").wait_for()
    await whole(page, language, "goodbye")
    assert respondent.errors == []
    await page.context.close()


async def test_interview_speaks_its_own_language_before_the_readers(polyglot: ServerProcess, browser: Browser) -> None:
    respondent = await visited(browser, "de", None, "")
    page = respondent.page
    await page.goto(polyglot.url)
    await page.locator("[data-concept-id=bread][data-language=ar]").click()
    await page.locator("#consent-agree").wait_for()
    await whole(page, "ar", "consent")
    await page.context.close()


async def test_nothing_shown_before_the_language_is_known(polyglot: ServerProcess, browser: Browser) -> None:
    respondent = await visited(browser, "ar", None, "")
    page = respondent.page
    await page.add_init_script(
        """window.seen = new Set();
        const look = () => {
          const root = document.documentElement;
          const shown = document.body && [...document.querySelectorAll('body :is(h1, h2, p, button, a, label)')]
            .some((at) => at.checkVisibility({visibilityProperty: true}) && at.innerText.trim() !== '');
          if (shown) window.seen.add(`${root.lang} ${root.dir}`);
          requestAnimationFrame(look);
        };
        look();"""
    )
    await page.goto(polyglot.url)
    await page.locator("[data-concept-id=bread]").first.wait_for()
    assert await page.evaluate("() => [...window.seen]") == ["ar rtl"]
    await page.locator("[data-concept-id=bread][data-language=de]").click()
    await page.locator("#consent-agree").wait_for()
    assert await page.evaluate("() => [...window.seen]") == ["de ltr"]
    await page.context.close()


async def test_chosen_language_holds_on_later_visits(polyglot: ServerProcess, browser: Browser) -> None:
    respondent = await visited(browser, "en", None, "")
    page = respondent.page
    await page.goto(polyglot.url)
    await page.locator("#language").select_option("ar")
    await expect(page.locator("html")).to_have_attribute("dir", "rtl")
    await page.locator("[data-concept-id=bread]").first.wait_for()
    await whole(page, "ar", "after the choice")
    await page.reload()
    await page.locator("[data-concept-id=bread]").first.wait_for()
    await whole(page, "ar", "next visit")
    await page.context.close()


@pytest.mark.parametrize(
    ("status", "body", "title"),
    [
        (200, {"items": []}, "Noch kein Gesprächsthema"),
        (503, {"code": "storage_unavailable"}, "Die Themen konnten nicht geholt werden"),
    ],
)
async def test_first_page_without_subjects_says_so(
    polyglot: ServerProcess, browser: Browser, status: int, body: dict[str, Any], title: str
) -> None:
    respondent = await visited(browser, "de", None, "", viewport=PHONE)
    page = respondent.page
    await page.route("**/api/concepts", lambda route: route.fulfill(status=status, json=body))
    await page.goto(polyglot.url)
    await expect(page.locator("#error-title")).to_have_text(title)
    await whole(page, "de", title)
    await page.context.close()


@pytest.mark.parametrize(
    ("status", "code", "title"),
    [
        (422, "language_unsupported", "ليست متاحة بهذه اللغة"),
        (403, "forbidden", "المشاركة في هذه الدراسة بدعوة"),
        (404, "not_found", "لم يعد هذا الموضوع موجودًا"),
        (503, "too_many_sessions", "جميع الأماكن مشغولة الآن"),
        (500, "internal", "تعذر فتح المقابلة"),
    ],
)
async def test_refusal_to_open_told_in_the_readers_language(
    polyglot: ServerProcess, browser: Browser, status: int, code: str, title: str
) -> None:
    respondent = await visited(browser, "ar", None, "")
    page = respondent.page
    problem = {"code": code, "detail": "Something in English that nobody should read."}
    await page.route("**/api/sessions", lambda route: route.fulfill(status=status, json=problem))
    await page.goto(polyglot.url)
    await page.locator("[data-concept-id=bread]").first.click()
    await expect(page.locator("#error-title")).to_have_text(title)
    await whole(page, "ar", code)
    await page.context.close()


async def test_keyboard_alone_reaches_a_language_and_its_interview(polyglot: ServerProcess, browser: Browser) -> None:
    respondent = await visited(browser, "de", None, "")
    page = respondent.page
    await page.goto(polyglot.url)
    await page.locator("[data-concept-id=bread][data-language=ar]").wait_for()
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await page.evaluate("() => document.activeElement.dataset.language") == "ar":
            break
    await page.keyboard.press("Enter")
    await page.locator("#consent-agree").wait_for()
    await expect(page.locator("html")).to_have_attribute("lang", "ar")
    await page.context.close()


@pytest.mark.parametrize("language", ["de", "ar"])
async def test_twice_the_size_nothing_lost_or_sideways(
    polyglot: ServerProcess, browser: Browser, language: str
) -> None:
    size = {"width": 640, "height": 480}
    respondent = await visited(browser, language, None, "", viewport=size)
    page = respondent.page
    session = await page.context.new_cdp_session(page)
    await session.send(
        "Emulation.setDeviceMetricsOverride", {"width": 320, "height": 240, "deviceScaleFactor": 2, "mobile": False}
    )
    await page.goto(polyglot.url)
    await page.locator("[data-concept-id=bread]").first.click()
    await page.locator("#consent-agree").click()
    await page.locator("#stimulus-close").click()
    await respondent.asked()
    await whole(page, language, "first question at 200 %")
    for control in ("#pause", "#finish", "#withdraw", "#skip", "#rephrase", "#send", "#answer"):
        await page.locator(control).scroll_into_view_if_needed()
        await expect(page.locator(control)).to_be_in_viewport()
    await page.context.close()


@pytest.mark.parametrize("language", ["en", "ar"])
async def test_first_question_reached_with_at_most_150_kilobytes(
    polyglot: ServerProcess, browser: Browser, language: str
) -> None:
    respondent = await visited(browser, language, None, "")
    page = respondent.page
    session = await page.context.new_cdp_session(page)
    await session.send("Network.enable")
    addresses: dict[str, str] = {}
    taken: dict[str, float] = {}
    session.on(
        "Network.requestWillBeSent", lambda event: addresses.update({event["requestId"]: event["request"]["url"]})
    )
    session.on("Network.loadingFinished", lambda event: taken.update({event["requestId"]: event["encodedDataLength"]}))
    await page.goto(polyglot.url)
    await page.locator("[data-concept-id=bread]").first.wait_for()
    start = sum(taken.values())
    await session.send("Network.clearBrowserCache")
    taken.clear()
    await page.locator("[data-concept-id=bread]").first.click()
    await page.locator("#consent-agree").click()
    await page.locator("#stimulus-close").click()
    await respondent.asked()
    await page.wait_for_load_state("networkidle")
    files = sorted({addresses[number].rsplit("/", 1)[-1] for number in taken})
    assert {"main.js", "theme.css", f"{language}.js", "state.js"} <= set(files)
    whole_bytes = sum(taken.values())
    assert 20_000 < whole_bytes <= MOST_BYTES, f"{whole_bytes:.0f} bytes: {files}"
    assert start <= MOST_BYTES
    await page.context.close()
