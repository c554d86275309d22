/** Where the interview is, as far as speaking goes. */

import { PAUSED, busy, canAnswer, lastSaid, online, scene, standingWords } from "../core/state.js";

/** @typedef {import("../core/state.js").State} State */

/** @param {State} state @returns {import("./state.js").Interview} */
export function interviewOf(state) {
  const question = standingWords(state);
  const said = lastSaid(state);
  const closed = scene(state) !== "talk" || state.dialog !== null || state.editing !== null || state.leaving !== null;
  const failed = state.pending?.failed != null;
  return {
    online: online(state),
    floor: closed || failed ? "closed" : canAnswer(state) ? "free" : busy(state) || state.stream || state.rephrasing || !question ? "thinking" : "closed",
    paused: PAUSED.has(state.session ?? ""),
    editing: state.editing !== null,
    last: said === null ? null : { text: said },
    question: question ? { key: `${question.key}:${question.text}`, text: question.text, turn: question.turn + (question.kind === "reply" ? 1 : 0) } : null,
    language: state.detail?.language ?? "en",
  };
}
