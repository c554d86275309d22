/** The interview page: one state, one reducer, one view. */

import { loadSaved } from "../core/pending.js";
import { reduce } from "../core/reduce.js";
import { initialState } from "../core/state.js";
import { fillTexts, loadTexts } from "../texts/index.js";
import { byId } from "./dom.js";
import { Runtime } from "./runtime.js";
import { Speaking } from "./speaking.js";
import { View } from "./view.js";

/** @typedef {import("../core/reduce.js").Event} Event */

/** @returns {Storage | null} null where the browser forbids it. */
function shelfOf() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

/** A random UUID (version 4), also where the page is not served over a secure connection. @returns {string} */
function freshKey() {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

async function main() {
  const sessionId = decodeURIComponent(location.pathname.split("/").filter(Boolean).at(-1) ?? "");
  const token = decodeURIComponent(location.hash.slice(1));
  const t = await loadTexts(navigator.language);
  fillTexts(document, t);
  const shelf = shelfOf();
  let state = initialState(loadSaved(shelf, sessionId));

  /** @type {Event[]} */
  const queue = [];
  let working = false;

  /** Events are taken one by one, also those that an effect gives rise to. @param {Event} event */
  function dispatch(event) {
    queue.push(speaking.before(event));
    if (working) return;
    working = true;
    for (let next = queue.shift(); next; next = queue.shift()) {
      const before = state;
      const event = next.type === "message" ? { ...next, message: speaking.heard(next.message) } : next;
      const [after, effects] = reduce(state, event);
      state = after;
      if (after !== before) view.render(after);
      for (const effect of effects) {
        runtime.run(effect);
        if (effect.type === "wipe") speaking.forget();
      }
      if (after !== before) speaking.changed(before, after);
      if (after.problem?.at === "page" && after.problem !== before.problem) view.focusProblem();
    }
    working = false;
  }

  const view = new View(t, dispatch, freshKey);
  const runtime = new Runtime({ sessionId, token, shelf, dispatch, state: () => state, focus: (on) => view.focus(on) });

  const speaking = new Speaking({ sessionId, shelf, dispatch, freshKey, state: () => state, runtime: () => runtime });

  byId("speak").addEventListener("click", () => speaking.choose());
  byId("continue-here").addEventListener("click", () => dispatch({ type: "continue", saved: loadSaved(shelf, sessionId) }));
  window.addEventListener("online", () => dispatch({ type: "nudged" }));
  window.addEventListener("offline", () => dispatch({ type: "offline" }));
  window.addEventListener("pageshow", (event) => event.persisted && dispatch({ type: "nudged" }));
  window.addEventListener("hashchange", () => location.reload());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") dispatch({ type: "nudged" });
  });

  view.render(state);
  if (token === "") state = { ...state, blocked: "unauthorised" };
  if (token === "") view.render(state);
  else dispatch({ type: "start" });
}

await main();
