/** The level as bars that pass by: height, not colour, says how loud it is. */

import { isStill, make } from "../interview/dom.js";
import { meterValue } from "./levels.js";

/** @typedef {import("./levels.js").Level} Level */
/** @typedef {import("../texts/index.js").Texts} Texts */

const BARS = 28;
/** Frames of 40 ms per bar. */
const FRAMES = 2;
/** Where nothing is to move, the bar is set anew this rarely, in frames. */
const STILL_FRAMES = 12;
const TELL_FRAMES = 25;

export class Meter {
  /** @param {Texts} t */
  constructor(t) {
    this.t = t;
    this.element = make("div", "meter");
    this.element.setAttribute("role", "meter");
    this.element.setAttribute("aria-label", t("voice.meter"));
    this.element.setAttribute("aria-valuemin", "0");
    this.element.setAttribute("aria-valuemax", "100");
    this.bars = Array.from({ length: BARS }, () => make("span", "meter-bar"));
    this.element.append(...this.bars);
    /** @type {number[]} */
    this.values = new Array(BARS).fill(0);
    this.frames = 0;
    this.most = 0;
    this.told = 0;
    this.clipped = false;
    this.tell();
  }

  /** @param {Level} level */
  push(level) {
    const value = meterValue(level.rms);
    this.frames += 1;
    this.most = Math.max(this.most, value);
    this.told = Math.max(this.told, value);
    this.clipped ||= level.clipped > 3;
    const still = isStill();
    if (this.frames % (still ? STILL_FRAMES : FRAMES) === 0) {
      if (still) this.values.fill(this.most);
      else this.values = [...this.values.slice(1), this.most];
      this.most = 0;
      this.draw(still);
    }
    if (this.frames % TELL_FRAMES === 0) this.tell();
  }

  /** @param {boolean} still */
  draw(still) {
    this.bars.forEach((bar, index) => {
      const value = this.values[index] ?? 0;
      // Standing still, the bars form a scale that is filled from the start.
      const shown = still ? (index / BARS < value ? 1 : 0.12) : Math.max(0.08, value ** 1.8);
      bar.style.transform = `scaleY(${shown.toFixed(2)})`;
    });
  }

  tell() {
    const percent = Math.round(this.told * 100);
    const word = this.clipped ? "high" : percent < 4 ? "none" : percent < 22 ? "low" : "good";
    this.element.setAttribute("aria-valuenow", String(percent));
    this.element.setAttribute("aria-valuetext", this.t(`voice.meter.${word}`));
    this.told = 0;
    this.clipped = false;
  }

  reset() {
    this.values.fill(0);
    this.draw(isStill());
    this.told = 0;
    this.tell();
  }
}
