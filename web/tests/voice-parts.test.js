/** The small pure parts of speaking: sound, captions, obstacles, settings, reading. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import voiceTexts from "../static/texts/voice.en.js";
import { textsOf } from "../static/texts/index.js";
import { FRAME_SAMPLES, Framer, RATE_HZ, Resampler, mono } from "../static/voice/capture.worklet.js";
import { interviewOf } from "../static/voice/interview.js";
import { NO_CAPTION, cameBack, captionOf, captionText, isEcho, newsOf, shownText, steady } from "../static/voice/captions.js";
import { Ear, barHeights, decibels, isSound, meterValue } from "../static/voice/levels.js";
import { browserOf, canRetry, obstacleBefore, obstacleOf } from "../static/voice/obstacles.js";
import { piecesOf, voiceFor } from "../static/voice/reader.js";
import { USUAL, constraintsFor, interruptOf, loadSettings, patienceOf, readSettings, reviewOf, saveSettings, usualFor, wishes } from "../static/voice/settings.js";
import { Page } from "./driver.js";

/** @param {number} rate @param {number} hertz @param {number} seconds */
const tone = (rate, hertz, seconds) => Float32Array.from({ length: Math.round(rate * seconds) }, (_, n) => 0.5 * Math.sin((2 * Math.PI * hertz * n) / rate));

/** Strength of one frequency. @param {Float32Array} samples @param {number} hertz */
function strength(samples, hertz) {
  const part = samples.subarray(800, samples.length - 800);
  let real = 0;
  let imaginary = 0;
  part.forEach((value, n) => {
    real += value * Math.cos((2 * Math.PI * hertz * n) / RATE_HZ);
    imaginary += value * Math.sin((2 * Math.PI * hertz * n) / RATE_HZ);
  });
  return (2 * Math.hypot(real, imaginary)) / part.length;
}

/** @param {Resampler} resampler @param {Float32Array} input @param {number} size */
function inPieces(resampler, input, size) {
  const output = [];
  for (let at = 0; at < input.length; at += size) output.push(...resampler.push(input.subarray(at, at + size)));
  return Float32Array.from(output);
}

for (const rate of [48_000, 44_100, 22_050, 8_000]) {
  test(`resampler_from_${rate}_keeps_speech_and_its_length`, () => {
    const output = inPieces(new Resampler(rate), tone(rate, 1000, 1), 128);
    assert.ok(Math.abs(output.length - RATE_HZ) < 120, String(output.length));
    assert.ok(Math.abs(strength(output, 1000) - 0.5) < 0.01, String(strength(output, 1000)));
  });
}

test("resampler_lets_nothing_fold_back_from_above", () => {
  const output = inPieces(new Resampler(48_000), tone(48_000, 11_000, 1), 128);
  assert.ok(strength(output, 5000) < 0.002, String(strength(output, 5000)));
});

test("resampler_gives_the_same_however_the_sound_is_cut", () => {
  const input = tone(44_100, 700, 0.5);
  const whole = new Resampler(44_100).push(input);
  const pieces = inPieces(new Resampler(44_100), input, 97);
  assert.equal(pieces.length, whole.length);
  assert.ok(pieces.every((value, index) => Math.abs(value - (whole[index] ?? 9)) < 1e-6));
});

test("framer_cuts_frames_of_32_ms_and_measures_them", () => {
  const framer = new Framer();
  /** @type {any[]} */
  const frames = [];
  const loud = new Float32Array(FRAME_SAMPLES).fill(1.5);
  framer.push(loud.subarray(0, 500), (frame) => frames.push(frame));
  assert.equal(frames.length, 0);
  framer.push(loud.subarray(500), (frame) => frames.push(frame));
  framer.push(new Float32Array(FRAME_SAMPLES), (frame) => frames.push(frame));
  assert.deepEqual(frames.map(({ pcm }) => pcm.byteLength), [1024, 1024]);
  assert.equal(new Int16Array(frames[0].pcm)[0], 32767);
  assert.deepEqual([frames[0].rms, frames[0].peak, frames[0].clipped, frames[1].rms], [1, 1, FRAME_SAMPLES, 0]);
});

test("several_channels_become_one", () => {
  assert.deepEqual([...mono([Float32Array.of(1, 0), Float32Array.of(0, -1)])], [0.5, -0.5]);
  assert.equal(mono([]).length, 0);
});

test("caption_counts_characters_as_the_server_does", () => {
  assert.deepEqual(captionOf("a🌊b c", 3), { firm: "a🌊b", soft: " c", whole: "a🌊b c" });
  assert.deepEqual(captionOf("abc", 99), { firm: "abc", soft: "", whole: "abc" });
});

