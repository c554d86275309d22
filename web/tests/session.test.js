/** Consent, questions as they stream, corrections, pauses, endings. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { folded } from "../static/core/log.js";
import { loadSaved, saveSaved } from "../static/core/pending.js";
import { canAnswer, correctable, mood, openQuestion, scene } from "../static/core/state.js";
import { CONSENT, Page } from "./driver.js";

const STARTED = /** @type {const} */ ({ type: "question.started", turn_number: 1, attempt: 1 });

/** @param {number} attempt @param {string} text @returns {import("../static/core/messages.js").QuestionDelta} */
const delta = (attempt, text) => ({ type: "question.delta", turn_number: 1, attempt, text });

test("consent_required_comes_first_and_is_sent_with_its_version", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "created" });
  page.fetched({ state: "created", consent: CONSENT });
  assert.equal(scene(page.state), "consent");
  page.do({ type: "agree" });
  assert.deepEqual(page.sentOf("consent"), [{ type: "consent", version: "v1", choices: { agree: true } }]);
  assert.equal(scene(page.state), "talk");
  assert.equal(mood(page.state), "opening");
});

test("consent_given_while_disconnected_is_sent_after_reconnect", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "created" });
  page.fetched({ state: "created", consent: CONSENT }).do({ type: "closed", code: 1006, random: 0 }).do({ type: "agree" });
  assert.equal(page.sentOf("consent").length, 0);
  page.do({ type: "nudged" }).do({ type: "opened" }).ready({ state: "created" });
  assert.equal(page.sentOf("consent").length, 1);
});

test("consent_refused_for_a_new_version_shows_the_new_text", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "created" });
  page.fetched({ state: "created", consent: CONSENT }).do({ type: "agree" });
  page.hear({ type: "error", code: "invalid_input", ref: "consent" });
  assert.ok(page.effect("fetch"));
  page.fetched({ state: "created", consent: { ...CONSENT, version: "v2" } });
  assert.equal(scene(page.state), "consent");
  assert.equal(page.state.problem?.code, "consent_changed");
  page.do({ type: "agree" });
  assert.deepEqual(page.sentOf("consent").map((message) => "version" in message && message.version), ["v1", "v2"]);
});

test("consent_not_required_goes_straight_to_the_interview", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "created" });
  page.fetched({ state: "created", consent: { ...CONSENT, required: false } });
  assert.equal(scene(page.state), "talk");
});

test("deltas_of_a_higher_attempt_discard_the_unfinished_question", () => {
  const page = Page.talking().say("Hm.", "k1").hear(STARTED).hear(delta(1, "And")).hear(delta(1, " so"));
  assert.equal(page.state.stream?.text, "And so");
  page.hear(delta(2, "But")).hear(delta(1, " late")).hear(delta(2, " why?"));
  assert.equal(page.state.stream?.text, "But why?");
});

test("question_that_is_withdrawn_leaves_the_one_before_it", () => {
  const page = Page.talking();
  const before = openQuestion(page.state);
  page.hear(STARTED).hear(delta(1, "And")).hear({ type: "question.withdrawn", turn_number: 1, attempt: 1 });
  assert.equal(page.state.stream, null);
  assert.deepEqual(openQuestion(page.state), before);
  const again = page.hear({ ...STARTED, attempt: 2 }).hear(delta(2, "But why?")).state;
  assert.equal(again.stream?.text, "But why?");
});

test("question_completed_text_wins_over_deltas", () => {
  const page = Page.talking().say("Hm.", "k1").durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  page.hear(delta(1, "Bad")).durable({ type: "question.completed", turn_number: 1, text: "Good?" });
  assert.equal(page.state.stream, null);
  assert.equal(openQuestion(page.state)?.text, "Good?");
});

test("running_text_after_reconnect_replaces_what_was_there", () => {
  const page = Page.talking().say("Hm.", "k1").durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  page.hear(delta(1, "And wh")).reconnect().ready({ pending: { turn_key: "k1" } }).hear(delta(1, "And why so?"));
  assert.equal(page.state.stream?.text, "And why so?");
});

test("durable_event_seen_before_changes_nothing", () => {
  const page = Page.talking();
  const before = page.state.log;
  page.hear({ type: "question.completed", id: 1, turn_number: 0, text: "Twice?" });
  assert.equal(page.state.log, before);
});

test("hello_after_reconnect_names_epoch_and_last_event", () => {
  const page = Page.talking().reconnect();
  assert.deepEqual([page.state.epoch, page.state.lastEventId], ["e1", 1]);
  assert.ok(page.effect("greet"));
});

