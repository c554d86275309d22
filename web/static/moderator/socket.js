/** The moderator's connection: greets, keeps alive, comes back, asks again for what was watched. */

import { backoffMs, restartMs } from "../core/backoff.js";

const READY_MS = 10_000;
const BEAT_MS = 20_000;
const PONG_MS = 10_000;
const UNAUTHORISED = new Set([4401, 4403]);
const RESTARTING = 1012;

/**
 * @typedef {"connecting" | "live" | "waiting" | "refused"} Status
 * @typedef {{onMessage: (message: any) => void, onStatus: (status: Status, retryMs: number) => void,
 *   make?: (url: string) => WebSocket, random?: () => number}} Wires
 */

export class ModeratorSocket {
  /** @param {string} url @param {Wires} wires */
  constructor(url, wires) {
    this.url = url;
    this.wires = wires;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Status} */
    this.status = "waiting";
    this.failures = 0;
    /** @type {object | null} what is watched: sent again after each greeting. */
    this.watching = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.stopped = true;
  }

  /** Connect, and stay so until `stop`. */
  start() {
    this.stopped = false;
    this.failures = 0;
    this.connect();
  }

  /** Leave for good. */
  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    this.drop();
  }

  /** Try again at once: the network is back, or somebody looks. */
  nudge() {
    if (!this.stopped && this.status === "waiting") this.connect();
  }

  /** @param {object} message @returns {boolean} whether it could be sent. */
  send(message) {
    if (this.status !== "live" || this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Watch this from now on, and after every reconnection. @param {object} message */
  watch(message) {
    this.watching = message;
    this.send(message);
  }

  connect() {
    clearTimeout(this.timer);
    this.drop();
    this.tell("connecting", 0);
    const socket = this.wires.make ? this.wires.make(this.url) : new WebSocket(this.url, "askwell.v1");
    this.socket = socket;
    this.expect(READY_MS);
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello" }));
    socket.onmessage = (event) => this.received(String(event.data));
    socket.onclose = (event) => this.closed(event.code);
  }

  /** @param {string} data */
  received(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof message?.type !== "string") return;
    this.beat();
    if (message.type === "pong") return;
    if (message.type === "error" && message.code === "unauthorised") {
      this.refused();
      return;
    }
    if (message.type === "ready") {
      this.failures = 0;
      this.tell("live", 0);
      if (this.watching) this.send(this.watching);
    }
    this.wires.onMessage(message);
  }

  /** @param {number} code */
  closed(code) {
    this.socket = null;
    if (this.stopped || this.status === "refused") return;
    if (UNAUTHORISED.has(code)) {
      this.refused();
      return;
    }
    const random = (this.wires.random ?? Math.random)();
    this.failures += 1;
    const delayMs = code === RESTARTING ? restartMs(random) : backoffMs(this.failures, random);
    this.tell("waiting", delayMs);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), delayMs);
  }

  refused() {
    this.stop();
    this.tell("refused", 0);
  }

  /** Any message is a sign of life; without one for a while the server is asked for one. */
  beat() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.send({ type: "ping", t: Date.now() });
      this.expect(PONG_MS);
    }, BEAT_MS);
  }

  /** @param {number} withinMs */
  expect(withinMs) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.drop();
      this.closed(1006);
    }, withinMs);
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** @param {Status} status @param {number} retryMs */
  tell(status, retryMs) {
    this.status = status;
    this.wires.onStatus(status, retryMs);
  }
}
