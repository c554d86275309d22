/** Speaking: who has the floor, what is kept, and how an answer ends. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { joined } from "../static/voice/answering.js";
import { isOurs } from "../static/voice/hearing.js";
import { collecting, pauseOf } from "../static/voice/state.js";
import { Speaker } from "./speaker.js";

test("microphone_opened_begins_an_answer_at_once", () => {
  const speaker = Speaker.listening();
  assert.equal(speaker.mood, "listening");
  assert.equal(speaker.effect("begin").key, speaker.current);
  assert.deepEqual(speaker.sent("set").at(-1), { type: "set", patience: "normal", spoken: false, review_transcript: false });
});

test("speech_shows_captions_and_becomes_an_answer", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "speech.started", at_ms: 0 });
  assert.equal(speaker.mood, "hearing");
  speaker.hear({ type: "transcript.partial", text: "I like the smell", stable: 6 });
  assert.deepEqual(speaker.state.caption, { firm: "I like", soft: " the smell", whole: "I like the smell" });
  speaker.hear({ type: "transcript.final", id: 2, turn_key: key, text: "I like the smell.", last_seq: 41 });
  assert.equal(speaker.effect("over").next, 42);
  assert.equal(speaker.current, null);
  speaker.now({ floor: "thinking" });
  assert.equal(speaker.mood, "thinking");
  speaker.now({ floor: "free", question: { key: "q1", turn: 1, text: "And why?" } });
  assert.notEqual(speaker.current, key);
  assert.equal(speaker.mood, "listening");
});

test("answer_that_was_taken_and_is_forgotten_is_let_go", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.now({ online: false }).now({ online: true }).hear({ type: "error", code: "invalid_input", ref: "somebody else's" });
  assert.equal(speaker.current, key);
  assert.equal(isOurs(speaker.state, { type: "error", code: "invalid_input", message: "", retryable: false, ref: key }), true);
  speaker.hear({ type: "error", code: "invalid_input", ref: key });
  assert.deepEqual(speaker.effects.map(({ type }) => type).slice(0, 1), ["taken"]);
  assert.notEqual(speaker.effect("begin").key, key);
  assert.equal(speaker.mood, "listening");
  const kept = new Speaker().do({ type: "kept", key: "old" }).now({ online: true, floor: "free", question: { key: "q0", turn: 0, text: "Why?" } });
  kept.do({ type: "kept_send", key: "x" }).hear({ type: "error", code: "invalid_input", ref: "old" });
  assert.equal(kept.mood, "off");
});

test("final_of_another_answer_ends_nothing", () => {
  const speaker = Speaker.listening();
  speaker.hear({ type: "transcript.final", id: 2, turn_key: "somebody else's", text: "x" });
  assert.ok(speaker.current);
});

test("going_on_speaking_after_the_end_opens_the_next_answer", () => {
  const speaker = Speaker.listening();
  speaker.hear({ type: "turn.started", id: 2, turn_key: speaker.current });
  speaker.now({ floor: "thinking" });
  assert.equal(speaker.current, null);
  assert.ok(collecting(speaker.state));
  speaker.do({ type: "sound", key: "next" });
  assert.equal(speaker.effect("begin").key, "next");
  speaker.now({ floor: "free", question: { key: "q1", turn: 1, text: "And why?" } });
  assert.equal(speaker.current, "next");
});

test("done_ends_the_answer_and_waits_for_words", () => {
  const speaker = Speaker.listening();
  speaker.do({ type: "done" });
  assert.equal(speaker.mood, "transcribing");
  assert.ok(speaker.effect("stop"));
  assert.equal(speaker.effect("timer").name, "stalled");
  speaker.do({ type: "done" });
  assert.deepEqual(speaker.effects, []);
  speaker.do({ type: "timer", name: "stalled", key: "x" });
  assert.equal(speaker.mood, "stalled");
  speaker.do({ type: "retry" });
  assert.ok(speaker.effect("knock"));
});

test("lost_connection_keeps_the_answer_and_goes_on_with_it", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: "I like", stable: 6 });
  speaker.now({ online: false });
  assert.equal(speaker.mood, "reconnecting");
  assert.ok(speaker.effect("lost"));
  assert.ok(collecting(speaker.state));
  speaker.now({ online: true });
  assert.equal(speaker.effect("begin").key, key);
  assert.equal(speaker.sent("set").length, 2);
});

test("connection_lost_after_done_announces_and_waits_again", () => {
  const speaker = Speaker.listening().do({ type: "done" }).now({ online: false }).now({ online: true });
  assert.ok(speaker.effect("begin"));
  assert.equal(speaker.effect("timer").name, "stalled");
  assert.equal(speaker.mood, "transcribing");
});

test("nothing_understood_says_so_and_goes_on_listening", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "notice", code: "didnt_catch" });
  assert.equal(speaker.mood, "didnt_catch");
  assert.equal(speaker.current, key);
  speaker.hear({ type: "speech.started" });
  assert.equal(speaker.mood, "hearing");
});

test("sound_is_kept_from_the_first_speech_until_it_was_none", () => {
  const speaker = Speaker.listening().hear({ type: "speech.started", at_ms: 0 });
  assert.ok(speaker.effect("heard"));
  speaker.hear({ type: "notice", code: "didnt_catch" });
  assert.ok(speaker.effect("unheard"));
  speaker.hear({ type: "transcript.partial", text: "One", stable: 0 });
  assert.ok(speaker.effect("heard"));
  speaker.hear({ type: "notice", code: "didnt_catch" });
  assert.equal(speaker.effect("unheard"), undefined);
});

test("nothing_understood_after_done_listens_anew", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.do({ type: "done" }).hear({ type: "notice", code: "didnt_catch" });
  assert.notEqual(speaker.current, key);
  assert.equal(speaker.mood, "didnt_catch");
});

test("take_your_time_asks_for_patience_again_and_again_and_for_this_answer_only", () => {
  const speaker = Speaker.listening().do({ type: "wait" });
  assert.equal(speaker.mood, "patient");
  assert.deepEqual(speaker.sent("set").at(-1), { type: "set", take_your_time: true });
  assert.equal(speaker.effect("timer").name, "hold");
  speaker.do({ type: "timer", name: "hold", key: "x" });
  assert.equal(speaker.sent("set").filter((set) => set.take_your_time).length, 2);
  speaker.hear({ type: "turn.started", id: 2, turn_key: speaker.current });
  speaker.now({ floor: "thinking" }).now({ floor: "free", question: { key: "q1", turn: 1, text: "And?" } });
  assert.equal(speaker.state.patient, false);
  assert.equal(speaker.sent("set").at(-1).patience, "normal");
});

test("muted_microphone_keeps_nothing_and_leaves_the_answer_open", () => {
  const speaker = Speaker.listening().do({ type: "mute", key: "x" });
  assert.equal(collecting(speaker.state), false);
  assert.equal(speaker.mood, "muted");
  assert.ok(speaker.current);
  assert.ok(collecting(speaker.do({ type: "mute", key: "x" }).state));
});

test("push_to_talk_begins_with_the_press_and_ends_with_the_release", () => {
  const speaker = Speaker.listening({ mode: "push" });
  assert.equal(speaker.current, null);
  assert.equal(speaker.mood, "ready");
  assert.equal(collecting(speaker.state), false);
  speaker.do({ type: "press", latch: false, key: "p1" });
  assert.equal(speaker.effect("begin").key, "p1");
  assert.equal(speaker.sent("set").at(-1).take_your_time, true);
  speaker.do({ type: "release" });
  assert.ok(speaker.effect("stop"));
  assert.equal(speaker.mood, "transcribing");
});

test("push_to_talk_tapped_stays_on_until_the_next_tap", () => {
  const speaker = Speaker.listening({ mode: "push" });
  speaker.do({ type: "press", latch: false, key: "p1" }).do({ type: "press", latch: true, key: "p2" });
  assert.equal(speaker.state.push, "latched");
  assert.equal(speaker.current, "p1");
  speaker.do({ type: "press", latch: true, key: "p3" });
  assert.ok(speaker.effect("stop"));
});

test("push_to_talk_while_thinking_does_nothing", () => {
  const speaker = Speaker.listening({ mode: "push" }).now({ floor: "thinking" }).do({ type: "press", latch: false, key: "p" });
  assert.equal(speaker.state.push, "up");
});

test("reviewed_answer_is_sent_as_corrected_under_its_key", () => {
  const speaker = Speaker.listening({}, { review_transcript: true });
  const key = speaker.current ?? "";
  speaker.hear({ type: "transcript.partial", text: "I like the mourning", stable: 19, turn_key: key });
  assert.equal(speaker.mood, "review");
  assert.equal(collecting(speaker.state), false);
  speaker.do({ type: "review", text: "I like the morning" }).do({ type: "review_send" });
  assert.deepEqual(speaker.effect("say"), { type: "say", text: "I like the morning", key });
});

test("review_is_not_sent_while_the_last_answer_is_worked_on_nor_when_emptied", () => {
  const speaker = Speaker.listening();
  speaker.hear({ type: "transcript.partial", text: "And more", stable: 8, turn_key: speaker.current });
  speaker.now({ floor: "thinking" }).do({ type: "review_send" });
  assert.equal(speaker.state.review?.text, "And more");
  speaker.now({ floor: "free" }).do({ type: "review", text: "  " }).do({ type: "review_send" });
  assert.ok(speaker.state.review);
});

test("saying_it_again_listens_under_a_new_key", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: "x", stable: 1, turn_key: key }).do({ type: "review_again", key: "again" });
  assert.equal(speaker.current, "again");
  assert.equal(speaker.mood, "listening");
});

test("offer_repeated_after_a_reconnect_does_not_undo_corrections", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: "wrong", stable: 5, turn_key: key }).do({ type: "review", text: "right" });
  speaker.now({ online: false }).now({ online: true }).hear({ type: "transcript.partial", text: "wrong", stable: 5, turn_key: key });
  assert.equal(speaker.state.review?.text, "right");
});

test("typing_instead_keeps_what_was_understood", () => {
  const speaker = Speaker.listening();
  speaker.hear({ type: "transcript.partial", text: "I like the smell", stable: 6 }).do({ type: "leave" });
  assert.equal(speaker.effect("draft").text, "I like the smell");
  assert.ok(speaker.effect("cancel") && speaker.effect("close"));
  assert.equal(speaker.state.stage, "off");
});

test("question_read_aloud_is_not_listened_to_and_then_answered", () => {
  const speaker = Speaker.listening({ read: true });
  assert.equal(speaker.mood, "reading");
  assert.equal(speaker.effect("read").text, "What do you like about coffee?");
  assert.equal(collecting(speaker.state), false);
  assert.equal(speaker.current, null);
  speaker.do({ type: "reading" }).do({ type: "read", how: "finished", key: "k" });
  assert.deepEqual(speaker.sent("playback").map(({ state }) => state), ["started", "finished"]);
  assert.equal(speaker.current, "k");
});

test("question_is_read_once", () => {
  const speaker = Speaker.listening({ read: true }).do({ type: "read", how: "finished", key: "k" });
  speaker.now({ online: false }).now({ online: true });
  assert.equal(speaker.all.filter((effect) => effect.type === "read").length, 1);
  speaker.do({ type: "read_again" });
  assert.equal(speaker.all.filter((effect) => effect.type === "read").length, 2);
});

test("ring_fills_while_a_silence_may_end_the_answer", () => {
  const speaker = Speaker.listening().hear({ type: "speech.started", at_ms: 0 });
  assert.equal(speaker.state.ring, null);
  speaker.hear({ type: "speech.stopped", at_ms: 900, ends_ms: 1300 });
  assert.deepEqual(speaker.state.ring, { ms: 1300, over: false });
  speaker.hear({ type: "speech.started", at_ms: 1500 });
  assert.equal(speaker.state.ring, null);
  speaker.hear({ type: "speech.stopped", at_ms: 2000, ends_ms: null });
  assert.equal(speaker.state.ring, null, "no silence ends it now");
});

test("page_says_the_silence_that_ends_an_answer_as_it_is_now", () => {
  const speaker = Speaker.listening();
  assert.equal(pauseOf(speaker.state), 0.8);
  speaker.hear({ type: "speech.started", at_ms: 100 });
  speaker.hear({ type: "speech.stopped", at_ms: 900, ends_ms: 1_340 });
  assert.equal(pauseOf(speaker.state), 1.3, "it has grown with who needs longer pauses");
  speaker.hear({ type: "speech.stopped", at_ms: 1200, ends_ms: 2_400 });
  assert.equal(pauseOf(speaker.state), 1.3, "this one pause may be longer");
  assert.deepEqual(speaker.state.ring, { ms: 2_400, over: false });
  speaker.hear({ type: "speech.stopped", at_ms: 1900, ends_ms: null });
  assert.equal(pauseOf(speaker.state), 1.3);
  speaker.do({ type: "settings", settings: { ...speaker.state.settings, patience: "patient" }, key: "k" });
  assert.equal(pauseOf(speaker.state), 1.8);
});

test("ring_stays_empty_where_no_silence_ends_an_answer", () => {
  const pushing = Speaker.listening({ mode: "push" }).do({ type: "press", latch: true, key: "p" });
  pushing.hear({ type: "speech.stopped", at_ms: 900, ends_ms: 900 });
  assert.equal(pushing.state.ring, null);
  const patient = Speaker.listening().do({ type: "wait" });
  patient.hear({ type: "speech.stopped", at_ms: 900, ends_ms: 900 });
  assert.equal(patient.state.ring, null);
});

test("answer_that_is_over_can_be_gone_on_with_until_it_is_taken", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: "I like the smell.", stable: 17 });
  speaker.hear({ type: "answer.ending", turn_key: key, left_ms: 3000 }).now({ floor: "thinking", question: null });
  assert.equal(speaker.mood, "over");
  assert.deepEqual(speaker.state.ring, { ms: 3000, over: true });
  assert.ok(collecting(speaker.state), "what is said now is heard");
  assert.equal(speaker.current, key);
  speaker.hear({ type: "question.withdrawn", turn_number: 1, attempt: 1 }).hear({ type: "speech.started", at_ms: 2000 });
  speaker.now({ floor: "free", question: { key: "q0", turn: 0, text: "What do you like about coffee?" } });
  assert.equal(speaker.mood, "hearing");
  assert.equal(speaker.current, key, "it is the same answer");
  speaker.hear({ type: "answer.ending", turn_key: key, left_ms: 3000 });
  speaker.hear({ type: "transcript.final", id: 2, turn_key: key, text: "I like the smell. And the quiet.", last_seq: 90 });
  assert.equal(speaker.state.ring, null);
  assert.equal(speaker.effect("over").next, 91);
});

test("ending_of_another_answer_says_nothing", () => {
  const speaker = Speaker.listening().hear({ type: "answer.ending", turn_key: "another", left_ms: 3000 });
  assert.equal(speaker.state.ring, null);
  assert.equal(speaker.mood, "listening");
});

test("time_asked_for_after_the_end_takes_the_answer_up_again", () => {
  const speaker = Speaker.listening();
  speaker.hear({ type: "answer.ending", turn_key: speaker.current, left_ms: 3000 }).do({ type: "wait" });
  assert.deepEqual(speaker.sent("set").at(-1), { type: "set", take_your_time: true });
  speaker.now({ floor: "free" });
  assert.equal(speaker.mood, "patient");
});

test("barge_in_needs_words_that_are_not_the_question", () => {
  const speaker = Speaker.listening({ read: true }, { barge_in: true });
  assert.ok(collecting(speaker.state));
  speaker.do({ type: "read", how: "stopped", key: "k" }).do({ type: "read_again" }).do({ type: "reading" });
  speaker.state = { ...speaker.state, reading: true };
  speaker.hear({ type: "speech.started" });
  assert.equal(speaker.effect("hush"), undefined);
  speaker.hear({ type: "transcript.partial", text: "what do you like", stable: 0 });
  assert.equal(speaker.effect("hush"), undefined);
  speaker.hear({ type: "transcript.partial", text: "well the smell", stable: 0 });
  assert.ok(speaker.effect("hush"));
});

test("question_that_came_back_is_forgotten_and_a_short_answer_is_not", () => {
  const said = (/** @type {string} */ text) => {
    const speaker = Speaker.listening({ read: true }, { barge_in: true }).do({ type: "sound", key: "s" });
    speaker.do({ type: "reading" }).hear({ type: "transcript.partial", text, stable: 0 });
    return speaker.do({ type: "read", how: "finished", key: "k" });
  };
  assert.ok(said("what do you like about").effect("cancel"));
  assert.equal(said("coffee").effect("cancel"), undefined);
  assert.equal(said("coffee").state.answer?.worded, true);
});

