/** An answer typed is sent once and never lost. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { busy, canAnswer, mood } from "../static/core/state.js";
import { Page } from "./driver.js";

test("answer_sent_keeps_text_until_turn_is_settled", () => {
  const page = Page.talking().say("I like it.", "k1");
  assert.deepEqual(page.sentOf("answer"), [{ type: "answer", text: "I like it.", turn_key: "k1" }]);
  assert.equal(page.state.draft, "");
  assert.deepEqual([page.state.pending?.text, page.state.pending?.accepted], ["I like it.", false]);
  assert.ok(page.effect("save"));
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  assert.equal(page.state.pending?.accepted, true);
  assert.equal(mood(page.state), "thinking");
  page.durable({ type: "turn.completed", turn_number: 1, turn_key: "k1", result: { progress: 0.1, utterance_id: "u1" } });
  assert.equal(page.state.pending, null);
  assert.deepEqual(page.state.log.map((entry) => [entry.text, entry.utteranceId]), [["Why coffee?", null], ["I like it.", "u1"]]);
});

test("second_submit_while_first_is_on_its_way_sends_nothing", () => {
  const page = Page.talking().say("One.", "k1").say("Two.", "k2");
  assert.equal(page.sentOf("answer").length, 1);
  assert.equal(page.state.draft, "Two.");
  page.do({ type: "skip", turnKey: "k3" });
  assert.equal(page.sentOf("skip").length, 0);
});

test("connection_lost_before_acknowledgement_resends_once_under_same_key", () => {
  const page = Page.talking().say("I like it.", "k1").reconnect();
  assert.equal(page.sentOf("answer").length, 1);
  page.ready();
  assert.deepEqual(page.sentOf("answer").map((message) => "turn_key" in message && message.turn_key), ["k1", "k1"]);
  page.hear({ type: "pong" });
  assert.equal(page.sentOf("answer").length, 2);
});

test("connection_lost_with_answer_pending_at_server_does_not_resend", () => {
  const page = Page.talking().say("I like it.", "k1").reconnect();
  page.ready({ last_event_id: 2, pending: { turn_key: "k1" } });
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  assert.equal(page.sentOf("answer").length, 1);
  assert.ok(busy(page.state));
});

test("answer_committed_while_away_is_learned_from_replay_and_not_resent", () => {
  const page = Page.talking().say("I like it.", "k1").reconnect();
  page.ready({ last_event_id: 4 }).turn(1, "k1", "And why?");
  assert.equal(page.sentOf("answer").length, 1);
  assert.equal(page.state.pending, null);
  assert.ok(canAnswer(page.state));
});

test("answer_written_offline_is_sent_after_reconnect", () => {
  const page = Page.talking().do({ type: "offline" }).say("Kept.", "k1");
  assert.equal(mood(page.state), "offline");
  assert.equal(page.sentOf("answer").length, 0);
  page.do({ type: "nudged" }).do({ type: "opened" }).ready();
  assert.equal(page.sentOf("answer").length, 1);
});

test("reload_with_unacknowledged_answer_sends_it_under_its_key", () => {
  const page = new Page({ draft: "and", pending: { kind: "answer", text: "Kept.", turnKey: "k9", accepted: false } });
  page.do({ type: "start" }).do({ type: "opened" }).ready({ last_event_id: 0 });
  assert.equal(page.sentOf("answer").length, 0);
  page.fetched({ transcript: [{ id: "q", turn_number: 0, speaker: "interviewer", text: "Why?", kind: "opening" }] });
  assert.deepEqual(page.sentOf("answer"), [{ type: "answer", text: "Kept.", turn_key: "k9" }]);
  assert.equal(page.state.draft, "and");
});

test("events_of_a_resent_answer_with_known_ids_still_settle_it", () => {
  const page = Page.talking().say("I like it.", "k1").reconnect();
  page.ready({ epoch: "e2", last_event_id: 9 }).fetched();
  assert.equal(page.sentOf("answer").length, 2);
  page.hear({ type: "turn.completed", id: 3, turn_number: 1, turn_key: "k1", result: { progress: 0.2 } });
  assert.equal(page.state.pending, null);
  assert.equal(page.state.lastEventId, 9);
});

test("failed_turn_is_retried_with_same_key_and_text", () => {
  const page = Page.talking().say("I like it.", "k1");
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  page.hear({ type: "question.delta", turn_number: 1, attempt: 1, text: "And wh" });
  page.durable({ type: "turn.failed", turn_key: "k1", code: "llm_unavailable", retryable: true });
  assert.equal(page.state.stream, null);
  assert.deepEqual(page.state.problem, { code: "llm_unavailable", at: "page", retry: true });
  assert.equal(mood(page.state), "failed");
  page.do({ type: "retry" });
  assert.deepEqual(page.sentOf("answer")[1], { type: "answer", text: "I like it.", turn_key: "k1" });
  assert.equal(page.state.problem, null);
});

test("failed_turn_taken_back_gives_the_text_and_a_new_key", () => {
  const page = Page.talking().say("I like it.", "k1");
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  page.durable({ type: "turn.failed", turn_key: "k1", code: "internal", retryable: true }).do({ type: "take_back" });
  assert.equal(page.state.draft, "I like it.");
  assert.equal(page.state.log.length, 1);
  page.do({ type: "submit", turnKey: "k2" });
  assert.deepEqual(page.sentOf("answer")[1], { type: "answer", text: "I like it.", turn_key: "k2" });
});

for (const [code, at] of /** @type {const} */ ([["invalid_input", "answer"], ["answer_too_long", "answer"], ["turn_in_progress", "answer"]])) {
  test(`refusal_${code}_returns_text_to_the_box`, () => {
    const page = Page.talking().say("Hm.", "k1").hear({ type: "error", code, ref: "k1", retryable: false });
    assert.equal(page.state.draft, "Hm.");
    assert.equal(page.state.pending, null);
    assert.equal(page.state.problem?.at, at);
  });
}

