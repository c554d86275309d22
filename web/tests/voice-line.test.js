/** Numbered frames: kept, paced, acknowledged, sent again; none lost, none in two answers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LEAD_FRAMES, Line } from "../static/voice/line.js";
import { newest } from "../static/voice/shelf.js";
import { Tape, WINDOW_FRAMES, Waiting, packed } from "../static/voice/tape.js";

/** One frame whose content tells which it is. @param {number} value */
const pcm = (value) => new Uint8Array(4).fill(value % 251);

/** A line whose other end is looked at. */
function wire(most = 10_000) {
  /** @type {any[]} */
  const out = [];
  /** @type {number[]} */
  const kept = [];
  let forgotten = -1;
  const state = { linked: true };
  /** @type {Set<string | null>} */
  const keys = new Set();
  const line = new Line(most, {
    message: (message) => out.push(message), bytes: (bytes) => out.push(new DataView(bytes.buffer).getUint32(0)),
    keep: (frame) => {
      kept.push(frame.seq);
      keys.add(line.key);
    }, forget: (seq) => { forgotten = seq; }, wipe: () => { kept.length = 0; },
    linked: () => state.linked,
  });
  let now = 1000;
  return {
    line, out, kept, keys, state, forgotten: () => forgotten,
    /** @param {number} count @param {boolean} [sound] */
    hear: (count, sound = true) => { for (let index = 0; index < count; index += 1) line.hear(pcm(index), sound); },
    /** @param {number} ms */
    pump: (ms = 10_000) => { now += ms; line.pump(now, 0); },
    numbers: () => out.filter((item) => typeof item === "number"),
    types: () => out.filter((item) => typeof item === "object").map((item) => item.type),
  };
}

test("frame_carries_its_number_in_four_bytes_big_endian", () => {
  assert.deepEqual([...packed({ seq: 0x01020304, pcm: Uint8Array.of(9, 8) })], [1, 2, 3, 4, 9, 8]);
  assert.deepEqual([...packed({ seq: 0xfffffffe, pcm: Uint8Array.of() })], [255, 255, 255, 254]);
});

test("answer_is_announced_before_its_first_frame_and_stopped_after_its_last", () => {
  const { line, hear, pump, out } = wire();
  line.begin("k");
  hear(3);
  line.stop();
  hear(2);
  pump();
  assert.deepEqual(out, [
    { type: "audio.start", codec: "pcm_s16le", sample_rate: 16000, turn_key: "k", first_seq: 0 }, 0, 1, 2, { type: "audio.stop" },
  ]);
  pump();
  assert.equal(out.length, 5);
});

test("nothing_is_sent_before_the_answer_is_announced", () => {
  const { line, hear, pump, out } = wire();
  hear(5);
  pump();
  assert.deepEqual(out, []);
  line.begin("k");
  pump();
  assert.equal(out.length, 6);
});

test("frames_wait_for_acknowledgements_beyond_the_window", () => {
  const { line, hear, pump, numbers } = wire();
  line.begin("k");
  hear(400);
  for (let step = 0; step < 20; step += 1) pump();
  assert.equal(numbers().length, WINDOW_FRAMES);
  line.tape.ack(99);
  for (let step = 0; step < 20; step += 1) pump();
  assert.equal(numbers().length, 100 + WINDOW_FRAMES);
});

test("frames_are_paced_to_four_times_the_speed_of_speech", () => {
  const tape = new Tape(10_000);
  for (let index = 0; index < 600; index += 1) tape.push(pcm(index));
  let sent = 0;
  for (let now = 1000; now <= 3000; now += 40) {
    sent += tape.take(Infinity, now).length;
    tape.ack(sent - 1);
  }
  assert.ok(sent >= 350 && sent <= 377, String(sent));
});

test("full_socket_is_not_filled_further", () => {
  const { line, hear, out } = wire();
  line.begin("k");
  hear(5);
  line.pump(2000, 1_000_000);
  assert.equal(out.length, 1);
});

test("reconnect_goes_on_where_the_server_says", () => {
  const { line, hear, pump, out } = wire();
  line.begin("k");
  hear(10);
  pump();
  line.lost();
  hear(5);
  pump();
  line.resume(7);
  out.length = 0;
  line.begin("k");
  pump();
  assert.equal(out[0].first_seq, 7);
  assert.deepEqual(out.slice(1), [7, 8, 9, 10, 11, 12, 13, 14]);
});

