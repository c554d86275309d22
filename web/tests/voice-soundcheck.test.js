/** The sound check before the first answer on a device: nothing of it counts, and nothing that was an answer is lost. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { USUAL, loadSettings, saveSettings } from "../static/voice/settings.js";
import { checkWords } from "../static/voice/soundcheck.js";
import { collecting, timeMeans } from "../static/voice/state.js";
import { Speaker } from "./speaker.js";

const QUESTION = { key: "q0", turn: 0, text: "What do you like about coffee?" };

/** Speaking is chosen for the first time. @param {Partial<import("../static/voice/settings.js").Settings>} [settings] */
function first(settings) {
  const speaker = new Speaker(settings).now({ online: true, floor: "free", question: QUESTION, language: "en" });
  return speaker.do({ type: "choose", check: true }).do({ type: "opened", key: speaker.key() });
}

/** Words are understood. @param {Speaker} speaker @param {string} text */
const understood = (speaker, text) => speaker.hear({ type: "transcript.partial", text, stable: text.length, turn_key: speaker.current });

test("first_words_are_tried_and_are_no_answer", () => {
  const speaker = first();
  assert.equal(speaker.mood, "check");
  assert.ok(collecting(speaker.state));
  const key = speaker.current;
  assert.equal(speaker.sent("set").at(-1).review_transcript, true, "no silence may make an answer of it");
  speaker.hear({ type: "speech.started" }).hear({ type: "transcript.partial", text: "Hello", stable: 0 });
  assert.equal(speaker.mood, "check");
  assert.equal(checkWords(speaker.state), "Hello");
  assert.equal(speaker.hear({ type: "speech.stopped", at_ms: 900, ends_ms: 900 }).state.ring, null, "nothing ends");
  understood(speaker, "Hello there.");
  assert.deepEqual(speaker.state.check, { words: "Hello there.", key });
  assert.equal(speaker.state.review, null);
  assert.equal(speaker.effect("tell").what, "check_heard");
  assert.equal(speaker.current, null);
  speaker.do({ type: "check_over", key: "answer" });
  assert.equal(speaker.mood, "listening");
  assert.equal(speaker.effect("begin").key, "answer");
  assert.ok(speaker.effect("save") && speaker.effect("cancel"));
  assert.equal(speaker.sent("set").at(-1).review_transcript, false);
  assert.equal(speaker.state.settings.checked, true);
  assert.equal(speaker.all.filter(({ type }) => type === "say" || type === "draft").length, 0);
});

test("check_goes_on_while_somebody_speaks_and_waits_otherwise", () => {
  const speaker = understood(first(), "Hello.");
  speaker.now({ floor: "free" });
  assert.equal(speaker.current, null, "what was understood stands until somebody speaks again");
  speaker.do({ type: "sound", key: "s2" });
  assert.equal(speaker.current, "s2");
  understood(speaker, "Can you hear me?");
  assert.equal(checkWords(speaker.state), "Hello. Can you hear me?");
});

test("check_can_be_skipped_before_anything_was_said", () => {
  const speaker = first().do({ type: "check_over", key: "k" });
  assert.equal(speaker.mood, "listening");
  assert.equal(speaker.state.settings.checked, true);
  assert.deepEqual(speaker.do({ type: "check_over", key: "k" }).effects, []);
});

test("who_answered_already_reads_it_through_and_sends_it", () => {
  const speaker = understood(first(), "I like the smell.");
  speaker.do({ type: "sound", key: "s2" }).hear({ type: "transcript.partial", text: "And the quiet", stable: 0 }).do({ type: "check_kept" });
  assert.deepEqual(speaker.state.review, { key: "s2", text: "I like the smell. And the quiet" });
  assert.equal(speaker.mood, "review");
  speaker.do({ type: "review_send" });
  assert.deepEqual(speaker.effect("say"), { type: "say", text: "I like the smell. And the quiet", key: "s2" });
  const nothing = first();
  assert.deepEqual(nothing.do({ type: "check_kept" }).effects, []);
});

test("question_is_read_aloud_after_the_check", () => {
  const speaker = first({ read: true });
  assert.equal(speaker.all.some(({ type }) => type === "read"), false);
  speaker.do({ type: "check_over", key: "k" });
  assert.equal(speaker.effect("read").text, QUESTION.text);
  assert.equal(speaker.mood, "reading");
});

test("check_needs_no_button_to_be_held", () => {
  const speaker = first({ mode: "push" });
  assert.ok(speaker.current);
  assert.ok(collecting(speaker.state));
  speaker.do({ type: "check_over", key: "k" });
  assert.equal(speaker.mood, "ready");
  assert.equal(speaker.current, null);
});

test("check_survives_a_lost_connection_a_refused_microphone_and_a_cough", () => {
  const speaker = first().now({ online: false }).now({ online: true });
  assert.equal(speaker.mood, "check");
  assert.equal(speaker.sent("set").at(-1).review_transcript, true);
  speaker.hear({ type: "notice", code: "didnt_catch" });
  assert.equal(speaker.mood, "check");
  assert.equal(speaker.state.notice, "didnt_catch");
  speaker.do({ type: "refused", obstacle: "lost" });
  assert.equal(speaker.mood, "blocked");
  speaker.do({ type: "choose", check: false }).do({ type: "opened", key: "k" });
  assert.equal(speaker.mood, "check");
  assert.equal(timeMeans(speaker.state), "wait");
});

test("who_types_instead_finds_nothing_of_the_check_in_the_box", () => {
  const speaker = understood(first(), "Hello.").do({ type: "sound", key: "s" }).hear({ type: "transcript.partial", text: "One two", stable: 0 });
  speaker.do({ type: "leave" });
  assert.equal(speaker.effect("draft"), undefined);
  assert.equal(speaker.state.check, null);
  assert.equal(speaker.state.settings.checked, false, "it is offered again");
  assert.equal(speaker.sent("set").at(-1).review_transcript, false);
});

test("speech_of_before_a_reload_comes_before_any_check", () => {
  const speaker = new Speaker().do({ type: "kept", key: "old" }).now({ online: true, floor: "free", question: QUESTION });
  speaker.do({ type: "choose", check: true }).do({ type: "opened", key: "x" });
  assert.equal(speaker.effect("begin").key, "old");
  assert.equal(speaker.mood, "listening");
});

test("check_is_remembered_on_the_device", () => {
  /** @type {Map<string, string>} */
  const kept = new Map();
  const shelf = { getItem: (/** @type {string} */ key) => kept.get(key) ?? null, setItem: (/** @type {string} */ key, /** @type {string} */ value) => void kept.set(key, value), removeItem: (/** @type {string} */ key) => void kept.delete(key) };
  assert.equal(loadSettings(shelf, null).checked, false);
  saveSettings(shelf, { ...USUAL, checked: true });
  assert.equal(loadSettings(shelf, null).checked, true);
  kept.set("askwell:voice", '{"checked": "perhaps"}');
  assert.equal(loadSettings(shelf, null).checked, false);
});
