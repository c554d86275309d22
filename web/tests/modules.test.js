/** The small pure modules: what is kept, what is sent, what is shown. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { answerFault, answerLength, cleanAnswer } from "../static/core/answer.js";
import { ERROR_CODES, errorText, reactionTo } from "../static/core/errors.js";
import { answer, fromTranscript, put, question } from "../static/core/log.js";
import { parseMessage, pendingKey } from "../static/core/messages.js";
import { loadSaved, saveSaved, wipeSaved } from "../static/core/pending.js";
import { MAX_LAG_MS, nextShown } from "../static/core/reveal.js";
import { transcriptMarkdown, transcriptName, transcriptText } from "../static/core/transcript.js";
import english from "../static/texts/en.js";
import { textsOf } from "../static/texts/index.js";

/** A shelf in memory. @returns {import("../static/core/pending.js").Shelf & {map: Map<string, string>}} */
function shelf() {
  const map = new Map();
  return { map, getItem: (key) => map.get(key) ?? null, setItem: (key, value) => void map.set(key, value), removeItem: (key) => void map.delete(key) };
}

test("saved_answer_comes_back_as_it_was", () => {
  const store = shelf();
  const saved = { draft: "Ach — 🌊", pending: { kind: /** @type {const} */ ("correct"), text: "x", turnKey: "k", utteranceId: "u", accepted: true } };
  assert.equal(saveSaved(store, "s", saved), true);
  assert.deepEqual(loadSaved(store, "s"), saved);
  assert.deepEqual(loadSaved(store, "other"), { draft: "", pending: null });
});

test("saved_nothing_and_wiped_leave_no_trace", () => {
  const store = shelf();
  saveSaved(store, "s", { draft: "x", pending: null });
  saveSaved(store, "s", { draft: "", pending: null });
  assert.equal(store.map.size, 0);
  saveSaved(store, "s", { draft: "x", pending: null });
  wipeSaved(store, "s");
  assert.equal(store.map.size, 0);
});

test("unreadable_or_foreign_records_are_taken_for_nothing", () => {
  for (const text of ["{", "7", "null", '{"pending":{"kind":"answer","text":"x"}}', '{"pending":{"kind":"erase","text":"x","turnKey":"k"}}', '{"pending":{"kind":"correct","text":"x","turnKey":"k"}}']) {
    const store = shelf();
    store.setItem("askwell:s", text);
    assert.equal(loadSaved(store, "s").pending, null, text);
  }
});

test("full_storage_is_reported_and_not_thrown", () => {
  const full = { ...shelf(), setItem: () => { throw new Error("quota"); } };
  assert.equal(saveSaved(full, "s", { draft: "x", pending: null }), false);
  assert.equal(saveSaved(null, "s", { draft: "x", pending: null }), false);
});

test("answer_is_counted_in_characters_and_cleaned_of_what_cannot_travel", () => {
  assert.equal(answerLength("a🌊é"), 3);
  assert.equal(cleanAnswer(" a\u0000b\ud83c \n"), "ab\ufffd");
  assert.equal(answerFault("x".repeat(8000)), null);
  assert.equal(answerFault("x".repeat(8001)), "answer_too_long");
  assert.equal(answerFault("\u0000 "), "invalid_input");
});

test("frames_that_are_no_known_message_are_dropped", () => {
  for (const frame of ["", "{", "null", "[]", '"x"', '{"type":"toString"}', '{"type":"question.delta","turn_number":1}', '{"type":"turn.completed","id":1,"turn_number":1,"turn_key":"k","result":null}']) {
    assert.equal(parseMessage(frame), null, frame);
  }
  assert.equal(parseMessage(new ArrayBuffer(2)), null);
  assert.equal(parseMessage('{"type":"pong","t":1,"more":2}')?.type, "pong");
});

test("pending_key_is_read_in_every_form", () => {
  assert.deepEqual([null, undefined, false, true, "k", { turn_key: "k" }, {}].map(pendingKey), [null, null, null, "", "k", "k", ""]);
});