test("dead_node_that_knows_nothing_is_sent_the_whole_answer_and_the_stop_again", () => {
  const { line, hear, pump, out } = wire();
  line.begin("a");
  hear(10);
  pump();
  line.over(6);
  line.begin("b");
  hear(4);
  line.stop();
  pump();
  line.lost();
  line.resume(0);
  out.length = 0;
  line.begin("b");
  pump();
  assert.equal(out[0].first_seq, 6);
  assert.deepEqual(out.slice(1), [6, 7, 8, 9, 10, 11, 12, 13, { type: "audio.stop" }]);
});

test("answer_that_has_become_words_is_let_go_and_the_rest_opens_the_next", () => {
  const { line, hear, pump, out, forgotten } = wire();
  line.begin("a");
  hear(10);
  pump();
  hear(2);
  line.over(8);
  assert.equal(line.tape.first, 8);
  assert.equal(forgotten(), 8);
  out.length = 0;
  hear(3);
  line.begin("b");
  pump();
  assert.equal(out[0].first_seq, 8);
  assert.deepEqual(out.slice(1), [8, 9, 10, 11, 12, 13, 14]);
});

test("frames_that_another_node_passed_over_are_sent_again_with_the_next_answer", () => {
  const { line, hear, pump, out } = wire();
  line.begin("a");
  hear(60);
  pump();
  line.tape.ack(59);
  line.lost();
  line.resume(60);
  line.begin("a");
  hear(5);
  pump();
  line.over(38);
  out.length = 0;
  line.begin("b");
  pump();
  assert.equal(out[0].first_seq, 38);
  assert.deepEqual([out[1], out.at(-1)], [38, 64]);
});

test("answer_of_which_the_server_knows_no_end_takes_what_had_left_before_and_no_more", () => {
  const { line, hear, pump, out } = wire();
  line.begin("a");
  hear(10);
  pump();
  line.lost();
  hear(5);
  line.resume(0);
  line.begin("a");
  pump();
  line.taken();
  out.length = 0;
  line.begin("b");
  pump();
  assert.equal(out[0].first_seq, 10);
  assert.deepEqual(out.slice(1), [10, 11, 12, 13, 14]);
});

test("server_that_does_not_say_where_an_answer_ended_keeps_what_was_sent", () => {
  const { line, hear, pump } = wire();
  line.begin("a");
  hear(10);
  pump();
  hear(3);
  line.over(null);
  assert.deepEqual([line.tape.first, line.tape.next], [10, 13]);
});

test("missing_part_is_sent_again_from_behind_the_acknowledgement", () => {
  const { line, hear, pump, out } = wire();
  line.begin("k");
  hear(10);
  pump();
  line.tape.ack(5);
  out.length = 0;
  line.rewind();
  pump();
  assert.deepEqual(out, [6, 7, 8, 9]);
});

test("cancelled_answer_leaves_no_gap_in_the_numbers", () => {
  const { line, hear, pump, out } = wire();
  line.begin("a");
  hear(10);
  pump();
  hear(5);
  line.cancel();
  line.begin("b");
  hear(1);
  pump();
  assert.deepEqual(out.slice(-2), [{ type: "audio.start", codec: "pcm_s16le", sample_rate: 16000, turn_key: "b", first_seq: 10 }, 10]);
});

test("stopped_answer_is_announced_again_to_be_taken_back", () => {
  const { line, hear, pump, types } = wire();
  line.begin("a");
  hear(2);
  line.stop();
  pump();
  line.cancel();
  assert.deepEqual(types(), ["audio.start", "audio.stop", "audio.start", "audio.cancel"]);
});

test("cancel_without_connection_is_told_later_and_leaves_no_gap_in_the_numbers", () => {
  const { line, hear, pump, out, types, state } = wire();
  line.begin("a");
  hear(5);
  pump();
  line.lost();
  state.linked = false;
  hear(9);
  line.cancel();
  assert.deepEqual(types(), ["audio.start"]);
  state.linked = true;
  line.greeted(5);
  out.length = 0;
  hear(2);
  line.begin("b");
  pump();
  const start = { type: "audio.start", codec: "pcm_s16le", sample_rate: 16000 };
  assert.deepEqual(out, [{ ...start, turn_key: "b", first_seq: 5 }, 5, 6]);
});