test("refusal_rate_limited_keeps_answer_for_a_retry", () => {
  const page = Page.talking().say("Hm.", "k1").hear({ type: "error", code: "rate_limited", ref: "k1", retryable: true });
  assert.equal(page.state.pending?.turnKey, "k1");
  assert.equal(page.state.problem?.retry, true);
});

test("blank_answer_is_refused_here_and_consumes_nothing", () => {
  const page = Page.talking().say(" \n\t ", "k1");
  assert.equal(page.sent.length, 0 + page.sentOf("hello").length);
  assert.deepEqual(page.state.problem, { code: "invalid_input", at: "answer", retry: false });
});

test("answer_of_8001_characters_is_refused_here_and_8000_emoji_pass", () => {
  assert.equal(Page.talking().say("x".repeat(8001), "k1").state.problem?.code, "answer_too_long");
  assert.equal(Page.talking().say("🌊".repeat(8000), "k1").sentOf("answer").length, 1);
});

test("skip_is_a_turn_without_text", () => {
  const page = Page.talking().do({ type: "draft", text: "hm" }).do({ type: "skip", turnKey: "k1" });
  assert.deepEqual(page.sentOf("skip"), [{ type: "skip", turn_key: "k1" }]);
  page.turn(1, "k1", "Something else?");
  assert.equal(page.state.log[1]?.kind, "skip");
  assert.equal(page.state.draft, "hm");
});

test("spoken_answer_stands_in_the_log_with_its_transcript", () => {
  const page = Page.talking();
  page.durable({ type: "transcript.final", turn_key: "k1", text: "I like the smell." });
  assert.deepEqual([page.state.pending?.text, page.state.pending?.turnKey], ["I like the smell.", "k1"]);
  page.turn(1, "k1", "And why?");
  assert.equal(page.sentOf("answer").length, 0);
  assert.equal(page.state.pending, null);
  assert.deepEqual(page.state.log.map((entry) => entry.text), ["Why coffee?", "I like the smell.", "And why?"]);
});

test("spoken_answer_whose_turn_failed_is_retried_as_text_under_its_key", () => {
  const page = Page.talking();
  page.durable({ type: "transcript.final", turn_key: "k1", text: "I like the smell." });
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  page.durable({ type: "turn.failed", turn_key: "k1", code: "llm_unavailable", retryable: true }).do({ type: "retry" });
  assert.deepEqual(page.sentOf("answer"), [{ type: "answer", text: "I like the smell.", turn_key: "k1" }]);
});

test("spoken_answer_that_was_read_through_leaves_the_draft_alone", () => {
  const page = Page.talking().do({ type: "draft", text: "half" }).do({ type: "say", text: " The smell. ", turnKey: "k1" });
  assert.deepEqual(page.sentOf("answer"), [{ type: "answer", text: "The smell.", turn_key: "k1" }]);
  assert.equal(page.state.draft, "half");
  page.do({ type: "say", text: "More.", turnKey: "k2" });
  assert.equal(page.sentOf("answer").length, 1);
});

test("silence_while_thinking_offers_a_retry_that_reconnects", () => {
  const page = Page.talking().say("Hm.", "k1");
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" }).do({ type: "timer", name: "silence", now: 0, random: 0 });
  assert.deepEqual(page.state.problem, { code: "silent", at: "page", retry: true });
  page.do({ type: "retry" });
  assert.ok(page.effect("connect"));
  assert.equal(page.state.pending?.accepted, true);
});
