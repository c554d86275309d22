"""The pages that commands write, in a browser: usable for everybody, light and dark, nowhere wider than the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser

from pipeline.engines.registry import ENGINES
from server.comparison.moments import compared
from server.comparison.playing import held as as_held
from server.comparison.playing import play
from server.comparison.recording import recording
from server.comparison.report import page as comparison_page
from server.simulation.report import page as simulation_page
from server.simulation.running import Job, Result
from server.simulation.scoring import Score
from tests.e2e.respondent_page import axe_violations
from tests.e2e.test_states import DESK, PHONE
from tests.server.comparison.support import SAID, export, held, interview_with, variant

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(120),
    pytest.mark.needs("chromium"),
    pytest.mark.thorough,
]

LONG = "I keep thinking of it. " * 340
"""Nearly the longest answer that there may be."""


async def _comparison() -> str:
    source = recording(
        json.dumps(export(await held("two_tier", (*SAID[:5], LONG, *SAID[5:8])))).encode(), "session s-1"
    )
    first = as_held(source)
    assert first is not None
    runs = [await play(interview_with(engine).pipeline(), variant(engine), source) for engine in ENGINES]
    return comparison_page(compared(source, [first, *runs]))


def _result(persona: str, engine: str, seed: int) -> Result:
    told = 3 + seed
    counts = {name: 2 for name in Score.__annotations__ if not name.startswith(("closed", "broken"))}
    score = Score(
        **{**counts, "ideas": 9, "told": told, "turns": 4}, closed_early=False, closed_late=True, broken_off=False
    )
    lines = tuple(
        {"turn": turn, "question": "Why is that?", "strategy": "deepen", "about": "the cup", "answer": "It is warm.",
         "told": ["cup"], "wanted": "why", "reason": ""}
        for turn in range(1, 5)
    )  # fmt: skip
    return Result(Job(persona, seed, engine=engine), "cooperative", score, lines, ("mug",), "0", 0.1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("kind", ["comparison", "simulation"])
async def test_page_is_usable_and_fits(
    browser: Browser,
    tmp_path: Path,
    shots: Path | None,
    kind: str,
    size: dict[str, int],
    scheme: Literal["light", "dark"],
) -> None:
    results = [
        _result(who, engine, seed) for who in ("night_nurse", "lorry_yard") for engine in ENGINES for seed in (1, 2)
    ]
    text = await _comparison() if kind == "comparison" else simulation_page(results, "Simulated interviews: coffee_mec")
    file = tmp_path / f"{kind}.html"
    file.write_text(text, encoding="utf-8")
    context = await browser.new_context(color_scheme=scheme, viewport=size, offline=True)  # type: ignore[arg-type]
    page = await context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(file.as_uri())
    for details in await page.locator("details").all():
        await details.evaluate("each => each.open = true")
    assert asked == [file.as_uri()], "the page needs nothing else"
    assert await axe_violations(page) == []
    wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{wide} px too wide"
    if shots is not None:
        await page.screenshot(path=shots / f"{kind}-{size['width']}-{scheme}.png", full_page=True)
    await context.close()
