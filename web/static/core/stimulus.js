/** What the respondent is shown before the first question, and again on request. */

import { scene } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Step} Step */
/** @typedef {import("./state.js").Effect} Effect */

/** @param {State} state @returns {boolean} whether there is something to look at. */
export function hasStimulus(state) {
  return Boolean(state.detail?.stimulus) || state.detail?.stimulus_image != null;
}

/** @param {State} state @returns {Effect[]} */
function missingImage(state) {
  const image = state.detail?.stimulus_image;
  return image && state.image === "" ? [{ type: "fetch_image", url: image.url }] : [];
}

/**
 * Shows the stimulus as soon as the respondent comes to the conversation; not where they have said something already.
 * @param {Step} step @returns {Step}
 */
export function presented([state, effects]) {
  if (scene(state) !== "talk") {
    return state.dialog === "stimulus" ? [{ ...state, dialog: null, presented: false }, effects] : [state, effects];
  }
  if (state.presented) return [state, effects];
  const said = state.pending !== null || (state.detail?.transcript ?? []).some(({ speaker }) => speaker === "respondent");
  const shown = hasStimulus(state) && !said;
  return [{ ...state, presented: true, dialog: shown ? "stimulus" : state.dialog }, [...effects, ...missingImage(state)]];
}

/** @param {State} state @returns {Step} */
export function showAgain(state) {
  if (!hasStimulus(state) || scene(state) !== "talk") return [state, []];
  return [{ ...state, dialog: "stimulus" }, missingImage(state)];
}