/** What is shown after each reading; `|` ends what is firm. @param {string[]} readings */
function shown(...readings) {
  let caption = NO_CAPTION;
  return readings.map((reading) => {
    const [firm = "", soft = ""] = reading.split("|");
    caption = steady(caption, captionOf(firm + soft, [...firm].length));
    assert.equal(captionText(caption), (firm + soft).trim(), "what counts is the last reading");
    return `${caption.firm}|${caption.soft}`;
  });
}

test("words_shown_as_firm_do_not_change", () => {
  assert.deepEqual(shown("I like| the", "I like the smell| of", "I like the smell of it|"), ["I like| the", "I like the smell| of", "I like the smell of it|"]);
  assert.deepEqual(shown("I like the small|", "I like the smell. And| the", "I like the smell. And the quiet|"),
    ["I like the small|", "I like the small And| the", "I like the small And the quiet|"]);
  assert.deepEqual(shown("So I|", "I like|", "I like the smell|").at(-1), "So I like the smell|");
  assert.deepEqual(shown("I like the smell|", "|", "I like|", "I like the smell and| so"), ["I like the smell|", "I like the smell|", "I like the smell|", "I like the smell and| so"]);
  assert.deepEqual(shown("I like the smell|", "I like| the smell of it"), ["I like the smell|", "I like the smell| of it"]);
});

test("words_shown_as_firm_do_not_change_in_any_script", () => {
  assert.deepEqual(shown("أحب رائحة|", "أحب رائحتها| جدا").at(-1), "أحب رائحة| جدا");
  assert.deepEqual(shown("コーヒーが好き|", "コーヒーは好き。香り|が").at(-1)?.slice(0, 7), "コーヒーが好き");
  assert.ok(shown("コーヒーが好き|", "コーヒーは好き。香り|が").at(-1)?.endsWith("香り|が"));
});

test("caption_of_every_reading_begins_with_the_firm_words_of_the_last", () => {
  const pool = ["I", "like", "the", "smell,", "smell.", "uh", "of", "it", "And"];
  let seed = 7;
  const random = (/** @type {number} */ below) => (seed = (seed * 48271) % 2147483647) % below;
  let caption = NO_CAPTION;
  for (let round = 0; round < 400; round += 1) {
    const text = Array.from({ length: random(12) }, () => pool[random(pool.length)]).join(" ");
    const next = steady(caption, captionOf(text, random(text.length + 1)));
    assert.ok(next.firm.startsWith(caption.firm), JSON.stringify([caption, next]));
    assert.ok(!/\s\s/.test(shownText(next)), JSON.stringify(next));
    caption = round % 20 === 19 ? NO_CAPTION : next;
  }
});

test("announced_is_only_what_is_new", () => {
  assert.equal(newsOf("One", "One two"), "two");
  assert.equal(newsOf("One", "Another"), "Another");
  assert.equal(newsOf("One", "One"), "");
  assert.equal(newsOf("I like cats", "I like hats and dogs"), "hats and dogs");
  assert.equal(newsOf("I like cats", "I like cats, and dogs"), "and dogs");
  assert.equal(newsOf("I like cats and", "I like cats"), "");
});

test("echo_of_the_question_is_told_from_an_answer", () => {
  const question = "What do you like about the coffee you drink?";
  assert.equal(isEcho("what do you like about the", question), true);
  assert.equal(isEcho("", question), true);
  assert.equal(isEcho("the smell", question), false);
  assert.equal(isEcho("I like the coffee because it is warm", question), false);
});

test("short_answer_made_of_the_words_of_the_question_is_not_its_echo", () => {
  const question = "Is that more or less important to you than the price?";
  assert.equal(cameBack("is that more or less important to you", question), true);
  assert.equal(cameBack("more important", question), false);
  assert.equal(cameBack("less important than the price", question), false);
  assert.equal(cameBack("more important", "More or less important?"), false);
  assert.equal(cameBack("price the than you to important less or more that is", question), false);
  assert.equal(cameBack("", question), false);
});

test("levels_read_as_they_are_heard", () => {
  assert.equal(decibels(0), -100);
  assert.equal(Math.round(decibels(0.1)), -20);
  assert.equal(meterValue(0), 0);
  assert.equal(meterValue(1), 1);
  assert.ok(isSound({ rms: 0.01, peak: 0, clipped: 0 }) && !isSound({ rms: 0.001, peak: 0, clipped: 0 }));
});

test("meter_of_a_silent_room_changes_no_bar", () => {
  const hum = [0, 0.01, 0.05, 0.12, 0.2];
  assert.equal(new Set(barHeights(hum, false)).size, 1);
  assert.deepEqual(barHeights([0, 0.5, 1], false).map((height, index, all) => index === 0 || height > (all[index - 1] ?? 1)), [true, true, true]);
});

