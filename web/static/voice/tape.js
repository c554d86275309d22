/**
 * The frames of what is being said: numbered, kept until they have become words, sent at a pace the server can take.
 *
 * The sequence runs through the whole interview. Frames below `first` have become words and are gone; frames from
 * `cursor` on have not been sent over the present connection.
 */

/** Length of a frame: what the server's voice activity model looks at, so that no part of one waits for the next message. */
export const FRAME_MS = 32;
/** Sent beyond the newest acknowledgement before waiting for the next one: about five seconds. */
export const WINDOW_FRAMES = 160;
/** What the server takes from one connection, with room to spare: four seconds of speech per second. */
const FRAMES_PER_S = 125;
const HEADER_BYTES = 4;

/** @typedef {{seq: number, pcm: Uint8Array}} Frame */

/**
 * A binary message: 4-byte big-endian sequence number, then 16-bit little-endian samples.
 * @param {Frame} frame
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function packed({ seq, pcm }) {
  const bytes = new Uint8Array(HEADER_BYTES + pcm.byteLength);
  new DataView(bytes.buffer).setUint32(0, seq);
  bytes.set(pcm, HEADER_BYTES);
  return bytes;
}

export class Tape {
  /** @param {number} most frames kept; then no more are taken, since the first words of an answer are worth most. */
  constructor(most) {
    this.most = most;
    /** @type {Frame[]} */
    this.frames = [];
    this.next = 0;
    this.cursor = 0;
    /** Numbers below this have left over the present connection. */
    this.sent = 0;
    this.acked = -1;
    this.tokens = FRAMES_PER_S;
    this.filledAt = 0;
  }

  /** Sequence number of the oldest frame kept. */
  get first() {
    return this.frames[0]?.seq ?? this.next;
  }

  /** Frames not sent over this connection. */
  get backlog() {
    return this.next - this.cursor;
  }

  get full() {
    return this.frames.length >= this.most;
  }

  /** @param {Uint8Array} pcm @returns {Frame | null} null when it is full. */
  push(pcm) {
    if (this.full) return null;
    const frame = { seq: this.next, pcm };
    this.frames.push(frame);
    this.next += 1;
    return frame;
  }

  /**
   * Puts back frames of an earlier visit.
   * @param {readonly Frame[]} frames in order, without gaps.
   */
  restore(frames) {
    if (this.frames.length > 0 || frames.length === 0) return;
    this.frames = frames.slice(-this.most);
    this.next = (this.frames.at(-1)?.seq ?? -1) + 1;
    this.cursor = this.first;
    this.sent = this.first;
  }

  /** Forgets all of it; numbers that have not left are used again, so that the server misses none. */
  clear() {
    this.frames = [];
    this.next = this.sent;
    this.cursor = this.next;
  }

  /** Nothing below is needed any more. @param {number} seq the first frame to keep. */
  letGo(seq) {
    const at = this.frames.findIndex((frame) => frame.seq >= seq);
    this.frames = at < 0 ? [] : this.frames.slice(at);
    this.cursor = Math.max(this.cursor, this.first);
    this.sent = Math.max(this.sent, this.cursor);
  }

  /**
   * Everything below has become words. What is left is sent from its first frame on: a server that took the answer on
   * another node may have passed it over, and one that has it drops it.
   * @param {number} seq the first frame to keep.
   */
  settle(seq) {
    this.letGo(seq);
    this.cursor = this.first;
  }

  /** A new connection: go on where the server says. @param {number} firstUnreceived */
  resume(firstUnreceived) {
    this.next = Math.max(this.next, firstUnreceived);
    this.cursor = this.#held(firstUnreceived);
    this.sent = this.cursor;
    this.acked = this.cursor - 1;
  }

  /** Send all that is kept once more. */
  again() {
    this.cursor = this.first;
    this.sent = this.cursor;
    this.acked = this.cursor - 1;
  }

  /** A part did not arrive: send again from behind the newest acknowledgement. */
  rewind() {
    this.cursor = Math.min(this.cursor, this.#held(this.acked + 1));
  }

  /** @param {number} seq newest frame the server has taken. */
  ack(seq) {
    this.acked = Math.max(this.acked, Math.min(seq, this.sent - 1));
  }

  /**
   * The frames to send now; they count as sent.
   * @param {number} end sequence number to stop before.
   * @param {number} nowMs monotonic.
   * @returns {Frame[]}
   */
  take(end, nowMs) {
    const passedS = this.filledAt === 0 ? 1 : Math.max(0, nowMs - this.filledAt) / 1000;
    this.tokens = Math.min(FRAMES_PER_S, this.tokens + passedS * FRAMES_PER_S);
    this.filledAt = nowMs;
    const from = this.#from(this.cursor);
    const until = Math.min(end, this.#reach());
    const frames = this.frames.slice(from, from + Math.floor(this.tokens)).filter(({ seq }) => seq < until);
    this.tokens -= frames.length;
    this.cursor = frames.length > 0 ? (frames.at(-1)?.seq ?? 0) + 1 : this.cursor;
    if (this.#from(this.cursor) === this.frames.length) this.cursor = Math.min(end, this.next);
    this.sent = Math.max(this.sent, this.cursor);
    return frames;
  }

  /** The first number from this one on that is here. @param {number} seq */
  #held(seq) {
    return this.frames[this.#from(seq)]?.seq ?? this.next;
  }

  /** How far may be sent ahead of the acknowledgements: over a gap in the numbers too. */
  #reach() {
    return Math.max(this.acked + 1, this.first) + WINDOW_FRAMES;
  }

  /**
   * Place of the first frame from a number on; numbers may be missing after a reload that came before they were put aside.
   * @param {number} seq
   */
  #from(seq) {
    let at = this.frames.length;
    while (at > 0 && (this.frames[at - 1]?.seq ?? 0) >= seq) at -= 1;
    return at;
  }
}

/**
 * What is heard while no answer can begin: kept so that its first words are not lost, cut down while it is quiet.
 */
export class Waiting {
  /**
   * @param {number} most frames kept in all.
   * @param {number} lead frames kept from before a sound.
   * @param {number} calm frames of quiet after which what came before is let go.
   */
  constructor(most = 1500, lead = 12, calm = 50) {
    this.most = most;
    this.lead = lead;
    this.calm = calm;
    /** @type {Uint8Array[]} */
    this.frames = [];
    this.quiet = 0;
  }

  /** @param {Uint8Array} pcm @param {boolean} sound whether it could be a voice. */
  push(pcm, sound) {
    this.frames.push(pcm);
    this.quiet = sound ? 0 : this.quiet + 1;
    const keep = this.quiet > this.calm ? this.lead : this.most;
    if (this.frames.length > keep) this.frames.splice(0, this.frames.length - keep);
  }

  /** @returns {Uint8Array[]} all of it; nothing is left. */
  drain() {
    const frames = this.frames;
    this.frames = [];
    this.quiet = 0;
    return frames;
  }
}