test("cough_during_a_question_is_no_reason_to_say_sorry", () => {
  const speaker = Speaker.listening({ read: true }, { barge_in: true });
  speaker.do({ type: "reading" }).hear({ type: "notice", code: "didnt_catch" });
  assert.equal(speaker.mood, "reading");
});

test("device_without_a_voice_for_the_language_goes_on_without_reading", () => {
  const speaker = Speaker.listening({ read: true }).do({ type: "read", how: "failed", key: "k" });
  assert.equal(speaker.state.notice, "no_voice");
  assert.equal(speaker.mood, "listening");
  assert.deepEqual(speaker.sent("playback"), []);
});

test("reading_that_breaks_off_does_not_leave_the_server_waiting_for_its_end", () => {
  const speaker = Speaker.listening({ read: true }).do({ type: "reading" }).do({ type: "read", how: "failed", key: "k" });
  assert.deepEqual(speaker.sent("playback").map(({ state }) => state), ["started", "stopped"]);
  assert.equal(speaker.current, "k");
});

test("server_of_another_connection_is_told_that_a_question_is_being_read", () => {
  const speaker = Speaker.listening({ read: true }).do({ type: "reading" }).now({ online: false }).now({ online: true });
  speaker.do({ type: "read", how: "finished", key: "k" });
  assert.deepEqual(speaker.sent("playback").map(({ state }) => state), ["started", "started", "finished"]);
});

