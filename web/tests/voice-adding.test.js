/** "I wasn't finished": no ending cuts anybody off, and what is added is part of the answer before. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { belongs, collecting, timeGiven, timeMeans } from "../static/voice/state.js";
import { interviewOf } from "../static/voice/interview.js";
import { Page } from "./driver.js";
import { Speaker } from "./speaker.js";

const FIRST = "I like the smell.";
const NEXT = { floor: /** @type {const} */ ("free"), question: { key: "q1", turn: 1, text: "And why?" }, last: { text: FIRST } };

/** An answer was taken, and the next question waits. @param {Parameters<typeof Speaker.listening>} options */
function asked(...options) {
  const speaker = Speaker.listening(...options);
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: FIRST, stable: 17 }).hear({ type: "transcript.final", id: 2, turn_key: key, text: FIRST, last_seq: 90 });
  return speaker.now({ floor: "thinking", question: null, last: { text: FIRST } }).now(NEXT);
}

test("button_that_asks_for_time_takes_back_an_ending_after_one", () => {
  const speaker = Speaker.listening();
  assert.equal(timeMeans(speaker.state), "wait");
  speaker.hear({ type: "transcript.partial", text: FIRST, stable: 17 }).hear({ type: "answer.ending", turn_key: speaker.current, left_ms: 3000 });
  assert.equal(timeMeans(speaker.state), "more");
  speaker.do({ type: "unfinished", key: "x" });
  assert.deepEqual(speaker.sent("set").at(-1), { type: "set", take_your_time: true });
  assert.equal(speaker.mood, "patient");
  assert.equal(timeMeans(speaker.state), "wait");
  assert.ok(timeGiven(speaker.state));
  speaker.do({ type: "timer", name: "disputed", key: "x" }).do({ type: "done" });
  speaker.hear({ type: "transcript.final", id: 2, turn_key: speaker.current, text: "I like the smell. And the quiet." });
  assert.equal(speaker.state.adding, null, "it was gone on with, and is over now");
});

test("word_that_crosses_the_taking_of_the_answer_adds_to_it", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: FIRST, stable: 17 }).hear({ type: "answer.ending", turn_key: key, left_ms: 3000 });
  speaker.do({ type: "unfinished", key: "x" }).hear({ type: "transcript.final", id: 2, turn_key: key, text: FIRST, last_seq: 90 });
  assert.deepEqual(speaker.state.adding, { text: FIRST });
  assert.equal(speaker.mood, "adding");
  assert.notEqual(speaker.current, key);
  assert.ok(collecting(speaker.state));
});

test("ending_is_disputed_while_the_words_are_being_written_down", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: FIRST, stable: 17 }).do({ type: "done" });
  assert.equal(timeMeans(speaker.state), "more");
  speaker.do({ type: "unfinished", key: "x" });
  assert.ok(timeGiven(speaker.state));
  speaker.do({ type: "unfinished", key: "x" });
  assert.ok(!timeGiven(speaker.state), "pressed again it is taken back");
  speaker.do({ type: "unfinished", key: "x" }).hear({ type: "transcript.final", id: 2, turn_key: key, text: FIRST });
  assert.deepEqual(speaker.state.adding, { text: FIRST });
});

test("what_is_said_after_the_answer_was_taken_is_put_behind_it", () => {
  const speaker = asked();
  assert.equal(timeMeans(speaker.state), "more");
  const key = speaker.current;
  speaker.do({ type: "unfinished", key: "x" });
  assert.equal(speaker.current, key, "what was heard since belongs to it");
  assert.deepEqual(speaker.sent("set").slice(-2), [
    { type: "set", patience: "normal", spoken: false, review_transcript: true }, { type: "set", take_your_time: true },
  ]);
  assert.equal(speaker.mood, "adding");
  speaker.hear({ type: "speech.started", at_ms: 0 }).hear({ type: "transcript.partial", text: "And the quiet", stable: 3 });
  assert.equal(timeMeans(speaker.state), "wait");
  speaker.do({ type: "done" }).hear({ type: "transcript.partial", text: "And the quiet.", stable: 14, turn_key: key });
  assert.deepEqual(speaker.effect("add"), { type: "add", text: "And the quiet.", key });
  assert.deepEqual(speaker.effect("over"), { type: "over", next: null });
  assert.equal(speaker.sent("set").at(-1).review_transcript, false);
  assert.deepEqual([speaker.state.adding, speaker.state.patient, speaker.current], [null, false, null]);
});

