/** The whole page as one function: an event comes in, the next state and what to do about it come out. */

import * as act from "./actions.js";
import * as link from "./link.js";
import * as session from "./session.js";
import { presented, showAgain } from "./stimulus.js";
import { ENDED } from "./state.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").Step} Step
 * @typedef {import("./state.js").Detail} Detail
 * @typedef {import("./pending.js").Saved} Saved
 *
 * Randomness, time and fresh keys come in with the events.
 * @typedef {{type: "start", detail?: Detail | null} | {type: "opened"} | {type: "message", message: import("./messages.js").ServerMessage}
 *   | {type: "closed", code: number, random: number} | {type: "nudged"} | {type: "offline"}
 *   | {type: "timer", name: import("./state.js").Timer, now: number, random: number}
 *   | {type: "continue", saved: Saved}
 *   | {type: "fetched", detail: Detail} | {type: "fetch_failed", code: string}
 *   | {type: "erased"} | {type: "erase_failed", code: string}
 *   | {type: "agree"} | {type: "draft", text: string} | {type: "submit", turnKey: string}
 *   | {type: "say", text: string, turnKey: string} | {type: "add", text: string, turnKey: string} | {type: "choose", name: string, turnKey: string}
 *   | {type: "skip", turnKey: string} | {type: "rated", construct: string, element: string, value: number | null}
 *   | {type: "rate", turnKey: string} | {type: "rephrase"} | {type: "pause"} | {type: "resume"}
 *   | {type: "edit"} | {type: "edit_text", text: string} | {type: "edit_cancel"} | {type: "edit_submit", turnKey: string}
 *   | {type: "ask_to_leave", dialog: "finish" | "withdraw"} | {type: "stay"} | {type: "leave"}
 *   | {type: "show_stimulus"} | {type: "image", url: string}
 *   | {type: "speaking", on: boolean} | {type: "voice_failed"} | {type: "retry"} | {type: "take_back"}} Event
 */

/**
 * @param {State} state
 * @param {Event} event
 * @returns {Step} a `save` comes first whenever something worth keeping on the device changed, until the interview is over.
 */
export function reduce(state, event) {
  const [next, effects] = presented(step(state, event));
  const wish = (next.leaving === "withdraw") !== (state.leaving === "withdraw");
  const kept = next.draft === state.draft && next.pending === state.pending && next.rated === state.rated
    && next.editing === state.editing && next.reopening === state.reopening;
  const over = ENDED.has(next.session ?? "") && !wish;
  return (kept && !wish) || next.erased || over ? [next, effects] : [next, [{ type: "save" }, ...effects]];
}

/** @param {State} state @param {Event} event @returns {Step} */
function step(state, event) {
  switch (event.type) {
    case "start": {
      const [known, more] = event.detail ? session.fetched(state, event.detail) : /** @type {Step} */ ([{ ...state, fetching: true }, [{ type: "fetch" }]]);
      if (known.erased) return [known, more];
      const [next, effects] = link.connect(known);
      return [next, [...more, ...effects]];
    }
    case "opened": return link.opened(state);
    case "message": return session.received(state, event.message);
    case "closed": return link.closed(state, event.code, event.random);
    case "nudged": return link.nudged(state);
    case "offline": return link.wentOffline(state);
    case "continue": return link.continueHere(state, event.saved);
    case "timer": return timer(state, event);
    case "fetched": return session.fetched(state, event.detail);
    case "fetch_failed": return session.fetchFailed(state, event.code);
    case "erased": return session.erased(state);
    case "erase_failed": return act.eraseFailed(state, event.code);
    case "agree": return act.agree(state);
    case "draft": return act.draft(state, event.text);
    case "submit": return act.submit(state, event.turnKey);
    case "say": return act.say(state, event.text, event.turnKey);
    case "add": return act.add(state, event.text, event.turnKey);
    case "choose": return act.choose(state, event.name, event.turnKey);
    case "skip": return act.skip(state, event.turnKey);
    case "rated": return act.rated(state, event.construct, event.element, event.value);
    case "rate": return act.rate(state, event.turnKey);
    case "rephrase": return act.rephrase(state);
    case "pause":
    case "resume": return act.pauseOrResume(state, event.type);
    case "edit": return act.edit(state);
    case "edit_text": return act.editText(state, event.text);
    case "edit_cancel": return act.editCancel(state);
    case "edit_submit": return act.editSubmit(state, event.turnKey);
    case "ask_to_leave": return act.askToLeave(state, event.dialog);
    case "stay": return act.stay(state);
    case "show_stimulus": return showAgain(state);
    case "image": return [{ ...state, image: event.url }, []];
    case "leave": return act.leave(state);
    case "speaking": return [{ ...state, speaking: event.on }, event.on ? [] : [{ type: "focus", on: "answer" }]];
    case "voice_failed": return [{ ...state, speaking: false, problem: { code: "voice_failed", at: "page", retry: false } }, []];
    case "retry": return act.retry(state);
    case "take_back": return [session.takeBack({ ...state, problem: null }), [{ type: "focus", on: "answer" }]];
  }
}

/** @param {State} state @param {{name: import("./state.js").Timer, now: number, random: number}} fired @returns {Step} */
function timer(state, { name, now, random }) {
  switch (name) {
    case "reconnect": return state.link === "waiting" ? link.connect(state) : [state, []];
    case "heartbeat": return link.heartbeat(state, now);
    case "silence": return session.silent(state);
    case "refetch": return [{ ...state, fetching: true }, [{ type: "fetch" }]];
    case "deadline": {
      const [next, effects] = link.closed(state, NO_ANSWER, random);
      return [next, [{ type: "disconnect" }, ...effects]];
    }
  }
}

/** Our own close code for a server that went quiet. */
const NO_ANSWER = 4000;
