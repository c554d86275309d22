/** What is heard when nobody seems to be there any more: tones, and the words where the device has a voice for them. */

import { playTones } from "../voice/cues.js";
import { Reader } from "../voice/reader.js";

/** Rising, in hertz. */
const CALL = [523, 659, 784];
const LOUDNESS = 0.2;

export class Chime {
  constructor() {
    /** @type {AudioContext | null} */
    this.context = null;
    this.reader = new Reader({ started: () => undefined, over: () => undefined });
    document.addEventListener("pointerup", () => this.#wake(), { capture: true, passive: true });
  }

  /** Within a gesture: browsers let nothing sound before one. */
  #wake() {
    try {
      this.context ??= new AudioContext();
      if (this.context.state === "suspended") void this.context.resume();
    } catch {
      this.context = null;
    }
  }

  call() {
    playTones(this.context, CALL, LOUDNESS);
  }

  /** @param {string} text @param {string} language */
  say(text, language) {
    void this.reader.read(text, language);
  }

  hush() {
    this.reader.hush();
  }
}