test("meter_that_stands_still_is_filled_from_the_start", () => {
  assert.deepEqual(barHeights([0.6, 0.6, 0.6, 0.6], true), [1, 1, 1, 0.12]);
  assert.deepEqual(barHeights([0, 0, 0, 0], true), [0.12, 0.12, 0.12, 0.12]);
});

test("ear_names_what_is_wrong_with_the_sound", () => {
  /** @param {import("../static/voice/levels.js").Level} level @param {number} frames */
  const after = (level, frames) => {
    const ear = new Ear();
    return Array.from({ length: frames }, () => ear.push(level)).at(-1);
  };
  assert.equal(after({ rms: 0, peak: 0, clipped: 0 }, 74), "ok");
  assert.equal(after({ rms: 0, peak: 0, clipped: 0 }, 75), "silent");
  assert.equal(after({ rms: 0.001, peak: 0.002, clipped: 0 }, 199), "ok");
  assert.equal(after({ rms: 0.001, peak: 0.002, clipped: 0 }, 200), "quiet");
  assert.equal(after({ rms: 0.5, peak: 1, clipped: 9 }, 3), "clipping");
  assert.equal(after({ rms: 0.1, peak: 0.4, clipped: 0 }, 500), "ok");
});

test("who_was_heard_and_thinks_is_not_called_too_quiet", () => {
  const ear = new Ear();
  const still = { rms: 0.001, peak: 0.002, clipped: 0 };
  for (let frame = 0; frame < 150; frame += 1) ear.push(still);
  ear.heard();
  const verdicts = Array.from({ length: 1_500 }, () => ear.push(still));
  assert.deepEqual([verdicts.indexOf("quiet"), verdicts.at(-1)], [1_499, "quiet"]);
});

test("obstacles_are_named_exactly", () => {
  const ground = { secure: true, devices: true, worklet: true, allowed: true };
  assert.equal(obstacleBefore(ground), null);
  assert.equal(obstacleBefore({ ...ground, secure: false, devices: false }), "insecure");
  assert.equal(obstacleBefore({ ...ground, worklet: false }), "unsupported");
  assert.equal(obstacleBefore({ ...ground, allowed: false }), "framed");
  const cases = /** @type {const} */ ([
    ["NotAllowedError", "Permission denied", "denied", "denied"], ["NotAllowedError", "Permission dismissed", "prompt", "dismissed"],
    ["NotAllowedError", "Permission denied by system", "granted", "system"], ["NotFoundError", "", "", "no_device"],
    ["NotReadableError", "", "", "busy"], ["AbortError", "", "", "busy"], ["SecurityError", "", "", "framed"],
    ["TypeError", "", "", "unsupported"], ["Whatever", "", "", "failed"],
  ]);
  for (const [name, message, permission, code] of cases) assert.equal(obstacleOf(name, message, permission), code, `${name} ${message}`);
  assert.ok(canRetry("denied") && !canRetry("insecure"));
});

test("browsers_are_told_apart_for_their_instructions", () => {
  const cases = /** @type {const} */ ([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", 0, "firefox"],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", 0, "chrome"],
    ["Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36", 5, "android"],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1", 5, "ios"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15", 5, "ios"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15", 0, "safari"],
    ["Something/1.0", 0, "other"],
  ]);
  for (const [agent, points, name] of cases) assert.equal(browserOf(agent, points), name);
});

test("settings_survive_and_nonsense_does_not", () => {
  const map = new Map();
  const shelf = { getItem: (/** @type {string} */ key) => map.get(key) ?? null, setItem: (/** @type {string} */ key, /** @type {string} */ value) => void map.set(key, value), removeItem: () => undefined };
  const wanted = { ...USUAL, mode: /** @type {const} */ ("push"), read: true, device: "d" };
  assert.equal(saveSettings(shelf, wanted), true);
  assert.deepEqual(loadSettings(shelf, null), wanted);
  map.set("askwell:voice", "{");
  assert.deepEqual(loadSettings(shelf, null), USUAL);
  assert.deepEqual(readSettings({ mode: "shout", patience: 7, read: "yes", device: 3 }, USUAL), USUAL);
  assert.equal(saveSettings(null, wanted), false);
});

