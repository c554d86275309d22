/** How loud it is, and what is wrong with it. */

/**
 * One frame as the worklet measured it.
 * @typedef {{rms: number, peak: number, clipped: number}} Level `rms` and `peak` in [0, 1]; `clipped` samples at the limit.
 * @typedef {"ok" | "silent" | "quiet" | "clipping"} Verdict
 */

const FLOOR_DB = -60;
/** A living microphone never gives this little, not even in a quiet room. */
const DEAD_PEAK = 2 / 32768;
const SILENT_FRAMES = 75;
const QUIET_FRAMES = 200;
/** Who was heard before and says nothing is thinking, for as long as this. */
const THINKING_FRAMES = 1_500;
const QUIET_DB = -50;
const CLIP_FRAMES = 50;
const CLIPPED_FRAMES = 3;
const CLIPPED_SAMPLES = 4;
const SOUND_DB = -55;

/** @param {number} amplitude in [0, 1]. @returns {number} dBFS, at least -100. */
export function decibels(amplitude) {
  return amplitude <= 0 ? -100 : Math.max(-100, 20 * Math.log10(amplitude));
}

/** @param {number} rms @returns {number} what the meter shows, in [0, 1]: -60 dBFS and below is 0, -6 dBFS is 1. */
export function meterValue(rms) {
  return Math.min(1, Math.max(0, (decibels(rms) - FLOOR_DB) / (-6 - FLOOR_DB)));
}

/**
 * How high the bars of a meter stand, in steps that an eye can tell apart.
 * @param {readonly number[]} values in [0, 1], oldest first.
 * @param {boolean} still the bars form a scale that the newest value fills from the start, so that nothing moves by.
 * @returns {number[]} in [0, 1].
 */
export function barHeights(values, still) {
  return values.map((value, index) => {
    const height = still ? (index / values.length < (values.at(-1) ?? 0) ? 1 : 0.12) : Math.max(0.08, value ** 1.8);
    return Math.round(height * 25) / 25;
  });
}

/** @param {Level} level @returns {boolean} whether a voice could be in it. */
export function isSound(level) {
  return decibels(level.rms) > SOUND_DB;
}

/** Listens for what is wrong; told of speech that was heard, it calls neither a soft voice nor a thinker too quiet. */
export class Ear {
  constructor() {
    this.known = false;
    this.dead = 0;
    this.soft = 0;
    /** @type {boolean[]} */
    this.clips = [];
  }

  reset() {
    this.known = false;
    this.dead = 0;
    this.soft = 0;
    this.clips = [];
  }

  /** The server heard somebody speak. */
  heard() {
    this.known = true;
    this.soft = 0;
  }

  /** @param {Level} level @returns {Verdict} */
  push(level) {
    this.dead = level.peak <= DEAD_PEAK ? this.dead + 1 : 0;
    this.soft = decibels(level.rms) < QUIET_DB ? this.soft + 1 : 0;
    this.clips.push(level.clipped >= CLIPPED_SAMPLES);
    if (this.clips.length > CLIP_FRAMES) this.clips.shift();
    if (this.dead >= SILENT_FRAMES) return "silent";
    if (this.clips.filter(Boolean).length >= CLIPPED_FRAMES) return "clipping";
    return this.soft >= (this.known ? THINKING_FRAMES : QUIET_FRAMES) ? "quiet" : "ok";
  }
}
