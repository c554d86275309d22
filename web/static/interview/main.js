/** The interview page: one state, one reducer, one view. */

import { loadSaved } from "../core/pending.js";
import { reduce } from "../core/reduce.js";
import { canSpeak, initialState } from "../core/state.js";
import { fillTexts, loadTexts } from "../texts/index.js";
import { byId } from "./dom.js";
import { Runtime } from "./runtime.js";
import { View } from "./view.js";

/** @typedef {import("../core/reduce.js").Event} Event */
/** @typedef {import("../voice/main.js").Voice} Voice */

/** @typedef {import("../core/state.js").State} State */

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

  /** What is needed to speak; fetched only where speaking is offered. @type {Promise<Voice> | null} */
  let summoned = null;
  /** @type {Voice | null} */
  let voice = null;
  /** First audio frame that the server does not have, as of its last greeting. */
  let received = 0;

  /** @returns {Promise<Voice>} */
  function summon() {
    summoned ??= import("../voice/main.js").then(async ({ Voice }) => {
      voice = await Voice.create({
        sessionId, shelf, dispatch, freshKey, state: () => state, received: () => received, buffered: () => runtime.buffered,
        send: (message) => runtime.send(message), sendBytes: (bytes) => runtime.sendBytes(bytes),
      }, navigator.language);
      voice.changed(state);
      return voice;
    });
    summoned.catch(() => { summoned = null; });
    return summoned;
  }

  /** @type {Event[]} */
  const queue = [];
  let working = false;

  /** Events are taken one by one, also those that an effect gives rise to. @param {Event} event */
  function dispatch(event) {
    queue.push(event);
    if (working) return;
    working = true;
    for (let next = queue.shift(); next; next = queue.shift()) {
      const before = state;
      if (next.type === "message" && next.message.type === "ready") received = next.message.first_unreceived_seq ?? 0;
      const settled = next.type === "message" && voice?.heard(next.message) === true;
      const [after, effects] = reduce(state, settled ? { type: "message", message: { type: "pong" } } : next);
      state = after;
      if (after !== before) view.render(after);
      for (const effect of effects) {
        runtime.run(effect);
        if (effect.type === "wipe") forget();
      }
      if (after !== before) speaking(before, after);
      if (after.problem?.at === "page" && after.problem !== before.problem) view.focusProblem();
    }
    working = false;
  }

  /** Fetches the voice once it is offered, and keeps it up to date. @param {State} before @param {State} after */
  function speaking(before, after) {
    voice?.changed(after);
    if (after.draft !== before.draft && after.draft !== "" && after.speaking) dispatch({ type: "speaking", on: false });
    if (before.speaking && !after.speaking) voice?.leave();
    if (!canSpeak(after) || summoned) return;
    const kept = shelf?.getItem(`askwell:${sessionId}:spoken`) != null;
    void summon().then((summonedVoice) => (kept ? summonedVoice.recall() : undefined)).catch(() => undefined);
  }

  /** Also where speaking has not been loaded, nothing of it is left behind. */
  function forget() {
    if (voice) voice.wipe();
    else if (shelf?.getItem(`askwell:${sessionId}:spoken`) != null) void summon().then((late) => late.wipe()).catch(() => undefined);
  }

  const view = new View(t, dispatch, freshKey);
  const runtime = new Runtime({ sessionId, token, shelf, dispatch, state: () => state, focus: (on) => view.focus(on) });

  byId("speak").addEventListener("click", () => {
    if (voice) voice.choose();
    else void summon().then((late) => late.choose()).catch(() => undefined);
  });
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
