/** Questions read aloud: the server's voice piece by piece, and the device's where that fails. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Aloud } from "../static/voice/aloud.js";
import { samplesOf } from "../static/voice/player.js";
import { readByServer } from "../static/voice/state.js";
import { Speaker } from "./speaker.js";

const RATE = 24_000;
const TEXT = "That helps me. What else matters?";
const REST_AT = "That helps me. ".length;

/** A loudspeaker, the voices of a device and a clock that do what a test says. */
class Room {
  constructor() {
    /** @type {any[]} */
    this.sources = [];
    this.now = 0;
    this.state = "running";
    /** What the device has read. @type {string[]} */
    this.spoken = [];
    /** @type {any[]} */
    this.utterances = [];
    this.voices = [{ lang: "en-US", localService: true, default: true, name: "Test" }];
    /** @type {Map<number, {at: number, act: () => void}>} */
    this.timers = new Map();
    this.ids = 0;
    this.clock = 0;
    this.#install();
  }

  #install() {
    const room = this;
    class Context {
      get state() { return room.state; }

      get currentTime() { return room.now; }

      get destination() { return {}; }

      createBuffer(/** @type {number} */ _, /** @type {number} */ length, /** @type {number} */ rate) {
        return { duration: length / rate, data: new Float32Array(length), copyToChannel(/** @type {Float32Array} */ from) { this.data.set(from); } };
      }

      createBufferSource() {
        const source = {
          buffer: null, at: 0, stopped: false, onended: null, connect: () => undefined, disconnect: () => undefined,
          start(/** @type {number} */ at) { this.at = at; }, stop() { this.stopped = true; },
        };
        room.sources.push(source);
        return source;
      }

      async resume() { return undefined; }

      async close() { return undefined; }
    }
    const synthesis = {
      getVoices: () => room.voices,
      cancel: () => { room.utterances = []; },
      speak: (/** @type {any} */ utterance) => {
        if (!utterance.text) return;
        room.spoken.push(utterance.text);
        room.utterances.push(utterance);
      },
      addEventListener: (/** @type {string} */ _, /** @type {() => void} */ act) => act(),
    };
    class Utterance {
      /** @param {string} text */
      constructor(text) { this.text = text; }
    }
    const window = {
      speechSynthesis: synthesis,
      setTimeout: (/** @type {() => void} */ act, /** @type {number} */ delay) => {
        this.timers.set((this.ids += 1), { at: this.clock + delay, act });
        return this.ids;
      },
    };
    const globals = { window, AudioContext: Context, SpeechSynthesisUtterance: Utterance, clearTimeout: (/** @type {number} */ id) => this.timers.delete(id) };
    for (const [name, value] of Object.entries(globals)) {
      this.before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
  }

  /** @type {Map<string, PropertyDescriptor | undefined>} */
  before = new Map();

  leave() {
    for (const [name, was] of this.before) {
      if (was) Object.defineProperty(globalThis, name, was);
      else delete (/** @type {any} */ (globalThis))[name];
    }
  }

  /** Time passes. @param {number} ms */
  pass(ms) {
    this.clock += ms;
    for (const [id, { at, act }] of [...this.timers]) if (at <= this.clock && this.timers.delete(id)) act();
  }

  /** What was to be played has been. */
  play() {
    for (const source of this.sources) {
      const { onended } = source;
      source.onended = null;
      onended?.();
    }
  }

  /** Samples that were or are to be heard, of those that were not stopped. */
  get heard() {
    return this.sources.filter((source) => !source.stopped).flatMap((source) => [...source.buffer.data]);
  }