test("log_keeps_answers_before_the_questions_they_led_to", () => {
  let log = put([], question(1, "Q1", false));
  log = put(log, question(0, "Q0", false));
  log = put(log, answer(1, "A1", "answer", "k"));
  assert.deepEqual(log.map((entry) => entry.key), ["q0", "a1", "q1"]);
  assert.equal(put(log, question(1, "Q1 again", false)).length, 3);
});

test("transcript_keeps_entries_that_are_newer_than_it", () => {
  const known = put(put([], question(0, "Q0", false)), answer(1, "A1", "answer", "k"));
  const log = fromTranscript([{ id: "q", turn_number: 0, speaker: "interviewer", text: "Q0", kind: "opening" }], known);
  assert.deepEqual(log.map((entry) => [entry.key, entry.utteranceId]), [["q0", "q"], ["a1", null]]);
});

test("transcript_with_a_rephrased_question_shows_the_last_wording", () => {
  const rows = ["First?", "Second?"].map((text, index) => ({ id: `q${index}`, turn_number: 0, speaker: "interviewer", text, kind: index ? "rephrase" : "opening" }));
  assert.deepEqual(fromTranscript(rows, []).map((entry) => entry.text), ["Second?"]);
});

test("reveal_never_lags_more_than_its_limit_and_never_goes_back", () => {
  let shown = 0;
  let elapsed = 0;
  while (elapsed < MAX_LAG_MS) {
    elapsed += 16;
    const next = nextShown(shown, 300, 16, elapsed);
    assert.ok(next >= shown && next <= 300);
    shown = next;
  }
  assert.equal(shown, 300);
  assert.equal(nextShown(10, 10, 16, 16), 10);
});

test("every_error_code_has_a_reaction_and_a_sentence", () => {
  const t = textsOf(english);
  for (const code of [...ERROR_CODES, "silent", "consent_changed", "voice_failed", "never_heard_of"]) {
    assert.ok(t(errorText(code)).length > 10, code);
    assert.ok(reactionTo(code, false, true), code);
  }
  assert.equal(reactionTo("never_heard_of", true, true), "retry");
});

test("every_text_named_in_pages_and_modules_exists", () => {
  const t = textsOf(english);
  const root = new URL("../", import.meta.url);
  const files = ["index.html", "interview.html", ...["home", "interview"].flatMap((folder) => readdirSync(new URL(`static/${folder}`, root)).map((name) => `static/${folder}/${name}`))];
  let found = 0;
  for (const file of files) {
    for (const [, key] of readFileSync(new URL(file, root), "utf8").matchAll(/(?:data-t(?:-label|-placeholder)?=|\bt\()"([\w.]+)"/g)) {
      assert.ok(t(/** @type {string} */ (key)), `${file}: ${key}`);
      found += 1;
    }
  }
  assert.ok(found > 60);
});

test("missing_text_is_noticed", () => {
  assert.throws(() => textsOf({})("no.such"), /no.such/);
  assert.equal(textsOf({ a: "{n} of {m}" })("a", { n: 1, m: 2 }), "1 of 2");
});

test("transcript_copies_carry_every_word_and_no_markup_of_the_respondent", () => {
  const labels = { title: "Coffee & *Tea*", interviewer: "Interviewer", you: "You", skipped: "Rather not say" };
  const log = [question(0, "Why?", false), answer(1, "<b>Because</b>\n*so*", "answer", "k"), question(1, "And?", false), answer(2, "", "skip", "l")];
  const plain = transcriptText(log, labels);
  assert.ok(plain.includes("You: <b>Because</b>\n*so*") && plain.includes("You: [Rather not say]"));
  const marked = transcriptMarkdown(log, labels);
  assert.ok(marked.includes("# Coffee & \\*Tea\\*") && marked.includes("> \\<b\\>Because\\</b\\>\n> \\*so\\*"));
  assert.equal(transcriptName("Çay & Kaffee!", "md"), "çay-kaffee.md");
  assert.equal(transcriptName("…", "txt"), "interview.txt");
});
