/** One spoken answer after another on the wire: announced, sent, stopped, and all of it again after a lost connection. */

import { Tape, Waiting, packed } from "./tape.js";

/** @typedef {import("../core/messages.js").ClientMessage} ClientMessage */
/** @typedef {import("./tape.js").Frame} Frame */

/**
 * What a line needs of the world.
 * @typedef {object} Post
 * @property {(message: ClientMessage) => void} message
 * @property {(bytes: Uint8Array<ArrayBuffer>) => void} bytes
 * @property {(frame: Frame) => void} keep put aside in case the page is loaded anew.
 * @property {(seq: number) => void} forget what was put aside below this number.
 */

export class Line {
  /** @param {number} most frames of one answer. @param {Post} post */
  constructor(most, post) {
    this.tape = new Tape(most);
    this.waiting = new Waiting();
    this.post = post;
    /** Turn key of the answer being spoken. @type {string | null} */
    this.key = null;
    /** Whether it is announced over the present connection. */
    this.open = false;
    /** Where the answer ends, once its speaker said so. @type {number | null} */
    this.stopAt = null;
    this.stopSent = false;
    /** Numbers below this had left over the connections before. */
    this.reached = 0;
  }

  /** Frames of the answer that its speaker has not heard back as sent. */
  get backlog() {
    return this.key === null ? 0 : this.tape.backlog;
  }

  /**
   * One frame from the microphone.
   * @param {Uint8Array} pcm @param {boolean} sound whether it could be a voice.
   * @returns {boolean} false when the answer has become longer than can be kept.
   */
  hear(pcm, sound) {
    if (this.key === null || this.stopAt !== null) {
      this.waiting.push(pcm, sound);
      return true;
    }
    return this.#push(pcm);
  }

  /** @param {Uint8Array} pcm */
  #push(pcm) {
    const frame = this.tape.push(pcm);
    if (frame) this.post.keep(frame);
    return frame !== null;
  }

  /** Begins an answer, or goes on with it over a new connection. @param {string} key */
  begin(key) {
    if (this.key !== key || this.stopAt === null) for (const pcm of this.waiting.drain()) this.#push(pcm);
    if (this.key !== key) {
      this.key = key;
      this.stopAt = null;
    }
    this.open = true;
    this.stopSent = false;
    this.post.message({
      type: "audio.start", codec: "pcm_s16le", sample_rate: 16000, turn_key: key, first_seq: this.tape.cursor,
    });
  }

  /** The speaker is done; what is heard from now on belongs to the next answer. */
  stop() {
    if (this.key !== null && this.stopAt === null) this.stopAt = this.tape.next;
  }

  /**
   * Sends what may be sent now.
   * @param {number} nowMs monotonic. @param {number} waitingBytes not yet out of the socket.
   */
  pump(nowMs, waitingBytes) {
    if (!this.open || waitingBytes > 512 * 1024) return;
    for (const frame of this.tape.take(this.stopAt ?? Infinity, nowMs)) this.post.bytes(packed(frame));
    if (this.stopAt !== null && this.tape.cursor >= this.stopAt && !this.stopSent) {
      this.stopSent = true;
      this.post.message({ type: "audio.stop" });
    }
  }

  /** The connection is gone. */
  lost() {
    this.open = false;
    this.stopSent = false;
    this.reached = Math.max(this.reached, this.tape.sent);
  }

  /**
   * An answer of an earlier visit.
   * @param {string} key @param {readonly Frame[]} frames in order.
   */
  restore(key, frames) {
    this.tape.restore(frames);
    this.key = key;
    this.reached = this.tape.next;
  }

  /** The server greets: here it wants to go on. @param {number} firstUnreceived */
  resume(firstUnreceived) {
    this.tape.resume(firstUnreceived);
  }

  /** A part did not arrive. */
  rewind() {
    this.tape.rewind();
    this.stopSent = false;
  }

  /** The answer has become words. @param {number | null} next its first frame that has not; null: as far as it was sent. */
  over(next) {
    this.tape.settle(next ?? this.tape.sent);
    this.post.forget(this.tape.first);
    this.key = null;
    this.open = false;
    this.stopAt = null;
    this.stopSent = false;
  }

  /** It was taken over an earlier connection, and nobody knows up to where: what had left by then was part of it. */
  taken() {
    this.over(this.reached);
  }

  /** The answer is not wanted. */
  cancel() {
    // What was stopped has to be announced once more before it can be taken back.
    if (this.open && this.stopSent && this.key !== null) this.begin(this.key);
    if (this.open) this.post.message({ type: "audio.cancel" });
    this.tape.clear();
    this.waiting.drain();
    this.over(null);
  }
}