test("who_simply_went_on_speaking_says_that_it_belongs_to_the_answer_before", () => {
  const speaker = asked();
  assert.equal(speaker.all.some((effect) => effect.type === "timer" && effect.name === "fresh"), true);
  assert.equal(belongs(speaker.state), "");
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: "And the quiet", stable: 3 });
  assert.equal(belongs(speaker.state), "join");
  speaker.do({ type: "moved", key: "x" });
  assert.deepEqual(speaker.state.adding, { text: FIRST });
  assert.equal(speaker.state.caption.whole, "And the quiet");
  assert.equal(belongs(speaker.state), "part");
  speaker.do({ type: "moved", key: "x" });
  assert.equal(speaker.state.adding, null);
  speaker.do({ type: "timer", name: "fresh", key: "x" });
  assert.equal(belongs(speaker.state), "join", "it is the words that came soon");
  speaker.do({ type: "moved", key: "x" }).do({ type: "done" }).hear({ type: "transcript.partial", text: "And the quiet.", stable: 14, turn_key: key });
  assert.deepEqual(speaker.effect("add"), { type: "add", text: "And the quiet.", key });
  const late = asked().do({ type: "timer", name: "fresh", key: "x" }).hear({ type: "transcript.partial", text: "Because", stable: 3 });
  assert.equal(belongs(late.state), "", "an answer that took its time is one");
  assert.deepEqual(late.do({ type: "moved", key: "x" }).effects, []);
});

test("addition_can_be_given_up_before_it_has_words", () => {
  const speaker = asked().do({ type: "unfinished", key: "x" }).do({ type: "unfinished", key: "y" });
  assert.equal(speaker.state.adding, null);
  assert.equal(speaker.mood, "listening");
  assert.equal(speaker.sent("set").at(-1).review_transcript, false);
  const silent = asked().do({ type: "unfinished", key: "x" }).do({ type: "done" }).hear({ type: "notice", code: "didnt_catch" });
  assert.equal(silent.state.adding, null);
});

test("question_that_is_read_aloud_or_being_made_is_no_hindrance", () => {
  const reading = asked({ read: true });
  reading.do({ type: "reading" });
  assert.equal(reading.mood, "reading");
  reading.do({ type: "unfinished", key: "x" });
  assert.ok(reading.effect("hush"));
  reading.do({ type: "read", how: "stopped", key: "k" });
  assert.equal(reading.mood, "adding");
  assert.ok(reading.current);

  const thinking = Speaker.listening().now({ floor: "thinking", question: null, last: { text: FIRST } });
  thinking.state = { ...thinking.state, answer: null };
  thinking.do({ type: "unfinished", key: "more" });
  assert.equal(thinking.effect("begin").key, "more");
  assert.equal(thinking.mood, "adding");
  thinking.hear({ type: "transcript.partial", text: "And the quiet.", stable: 14, turn_key: "more" });
  assert.equal(thinking.mood, "review", "nothing can be sent yet");
  thinking.now(NEXT).do({ type: "review_send" });
  assert.deepEqual(thinking.effect("add"), { type: "add", text: "And the quiet.", key: "more" });
});

test("button_to_talk_adds_as_well", () => {
  const speaker = Speaker.listening({ mode: "push" }).now(NEXT);
  speaker.do({ type: "unfinished", key: "x" });
  assert.equal(speaker.current, null);
  assert.equal(speaker.mood, "adding");
  speaker.do({ type: "press", latch: false, key: "p" }).do({ type: "release" });
  speaker.hear({ type: "transcript.partial", text: "And the quiet.", stable: 14, turn_key: "p" });
  assert.equal(speaker.effect("add").key, "p");
});

test("connection_lost_while_adding_asks_for_the_text_again", () => {
  const speaker = asked().do({ type: "unfinished", key: "x" }).now({ online: false }).now({ online: true });
  assert.equal(speaker.sent("set").at(-2).review_transcript, true);
  assert.equal(speaker.mood, "adding");
});

test("who_types_instead_or_rather_does_not_say_adds_nothing", () => {
  const typing = asked().do({ type: "unfinished", key: "x" }).hear({ type: "transcript.partial", text: "And", stable: 3 }).do({ type: "leave" });
  assert.equal(typing.effect("draft").text, "And");
  assert.equal(typing.sent("set").at(-1).review_transcript, false);
  const skipping = asked().do({ type: "unfinished", key: "x" }).do({ type: "skipped" });
  assert.equal(skipping.state.adding, null);
  assert.equal(skipping.sent("set").at(-1).review_transcript, false);
});