test("epoch_changed_fetches_transcript_and_takes_the_new_count", () => {
  const page = Page.talking().say("Hm.", "k1").turn(1, "k1", "Why?").reconnect().ready({ epoch: "e2", last_event_id: 2 });
  assert.ok(page.effect("fetch"));
  assert.equal(canAnswer({ ...page.state, synced: true }), true);
  page.fetched({ transcript: [
    { id: "q0", turn_number: 0, speaker: "interviewer", text: "Why coffee?", kind: "opening" },
    { id: "u1", turn_number: 1, speaker: "respondent", text: "Hm.", kind: "answer" },
    { id: "q1", turn_number: 1, speaker: "interviewer", text: "Why?", kind: "question" },
  ] });
  assert.equal(page.state.lastEventId, 2);
  assert.deepEqual(page.state.log.map((entry) => entry.utteranceId), ["q0", "u1", "q1"]);
});

test("finished_question_is_spoken_once_and_replayed_ones_only_as_the_last", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ last_event_id: 0 });
  page.durable({ type: "question.completed", turn_number: 0, text: "Old?" });
  assert.equal(page.state.spoken.count, 0);
  page.fetched();
  assert.deepEqual(page.state.spoken, { text: "Old?", count: 1 });
});

test("rephrase_keeps_turn_and_swaps_the_question", () => {
  const page = Page.talking().do({ type: "rephrase" });
  assert.equal(page.sentOf("rephrase").length, 1);
  assert.equal(canAnswer(page.state), false);
  page.durable({ type: "question.completed", turn_number: 0, text: "In other words?" });
  assert.equal(page.state.log.length, 1);
  assert.ok(canAnswer(page.state));
});

test("correction_stands_in_place_of_the_answer_and_can_be_corrected_again", () => {
  const page = Page.talking().say("Tea.", "k1").turn(1, "k1", "Why tea?").do({ type: "edit" });
  page.do({ type: "edit_text", text: "Coffee." }).do({ type: "edit_submit", turnKey: "k2" });
  assert.deepEqual(page.sentOf("correct"), [{ type: "correct", utterance_id: "u1", text: "Coffee.", turn_key: "k2" }]);
  page.turn(2, "k2", "Why coffee then?");
  assert.deepEqual(folded(page.state.log).map((entry) => entry.text), ["Why coffee?", "Coffee.", "Why coffee then?"]);
  assert.deepEqual([correctable(page.state)?.utteranceId, correctable(page.state)?.edited], ["u2", true]);
});

test("correction_refused_returns_to_the_edit_with_its_text", () => {
  const page = Page.talking().say("Tea.", "k1").turn(1, "k1", "Why tea?").do({ type: "edit" });
  page.do({ type: "edit_text", text: "Coffee." }).do({ type: "edit_submit", turnKey: "k2" });
  page.hear({ type: "error", code: "invalid_input", ref: "k2" });
  assert.equal(page.state.editing?.text, "Coffee.");
  assert.equal(page.state.problem?.at, "edit");
});

test("correction_without_a_change_sends_nothing", () => {
  const page = Page.talking().say("Tea.", "k1").turn(1, "k1", "Why tea?").do({ type: "edit" }).do({ type: "edit_submit", turnKey: "k2" });
  assert.equal(page.sentOf("correct").length, 0);
  assert.equal(page.state.editing, null);
});

test("pause_by_moderator_is_told_from_ones_own", () => {
  const page = Page.talking().durable({ type: "session.state", state: "paused", reason: "by_moderator" });
  assert.equal(mood(page.state), "paused_by_moderator");
  page.durable({ type: "session.state", state: "active", reason: "resumed_by_moderator" });
  page.durable({ type: "session.state", state: "paused", reason: "by_respondent" });
  assert.equal(mood(page.state), "paused");
  page.hear({ type: "error", code: "session_paused", ref: "resume" });
  assert.equal(mood(page.state), "paused_by_moderator");
});

test("pause_by_moderator_is_known_after_a_reload", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "paused" }).fetched({ state: "paused", reason: "by_moderator" });
  assert.equal(mood(page.state), "paused_by_moderator");
});

test("refusal_at_the_door_is_forgotten_once_let_in", () => {
  const page = Page.talking().reconnect().hear({ type: "error", code: "too_many_sessions", retryable: true, ref: "hello" });
  assert.equal(page.state.problem?.code, "too_many_sessions");
  page.ready();
  assert.equal(page.state.problem, null);
});

test("abandoned_interview_waits_to_be_resumed", () => {
  const page = Page.talking().reconnect().ready({ state: "abandoned" });
  assert.equal(mood(page.state), "paused");
  page.do({ type: "resume" });
  assert.equal(page.sentOf("resume").length, 1);
});

test("finish_asks_back_then_ends_with_the_closing_words", () => {
  const page = Page.talking().do({ type: "ask_to_leave", dialog: "finish" });
  assert.equal(page.sentOf("finish").length, 0);
  page.do({ type: "leave" });
  assert.equal(page.sentOf("finish").length, 1);
  page.durable({ type: "question.completed", turn_number: 1, text: "Thanks!", closing: true });
  assert.equal(openQuestion(page.state), null);
  page.durable({ type: "session.state", state: "completed", reason: "finished" });
  assert.equal(scene(page.state), "done");
  assert.ok(page.effect("fetch") && page.effect("wipe") && !page.effect("save"));
});

