/** Reads questions aloud: with the server's voice where that is wanted and works, else with one of the device. */

import { Player, samplesOf } from "./player.js";
import { Reader } from "./reader.js";

/**
 * @typedef {import("../core/messages.js").ServerMessage} ServerMessage
 *
 * What the server reads: `used`: it was played, or is. `at`: where the rest begins in the text, once its voice has failed.
 * @typedef {{number: number, turn: number, rate: number, pieces: Float32Array<ArrayBuffer>[], length: number, used: boolean,
 *   complete: boolean, at: number | null}} Reading
 *
 * @typedef {object} Told
 * @property {() => void} ask the server is to read what the interviewer said last.
 * @property {() => void} started
 * @property {(how: "finished" | "stopped" | "failed") => void} over
 * @property {(turn: number) => void} audible something can be heard of a question that nobody has asked to read yet.
 */

/** Longest time without news of a reading that is waited for: longer than the server needs to give up a sentence. */
const STALLED_MS = 15_000;
/** No question is longer. */
const MOST_S = 300;

export class Aloud {
  /** @param {Told} told */
  constructor(told) {
    this.told = told;
    this.device = new Reader({
      started: () => this.#begin(),
      over: (how) => this.#over(how),
    });
    this.player = new Player({
      started: () => this.#begin(),
      over: (how) => this.#played(how),
    });
    /** Whether the server has a voice. */
    this.offered = false;
    /** Whether it is to be used. */
    this.server = false;
    /** @type {Reading | null} the newest one. */
    this.newest = null;
    /** @type {Reading | null} the one that is played. */
    this.played = null;
    /** Whether the server was asked to read and has not begun. */
    this.awaited = false;
    /** From where on the device is to read, once the text is known. @type {number | null} */
    this.left = null;
    /** Whether something is read. */
    this.busy = false;
    this.begun = false;
    this.text = "";
    this.language = "en";
    this.watch = 0;
  }

  /** Safari lets the first words begin within a gesture only. */
  prime() {
    if (this.offered) this.player.prime();
    this.device.prime();
  }

  /** @param {string} language @returns {boolean} */
  speaks(language) {
    return this.server || this.device.speaks(language);
  }

  /**
   * @param {string} text "" while it is still written.
   * @param {string} language
   * @param {number} turn of the question.
   * @param {boolean} [again] whether it was read before.
   */
  read(text, language, turn, again = false) {
    this.#silence();
    this.busy = true;
    this.begun = false;
    this.text = text;
    this.language = language;
    if (!this.server || !this.player.able) return void this.device.read(text, language);
    const { newest } = this;
    if (newest && newest.turn === turn && !newest.used && !again) return this.#play(newest);
    this.awaited = true;
    this.#expect();
    this.told.ask();
  }

  /** The question that is read is complete. @param {string} text */
  written(text) {
    this.text = text;
    if (this.busy && this.left !== null) this.#leave(this.left);
  }

  /** Stops in the middle. */
  hush() {
    if (!this.busy) return;
    this.#silence();
    this.#over("stopped");
  }

  /** The connection is lost: nothing more comes. */
  lost() {
    const { played } = this;
    this.newest = null;
    if (this.awaited) this.#fall();
    else if (this.busy && played && !played.complete && played.at === null) this.#cut(played);
  }

  /** Lets go of the loudspeaker. */
  close() {
    this.#silence();
    this.busy = false;
    this.newest = null;
    this.player.close();
  }

  // What the server sends

  /** @param {ServerMessage} message */
  heard(message) {
    switch (message.type) {
      case "reading.started": return this.#announced(message);
      case "reading.completed": return this.#ended(message.reading, null);
      case "reading.failed": return this.#ended(message.reading, message.at);
      case "question.withdrawn": return this.#withdrawn(message.turn_number);
    }
  }

