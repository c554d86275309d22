/** What the sound check shows below the words: what to make of them, and the way on. */

import { make, show, write } from "../interview/dom.js";
import { checkWords } from "./soundcheck.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("../texts/index.js").Texts} Texts
 */

export class SoundCheck {
  /**
   * @param {Texts} t
   * @param {(id: string, className: string, text: string, act: () => void) => HTMLButtonElement} button
   * @param {{over: () => void, keep: () => void, device: () => void}} told
   */
  constructor(t, button, told) {
    this.t = t;
    this.words = make("p", "fine");
    this.device = button("voice-check-device", "quiet", t("voice.check.device"), told.device);
    this.skip = button("voice-check-skip", "quiet", t("voice.check.skip"), told.over);
    this.keep = button("voice-check-keep", "quiet", t("voice.check.keep"), told.keep);
    this.start = button("voice-check-start", "primary", t("voice.check.start"), told.over);
    this.row = make("div", "voice-row");
    this.row.append(this.device, this.skip, this.keep, this.start);
    this.element = make("div", "soundcheck");
    this.element.id = "voice-check";
    this.element.dataset["testid"] = "voice-check";
    this.element.append(this.words, this.row);
  }

  /** @param {VoiceState} voice @param {boolean} shown @param {string} hint what is wrong with the sound; "" for nothing. */
  render(voice, shown, hint) {
    show(this.element, shown);
    const heard = checkWords(voice) !== "";
    write(this.words, heard ? this.t("voice.check.heard") : "");
    show(this.words, heard);
    show(this.device, !heard && hint !== "");
    show(this.skip, !heard);
    show(this.keep, heard);
    show(this.start, heard);
  }
}