test("cancel_without_connection_names_the_answer_that_is_taken_back", () => {
  const { line, hear, pump, out, state } = wire();
  line.begin("a");
  hear(5);
  pump();
  line.lost();
  state.linked = false;
  line.cancel();
  out.length = 0;
  line.greeted(5);
  assert.deepEqual(out.map(({ type, turn_key }) => [type, turn_key]), [["audio.start", "a"], ["audio.cancel", undefined]]);
  out.length = 0;
  line.begin("b");
  hear(3);
  pump();
  line.ack(6);
  line.lost();
  out.length = 0;
  line.greeted(7);
  assert.deepEqual(out, []);
});

test("cancel_that_may_have_been_lost_with_the_connection_is_said_again_and_costs_the_next_answer_nothing", () => {
  const { line, hear, pump, out } = wire();
  line.begin("a");
  hear(5);
  pump();
  line.cancel();
  line.begin("b");
  hear(3);
  pump();
  line.ack(4);
  line.lost();
  out.length = 0;
  line.greeted(8);
  line.begin("b");
  pump();
  assert.deepEqual(out.map((item) => item.turn_key ?? item.type ?? item), ["a", "audio.cancel", "b", 5, 6, 7]);
  assert.equal(out[2].first_seq, 5);
});

test("kept_answer_of_before_a_reload_is_taken_back_at_once", () => {
  const { line, out } = wire();
  line.restore("old", [7, 8, 9].map((seq) => ({ seq, pcm: pcm(seq) })));
  line.resume(8);
  line.cancel();
  assert.deepEqual(out.map(({ type, turn_key }) => [type, turn_key]), [["audio.start", "old"], ["audio.cancel", undefined]]);
  assert.equal(line.tape.next, 8);
});

test("what_was_heard_before_an_answer_is_put_aside_under_its_key", () => {
  const { line, hear, keys } = wire();
  hear(3);
  line.begin("a");
  assert.deepEqual([...keys], ["a"]);
});

test("cancelled_answer_leaves_nothing_on_the_device", () => {
  const { line, hear, pump, kept } = wire();
  line.begin("a");
  hear(50);
  pump();
  line.lost();
  hear(100);
  line.cancel();
  assert.deepEqual(kept, []);
});

test("erased_interview_is_owed_no_cancel", () => {
  const { line, hear, out, state } = wire();
  line.begin("a");
  hear(5);
  line.lost();
  state.linked = false;
  line.end();
  out.length = 0;
  line.greeted(0);
  assert.deepEqual(out, []);
});

test("answer_longer_than_can_be_kept_says_so_and_keeps_its_beginning", () => {
  const { line } = wire(3);
  line.begin("k");
  assert.deepEqual([1, 2, 3, 4].map((value) => line.hear(pcm(value), true)), [true, true, true, false]);
  assert.equal(line.tape.first, 0);
});

/** A minute of silence is streamed and acknowledged. @param {ReturnType<typeof wire>} wired @param {boolean} [sound] */
function minute({ line, hear, pump }, sound = false) {
  for (let step = 0; step < 250; step += 1) {
    hear(6, sound);
    pump(240);
    line.ack(line.tape.sent - 1);
  }
}

test("silence_before_an_answer_fills_no_tape_and_leaves_the_device", () => {
  const wired = wire(2000);
  const { line, forgotten } = wired;
  line.begin("k");
  minute(wired);
  minute(wired);
  const { first, next, frames } = line.tape;
  assert.ok(next === 3000 && frames.length >= LEAD_FRAMES && frames.length < LEAD_FRAMES + 100, String(frames.length));
  assert.equal(forgotten(), first);
  line.heard = true;
  minute(wired);
  assert.deepEqual([line.tape.first, line.tape.next], [first, 4500]);
  line.heard = false;
  minute(wired);
  assert.ok(line.tape.frames.length < LEAD_FRAMES + 100);
});