test("lost_part_is_sent_again_and_not_for_ever", () => {
  const speaker = Speaker.listening();
  for (let gap = 0; gap < 5; gap += 1) {
    speaker.hear({ type: "error", code: "audio_gap", ref: speaker.current });
    assert.ok(speaker.effect("rewind") && speaker.effect("begin"));
  }
  speaker.hear({ type: "error", code: "audio_gap", ref: speaker.current });
  assert.equal(speaker.mood, "stalled");
});

test("crowded_server_is_asked_again_with_nothing_lost", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "error", code: "too_many_sessions", ref: key });
  assert.equal(speaker.state.notice, "busy");
  assert.equal(speaker.state.answer?.open, false);
  assert.equal(speaker.effect("timer").name, "again");
  speaker.do({ type: "timer", name: "again", key: "x" });
  assert.equal(speaker.effect("begin").key, key);
});

test("defect_of_the_server_is_sent_the_whole_answer_again_once", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: "So far", stable: 6 }).hear({ type: "error", code: "internal", ref: key });
  assert.ok(speaker.effect("replay") && speaker.effect("lost"));
  speaker.do({ type: "timer", name: "again", key: "x" });
  assert.equal(speaker.effect("begin").key, key);
  speaker.hear({ type: "error", code: "internal", ref: key });
  assert.notEqual(speaker.current, key);
});

