/** The level as bars that pass by: height, not colour, says how loud it is. */

import { isStill, make } from "../interview/dom.js";
import { barHeights, meterValue } from "./levels.js";

/** @typedef {import("./levels.js").Level} Level */
/** @typedef {import("../texts/index.js").Texts} Texts */

const BARS = 28;
/** Frames of 32 ms per bar. */
const FRAMES = 2;
/** Where nothing is to move, the bar is set anew this rarely, in frames. */
const STILL_FRAMES = 15;
const TELL_FRAMES = 31;

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
    /** Heights as they are on the screen. @type {number[]} */
    this.drawn = [];
    this.frames = 0;
    this.most = 0;
    this.told = 0;
    this.clipped = false;
    this.tell();
  }

  /** While it rests it shows that it does, and costs nothing. @param {boolean} on */
  rest(on) {
    if (this.element.classList.toggle("resting", on) && this.most + Math.max(...this.values) > 0) this.reset();
  }

  get #idle() {
    return document.hidden || this.element.classList.contains("resting");
  }

  /** @param {Level} level */
  push(level) {
    if (this.#idle) return;
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

  /** Sets the bars that have changed; a silent room changes none. @param {boolean} still */
  draw(still) {
    barHeights(this.values, still).forEach((height, index) => {
      const bar = this.bars[index];
      if (bar && this.drawn[index] !== height) bar.style.transform = `scaleY(${height})`;
      this.drawn[index] = height;
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
    this.most = 0;
    this.draw(isStill());
    this.told = 0;
    this.tell();
  }
}
