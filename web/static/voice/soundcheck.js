/** The sound check: before the first answer on a device, somebody says something and sees whether it is heard. */

import { again, announced } from "./answering.js";
import { NO_CAPTION, captionText } from "./captions.js";
import { wished } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./state.js").VoiceStep} VoiceStep
 * @typedef {import("./state.js").VoiceEffect} VoiceEffect
 */

/** @type {import("./state.js").Check} */
export const NO_CHECK = { words: "", key: "" };

/** What the check has understood so far, and is hearing. @param {VoiceState} voice @returns {string} */
export const checkWords = (voice) => [voice.check?.words ?? "", captionText(voice.caption)].filter(Boolean).join(" ");

/** Words came of what was said. @param {VoiceState} voice @param {string} key of theirs. @param {string} text @returns {VoiceStep} */
export function checkHeard(voice, key, text) {
  const words = [voice.check?.words ?? "", text].filter(Boolean).join(" ");
  return [
    { ...voice, check: { words, key }, answer: null, caption: NO_CAPTION, told: "", hearing: false, ring: null, notice: "" },
    [{ type: "over", next: null }, { type: "untimer", name: "stalled" }, { type: "tell", what: "check_heard", text: words }],
  ];
}

/** What was said counts as nothing, and the first answer may begin. @param {VoiceState} voice @param {string} key @returns {VoiceStep} */
export function checkOver(voice, key) {
  if (!voice.check) return [voice, []];
  const plain = tried({ ...voice, answer: null });
  const [next, more] = announced(plain, plain.interview);
  return again(next, key, "cancel", [{ type: "save" }, { type: "send", message: wished(plain) }, ...more, { type: "tell", what: "listening" }, { type: "focus" }]);
}

/** What was said was the answer already: it is read through and sent. @param {VoiceState} voice @returns {VoiceStep} */
export function checkKept(voice) {
  const text = checkWords(voice);
  const key = voice.answer?.key ?? voice.check?.key ?? "";
  if (!voice.check || text === "" || key === "") return [voice, []];
  const plain = tried(voice);
  return [
    { ...plain, read: plain.interview.question?.key ?? plain.read, review: { key, text }, answer: { key, open: true, stopping: true, worded: true } },
    [{ type: "cancel" }, { type: "save" }, { type: "send", message: wished(plain) }, { type: "focus" }],
  ];
}

/** @param {VoiceState} voice @returns {VoiceState} */
const tried = (voice) => ({
  ...voice, check: null, settings: { ...voice.settings, checked: true }, caption: NO_CAPTION, told: "", hearing: false, ring: null, notice: "",
});
