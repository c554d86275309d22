/** Carries out what the reducer asks for: socket, timers, HTTP, storage. Feeds back what happens. */

import { parseMessage } from "../core/messages.js";
import { saveSaved, wipeSaved } from "../core/pending.js";

/** @typedef {import("../core/state.js").State} State */
/** @typedef {import("../core/state.js").Effect} Effect */
/** @typedef {import("../core/reduce.js").Event} Event */

const PROTOCOL = "askwell.v1";
const HTTP_DEADLINE_MS = 10_000;
const IMAGE_DEADLINE_MS = 60_000;
/** A device that does not come round to keeping an answer must not keep it from being sent. */
const SHELF_DEADLINE_MS = 3_000;
const TYPING_EVERY_MS = 3_000;

export class Runtime {
  /**
   * @param {object} options
   * @param {string} options.sessionId
   * @param {string} options.token
   * @param {import("../core/pending.js").Keeping | null} options.shelf
   * @param {boolean} options.keepsAccepted whether an answer stays on the device after the server has it.
   * @param {(event: Event) => void} options.dispatch
   * @param {() => State} options.state
   * @param {(on: "answer" | "edit" | "correct" | "heading") => void} options.focus
   * @param {(frame: ArrayBuffer) => void} options.sound told of each binary frame.
   */
  constructor({ sessionId, token, shelf, keepsAccepted, dispatch, state, focus, sound }) {
    this.sessionId = sessionId;
    this.token = token;
    this.shelf = shelf;
    this.keepsAccepted = keepsAccepted;
    this.dispatch = dispatch;
    this.state = state;
    this.focus = focus;
    this.sound = sound;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Map<string, ReturnType<typeof setTimeout>>} */
    this.timers = new Map();
    /** What waits for the shelf, in order; null while nothing has to wait. @type {(() => void)[] | null} */
    this.outbox = null;
    this.closed = false;
    this.typedAt = -TYPING_EVERY_MS;
  }

  /** Somebody writes an answer: told now and then, for moderators who look on. What is written stays here. */
  typing() {
    const now = performance.now();
    if (now - this.typedAt < TYPING_EVERY_MS) return;
    this.typedAt = now;
    this.send({ type: "typing" });
  }

  /** @param {Effect} effect */
  run(effect) {
    switch (effect.type) {
      case "connect": return this.#connect();
      case "disconnect": return this.#disconnect();
      case "greet": return this.#greet();
      case "send": return this.send(effect.message);
      case "timer": return this.#timer(effect.name, effect.delayMs);
      case "cancel": return this.#cancel(effect.name);
      case "fetch": return void this.#fetch();
      case "fetch_image": return void this.#fetchImage(effect.url);
      case "erase": return void this.#erase();
      case "save": {
        const { draft, pending, rated, editing, reopening, leaving } = this.state();
        const wanted = pending && (this.keepsAccepted || !pending.accepted || pending.failed !== null);
        const kept = wanted && { kind: pending.kind, text: pending.text, turnKey: pending.turnKey, accepted: pending.accepted,
          ...(pending.utteranceId === undefined ? {} : { utteranceId: pending.utteranceId }) };
        const correcting = editing ? { utteranceId: editing.utteranceId, text: editing.text } : reopening;
        const holds = saveSaved(this.shelf, this.sessionId, {
          draft, pending: kept || null, rated, correcting, withdrawing: leaving === "withdraw",
        });
        return holds && ((pending && !pending.accepted) || leaving === "withdraw") ? this.#settle() : undefined;
      }
      case "wipe": return wipeSaved(this.shelf, this.sessionId);
      case "focus": return this.focus(effect.on);
    }
  }

  /** Nothing leaves before the shelf holds it. */
  #settle() {
    const settled = this.shelf?.settled?.();
    if (!settled || this.outbox) return;
    const outbox = this.outbox = /** @type {(() => void)[]} */ ([]);
    void Promise.race([settled, new Promise((resolve) => setTimeout(resolve, SHELF_DEADLINE_MS))]).then(() => {
      this.outbox = null;
      for (const out of outbox) out();
    });
  }

  /** Within order: at once, or once the shelf is done; never over a later connection. @param {(socket: WebSocket) => void} out */
  #out(out) {
    const { socket } = this;
    const act = () => {
      if (socket && socket === this.socket && socket.readyState === WebSocket.OPEN) out(socket);
    };
    if (this.outbox) this.outbox.push(act);
    else act();
  }

  /** Ends everything that is under way. */
  close() {
    this.closed = true;
    this.#disconnect();
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  #connect() {
    this.#disconnect();
    if (this.closed) return;
    const url = new URL("/ws/respondent", location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    const socket = new WebSocket(url, PROTOCOL);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    const current = () => this.socket === socket;
    socket.addEventListener("open", () => current() && this.dispatch({ type: "opened" }));
    socket.addEventListener("message", ({ data }) => {
      if (current() && data instanceof ArrayBuffer) return this.sound(data);
      const message = current() ? parseMessage(data) : null;
      if (message) this.dispatch({ type: "message", message });
    });
    socket.addEventListener("close", ({ code }) => {
      if (!current()) return;
      this.socket = null;
      this.dispatch({ type: "closed", code, random: Math.random() });
    });
  }

  /** Lets go of the socket; what it still has to say is not heard. */
  #disconnect() {
    const socket = this.socket;
    this.socket = null;
    socket?.close(1000);
  }

  #greet() {
    const { epoch, lastEventId } = this.state();
    this.send({ type: "hello", token: this.token, last_event_id: lastEventId, ...(epoch ? { epoch } : {}) });
  }

  /** @param {import("../core/messages.js").ClientMessage} message */
  send(message) {
    this.#out((socket) => socket.send(JSON.stringify(message)));
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes */
  sendBytes(bytes) {
    this.#out((socket) => socket.send(bytes));
  }

  /** Bytes that have not left yet. */
  get buffered() {
    return this.socket?.bufferedAmount ?? 0;
  }

  /** @param {import("../core/state.js").Timer} name @param {number} delayMs */
  #timer(name, delayMs) {
    this.#cancel(name);
    this.timers.set(name, setTimeout(() => {
      this.timers.delete(name);
      this.dispatch({ type: "timer", name, now: Date.now(), random: Math.random() });
    }, delayMs));
  }

  /** @param {string} name */
  #cancel(name) {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }

  /** @param {"GET" | "DELETE"} method @returns {Promise<Response>} */
  #request(method) {
    return fetch(`/api/sessions/${encodeURIComponent(this.sessionId)}`, {
      method, cache: "no-store", headers: { authorization: `Bearer ${this.token}`, accept: "application/json" },
      signal: AbortSignal.timeout(HTTP_DEADLINE_MS),
    });
  }

  async #fetch() {
    let event;
    try {
      const response = await this.#request("GET");
      event = response.ok
        ? { type: /** @type {const} */ ("fetched"), detail: await response.json() }
        : { type: /** @type {const} */ ("fetch_failed"), code: codeOf(response.status) };
    } catch {
      event = { type: /** @type {const} */ ("fetch_failed"), code: "network" };
    }
    this.dispatch(event);
  }

  /** As a URL of its data: an image's own address takes no token. Without it what it shows is told in words. @param {string} url */
  async #fetchImage(url) {
    try {
      const response = await fetch(url, { headers: { authorization: `Bearer ${this.token}` }, signal: AbortSignal.timeout(IMAGE_DEADLINE_MS) });
      if (!response.ok) return;
      const image = await response.blob();
      const reader = new FileReader();
      reader.addEventListener("load", () => this.dispatch({ type: "image", url: String(reader.result) }));
      reader.readAsDataURL(image);
    } catch {
      // Asked for again when the respondent wants to see it again.
    }
  }

  async #erase() {
    let code = "network";
    try {
      const { ok, status } = await this.#request("DELETE");
      code = ok ? "" : codeOf(status);
    } catch {
      code = "network";
    }
    const gone = code === "" || code === "not_found";
    this.dispatch(gone ? { type: "erased" } : { type: "erase_failed", code });
  }
}

/** @param {number} status @returns {string} */
function codeOf(status) {
  if (status === 401) return "unauthorised";
  if (status === 403) return "forbidden";
  return status === 404 || status === 410 ? "not_found" : "internal";
}
