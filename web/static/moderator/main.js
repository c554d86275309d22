/** The moderator's page: who is there, what is looked at, and the line to the server. */

import { formatsOf } from "../texts/formats.js";
import { fillTexts, loadTexts, readersLanguages } from "../texts/index.js";
import { Refusal, api } from "./api.js";
import { Commands } from "./commands.js";
import { detailView } from "./detail.js";
import { finishedView } from "./finished.js";
import { watchHealth } from "./health.js";
import { applied, fromMessage } from "./model.js";
import { Notifier } from "./notify.js";
import { overviewView } from "./overview.js";
import { counted, isGone, newAlerts, rowsAfter } from "./rows.js";
import { shelf } from "./shelf.js";
import { makeShell } from "./shell.js";
import { signInView } from "./signin.js";
import { ModeratorSocket } from "./socket.js";
import { tokensView } from "./tokens.js";

/**
 * @typedef {import("./rows.js").Row} Row
 * @typedef {import("./model.js").Model} Model
 *
 * @typedef {{element: HTMLElement, title: string, update?: (message?: any) => void, tick?: () => void,
 *   key?: (event: KeyboardEvent) => boolean, destroy?: () => void}} View `update`: something was heard; `tick`: time
 *   has passed; `key`: whether a key outside of fields was used.
 *
 * @typedef {object} State
 * @property {import("./api.js").Me | null} me
 * @property {ReadonlyMap<string, Row>} rows
 * @property {boolean} loaded whether the overview has come.
 * @property {{id: string, name: string, online: boolean, last_seen: string | null}[]} kiosks
 * @property {Model | null} model the interview that is watched.
 * @property {string | null} missing code of why it can't be watched.
 * @property {import("./socket.js").Status} link
 * @property {number} heard when the last message came, in milliseconds.
 *
 * @typedef {object} App
 * @property {import("../texts/index.js").Texts} t
 * @property {ReturnType<typeof formatsOf>} f
 * @property {(prefix: string, name: string) => string} word the text of a name; the name itself where there is none.
 * @property {State} state
 * @property {Commands} commands
 * @property {typeof shelf} shelf
 * @property {(text: string, kind?: "" | "caution" | "alarm") => void} toast
 * @property {(hash: string) => void} go
 * @property {() => number} now milliseconds.
 * @property {() => number} topInset px that the bar covers.
 * @property {(id: string | null) => void} watch an interview; none.
 * @property {() => void} signedOut
 * @property {Notifier} notifier
 */

const TICK_MS = 5_000;
/** A finished interview stays in the overview this long. */
const LINGER_MS = 60_000;

const t = await loadTexts(readersLanguages(), "moderator");
fillTexts(document, t);

/** @type {State} */
const state = { me: null, rows: new Map(), loaded: false, kiosks: [], model: null, missing: null, link: "connecting", heard: 0 };
/** @type {View | null} */
let view = null;
let shownHash = "";
let drawing = false;
/** Whether somebody is signing out in this tab. */
let leaving = false;
let stopHealth = () => {};
let watched = /** @type {string | null} */ (null);

