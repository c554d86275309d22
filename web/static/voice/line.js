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
 * @property {() => void} wipe forget all that was put aside.
 * @property {() => boolean} linked whether the connection stands.
 */

/** Of a silence before somebody speaks, ten seconds are kept, as the server does; it is let go in steps. */
export const LEAD_FRAMES = 250;
const STEP_FRAMES = 50;

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
    /** Whether the server hears, or has heard, somebody speak in this answer. */
    this.heard = false;
    /** Number of the newest frame that could be a voice. */
    this.loud = -1;
    /** Turn key of the newest answer that was taken back. @type {string | null} */
    this.dropped = null;
    /** Whether the server may not have heard of that; and whether it was told over the present connection. */
    this.owing = false;
    this.told = false;
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
    return this.#push(pcm, sound);
  }

  /** @param {Uint8Array} pcm @param {boolean} sound */
  #push(pcm, sound) {
    if (this.tape.full && !this.heard && this.loud < this.tape.first) this.#letGo(this.tape.first + STEP_FRAMES);
    if (sound) this.loud = this.tape.next;
    const frame = this.tape.push(pcm);
    if (frame) this.post.keep(frame);
    return frame !== null;
  }

  /** Begins an answer, or goes on with it over a new connection. @param {string} key */
  begin(key) {
    if (this.owing && !this.told) this.#takeBack();
    if (this.key !== key) {
      this.key = key;
      this.heard = false;
      this.stopAt = null;
    }
    if (this.stopAt === null) for (const pcm of this.waiting.drain()) this.#push(pcm, true);
    this.open = true;
    this.stopSent = false;
    this.#announce(key);
  }

  /** @param {string} key */
  #announce(key) {
    this.post.message({
      type: "audio.start", codec: "pcm_s16le", sample_rate: 16000, turn_key: key, first_seq: this.tape.cursor,
    });
  }

  /** Only what is announced over the present connection can be taken back. */
  #takeBack() {
    if (this.dropped === null) return;
    this.#announce(this.dropped);
    this.post.message({ type: "audio.cancel" });
    this.told = true;
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
    this.told = false;
    this.reached = Math.max(this.reached, this.tape.sent);
  }

  /**
   * An answer of an earlier visit.
   * @param {string} key @param {readonly Frame[]} frames in order.
   */
  restore(key, frames) {
    this.tape.restore(frames);
    this.key = key;
    this.heard = true;
    this.reached = this.tape.next;
  }

  /** Here the server wants to go on. @param {number} firstUnreceived */
  resume(firstUnreceived) {
    this.tape.resume(firstUnreceived);
  }

  /** A connection begins with this greeting. @param {number} firstUnreceived */
  greeted(firstUnreceived) {
    this.resume(firstUnreceived);
    if (!this.owing) return;
    this.#takeBack();
    // Of what was said since, a part may have been taken back with it.
    this.tape.again();
  }

  /** The server has taken frames. @param {number} seq the newest. */
  ack(seq) {
    // The first frame of the next answer came after the word that took the last one back.
    if (this.key !== null && seq >= this.tape.first && seq < this.tape.sent) this.owing = false;
    this.tape.ack(seq);
    const silent = Math.min(this.tape.acked + 1, this.tape.next - LEAD_FRAMES);
    if (!this.heard && this.key !== null && silent - this.tape.first >= STEP_FRAMES) this.#letGo(silent);
  }

  /** Silence that nobody needs again. @param {number} seq the first frame to keep. */
  #letGo(seq) {
    this.tape.letGo(seq);
    this.post.forget(this.tape.first);
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

  /** The answer is not wanted. Where the connection is gone, the server is told at its next greeting. */
  cancel() {
    const { key, open, stopSent } = this;
    if (key !== null) {
      this.dropped = key;
      this.owing = true;
      this.told = open;
      if (open && !stopSent) this.post.message({ type: "audio.cancel" });
      else if (open || this.post.linked()) this.#takeBack();
    }
    this.tape.clear();
    this.waiting.drain();
    this.over(null);
    this.post.wipe();
  }

  /** There is no interview any more to take anything back from. */
  end() {
    this.cancel();
    this.owing = false;
  }
}