test("microphone_is_asked_for_unprocessed_sound_unless_questions_are_read", () => {
  const plain = constraintsFor(USUAL);
  assert.deepEqual([plain.echoCancellation, plain.noiseSuppression, plain.autoGainControl], [{ ideal: false }, { ideal: false }, { ideal: false }]);
  assert.equal("deviceId" in plain, false);
  assert.deepEqual(constraintsFor({ ...USUAL, read: true, device: "d" }).echoCancellation, { ideal: true });
  assert.deepEqual(constraintsFor({ ...USUAL, read: true, echo: false }).echoCancellation, { ideal: false });
  assert.equal(usualFor({ available: true, echo_cancellation: true }).echo, true);
});

test("study_decides_where_the_respondent_does_not", () => {
  assert.equal(patienceOf(USUAL, { available: true, patience: "patient" }), "patient");
  assert.equal(patienceOf({ ...USUAL, patience: "quick" }, { available: true, patience: "patient" }), "quick");
  assert.equal(reviewOf(USUAL, { available: true, review_transcript: true }), true);
  assert.equal(reviewOf({ ...USUAL, review: false }, { available: true, review_transcript: true }), false);
  assert.equal(interruptOf({ ...USUAL, interrupt: true }, { available: true, barge_in: false }), false);
  assert.equal(interruptOf(USUAL, { available: true, barge_in: true }), true);
  assert.equal(wishes({ ...USUAL, mode: "push" }, null).patience, "patient");
});

test("voice_speaks_the_language_or_not_at_all", () => {
  const voices = [
    { lang: "en-US", localService: false, default: true, name: "a" }, { lang: "en_GB", localService: true, default: false, name: "b" },
    { lang: "de-DE", localService: true, default: false, name: "c" },
  ];
  assert.equal(voiceFor(voices, "en-GB")?.name, "b");
  assert.equal(voiceFor(voices, "en")?.name, "a");
  assert.equal(voiceFor(voices, "de")?.name, "c");
  assert.equal(voiceFor(voices, "fr"), null);
  assert.equal(voiceFor([], "en"), null);
});

test("questions_are_read_in_pieces_without_losing_a_word", () => {
  assert.deepEqual(piecesOf("You said “warm”. Why is that? Tell me"), ["You said “warm”.", "Why is that?", "Tell me"]);
  const long = `${"word ".repeat(100)}end?`;
  const pieces = piecesOf(long);
  assert.ok(pieces.every((piece) => piece.length <= 180));
  assert.equal(pieces.join(" "), long);
});

test("floor_is_free_thinking_or_closed_as_the_page_has_it", () => {
  const floor = (/** @type {Page} */ page) => interviewOf(page.state).floor;
  const page = Page.talking();
  assert.deepEqual([floor(page), interviewOf(page.state).online, interviewOf(page.state).question?.text], ["free", true, "Why coffee?"]);
  page.do({ type: "ask_to_leave", dialog: "finish" });
  assert.equal(floor(page), "closed");
  page.do({ type: "stay" }).say("Hm.", "k1");
  assert.equal(floor(page), "thinking");
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" }).reconnect();
  assert.deepEqual([floor(page), interviewOf(page.state).online], ["thinking", false]);
  page.ready({ pending: { turn_key: "k1" } }).durable({ type: "turn.failed", turn_key: "k1", code: "internal", retryable: true });
  assert.equal(floor(page), "closed");
  assert.equal(interviewOf(Page.talking().durable({ type: "session.state", state: "paused", reason: "" }).state).paused, true);
});

test("every_voice_text_that_is_named_exists", () => {
  const t = textsOf(voiceTexts);
  const folder = new URL("../static/voice/", import.meta.url);
  let found = 0;
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".js"))) {
    for (const [, key] of readFileSync(new URL(name, folder), "utf8").matchAll(/"(voice\.[\w.]+[\w])"/g)) {
      assert.ok(t(/** @type {string} */ (key)).length > 0, `${name}: ${key}`);
      found += 1;
    }
  }
  assert.ok(found > 25, String(found));
});

test("every_mood_obstacle_and_hint_has_words", () => {
  const moods = "kept asking blocked connecting reconnecting paused asleep reading review stalled transcribing thinking closed muted almost_up hearing didnt_catch held ready patient listening".split(" ");
  for (const mood of moods.filter((mood) => mood !== "blocked")) assert.ok(voiceTexts[`voice.mood.${mood}`], mood);
  for (const mood of moods.filter((mood) => !["blocked", "review"].includes(mood))) assert.ok(`voice.empty.${mood}` in voiceTexts, mood);
  for (const code of "insecure unsupported framed denied dismissed system no_device busy lost failed".split(" ")) {
    assert.ok(voiceTexts[`voice.obstacle.${code}.title`] && voiceTexts[`voice.obstacle.${code}.text`], code);
  }
  for (const hint of "silent deaf quiet clipping no_voice too_long busy".split(" ")) assert.ok(voiceTexts[`voice.hint.${hint}`], hint);
});