const socket = new ModeratorSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/moderator`, {
  onMessage: received,
  onStatus(status, retryMs) {
    state.link = status;
    if (status === "refused") thrownOut();
    else shell.link(status, retryMs, state.heard);
  },
});

/** @type {App} */
const app = {
  t,
  f: formatsOf(t),
  word(prefix, name) {
    try {
      return t(`${prefix}.${name}`);
    } catch {
      return name.replaceAll("_", " ");
    }
  },
  state,
  commands: new Commands((message) => socket.send(message), () => crypto.randomUUID()),
  shelf,
  toast: (text, kind = "") => shell.toast(text, kind),
  go: (hash) => void (location.hash = hash),
  now: () => Date.now(),
  topInset: () => shell.bar.offsetHeight,
  watch,
  signedOut() {
    socket.stop();
    stopHealth();
    Object.assign(state, { me: null, rows: new Map(), loaded: false, model: null });
    route(true);
  },
  notifier: /** @type {Notifier} */ (/** @type {unknown} */ (null)),
};
app.notifier = new Notifier(app);
const shell = makeShell(app, () => void leave());

/** @param {any} message */
function received(message) {
  state.heard = Date.now();
  if (message.type === "ready") {
    state.me = { kind: "moderator", name: message.name, token_id: message.token_id ?? "", concepts: message.concepts ?? null };
    shell.who(message.name);
    socket.send({ type: "overview", filter: {} });
    if (watched) socket.send({ type: "subscribe", session_id: watched });
    app.commands.resend();
    return;
  }
  if (app.commands.heard(message)) return;
  if (message.type === "kiosks") state.kiosks = message.kiosks ?? [];
  const rows = rowsAfter(state.rows, message);
  if (rows !== state.rows) {
    if (state.loaded) app.notifier.tell(newAlerts(state.rows, rows));
    state.rows = rows;
    state.loaded ||= message.type === "overview.rows";
    if (message.type === "overview.gone" && message.session_id === watched) forgotten(message.session_id);
  } else if (message.type === "snapshot") {
    if (message.session_id === watched) state.model = fromMessage(message);
  } else if (message.type === "error" && watched && !state.model) {
    state.missing = message.code;
  } else if (state.model && message.session_id === state.model.id) {
    state.model = applied(state.model, message);
  }
  draw();
}

/** What is watched was erased, or is not to be seen any more: nothing of it stays, and the server says which. @param {string} id */
function forgotten(id) {
  state.model = null;
  state.missing = null;
  socket.send({ type: "subscribe", session_id: id });
}

/** Draw what was heard with the next frame, once, however much it was. */
function draw() {
  if (drawing) return;
  drawing = true;
  const paint = () => {
    drawing = false;
    view?.update?.();
    shell.kiosks(state.kiosks);
    if (view) app.notifier.name(view.title, counted(state.rows.values()).alerts);
  };
  // A hidden tab gets no frames, and has to tell of alerts all the same.
  if (document.hidden) setTimeout(paint, 250);
  else requestAnimationFrame(paint);
}

/** @param {string | null} id */
function watch(id) {
  if (watched === id) return;
  watched = id;
  state.model = null;
  state.missing = null;
  socket.send(id ? { type: "subscribe", session_id: id } : { type: "unsubscribe" });
}

/** Show what the address says. @param {boolean} [again] even if it is shown already. */
function route(again = false) {
  const [, name = "", id = ""] = location.hash.split("/").map(decodeURIComponent);
  const hash = `${name}/${id}`;
  if (!again && hash === shownHash && view) return;
  shownHash = hash;
  view?.destroy?.();
  if (!state.me) view = signInView(app, enter);
  else if (name === "interview" && id) view = detailView(app, id);
  else if (name === "finished") view = finishedView(app);
  else if (name === "access") view = tokensView(app);
  else view = overviewView(app);
  shell.show(view, state.me ? name || "overview" : null);
  app.notifier.name(view.title);
  view.update?.();
}

/** @param {string} name of the moderator who is in. */
function enter(name) {
  state.me = { kind: "moderator", name, token_id: "", concepts: null };
  shell.who(name);
  socket.start();
  stopHealth();
  stopHealth = watchHealth(api.health, (trouble) => shell.trouble(trouble));
  route(true);
}

/** The token was revoked, or somebody signed out in another tab. */
function thrownOut() {
  if (state.me && !leaving) app.toast(t("mod.signin.ended"), "caution");
  app.signedOut();
}

/** Sign out: the page says so only once the server has ended the login. */
async function leave() {
  leaving = true;
  try {
    await api.signOut();
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    app.toast(t(failure.status === 429 ? "mod.error.rate_limited" : "mod.signin.stays"), "alarm");
    return;
  } finally {
    leaving = false;
  }
  location.hash = "";
  app.signedOut();
}

async function begin() {
  try {
    const me = await api.me();
    if (me.kind === "moderator") {
      enter(me.name);
      return;
    }
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    if (failure.status !== 401 && failure.status !== 403) {
      shell.failed(() => void begin());
      return;
    }
  }
  route(true);
}

window.addEventListener("hashchange", () => route());
window.addEventListener("online", () => socket.nudge());
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  socket.nudge();
  draw();
});
document.addEventListener("keydown", (event) => {
  const inField = /** @type {HTMLElement} */ (event.target).closest?.("input, textarea, select, dialog, [contenteditable]");
  if (inField || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (view?.key?.(event)) event.preventDefault();
});
setInterval(() => {
  const over = [...state.rows.values()].filter((row) => isGone(row, Date.now() - LINGER_MS));
  if (over.length) {
    const rows = new Map(state.rows);
    for (const row of over) rows.delete(row.session_id);
    state.rows = rows;
  }
  view?.tick?.();
}, TICK_MS);
void begin();