test("silence_is_kept_while_the_server_does_not_have_it", () => {
  const { line, hear } = wire(2000);
  line.begin("k");
  hear(1000, false);
  assert.equal(line.tape.first, 0);
  hear(1500, false);
  assert.ok(line.tape.first > 0 && line.tape.next === 2500);
  hear(1, true);
  hear(2000, false);
  assert.ok(line.tape.full && line.tape.frames.some(({ seq }) => seq === 2500));
});

test("server_that_is_ahead_moves_the_numbers_on", () => {
  const { line, hear, pump, out } = wire();
  line.resume(500);
  line.begin("k");
  hear(1);
  pump();
  assert.equal(out[0].first_seq, 500);
  assert.deepEqual(out[1], 500);
});

test("frames_of_an_earlier_visit_are_sent_from_where_the_server_has_them", () => {
  const { line, pump, out } = wire();
  line.restore("old", [7, 8, 9].map((seq) => ({ seq, pcm: pcm(seq) })));
  line.resume(8);
  line.begin("old");
  line.stop();
  pump();
  assert.equal(out[0].first_seq, 8);
  assert.deepEqual(out.slice(1), [8, 9, { type: "audio.stop" }]);
});

test("frames_that_a_reload_lost_are_passed_over", () => {
  const { line, hear, pump, out } = wire();
  line.restore("old", [0, 1, 2].map((seq) => ({ seq, pcm: pcm(seq) })));
  line.resume(6);
  line.begin("old");
  hear(2);
  pump();
  line.lost();
  line.resume(0);
  out.length = 0;
  line.begin("old");
  pump();
  assert.deepEqual(out.slice(1), [0, 1, 2, 6, 7]);
  line.tape.ack(2);
  line.rewind();
  out.length = 0;
  line.begin("old");
  pump();
  assert.equal(out[0].first_seq, 6);
  assert.deepEqual(out.slice(1), [6, 7]);
});

test("waiting_sound_is_kept_whole_and_quiet_is_cut_down", () => {
  const waiting = new Waiting(1000, 12, 50);
  for (let index = 0; index < 200; index += 1) waiting.push(pcm(index), false);
  assert.ok(waiting.frames.length <= 51);
  const lead = waiting.frames.length;
  for (let index = 0; index < 30; index += 1) waiting.push(pcm(index), true);
  assert.equal(waiting.drain().length, lead + 30);
  assert.equal(waiting.drain().length, 0);
});

test("any_interleaving_of_loss_and_delay_delivers_each_frame_of_an_answer", () => {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let run = 0; run < 60; run += 1) {
    /** @type {Set<number>} */
    const server = new Set();
    let expected = 0;
    let linked = true;
    const line = new Line(10_000, {
      message: () => undefined,
      bytes: (bytes) => {
        const seq = new DataView(bytes.buffer).getUint32(0);
        if (linked && seq === expected) { server.add(seq); expected += 1; }
      },
      keep: () => undefined, forget: () => undefined, wipe: () => undefined, linked: () => linked,
    });
    line.begin("k");
    let now = 1;
    for (let step = 0; step < 400; step += 1) {
      now += 40;
      line.hear(pcm(step), true);
      if (linked) line.pump(now, 0);
      if (random() < 0.3) line.tape.ack(expected - 1);
      if (random() < 0.03) { linked = false; line.lost(); }
      if (!linked && random() < 0.2) {
        if (random() < 0.3) { expected = 0; server.clear(); }
        linked = true;
        line.resume(expected);
        line.begin("k");
      }
    }
    if (!linked) { linked = true; line.resume(expected); line.begin("k"); }
    for (let step = 0; step < 400; step += 1) {
      now += 40;
      line.tape.ack(expected - 1);
      line.pump(now, 0);
    }
    assert.equal(server.size, 400, `run ${run}`);
  }
});

test("shelf_gives_the_newest_run_without_gaps", () => {
  const rows = [1, 2, 5, 6, 7].map((seq) => ({ seq, key: seq > 6 ? "b" : "a", pcm: pcm(seq) }));
  assert.deepEqual(newest(rows)?.frames.map(({ seq }) => seq), [5, 6, 7]);
  assert.equal(newest(rows)?.key, "b");
  assert.equal(newest([]), null);
});
