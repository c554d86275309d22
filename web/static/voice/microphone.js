/** The device: asked for within a gesture, captured on the audio thread, watched for whatever may happen to it. */

import { obstacleBefore, obstacleOf } from "./obstacles.js";

/** @typedef {import("./obstacles.js").Obstacle} Obstacle */
/** @typedef {import("./levels.js").Level} Level */

const RATE_HZ = 16_000;
const WORKLET = "/static/voice/capture.worklet.js";
const CHECK_MS = 1_000;
/** Checks without a frame between them, after which a microphone that runs has fallen silent for good. */
const CHECKS = 3;

/**
 * What a microphone tells.
 * @typedef {object} Ears
 * @property {(pcm: Uint8Array, level: Level) => void} frame
 * @property {(asleep: boolean) => void} asleep the browser stopped the audio, or runs it again.
 * @property {(deaf: boolean) => void} deaf the device or the system has muted the track, or no longer.
 * @property {() => void} lost the device is gone.
 */

/** @returns {import("./obstacles.js").Ground} */
export function ground() {
  const policy = /** @type {any} */ (document).featurePolicy;
  return {
    secure: window.isSecureContext,
    devices: typeof navigator.mediaDevices?.getUserMedia === "function",
    worklet: typeof AudioContext === "function" && typeof AudioWorkletNode === "function",
    allowed: typeof policy?.allowsFeature === "function" ? policy.allowsFeature("microphone") !== false : true,
  };
}

/** @returns {Promise<string>} "" where the browser does not tell. */
async function permission() {
  try {
    return (await navigator.permissions.query({ name: /** @type {PermissionName} */ ("microphone") })).state;
  } catch {
    return "";
  }
}

export class Microphone {
  /** @param {Ears} ears */
  constructor(ears) {
    this.ears = ears;
    /** @type {AudioContext | null} */
    this.context = null;
    /** @type {MediaStream | null} */
    this.stream = null;
    /** Counts openings, so that a late one knows that it is not wanted any more. */
    this.turn = 0;
    this.on = true;
    /** Whether it claims to run and gives nothing, as after a call: only opening it anew helps. */
    this.stuck = false;
    this.checks = 0;
    this.watch = 0;
  }

  /**
   * Safari lets audio begin within a gesture only, so the context is made before anything is waited for.
   *
   * @param {MediaTrackConstraints} constraints
   * @returns {Promise<Obstacle | null | "late">} null when it runs; "late" when it was closed meanwhile.
   */
  async open(constraints) {
    this.close();
    const turn = this.turn;
    const before = obstacleBefore(ground());
    if (before) return before;
    let context = this.#context(RATE_HZ);
    this.context = context;
    void context.resume().catch(() => undefined);
    let worklet = fetched(context);
    let stream;
    try {
      stream = await this.#ask(constraints);
      if (turn !== this.turn) {
        stop(stream);
        return "late";
      }
      this.stream = stream;
      let source;
      try {
        source = context.createMediaStreamSource(stream);
      } catch {
        // Firefox connects a device only to a context of the device's own rate; the worklet resamples then.
        void context.close();
        context = this.#context();
        this.context = context;
        void context.resume().catch(() => undefined);
        worklet = fetched(context);
        source = context.createMediaStreamSource(stream);
      }
      const there = await worklet;
      if (turn !== this.turn) return "late";
      if (!there) {
        this.close();
        return "failed";
      }
      this.#connect(context, source);
      this.#watch(context, stream);
      return null;
    } catch (error) {
      if (turn !== this.turn) return "late";
      const { name = "", message = "" } = /** @type {{name?: string, message?: string}} */ (error ?? {});
      const state = await permission();
      if (turn === this.turn) this.close();
      return obstacleOf(name, message, state);
    }
  }

