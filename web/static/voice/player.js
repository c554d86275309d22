/** Plays sound that comes piece by piece, without a gap between the pieces. */

/** The first piece begins so much later, so that the next one is there in time. */
const LEAD_S = 0.06;
/** Browsers that keep audio for gestures do not play at all; nobody waits for them longer than this. */
const AWAKE_MS = 1_500;
const SCALE = 32_768;

/** @param {Uint8Array} bytes 16-bit little-endian samples. @returns {Float32Array<ArrayBuffer>} in [-1, 1]. */
export function samplesOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(Math.floor(bytes.byteLength / 2));
  for (let at = 0; at < samples.length; at += 1) samples[at] = view.getInt16(2 * at, true) / SCALE;
  return samples;
}

export class Player {
  /** @param {{started: () => void, over: (how: "finished" | "failed") => void}} told */
  constructor({ started, over }) {
    this.started = started;
    this.over = over;
    /** @type {AudioContext | null} */
    this.context = null;
    /** @type {Set<AudioBufferSourceNode>} what is playing, or waits to. */
    this.sources = new Set();
    this.rate = 24_000;
    this.at = 0;
    this.playing = false;
    this.begun = false;
    this.complete = false;
    this.watch = 0;
  }

  get able() {
    return typeof AudioContext === "function";
  }

  /** Browsers let audio begin within a gesture only. */
  prime() {
    if (!this.able) return;
    this.context ??= this.#opened();
    if (this.context.state === "suspended") void this.context.resume().catch(() => undefined);
  }

  /** At the rate of the sound where that is possible, so that pieces meet without a click. @returns {AudioContext} */
  #opened() {
    try {
      return new AudioContext({ sampleRate: this.rate });
    } catch {
      return new AudioContext();
    }
  }

  /** Something new is going to be played. @param {number} rate of its samples, in hertz. */
  begin(rate) {
    this.stop();
    this.rate = rate;
    this.prime();
    this.at = 0;
    this.playing = true;
    this.begun = false;
    this.complete = false;
    this.watch = window.setTimeout(() => {
      if (this.playing && this.context?.state !== "running") this.#finish("failed");
      else this.#begun();
    }, AWAKE_MS);
  }

  /** @param {Float32Array<ArrayBuffer>} samples the next ones. */
  push(samples) {
    const { context } = this;
    if (!this.playing || samples.length === 0) return;
    if (!context) return this.#finish("failed");
    const buffer = context.createBuffer(1, samples.length, this.rate);
    buffer.copyToChannel(samples, 0);
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    this.at = Math.max(this.at, context.currentTime + LEAD_S);
    source.onended = () => {
      this.sources.delete(source);
      this.#settle();
    };
    this.sources.add(source);
    source.start(this.at);
    this.at += buffer.duration;
    if (context.state === "running") this.#begun();
  }

  /** Something can be heard. */
  #begun() {
    if (this.begun || !this.playing || this.sources.size === 0) return;
    this.begun = true;
    this.started();
  }

  /** Nothing more comes. */
  end() {
    this.complete = true;
    this.#settle();
  }

  /** Is silent at once; nothing is told. */
  stop() {
    clearTimeout(this.watch);
    this.playing = false;
    for (const source of this.sources) {
      source.onended = null;
      source.stop();
      source.disconnect();
    }
    this.sources.clear();
  }

  /** Lets go of the loudspeaker. */
  close() {
    this.stop();
    const { context } = this;
    this.context = null;
    if (context && context.state !== "closed") void context.close().catch(() => undefined);
  }

  #settle() {
    if (this.playing && this.complete && this.sources.size === 0) this.#finish("finished");
  }

  /** @param {"finished" | "failed"} how */
  #finish(how) {
    this.stop();
    this.over(how);
  }
}
