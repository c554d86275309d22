"""Every state of speaking, against a server that says what the test wants: usable, accessible, nothing lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from playwright.async_api import Browser, expect

from audio.endpoint import FRAME_SAMPLES
from tests.e2e.page_language import in_language
from tests.e2e.speaking import MICROPHONE_HZ, NO_VOICES, WORDS, SpeakingPage, microphone, written
from tests.support.patience import PATIENCE_S
from tests.support.voice_double import VoiceDouble, voice_double

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(240),
    pytest.mark.usefixtures("tidy"),
    pytest.mark.thorough,
]

PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
DESK = {"viewport": {"width": 1440, "height": 900}}
FRAME_BYTES = 2 * FRAME_SAMPLES
"""What the page sends at once: one frame of the voice activity model."""
SAID = "I like the smell of it, and that the kitchen is quiet"


async def opened(browser: Browser, double: VoiceDouble, **context: object) -> SpeakingPage:
    speaking = SpeakingPage(await (await browser.new_context(**context)).new_page())  # type: ignore[arg-type]
    await speaking.page.goto(double.page)
    await speaking.speak()
    return speaking


@pytest.mark.parametrize(
    ("name", "size", "scheme", "language"),
    [("phone", PHONE, "light", "en"), ("phone", PHONE, "dark", "ar"), ("desk", DESK, "dark", "de")],
)
async def test_states_of_speaking_axe_clean_and_in_reach(
    speaker: Browser,
    double: VoiceDouble,
    shots: Path | None,
    name: str,
    size: dict[str, object],
    scheme: str,
    language: str,
) -> None:
    title, opening, said, question, more = WORDS[language]
    double.speak(language, title, opening)
    context = await speaker.new_context(color_scheme=scheme, locale=language, **size)  # type: ignore[arg-type]
    page = await context.new_page()
    speaking = SpeakingPage(page, shots, f"voice-{name}-{scheme}-{language}")

    async def looked(state: str) -> None:
        await speaking.sound(state)
        await in_language(page, language, state)

    await page.goto(double.page)
    await page.locator("#speak").wait_for()
    await looked("offered")
    await speaking.speak()
    key = (await double.expect("audio.start"))["turn_key"]
    await speaking.mood("listening")
    await looked("listening")
    await double.say("speech.started", at_ms=100)
    await double.say("transcript.partial", text=said, stable=len(said))
    await speaking.mood("hearing")
    await looked("hearing")
    await page.locator("#voice-wait").click()
    await double.say("speech.stopped", at_ms=3000)
    await speaking.mood("patient")
    await looked("patient")
    await double.say("notice", code="time_almost_up", text="20 seconds")
    await speaking.mood("almost_up")
    await looked("almost-up")
    await page.locator("#voice-done").click()
    await speaking.mood("transcribing")
    await looked("transcribing")
    await double.expect("audio.stop")
    await double.take(key, said, 1, None)
    await speaking.mood("thinking")
    await looked("thinking")
    await double.ask(key, 1, question)
    await double.expect("audio.start")
    await speaking.mood("listening")
    await double.say("notice", code="didnt_catch", text="")
    await speaking.mood("didnt_catch")
    await looked("didnt-catch")
    await page.locator("#voice-mute").click()
    await speaking.mood("muted")
    await looked("muted")
    await page.locator("#voice-mute").click()
    await double.say("transcript.partial", text=more[:10], stable=7)
    await expect(page.locator("#caption")).to_contain_text(more[:10])
    await double.drop()
    await speaking.mood("reconnecting")
    await looked("reconnecting")
    key = (await double.expect("audio.start"))["turn_key"]
    await double.say("transcript.partial", text=more, stable=len(more), turn_key=key)
    await speaking.mood("review")
    await looked("review")
    await page.locator("#voice-send").click()
    assert (await double.expect("answer"))["text"] == more
    await double.take(key, more, 2, question)
    await speaking.mood("listening")
    await page.locator("#voice-settings").click()
    await page.locator("#voice-dialog[open]").wait_for()
    await looked("settings")
    await page.locator("#voice-set-mode-push").check()
    await page.locator("#voice-dialog-close").click()
    await speaking.mood("ready")
    await looked("push-ready")
    await page.locator("#voice-talk").click()
    await speaking.mood("held")
    await looked("push-latched")
    await page.locator("#voice-talk").click()
    await double.expect("audio.stop")
    await page.locator("#voice-type").click()
    await page.locator("#answer").wait_for()
    await looked("typing-again")
    assert speaking.errors == []


async def test_speech_becomes_an_answer_in_the_log(speaker: Browser, double: VoiceDouble) -> None:
    speaking = await opened(speaker, double)
    key = (await double.expect("audio.start"))["turn_key"]
    await double.until(lambda: len(double.frames) >= 25)
    assert set(map(len, double.frames.values())) == {FRAME_BYTES}
    await double.take(key, SAID, 1, "What does the quiet give you?", last_seq=20)
    await expect(speaking.page.locator("#log")).to_contain_text(SAID)
    following = await double.expect("audio.start")
    assert following["turn_key"] != key
    await expect(speaking.page.locator("#question")).to_have_text("What does the quiet give you?")
    assert speaking.errors == []


async def test_connection_cut_in_mid_sentence_loses_no_frame(speaker: Browser, double: VoiceDouble) -> None:
    speaking = await opened(speaker, double)
    start = await double.expect("audio.start")
    await double.until(lambda: len(double.frames) >= 30)
    await double.drop(1011)
    await speaking.mood("reconnecting")
    again = await double.expect("audio.start")
    assert again["turn_key"] == start["turn_key"]
    assert again["first_seq"] == 30 or again["first_seq"] == max(n for n in double.frames if n < again["first_seq"]) + 1
    await double.until(lambda: len(double.frames) >= again["first_seq"] + 30)
    assert sorted(double.frames) == list(range(len(double.frames)))


async def test_dead_node_is_sent_all_of_the_answer_again(speaker: Browser, double: VoiceDouble) -> None:
    await opened(speaker, double)
    start = await double.expect("audio.start")
    await double.until(lambda: len(double.frames) >= 40)
    before = dict(double.frames)
    double.first_unreceived = 0
    double.frames.clear()
    await double.drop(1011)
    again = await double.expect("audio.start")
    assert (again["turn_key"], again["first_seq"]) == (start["turn_key"], start["first_seq"])
    await double.until(lambda: len(double.frames) >= 45)
    assert all(double.frames[number] == pcm for number, pcm in before.items())


async def test_connection_cut_after_done_stops_again(speaker: Browser, double: VoiceDouble) -> None:
    speaking = await opened(speaker, double)
    await double.expect("audio.start")
    await double.until(lambda: len(double.frames) >= 10)
    await speaking.page.locator("#voice-done").click()
    await double.expect("audio.stop")
    count = len(double.frames)
    double.first_unreceived = 0
    await double.drop(1011)
    again = await double.expect("audio.start")
    await double.expect("audio.stop")
    assert len(double.frames) == count
    await double.take(again["turn_key"], SAID, 1, "And why?")
    await expect(speaking.page.locator("#log")).to_contain_text(SAID)


async def test_silent_server_is_offered_the_answer_again(
    speaker: Browser, double: VoiceDouble, shots: Path | None
) -> None:
    page = await (await speaker.new_context(viewport={"width": 1440, "height": 900})).new_page()
    await page.clock.install()
    speaking = SpeakingPage(page, shots, "voice-stalled")
    await page.goto(double.page)
    await speaking.speak()
    start = await double.expect("audio.start")
    await page.locator("#voice-done").click()
    await page.clock.run_for(200)
    await double.expect("audio.stop")
    await page.clock.run_for(21_000)
    await speaking.mood("stalled")
    await speaking.sound("stalled")
    await page.locator("#voice-retry").click()
    await page.clock.run_for(500)
    again = await double.expect("audio.start")
    assert again["turn_key"] == start["turn_key"]


async def test_reload_in_mid_sentence_keeps_what_was_said(
    speaker: Browser, double: VoiceDouble, shots: Path | None
) -> None:
    speaking = await opened(speaker, double, viewport={"width": 1440, "height": 900})
    page = speaking.page
    start = await double.expect("audio.start")
    await double.until(lambda: len(double.frames) >= 170)
    await page.reload()
    await speaking.mood("kept")
    await SpeakingPage(page, shots, "voice-kept").sound("kept")
    double.first_unreceived = 0
    double.frames.clear()
    await double.drop(1011)
    await page.locator("#voice-send-kept").click()
    again = await double.expect("audio.start")
    await double.expect("audio.stop")
    assert (again["turn_key"], again["first_seq"]) == (start["turn_key"], 0)
    assert len(double.heard_since(0)) >= 150 * FRAME_BYTES
    await double.take(start["turn_key"], SAID, 1, "And why?")
    await expect(page.locator("#log")).to_contain_text(SAID)
    await expect(page.locator("#composer")).to_be_visible()
    await page.wait_for_function("() => Object.keys(localStorage).every(key => key === 'askwell:voice')")


async def test_typing_instead_keeps_the_words_and_lets_go_of_the_microphone(
    speaker: Browser, double: VoiceDouble
) -> None:
    speaking = await opened(speaker, double)
    await double.expect("audio.start")
    await double.say("transcript.partial", text=SAID, stable=6)
    await expect(speaking.page.locator("#caption")).to_have_text(SAID)
    await speaking.page.locator("#voice-type").click()
    await expect(speaking.page.locator("#answer")).to_have_value(SAID)
    await expect(speaking.page.locator("#answer")).to_be_focused()
    await double.expect("audio.cancel")
    count = len(double.frames)
    await speaking.page.locator("#speak").click()
    again = await double.expect("audio.start")
    assert again["first_seq"] >= count
    await expect(speaking.page.locator("#voice")).to_be_visible()


async def test_space_bar_held_talks_and_let_go_ends(speaker: Browser, double: VoiceDouble) -> None:
    context = await speaker.new_context()
    await context.add_init_script('localStorage.setItem("askwell:voice", JSON.stringify({mode: "push"}))')
    page = await context.new_page()
    speaking = SpeakingPage(page)
    await page.goto(double.page)
    await speaking.speak()
    await speaking.mood("ready")
    await expect(page.locator("#voice-talk")).to_be_focused()
    assert not any(message["type"] == "audio.start" for message in double.messages)
    for key in (" ", "Enter"):
        await page.keyboard.down(key)
        start = await double.expect("audio.start")
        first = start["first_seq"]
        await double.until(lambda first=first: len(double.heard_since(first)) > 12 * FRAME_BYTES)  # type: ignore[misc]
        await page.keyboard.up(key)
        await double.expect("audio.stop")
        await double.say("notice", code="didnt_catch", text="")
        await speaking.mood("didnt_catch")


async def test_question_is_read_aloud_and_nothing_is_heard_meanwhile(
    speaker: Browser, double: VoiceDouble, shots: Path | None
) -> None:
    context = await speaker.new_context(viewport={"width": 1440, "height": 900})
    await context.add_init_script(NO_VOICES)
    await context.add_init_script(
        'window.readingMs = 60000; localStorage.setItem("askwell:voice", JSON.stringify({read: true}))'
    )
    page = await context.new_page()
    speaking = SpeakingPage(page, shots, "voice-reading")
    await page.goto(double.page)
    await speaking.speak()
    await speaking.mood("reading")
    assert (await double.expect("playback"))["state"] == "started"
    await speaking.sound("reading")
    assert not double.frames
    await page.locator("#voice-hush").click()
    assert (await double.expect("playback"))["state"] == "stopped"
    await double.expect("audio.start")
    assert " ".join(await page.evaluate("window.readAloud")) == await page.locator("#question").inner_text()
    await speaking.mood("listening")


async def test_words_interrupt_a_question_and_a_cough_does_not(speaker: Browser) -> None:
    async with voice_double(barge_in=True) as double:
        context = await speaker.new_context()
        await context.add_init_script(NO_VOICES)
        await context.add_init_script(
            'window.readingMs = 60000; localStorage.setItem("askwell:voice", JSON.stringify({read: true}))'
        )
        page = await context.new_page()
        speaking = SpeakingPage(page)
        await page.goto(double.page)
        await speaking.speak()
        await double.expect("audio.start")
        await speaking.mood("reading")
        await double.say("speech.started", at_ms=0)
        await double.say("speech.stopped", at_ms=100)
        await double.say("notice", code="didnt_catch", text="")
        await double.say("transcript.partial", text="what do you like about the coffee", stable=0)
        await page.wait_for_timeout(100)
        await speaking.mood("reading")
        await double.say("transcript.partial", text="oh the smell of it", stable=0)
        await speaking.mood("listening", "hearing")
        states = [message["state"] for message in double.messages if message["type"] == "playback"]
        assert states == ["started", "stopped"]


async def test_transcriber_that_fails_leads_to_typing_with_the_words_so_far(
    speaker: Browser, double: VoiceDouble
) -> None:
    speaking = await opened(speaker, double)
    start = await double.expect("audio.start")
    await double.say("transcript.partial", text=SAID, stable=6)
    await expect(speaking.page.locator("#caption")).to_have_text(SAID)
    await double.say("error", code="transcriber_unavailable", message="", retryable=False, ref=start["turn_key"])
    await expect(speaking.page.locator("#answer")).to_have_value(SAID)
    await expect(speaking.page.locator("#error")).to_be_visible()


async def test_server_without_speech_offers_none_and_loads_nothing(browser: Browser) -> None:
    async with voice_double(available=False, reason="transcriber_unavailable") as double:
        page = await browser.new_page()
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        await page.goto(double.page)
        await page.locator('#question[data-complete="true"]').wait_for()
        await expect(page.locator("#speak")).to_be_hidden()
        assert not [url for url in fetched if "/voice" in url]


async def test_pause_listens_to_nothing_and_resume_goes_on(speaker: Browser, double: VoiceDouble) -> None:
    speaking = await opened(speaker, double)
    start = await double.expect("audio.start")
    await double.until(lambda: len(double.frames) >= 10)
    await speaking.page.locator("#pause").click()
    await double.expect("pause")
    await double.tell("session.state", state="paused", reason="by_respondent")
    await speaking.mood("paused")
    await speaking.page.wait_for_timeout(300)
    count = len(double.frames)
    await speaking.page.wait_for_timeout(300)
    assert len(double.frames) == count
    await speaking.page.locator("#resume").click()
    await double.expect("resume")
    await double.tell("session.state", state="active", reason="resumed")
    await double.until(lambda: len(double.frames) >= count + 10)
    assert start["turn_key"] in {m["turn_key"] for m in double.messages if m["type"] == "audio.start"}


async def test_finishing_in_mid_sentence_waits_for_its_words(speaker: Browser, double: VoiceDouble) -> None:
    speaking = await opened(speaker, double)
    key = (await double.expect("audio.start"))["turn_key"]
    await double.say("transcript.partial", text=SAID, stable=6)
    await expect(speaking.page.locator("#caption")).to_have_text(SAID)
    await speaking.page.locator("#finish").click()
    await speaking.page.locator("#dialog-confirm").click()
    await double.expect("audio.stop")
    assert not any(message["type"] == "finish" for message in double.messages)
    await double.take(key, SAID, 1, "And why?")
    await double.expect("finish")


async def test_withdrawing_in_mid_sentence_leaves_no_sound_behind(speaker: Browser, double: VoiceDouble) -> None:
    speaking = await opened(speaker, double)
    page = speaking.page
    await double.expect("audio.start")
    await double.until(lambda: len(double.frames) >= 40)
    await page.locator("#withdraw").click()
    await page.locator("#dialog-confirm").click()
    await double.expect("withdraw")
    await double.tell("session.state", state="withdrawn", reason="by_respondent")
    await page.locator("#goodbye").wait_for()
    await page.wait_for_function("() => Object.keys(localStorage).every(key => key === 'askwell:voice')")
    await page.wait_for_function(
        """() => new Promise(done => {
             const opening = indexedDB.open("askwell-speech", 1);
             opening.onsuccess = () => {
               const count = opening.result.transaction("frames").objectStore("frames").count();
               count.onsuccess = () => done(count.result === 0);
             };
           })"""
    )


# What stands in the way


async def obstacle(
    browser: Browser,
    double: VoiceDouble,
    code: str,
    shots: Path | None,
    *,
    scheme: Literal["light", "dark"] = "light",
    without: str = "",
) -> None:
    """It is named, nothing is wrong with it, typing is one click away; `without` takes something from the page."""
    tab = await browser.new_context(viewport={"width": 320, "height": 640}, color_scheme=scheme)
    await tab.add_init_script(without)
    speaking = SpeakingPage(await tab.new_page(), shots, f"voice-obstacle-{code}-{scheme}")
    await speaking.page.goto(double.page)
    await speaking.speak()
    await speaking.page.locator(f'#voice-obstacle[data-code="{code}"]').wait_for()
    await speaking.sound(code)
    await speaking.page.locator("#voice-type").click()
    await expect(speaking.page.locator("#answer")).to_be_editable()
    assert speaking.errors == []


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("unsupported", "delete window.AudioWorkletNode"),
        (
            "busy",
            "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotReadableError'); }",
        ),
        ("framed", "Object.defineProperty(document, 'featurePolicy', {value: {allowsFeature: () => false}})"),
    ],
)
async def test_obstacle_is_named_with_its_way_out(
    speaker: Browser, double: VoiceDouble, shots: Path | None, code: str, without: str
) -> None:
    await obstacle(speaker, double, code, shots, without=without)


async def test_permission_denied_is_named_with_the_way_out(double: VoiceDouble, shots: Path | None) -> None:
    async with microphone(allowed=False) as denied:
        await obstacle(denied, double, "denied", shots)
        await obstacle(denied, double, "denied", shots, scheme="dark")


async def test_no_device_is_named(double: VoiceDouble, shots: Path | None) -> None:
    async with microphone(device=False) as browser:
        await obstacle(browser, double, "no_device", shots)


async def test_insecure_page_is_named(double: VoiceDouble, shots: Path | None) -> None:
    double.url = double.url.replace("127.0.0.1", "study.example")
    async with microphone(None, "--host-resolver-rules=MAP study.example 127.0.0.1") as browser:
        await obstacle(browser, double, "insecure", shots)


async def test_silent_microphone_is_named_while_listening(
    double: VoiceDouble, tmp_path: Path, shots: Path | None
) -> None:
    silence = written(tmp_path / "silence.wav", np.zeros(MICROPHONE_HZ * 10, np.int16))
    async with microphone(silence) as browser:
        speaking = SpeakingPage(await browser.new_page(viewport={"width": 320, "height": 640}), shots, "voice-silent")
        await speaking.page.goto(double.page)
        await speaking.speak()
        await expect(speaking.page.locator("#voice-hint")).to_contain_text("No sound at all", timeout=1000 * PATIENCE_S)
        await speaking.sound("silent")


async def test_microphone_muted_by_the_device_is_named(
    speaker: Browser, double: VoiceDouble, shots: Path | None
) -> None:
    context = await speaker.new_context(viewport={"width": 320, "height": 640})
    await context.add_init_script("Object.defineProperty(MediaStreamTrack.prototype, 'muted', {get: () => true})")
    speaking = SpeakingPage(await context.new_page(), shots, "voice-deaf")
    await speaking.page.goto(double.page)
    await speaking.speak()
    await expect(speaking.page.locator("#voice-hint")).to_contain_text("muted")
    await speaking.sound("deaf")


async def test_voice_that_is_too_quiet_is_named(double: VoiceDouble, tmp_path: Path, shots: Path | None) -> None:
    hum = 30 * np.sin(2 * np.pi * 180 * np.arange(MICROPHONE_HZ * 20) / MICROPHONE_HZ)
    async with microphone(written(tmp_path / "quiet.wav", hum.astype(np.int16))) as browser:
        speaking = SpeakingPage(await browser.new_page(viewport={"width": 320, "height": 640}), shots, "voice-quiet")
        await speaking.page.goto(double.page)
        await speaking.speak()
        await expect(speaking.page.locator("#voice-hint")).to_contain_text("Hardly anything", timeout=1000 * PATIENCE_S)
        await speaking.sound("quiet")


async def test_overloaded_microphone_is_named(double: VoiceDouble, tmp_path: Path) -> None:
    loud = np.where(np.arange(MICROPHONE_HZ * 10) // 60 % 2, 32767, -32768).astype(np.int16)
    async with microphone(written(tmp_path / "loud.wav", loud)) as browser:
        speaking = SpeakingPage(await browser.new_page())
        await speaking.page.goto(double.page)
        await speaking.speak()
        await expect(speaking.page.locator("#voice-hint")).to_contain_text("overloaded", timeout=1000 * PATIENCE_S)


async def test_first_page_loads_no_voice(double: VoiceDouble, browser: Browser) -> None:
    page = await browser.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    await page.goto(double.url)
    await asyncio.sleep(0.3)
    assert fetched and not [url for url in fetched if "/voice" in url]
