/**
 * Runs on the audio thread: what the microphone gives becomes frames of 32 ms, 16 kHz, 16 bit, mono.
 *
 * A module of its own without imports, since not every browser lets worklets import.
 */

export const RATE_HZ = 16_000;
export const FRAME_SAMPLES = 512;

/** Half the length of the low-pass filter, in periods of the lower rate. */
const LOBES = 16;
/** Places between two input samples that are told apart; exact for 8, 11.025, 22.05, 32, 44.1, 48 and 96 kHz. */
const PHASES = 640;

/** Any rate to 16 kHz by windowed-sinc interpolation; the same samples come out however the input is cut. */
export class Resampler {
  /** @param {number} rate of the input, in hertz. */
  constructor(rate) {
    this.step = rate / RATE_HZ;
    this.cutoff = Math.min(1, 1 / this.step) * 0.94;
    this.reach = Math.ceil(LOBES * Math.max(1, this.step));
    /** Filters by where between two input samples an output lies. @type {Map<number, Float32Array>} */
    this.kernels = new Map();
    /** Input from `reach` samples before the next output on. @type {Float32Array} */
    this.held = new Float32Array(this.reach);
    this.position = this.reach;
  }

  /** @param {Float32Array} input @returns {Float32Array} */
  push(input) {
    const held = new Float32Array(this.held.length + input.length);
    held.set(this.held);
    held.set(input, this.held.length);
    const output = [];
    let position = this.position;
    for (; position + this.reach + 1 < held.length; position += this.step) output.push(this.#at(held, position));
    const keep = Math.max(0, Math.floor(position) - this.reach);
    this.held = held.slice(keep);
    this.position = position - keep;
    return Float32Array.from(output);
  }

  /** @param {Float32Array} held @param {number} position */
  #at(held, position) {
    let middle = Math.floor(position);
    let phase = Math.round((position - middle) * PHASES);
    if (phase === PHASES) {
      middle += 1;
      phase = 0;
    }
    const kernel = this.#kernel(phase);
    const from = middle - this.reach + 1;
    let sum = 0;
    for (let index = 0; index < kernel.length; index += 1) sum += (held[from + index] ?? 0) * (kernel[index] ?? 0);
    return sum;
  }

  /** @param {number} phase @returns {Float32Array} a Blackman-windowed sinc. */
  #kernel(phase) {
    const known = this.kernels.get(phase);
    if (known) return known;
    const kernel = Float32Array.from({ length: 2 * this.reach }, (_, index) => {
      const away = index + 1 - this.reach - phase / PHASES;
      const edge = away / this.reach;
      if (Math.abs(edge) >= 1) return 0;
      const turn = Math.PI * away * this.cutoff;
      const window = 0.42 + 0.5 * Math.cos(Math.PI * edge) + 0.08 * Math.cos(2 * Math.PI * edge);
      return this.cutoff * window * (turn === 0 ? 1 : Math.sin(turn) / turn);
    });
    this.kernels.set(phase, kernel);
    return kernel;
  }
}

/** Samples to frames, each with how loud it was. */
export class Framer {
  constructor() {
    this.samples = new Int16Array(FRAME_SAMPLES);
    this.length = 0;
    this.squares = 0;
    this.peak = 0;
    this.clipped = 0;
  }

  #fresh() {
    this.samples = new Int16Array(FRAME_SAMPLES);
    this.length = 0;
    this.squares = 0;
    this.peak = 0;
    this.clipped = 0;
  }

  /**
   * @param {Float32Array} input in [-1, 1].
   * @param {(frame: {pcm: ArrayBuffer, rms: number, peak: number, clipped: number}) => void} done
   */
  push(input, done) {
    for (const value of input) {
      const loud = Math.abs(value);
      this.samples[this.length] = Math.max(-32768, Math.min(32767, Math.round(value * 32767)));
      this.length += 1;
      this.squares += value * value;
      if (loud > this.peak) this.peak = loud;
      if (loud >= 0.998) this.clipped += 1;
      if (this.length === FRAME_SAMPLES) {
        done({
          pcm: this.samples.buffer, rms: Math.min(1, Math.sqrt(this.squares / FRAME_SAMPLES)),
          peak: Math.min(1, this.peak), clipped: this.clipped,
        });
        this.#fresh();
      }
    }
  }
}

/** @param {readonly Float32Array[]} channels @returns {Float32Array} their mean. */
export function mono(channels) {
  const first = channels[0] ?? new Float32Array(0);
  if (channels.length < 2) return first;
  return first.map((_, index) => channels.reduce((sum, channel) => sum + (channel[index] ?? 0), 0) / channels.length);
}

const scope = /** @type {any} */ (globalThis);

if (typeof scope.registerProcessor === "function") {
  const Base = scope.AudioWorkletProcessor;

  class Capture extends Base {
    constructor() {
      super();
      this.framer = new Framer();
      this.resampler = scope.sampleRate === RATE_HZ ? null : new Resampler(scope.sampleRate);
    }

    /** @param {Float32Array[][]} inputs */
    process(inputs) {
      const channels = inputs[0] ?? [];
      if (channels.length > 0) {
        const samples = mono(channels);
        this.framer.push(this.resampler ? this.resampler.push(samples) : samples, (frame) => {
          this.port.postMessage(frame, [frame.pcm]);
        });
      }
      return true;
    }
  }

  scope.registerProcessor("askwell-capture", Capture);
}