test("nothing_can_be_added_where_nothing_was_answered", () => {
  const speaker = Speaker.listening().do({ type: "unfinished", key: "x" });
  assert.deepEqual(speaker.effects, []);
  assert.equal(speaker.state.adding, null);
});

test("page_puts_more_behind_the_last_answer", () => {
  const page = Page.talking().say("I like the smell.", "k1");
  assert.deepEqual(interviewOf(page.state).last, { text: "I like the smell." });
  page.turn(1, "k1", "And why?").do({ type: "add", text: "And the quiet.", turnKey: "k2" });
  assert.deepEqual(page.sentOf("correct"), [{ type: "correct", utterance_id: "u1", text: "I like the smell. And the quiet.", turn_key: "k2" }]);
  page.turn(2, "k2", "What about the quiet?").do({ type: "add", text: "Really.", turnKey: "k3" });
  assert.equal(page.sentOf("correct").at(-1)?.type, "correct");
  assert.deepEqual(interviewOf(page.state).last, { text: "I like the smell. And the quiet. Really." });
});

test("what_can_not_be_added_any_more_is_an_answer_and_nothing_is_lost", () => {
  const fresh = Page.talking().do({ type: "add", text: "And the quiet.", turnKey: "k" });
  assert.deepEqual(fresh.sentOf("answer"), [{ type: "answer", text: "And the quiet.", turn_key: "k" }]);
  const long = Page.talking().say("x".repeat(7_995), "k1").turn(1, "k1", "And why?").do({ type: "add", text: "And the quiet.", turnKey: "k2" });
  assert.equal(long.sentOf("answer").length, 2);
  const busy = Page.talking().say("One.", "k1").do({ type: "add", text: "And two.", turnKey: "k2" });
  assert.equal(busy.state.draft, "And two.");
  const aside = Page.talking().say("One.", "k1").turn(1, "k1", "And why?").say("What do you mean?", "k2");
  aside.durable({ type: "turn.started", turn_number: 2, turn_key: "k2" });
  aside.durable({ type: "interviewer.replied", turn_number: 2, turn_key: "k2", act: "asks_back", text: "I mean: why?", open: true, result: {} });
  assert.equal(interviewOf(aside.state).last, null);
  aside.do({ type: "add", text: "And two.", turnKey: "k3" });
  assert.equal(aside.sentOf("correct").length, 0);
  assert.equal(aside.sentOf("answer").length, 3);
});

test("addition_that_was_a_message_shows_as_one", () => {
  const page = Page.talking().say("One.", "k1").turn(1, "k1", "And why?").do({ type: "add", text: "I want to stop.", turnKey: "k2" });
  page.durable({ type: "turn.started", turn_number: 2, turn_key: "k2" });
  page.durable({ type: "interviewer.replied", turn_number: 2, turn_key: "k2", act: "wants_stop", text: "We stop here.", open: false, result: {} });
  assert.deepEqual(page.state.log.map(({ kind, text }) => [kind, text]), [
    ["question", "Why coffee?"], ["answer", "One."], ["question", "And why?"], ["aside", "I want to stop."], ["reply", "We stop here."],
  ]);
});

test("answers_of_before_a_reload_are_not_added_to_nor_shown", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready();
  page.fetched({ transcript: [
    { turn_number: 0, speaker: "interviewer", text: "Why coffee?", kind: "opening" },
    { turn_number: 1, speaker: "respondent", text: "Somebody else's.", kind: "answer", id: "u1" },
    { turn_number: 1, speaker: "interviewer", text: "And why?", kind: "question" },
  ] });
  assert.equal(interviewOf(page.state).last, null);
  page.do({ type: "add", text: "Mine.", turnKey: "k" });
  assert.deepEqual(page.sentOf("answer").length, 1);
});

test("while_correcting_the_page_says_so", () => {
  const speaker = Speaker.listening().now({ floor: "closed", editing: true });
  assert.equal(speaker.mood, "correcting");
  assert.equal(collecting(speaker.state), false);
  const page = Page.talking().say("One.", "k1").turn(1, "k1", "And why?").do({ type: "edit" });
  assert.deepEqual([interviewOf(page.state).editing, interviewOf(page.state).floor], [true, "closed"]);
});
