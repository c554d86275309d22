/** The question on the page: unfolds word by word as it arrives, at most 400 ms behind. */

import { nextShown } from "../core/reveal.js";
import { isStill, make } from "./dom.js";

export class QuestionView {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.text = "";
    this.shown = 0;
    this.arrivedAt = 0;
    this.frameAt = 0;
    this.frame = 0;
    this.whole = false;
  }

  /**
   * @param {string} text what has arrived so far.
   * @param {{whole: boolean, unfold: boolean}} how `whole` once the text is final; without `unfold` it is simply there.
   */
  set(text, { whole, unfold }) {
    this.whole = whole;
    if (text !== this.text) {
      if (!text.startsWith(this.text.slice(0, this.shown))) this.#reset();
      this.text = text;
      this.arrivedAt = performance.now();
      if (!unfold || isStill() || document.hidden) this.#finish();
      else if (!this.frame) {
        this.frameAt = this.arrivedAt;
        this.frame = requestAnimationFrame((now) => this.#step(now));
      }
    }
    this.#mark();
  }

  #reset() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.shown = 0;
    this.element.replaceChildren();
  }

  #finish() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.shown = this.text.length;
    this.element.textContent = this.text;
    this.#mark();
  }

  /** @param {number} now */
  #step(now) {
    this.frame = 0;
    const target = this.text.length;
    let next = nextShown(this.shown, target, Math.max(1, now - this.frameAt), Math.max(0, now - this.arrivedAt));
    const space = this.text.slice(next, next + 14).search(/\s|$/);
    if (space > 0) next += space;
    this.frameAt = now;
    if (next > this.shown) {
      this.element.append(make("span", "ink", this.text.slice(this.shown, next)));
      this.shown = next;
    }
    if (this.shown < target) this.frame = requestAnimationFrame((later) => this.#step(later));
    else this.#mark();
  }

  /** `data-complete` tells tests and styles that the whole question stands on the page. */
  #mark() {
    this.element.dataset["complete"] = String(this.whole && this.shown === this.text.length && this.text !== "");
  }
}