  /** @param {ArrayBuffer} frame number of the reading, four bytes, then samples. */
  sounded(frame) {
    if (frame.byteLength < 4) return;
    const number = new DataView(frame).getUint32(0);
    const reading = this.#of(number);
    if (!reading) return;
    const samples = samplesOf(new Uint8Array(frame, 4));
    reading.length += samples.length;
    if (reading.length > MOST_S * reading.rate) return;
    if (reading === this.played) {
      this.#expect();
      return this.player.push(samples);
    }
    reading.pieces.push(samples);
    if (reading.pieces.length === 1 && !reading.used) this.told.audible(reading.turn);
  }

  /** @param {number} number @returns {Reading | null} */
  #of(number) {
    return [this.played, this.newest].find((reading) => reading?.number === number) ?? null;
  }

  /** @param {import("../core/messages.js").ReadingStarted} message */
  #announced({ reading: number, turn_number: turn, sample_rate: rate }) {
    const { played } = this;
    const fresh = { number, turn, rate, pieces: [], length: 0, used: false, complete: false, at: null };
    this.newest = fresh;
    if (this.awaited) return this.#play(fresh);
    if (!played || !this.busy || played.complete || played.at !== null) return;
    // The question is asked otherwise, or another one comes: nothing more comes of this one.
    if (played.turn === turn) this.#play(fresh);
    else if (played.length > 0) this.#cut(played);
    else this.hush();
  }

  /** @param {number} number @param {number | null} at */
  #ended(number, at) {
    const reading = this.#of(number);
    if (!reading) return;
    reading.complete = at === null;
    reading.at = at;
    if (reading !== this.played) return;
    clearTimeout(this.watch);
    this.player.end();
  }

  /** @param {number} turn */
  #withdrawn(turn) {
    if (this.newest?.turn === turn) this.newest = null;
    if (this.busy && this.played?.turn === turn) this.hush();
  }

  // Playing

  /** @param {Reading} reading */
  #play(reading) {
    this.#silence();
    this.played = reading;
    reading.used = true;
    this.player.begin(reading.rate);
    for (const piece of reading.pieces) this.player.push(piece);
    reading.pieces = [];
    if (reading.complete || reading.at !== null) this.player.end();
    else this.#expect();
  }

  #begin() {
    if (this.begun || !this.busy) return;
    this.begun = true;
    this.told.started();
  }

  /** What was sent has been played, or can't be. @param {"finished" | "failed"} how */
  #played(how) {
    clearTimeout(this.watch);
    const { played } = this;
    if (how === "failed") return this.#fall();
    if (played && played.at !== null) return this.#leave(played.at);
    this.#over("finished");
  }

  /** The device reads what the server's voice has left, as soon as the question is complete. @param {number} at where that begins. */
  #leave(at) {
    this.left = this.text === "" ? at : null;
    if (this.text === "") return;
    const rest = [...this.text].slice(at).join("");
    if (rest.trim() === "") this.#over("finished");
    else void this.device.read(rest, this.language);
  }

  /** The server's voice can't be heard: the device reads. */
  #fall() {
    this.#silence();
    this.#leave(0);
  }

  /** Nothing more comes of this one: what there is of it is played. @param {Reading} reading */
  #cut(reading) {
    clearTimeout(this.watch);
    if (reading.length === 0) return this.#fall();
    reading.complete = true;
    this.player.end();
  }

  /** Nobody waits for a reading for ever. */
  #expect() {
    clearTimeout(this.watch);
    this.watch = window.setTimeout(() => {
      const { played } = this;
      if (this.awaited || !played) this.#fall();
      else this.#cut(played);
    }, STALLED_MS);
  }

  #silence() {
    clearTimeout(this.watch);
    this.awaited = false;
    this.left = null;
    this.played = null;
    this.player.stop();
    this.device.silence();
  }

  /** @param {"finished" | "stopped" | "failed"} how */
  #over(how) {
    if (!this.busy) return;
    clearTimeout(this.watch);
    this.busy = false;
    this.told.over(how);
  }
}
