"""Questions read aloud by a program on the server: a real browser that plays them, a real server, a real voice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.respondent_page import PATIENCE_MS, RespondentPage, stored
from tests.e2e.speaking import NO_VOICES, SpeakingPage, heard_share, microphone, spoken
from tests.support.process import ServerProcess

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.needs("espeak-ng"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
    pytest.mark.thorough,
]

ESPEAK = "espeak-ng --stdin --stdout -v {language}"
LISTENED = """
window.played = {pieces: 0, seconds: 0, loud: 0};
const copied = AudioBuffer.prototype.copyToChannel;
AudioBuffer.prototype.copyToChannel = function (samples, ...rest) {
  window.played.pieces += 1;
  window.played.seconds += samples.length / this.sampleRate;
  window.played.loud = Math.max(window.played.loud, ...samples.map(Math.abs));
  return copied.call(this, samples, ...rest);
};
"""
"""`window.played` has what was given to the loudspeaker."""
LATER_FAILS = """
import subprocess, sys
from pathlib import Path
count = Path(sys.argv[1])
times = int(count.read_text()) + 1 if count.exists() else 1
text = sys.stdin.readline()
if not text:
    sys.exit(0)
count.write_text(str(times))
read = subprocess.run(["espeak-ng", "--stdin", "--stdout"], input=text.encode(), capture_output=True)
sys.stdout.buffer.write(read.stdout)
sys.exit(0 if times <= int(sys.argv[2]) else 7)
"""
"""Reads so many sentences, and breaks off in the next one."""
ANSWER = "I like the strong taste, because it wakes me up in the morning."
LONG_S = 25.0


async def begun(browser: Browser, url: str, shots: Path | None, name: str) -> tuple[SpeakingPage, RespondentPage]:
    page = await browser.new_page(viewport={"width": 390, "height": 844})
    await page.add_init_script(NO_VOICES)
    await page.add_init_script(LISTENED)
    await page.add_init_script(
        'localStorage.getItem("askwell:voice") ?? localStorage.setItem("askwell:voice", `{"read": true}`)'
    )
    respondent = RespondentPage(page, shots, name)
    await respondent.begin(url, "coffee_mec")
    return SpeakingPage(page, shots, name), respondent


async def test_interview_is_read_by_the_server_s_voice_and_answered_after_it(
    tmp_path: Path, shots: Path | None
) -> None:
    settings = {"ASKWELL_VOICE_COMMAND": ESPEAK}
    recording = await spoken(tmp_path / "answer.wav", [LONG_S, ANSWER, LONG_S])
    async with (
        ServerProcess(tmp_path / "data", environment=settings) as server,
        microphone(recording, "--autoplay-policy=no-user-gesture-required") as browser,
    ):
        speaking, respondent = await begun(browser, server.url, shots, "aloud")
        page = speaking.page
        await respondent.question()
        await speaking.speak()
        await speaking.mood("reading")
        await speaking.sound("reading")
        await page.locator("#voice-settings").click()
        await page.locator("#voice-dialog[open] #voice-set-device-voice").wait_for()
        await speaking.sound("reading-settings")
        await page.locator("#voice-dialog-close").click()
        await speaking.mood("listening")
        opening = await page.evaluate("window.played")
        assert opening["seconds"] > 1.0
        assert opening["loud"] > 0.05
        await speaking.mood("hearing")
        assert await respondent.next_question(1)
        await speaking.mood("reading")
        await speaking.mood("listening")
        assert (await page.evaluate("window.played"))["seconds"] > opening["seconds"] + 0.5
        assert not await page.evaluate("window.readAloud"), "the browser's voice has nothing to do"
        rows = await stored(server, respondent.session_id, "speaker, text", enough=3)
        [answer] = [text for speaker, text in rows if speaker == "respondent"]
        assert heard_share(ANSWER, answer) >= 0.7
        assert speaking.errors == []


async def test_voice_that_breaks_off_leaves_the_rest_to_the_browser(tmp_path: Path, shots: Path | None) -> None:
    program = tmp_path / "later.py"
    program.write_text(LATER_FAILS)
    # One for each of the three languages that are tried at the start, and the opening.
    settings = {"ASKWELL_VOICE_COMMANDS": f"en={sys.executable} -I {program} {tmp_path / 'count'} 2"}
    async with (
        ServerProcess(tmp_path / "data", environment=settings) as server,
        microphone(None, "--autoplay-policy=no-user-gesture-required") as browser,
    ):
        speaking, respondent = await begun(browser, server.url, shots, "broken")
        page = speaking.page
        await respondent.question()
        await speaking.speak()
        await page.wait_for_function("() => window.played.pieces > 0")
        await page.locator("#voice-hush").click()
        await page.locator("#voice-type").click()
        await respondent.answer(ANSWER)
        question = await respondent.next_question(1)
        await speaking.speak()
        await page.wait_for_function("() => window.readAloud?.length > 0")
        assert " ".join(await page.evaluate("window.readAloud")) == question
        await expect(page.locator("#question")).to_have_text(question, timeout=PATIENCE_MS)
        assert speaking.errors == []