test("answer_that_could_not_be_stored_waits_for_its_words", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.hear({ type: "error", code: "storage_unavailable", ref: key });
  assert.equal(speaker.current, key);
  speaker.hear({ type: "transcript.partial", text: "So far", stable: 6, turn_key: key });
  assert.equal(speaker.mood, "review");
});

test("transcriber_gone_leads_to_typing_with_the_words_so_far", () => {
  const speaker = Speaker.listening();
  speaker.hear({ type: "transcript.partial", text: "So far", stable: 6 }).hear({ type: "error", code: "transcriber_unavailable" });
  assert.equal(speaker.state.stage, "off");
  assert.equal(speaker.effect("draft").text, "So far");
});

test("longest_answer_is_told_before_and_ends", () => {
  const speaker = Speaker.listening().hear({ type: "speech.started" }).hear({ type: "notice", code: "time_almost_up" });
  assert.equal(speaker.mood, "almost_up");
  speaker.hear({ type: "error", code: "audio_too_long", ref: speaker.current });
  assert.equal(speaker.mood, "transcribing");
  assert.equal(speaker.state.notice, "too_long");
});

test("device_pulled_out_keeps_the_answer_for_the_next_device", () => {
  const speaker = Speaker.listening();
  const key = speaker.current;
  speaker.do({ type: "refused", obstacle: "lost" });
  assert.equal(speaker.mood, "blocked");
  speaker.do({ type: "choose" }).do({ type: "opened", key: "x" });
  assert.equal(speaker.effect("begin").key, key);
});