  /** The device has read all that it was given. */
  async finish() {
    await settled();
    for (const utterance of [...this.utterances]) utterance.onstart?.();
    for (const utterance of [...this.utterances]) utterance.onend?.();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** @type {Room} */
let room;
/** @type {string[]} */
let told;
/** @type {Aloud} */
let aloud;

beforeEach(() => {
  room = new Room();
  told = [];
  aloud = new Aloud({
    ask: () => told.push("ask"), started: () => told.push("started"), over: (how) => told.push(how), audible: (turn) => told.push(`audible ${turn}`),
  });
  aloud.offered = aloud.server = true;
});
afterEach(() => room.leave());

/** @param {number} reading @param {number[]} samples */
function frame(reading, samples) {
  const view = new DataView(new ArrayBuffer(4 + 2 * samples.length));
  view.setUint32(0, reading);
  samples.forEach((sample, at) => view.setInt16(4 + 2 * at, sample, true));
  return view.buffer;
}

/** @param {number} reading @param {number} turn */
const started = (reading, turn) => aloud.heard({ type: "reading.started", reading, turn_number: turn, sample_rate: RATE });

/** @param {number} reading @param {number[]} samples */
const sounds = (reading, ...samples) => aloud.sounded(frame(reading, samples));

test("samples_of_16_bits_become_numbers_around_zero", () => {
  assert.deepEqual([...samplesOf(new Uint8Array(frame(1, [0, 16_384, -32_768, 32_767])).subarray(4))], [0, 0.5, -1, 32_767 / 32_768]);
});

test("server_reads_what_came_before_and_after_the_wish_in_order_and_without_a_gap", () => {
  started(1, 3);
  sounds(1, 16_384);
  aloud.read(TEXT, "en", 3);
  sounds(1, -16_384);
  assert.deepEqual(told, ["audible 3", "started"]);
  assert.deepEqual(room.heard, [0.5, -0.5]);
  const [first, second] = room.sources;
  assert.equal(second.at, first.at + first.buffer.duration);
  room.play();
  assert.deepEqual(told.slice(2), [], "more may come");
  aloud.heard({ type: "reading.completed", reading: 1 });
  assert.deepEqual(told.slice(2), ["finished"]);
  assert.deepEqual(room.spoken, []);
});

test("question_that_the_server_has_not_begun_with_is_asked_for_once", () => {
  aloud.read(TEXT, "en", 0);
  assert.deepEqual(told, ["ask"]);
  started(4, 0);
  sounds(4, 100);
  aloud.heard({ type: "reading.completed", reading: 4 });
  room.play();
  assert.deepEqual(told, ["ask", "started", "finished"]);
  aloud.read(TEXT, "en", 0);
  assert.deepEqual(told.slice(3), ["ask"], "what was played is not there any more");
});

test("voice_that_fails_in_the_middle_leaves_the_rest_to_the_device", async () => {
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  sounds(1, 100);
  aloud.heard({ type: "reading.failed", reading: 1, at: REST_AT });
  assert.deepEqual(room.spoken, [], "what was sent is heard first");
  room.play();
  await room.finish();
  assert.deepEqual(room.spoken, ["What else matters?"]);
  assert.deepEqual(told, ["started", "finished"]);
});

test("voice_that_fails_at_once_leaves_all_to_the_device", async () => {
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  aloud.heard({ type: "reading.failed", reading: 1, at: 0 });
  await room.finish();
  assert.deepEqual(room.spoken, ["That helps me.", "What else matters?"]);
  assert.deepEqual(told, ["started", "finished"]);
});

test("place_of_the_rest_is_counted_in_characters_not_in_halves_of_them", async () => {
  started(1, 3);
  aloud.read("👍 Good. And why?", "en", 3);
  aloud.heard({ type: "reading.failed", reading: 1, at: 8 });
  await room.finish();
  assert.deepEqual(room.spoken, ["And why?"]);
});

test("device_without_a_voice_says_that_the_rest_was_not_read", async () => {
  room.voices = [];
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  aloud.heard({ type: "reading.failed", reading: 1, at: 0 });
  await settled();
  assert.deepEqual(told, ["failed"]);
});

test("question_that_is_withdrawn_is_silent_at_once_and_never_heard_again", () => {
  started(1, 3);
  sounds(1, 100);
  aloud.heard({ type: "question.withdrawn", turn_number: 3, attempt: 1 });
  sounds(1, 200);
  aloud.read(TEXT, "en", 3);
  assert.deepEqual(room.heard, []);
  assert.deepEqual(told, ["audible 3", "ask"]);
  started(2, 3);
  sounds(2, 300);
  aloud.heard({ type: "question.withdrawn", turn_number: 3, attempt: 2 });
  assert.deepEqual(room.heard, []);
  assert.deepEqual(told.at(-1), "stopped");
  sounds(2, 400);
  room.pass(60_000);
  assert.deepEqual(room.spoken, []);
});

test("question_that_is_asked_otherwise_is_read_anew", () => {
  started(1, 3);
  aloud.read("", "en", 3);
  sounds(1, 16_384);
  started(2, 3);
  sounds(1, 100);
  sounds(2, -16_384);
  assert.deepEqual(room.heard, [-0.5]);
  assert.deepEqual(told, ["started"]);
});

test("hush_is_silent_at_once", () => {
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  sounds(1, 100);
  aloud.hush();
  sounds(1, 200);
  assert.deepEqual(room.heard, []);
  assert.deepEqual(told, ["started", "stopped"]);
  aloud.hush();
  assert.equal(told.length, 2);
});

test("connection_that_is_lost_ends_with_what_there_is", async () => {
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  sounds(1, 100);
  aloud.lost();
  room.play();
  assert.deepEqual(told, ["started", "finished"]);
  aloud.read(TEXT, "en", 4);
  aloud.lost();
  await room.finish();
  assert.equal(room.spoken.join(" "), TEXT, "what the server has not begun with, the device reads");
});

test("server_that_says_nothing_more_is_not_waited_for", async () => {
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  room.pass(16_000);
  await room.finish();
  assert.equal(room.spoken.join(" "), TEXT);
  assert.deepEqual(told, ["started", "finished"]);
});

test("browser_that_does_not_play_leaves_all_to_the_device", async () => {
  room.state = "suspended";
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  sounds(1, 100);
  assert.deepEqual(told, [], "nobody hears anything yet");
  room.pass(2_000);
  await room.finish();
  assert.equal(room.spoken.join(" "), TEXT);
});

test("voice_that_fails_before_the_question_is_complete_waits_for_its_text", async () => {
  started(1, 3);
  aloud.read("", "en", 3);
  sounds(1, 100);
  aloud.heard({ type: "reading.failed", reading: 1, at: REST_AT });
  room.play();
  assert.deepEqual(told, ["started"]);
  aloud.written(TEXT);
  await room.finish();
  assert.deepEqual(room.spoken, ["What else matters?"]);
  assert.deepEqual(told, ["started", "finished"]);
});

test("device_reads_where_the_server_is_not_to", async () => {
  aloud.server = false;
  aloud.read(TEXT, "en", 3);
  await room.finish();
  assert.equal(room.spoken.join(" "), TEXT);
  assert.deepEqual(told, ["started", "finished"]);
});

test("frames_that_belong_to_nothing_are_passed_over", () => {
  sounds(9, 100);
  aloud.sounded(new ArrayBuffer(2));
  started(1, 3);
  aloud.read(TEXT, "en", 3);
  aloud.sounded(frame(1, []));
  sounds(9, 100);
  assert.deepEqual(room.heard, []);
});

// Who has the floor

const OWN = { voice: true };

test("server_is_asked_to_read_where_it_has_a_voice_and_the_respondent_wants_it", () => {
  const speaker = Speaker.listening({ read: true }, OWN);
  assert.deepEqual(speaker.sent("read_aloud"), [{ type: "read_aloud", on: true }]);
  assert.ok(readByServer(speaker.state));
  speaker.now({ online: false }).now({ online: true });
  assert.equal(speaker.sent("read_aloud").length, 2, "another connection knows nothing of it");
  speaker.do({ type: "settings", settings: { ...speaker.state.settings, deviceVoice: true }, key: "k" });
  assert.deepEqual(speaker.sent("read_aloud").at(-1), { type: "read_aloud", on: false });
  speaker.do({ type: "settings", settings: { ...speaker.state.settings, deviceVoice: false }, key: "k" }).do({ type: "leave" });
  assert.deepEqual(speaker.sent("read_aloud").slice(-2).map(({ on }) => on), [true, false]);
});

test("server_without_a_voice_is_told_nothing", () => {
  const speaker = Speaker.listening({ read: true }).now({ online: false }).now({ online: true }).do({ type: "leave" });
  assert.deepEqual(speaker.sent("read_aloud"), []);
});

test("question_is_read_while_it_is_written_once_nobody_speaks", () => {
  const speaker = Speaker.listening({ read: true }, OWN).do({ type: "read", how: "finished", key: "k" });
  const key = speaker.current;
  speaker.hear({ type: "transcript.partial", text: "It is warm", stable: 10 });
  speaker.hear({ type: "answer.ending", turn_key: key, left_ms: 3000 }).now({ floor: "thinking", question: null });
  speaker.do({ type: "audible", turn: 1 });
  assert.equal(speaker.effect("read"), undefined, "the answer may still go on");
  speaker.hear({ type: "turn.started", id: 2, turn_key: key });
  speaker.do({ type: "audible", turn: 1 });
  assert.deepEqual(speaker.effect("read"), { type: "read", text: "", turn: 1 });
  assert.equal(speaker.mood, "reading");
  speaker.do({ type: "reading" });
  assert.deepEqual(speaker.sent("playback").at(-1), { type: "playback", state: "started" });
  speaker.now({ floor: "free", question: { key: "q1", turn: 1, text: "And why?" } });
  assert.equal(speaker.effect("written").text, "And why?");
  assert.equal(speaker.all.filter(({ type }) => type === "read").length, 2, "the opening, and this one");
  assert.equal(speaker.current, null, "nothing is listened to meanwhile");
  speaker.do({ type: "read", how: "finished", key: "k" });
  assert.notEqual(speaker.current, null);
});

test("question_that_is_withdrawn_while_it_is_read_early_is_read_when_it_comes_again", () => {
  const speaker = Speaker.listening({ read: true }, OWN).do({ type: "read", how: "finished", key: "k" });
  speaker.hear({ type: "turn.started", id: 2, turn_key: speaker.current }).now({ floor: "thinking", question: null });
  speaker.do({ type: "audible", turn: 1 }).do({ type: "reading" });
  speaker.hear({ type: "question.withdrawn", turn_number: 1, attempt: 1 }).do({ type: "read", how: "stopped", key: "k" });
  assert.deepEqual(speaker.sent("playback").at(-1), { type: "playback", state: "stopped" });
  speaker.now({ floor: "free", question: { key: "q1", turn: 1, text: "And why?" } });
  assert.equal(speaker.effect("read").text, "And why?");
});

test("turn_that_fails_ends_the_reading_of_its_question", () => {
  const speaker = Speaker.listening({ read: true }, OWN).do({ type: "read", how: "finished", key: "k" });
  speaker.hear({ type: "turn.started", id: 2, turn_key: speaker.current }).now({ floor: "thinking", question: null });
  speaker.do({ type: "audible", turn: 1 }).hear({ type: "turn.failed", id: 3, turn_key: "k1", code: "llm_unavailable" });
  assert.ok(speaker.effect("hush"));
});

test("question_is_not_read_early_where_respondents_may_interrupt_it", () => {
  const speaker = Speaker.listening({ read: true }, { ...OWN, barge_in: true }).do({ type: "read", how: "finished", key: "k" });
  speaker.hear({ type: "turn.started", id: 2, turn_key: speaker.current }).now({ floor: "thinking", question: null });
  speaker.do({ type: "audible", turn: 1 });
  assert.equal(speaker.effect("read"), undefined);
});

test("words_stop_the_server_s_voice_where_they_may", () => {
  const speaker = Speaker.listening({ read: true }, { ...OWN, barge_in: true }).do({ type: "reading" }).do({ type: "sound", key: "s" });
  speaker.hear({ type: "transcript.partial", text: "No, wait", stable: 0 });
  assert.ok(speaker.effect("hush"));
  speaker.do({ type: "read", how: "stopped", key: "k" });
  assert.deepEqual(speaker.sent("playback").at(-1), { type: "playback", state: "stopped" });
});