  /** A remembered device that is gone must not keep anybody from speaking. @param {MediaTrackConstraints} constraints */
  async #ask(constraints) {
    try {
      return await navigator.mediaDevices.getUserMedia({ audio: constraints, video: false });
    } catch (error) {
      const gone = ["OverconstrainedError", "NotFoundError"].includes(/** @type {{name?: string}} */ (error ?? {}).name ?? "");
      if (!gone || !("deviceId" in constraints)) throw error;
      const { deviceId: _, ...any } = constraints;
      return navigator.mediaDevices.getUserMedia({ audio: any, video: false });
    }
  }

  /** @param {number} [rate] */
  #context(rate) {
    try {
      return new AudioContext({ latencyHint: "interactive", ...(rate ? { sampleRate: rate } : {}) });
    } catch {
      return new AudioContext();
    }
  }

  /** @param {AudioContext} context @param {MediaStreamAudioSourceNode} source */
  #connect(context, source) {
    const node = new AudioWorkletNode(context, "askwell-capture", { numberOfInputs: 1, numberOfOutputs: 1, outputChannelCount: [1] });
    node.port.onmessage = ({ data }) => {
      if (this.context !== context) return;
      this.checks = 0;
      if (this.stuck) this.#stuck(false);
      this.ears.frame(new Uint8Array(data.pcm), data);
    };
    // Some browsers run only nodes that lead to the loudspeaker; this one leads there in silence.
    const silence = new GainNode(context, { gain: 0 });
    source.connect(node).connect(silence).connect(context.destination);
  }

  /** @param {AudioContext} context @param {MediaStream} stream */
  #watch(context, stream) {
    const current = () => this.context === context;
    const state = () => current() && this.#stuck(false);
    context.addEventListener("statechange", state);
    state();
    this.watch = window.setInterval(() => this.#check(), CHECK_MS);
    const track = stream.getAudioTracks()[0];
    if (!track) return;
    track.addEventListener("mute", () => current() && this.ears.deaf(true));
    track.addEventListener("unmute", () => current() && this.ears.deaf(false));
    track.addEventListener("ended", () => current() && this.ears.lost());
    this.ears.deaf(track.muted);
  }

  /** @param {boolean} stuck */
  #stuck(stuck) {
    this.stuck = stuck;
    this.checks = 0;
    this.ears.asleep(stuck || this.context?.state !== "running");
  }

  #check() {
    const gives = this.context?.state === "running" && this.on && this.stream?.getAudioTracks()[0]?.muted === false;
    this.checks = gives ? this.checks + 1 : 0;
    if (this.checks > CHECKS && !this.stuck) this.#stuck(true);
  }

  /** Wakes the audio after a lock of the screen, a call, or a page that was not looked at. */
  wake() {
    const { context } = this;
    if (context && context.state !== "running" && context.state !== "closed") void context.resume().catch(() => undefined);
  }

  /** Nothing is captured while it is off; the browser's sign that the microphone is in use stays. @param {boolean} on */
  enable(on) {
    this.on = on;
    for (const track of this.stream?.getAudioTracks() ?? []) track.enabled = on;
  }

  close() {
    this.turn += 1;
    this.stuck = false;
    this.checks = 0;
    clearInterval(this.watch);
    const { context, stream } = this;
    this.context = null;
    this.stream = null;
    if (stream) stop(stream);
    if (context && context.state !== "closed") void context.close().catch(() => undefined);
  }
}

/** @param {AudioContext} context @returns {Promise<boolean>} whether the page's own part on the audio thread is there. */
async function fetched(context) {
  try {
    await context.audioWorklet.addModule(WORKLET);
    return true;
  } catch {
    return false;
  }
}

/** @param {MediaStream} stream */
function stop(stream) {
  for (const track of stream.getTracks()) track.stop();
}

/** @returns {Promise<{id: string, label: string}[]>} microphones by name; names are told once one was allowed. */
export async function microphones() {
  try {
    const devices = await navigator.mediaDevices.enumerateDevices();
    return devices
      .filter(({ kind, deviceId, label }) => kind === "audioinput" && label !== "" && !["", "default", "communications"].includes(deviceId))
      .map(({ deviceId, label }) => ({ id: deviceId, label }));
  } catch {
    return [];
  }
}