test("paused_interview_listens_to_nothing_and_goes_on_after", () => {
  const speaker = Speaker.listening();
  speaker.now({ paused: true, floor: "closed" });
  assert.equal(speaker.mood, "paused");
  assert.equal(collecting(speaker.state), false);
  speaker.now({ paused: false, floor: "free" });
  assert.ok(collecting(speaker.state));
});

test("speech_of_before_a_reload_is_sent_without_a_microphone", () => {
  const speaker = new Speaker().do({ type: "kept", key: "old" });
  assert.equal(speaker.mood, "kept");
  speaker.now({ online: true, floor: "free", question: { key: "q0", turn: 0, text: "Why?" } });
  assert.equal(speaker.effect("begin"), undefined);
  speaker.do({ type: "kept_send", key: "x" });
  assert.equal(speaker.effect("begin").key, "old");
  assert.equal(speaker.mood, "transcribing");
  speaker.hear({ type: "transcript.final", id: 2, turn_key: "old", text: "Because." });
  assert.equal(speaker.state.stage, "off");
});

test("speech_of_before_a_reload_can_be_gone_on_with", () => {
  const speaker = new Speaker().do({ type: "kept", key: "old" }).now({ online: true, floor: "free", question: { key: "q0", turn: 0, text: "Why?" } });
  speaker.do({ type: "choose" }).do({ type: "opened", key: "x" });
  assert.equal(speaker.effect("begin").key, "old");
  assert.equal(speaker.mood, "listening");
});