test("answer_after_the_end_leads_to_the_thanks_page", () => {
  const page = Page.talking().say("Late.", "k1").hear({ type: "error", code: "session_completed", ref: "k1" });
  assert.equal(scene(page.state), "done");
  assert.equal(page.state.draft, "Late.");
});

test("withdraw_wipes_the_device_once_the_server_confirms", () => {
  const page = Page.talking().do({ type: "draft", text: "secret" }).do({ type: "ask_to_leave", dialog: "withdraw" }).do({ type: "leave" });
  assert.equal(page.sentOf("withdraw").length, 1);
  assert.equal(page.effect("wipe"), undefined);
  page.do({ type: "closed", code: 1000, random: 0 });
  assert.equal(scene(page.state), "goodbye");
  assert.ok(page.effect("wipe"));
  assert.equal(page.effect("save"), undefined);
});

test("withdraw_without_connection_is_kept_on_the_device_and_carried_out_by_the_next_life_of_the_page", () => {
  const page = Page.talking().do({ type: "closed", code: 1006, random: 0 }).do({ type: "ask_to_leave", dialog: "withdraw" }).do({ type: "leave" });
  assert.equal(page.effects[0]?.type, "save");
  assert.equal(mood(page.state), "withdrawing");
  const shelf = new Map();
  const store = { getItem: (/** @type {string} */ key) => shelf.get(key) ?? null, setItem: shelf.set.bind(shelf), removeItem: shelf.delete.bind(shelf) };
  saveSaved(store, "s", { draft: "", pending: null, withdrawing: true });
  const again = new Page(loadSaved(store, "s")).do({ type: "start" });
  assert.equal(mood(again.state), "withdrawing");
  again.do({ type: "opened" }).ready({ last_event_id: 1 }).fetched();
  again.durable({ type: "session.state", state: "active" });
  assert.equal(scene(again.state), "talk", "what was said before is no confirmation");
  assert.equal(again.sentOf("withdraw").length, 1);
  again.do({ type: "closed", code: 1000, random: 0 });
  assert.equal(scene(again.state), "goodbye");
  assert.ok(again.effect("wipe"));
});

test("withdrawal_of_an_interview_that_is_over_goes_over_http", () => {
  const page = new Page({ withdrawing: true }).do({ type: "start" });
  page.fetched({ state: "completed" });
  assert.ok(page.effect("erase"));
  page.do({ type: "erased" });
  assert.equal(scene(page.state), "goodbye");
});

test("withdrawal_that_the_server_refuses_is_no_longer_kept", () => {
  const page = Page.talking().do({ type: "closed", code: 1006, random: 0 }).do({ type: "ask_to_leave", dialog: "withdraw" }).do({ type: "leave" });
  page.do({ type: "erase_failed", code: "internal" });
  assert.equal(page.state.leaving, null);
  assert.equal(page.effects[0]?.type, "save");
});

test("correction_that_is_being_written_survives_a_reload", () => {
  const page = Page.talking().say("It is fast.", "k1").turn(1, "k1", "Why?");
  page.do({ type: "edit" }).do({ type: "edit_text", text: "It is fast, and cheap." });
  assert.equal(page.effects[0]?.type, "save");
  const later = new Page({ correcting: { utteranceId: "u1", text: "It is fast, and cheap." } }).do({ type: "start" }).do({ type: "opened" });
  later.ready({ turn_number: 1, last_event_id: 0 }).fetched({ transcript: [
    { id: "q0", speaker: "interviewer", text: "Why coffee?", turn_number: 0 },
    { id: "u1", speaker: "respondent", text: "It is fast.", turn_number: 1 },
    { id: "q1", speaker: "interviewer", text: "Why?", turn_number: 1 },
  ] });
  assert.equal(later.state.editing?.text, "It is fast, and cheap.");
  assert.equal(later.state.reopening, null);
  const other = new Page({ correcting: { utteranceId: "u0", text: "Old." } }).do({ type: "start" }).do({ type: "opened" });
  other.ready().fetched();
  assert.equal(other.state.editing, null);
});

test("withdraw_without_connection_erases_over_http", () => {
  const page = Page.talking().do({ type: "closed", code: 1006, random: 0 }).do({ type: "ask_to_leave", dialog: "withdraw" }).do({ type: "leave" });
  assert.ok(page.effect("erase"));
  page.do({ type: "erase_failed", code: "network" });
  assert.equal(scene(page.state), "talk");
  page.do({ type: "nudged" }).do({ type: "opened" }).ready();
  assert.equal(page.sentOf("withdraw").length, 1);
  page.do({ type: "erased" });
  assert.equal(scene(page.state), "goodbye");
});