test("offer_that_nobody_can_look_at_goes_into_the_box", () => {
  const speaker = new Speaker().hear({ type: "transcript.partial", text: "Said before", stable: 11, turn_key: "k" });
  assert.equal(speaker.effect("draft").text, "Said before");
});

test("text_of_an_answer_goes_into_the_box_once", () => {
  const failed = Speaker.listening();
  const key = failed.current;
  failed.hear({ type: "transcript.partial", text: "half a thought", stable: 4 }).do({ type: "done" });
  failed.hear({ type: "error", code: "transcriber_unavailable", ref: key });
  assert.deepEqual(failed.effect("draft"), { type: "draft", text: "half a thought", instead: "", once: false });
  failed.hear({ type: "transcript.partial", text: "half a thought", stable: 14, turn_key: key });
  assert.equal(failed.effect("draft"), undefined);
  failed.hear({ type: "transcript.partial", text: "Half a thought, and more", stable: 24, turn_key: key });
  assert.equal(failed.effect("draft").instead, "half a thought");

  const left = Speaker.listening({ review: true });
  const offer = { type: "transcript.partial", text: "to be read", stable: 10, turn_key: left.current };
  left.hear(offer).do({ type: "review", text: "to be corrected" }).now({ online: false }).do({ type: "leave" });
  assert.equal(left.effect("draft").text, "to be corrected");
  left.now({ online: true }).hear(offer).now({ online: false }).now({ online: true }).hear(offer);
  assert.equal(left.all.filter(({ type }) => type === "draft").length, 1);
});

test("what_was_understood_goes_behind_what_was_typed_and_replaces_only_itself", () => {
  assert.equal(joined("", "One", "", false), "One");
  assert.equal(joined("I am not sure", "sure", "", false), "I am not sure sure");
  assert.equal(joined("Typed. One", "One", "", true), "Typed. One");
  assert.equal(joined("Typed. ", "One", "", true), "Typed. One");
  assert.equal(joined("Typed. one", "One two", "one", true), "Typed. One two");
  assert.equal(joined("Changed since", "One two", "one", true), "Changed since");
});

test("captions_are_announced_at_pauses_and_only_while_a_button_is_held", () => {
  const hands = Speaker.listening().hear({ type: "transcript.partial", text: "One two", stable: 7 }).hear({ type: "speech.stopped" });
  assert.equal(hands.effect("announce"), undefined);
  const push = Speaker.listening({ mode: "push" }).do({ type: "press", latch: true, key: "p" });
  push.hear({ type: "transcript.partial", text: "One two", stable: 7 }).hear({ type: "speech.stopped" });
  assert.equal(push.effect("announce").text, "One two");
  push.hear({ type: "transcript.partial", text: "One two three", stable: 13 }).hear({ type: "speech.stopped" });
  assert.equal(push.effect("announce").text, "three");
});
