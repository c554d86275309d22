/**
 * What a moderator does to an interview: each act has an id, so that a double click or a broken line does it once.
 *
 * @typedef {{command_id: string, type: string, [field: string]: unknown}} Command
 * @typedef {{ok: true, turn: number, preview: {question: string, strategy: string | null, node_label: string | null} | null} | {ok: false, code: string, message: string}} Result
 * @typedef {{command: Command, signature: string, sent: boolean, promise: Promise<Result>, done: (result: Result) => void}} Open
 */

/** How long an act may go unanswered; a running turn may have to end first. */
const TOO_LATE_MS = 90_000;

export class Commands {
  /**
   * @param {(message: object) => boolean} send whether it went out.
   * @param {() => string} newId
   * @param {{set: (then: () => void, ms: number) => unknown, clear: (timer: any) => void}} [clock]
   */
  constructor(send, newId, clock = { set: (then, ms) => setTimeout(then, ms), clear: (timer) => clearTimeout(timer) }) {
    this.send = send;
    this.newId = newId;
    this.clock = clock;
    /** @type {Map<string, Open>} */
    this.open = new Map();
  }

  /**
   * Do it, or join the same act if it is under way.
   * @param {{type: string, [field: string]: unknown}} what
   * @returns {Promise<Result>}
   */
  run(what) {
    const signature = JSON.stringify(what);
    for (const other of this.open.values()) {
      if (other.signature === signature) return other.promise;
    }
    const command = { ...what, command_id: this.newId() };
    /** @type {(result: Result) => void} */
    let settle = () => {};
    const promise = new Promise((/** @type {(result: Result) => void} */ resolve) => {
      settle = resolve;
    });
    const timer = this.clock.set(() => this.finish(command.command_id, { ok: false, code: "no_reply", message: "" }), TOO_LATE_MS);
    const done = (/** @type {Result} */ result) => {
      this.clock.clear(timer);
      settle(result);
    };
    /** @type {Open} */
    const open = { command, signature, sent: false, promise, done };
    this.open.set(command.command_id, open);
    open.sent = this.send(command);
    return promise;
  }

  /**
   * Take back what waits for a connection.
   * @param {{type: string, [field: string]: unknown}} what
   * @returns {boolean} false where it went out already.
   */
  takeBack(what) {
    const signature = JSON.stringify(what);
    for (const [id, open] of this.open) {
      if (open.signature === signature && !open.sent) return this.finish(id, { ok: false, code: "taken_back", message: "" });
    }
    return false;
  }

  /** Send again, with the same ids, what nothing was heard of: the line was broken. */
  resend() {
    for (const open of this.open.values()) open.sent = this.send(open.command) || open.sent;
  }

  /** @param {any} message of the socket. @returns {boolean} whether it was an answer to one of these. */
  heard(message) {
    if (message.type === "command.done") {
      return this.finish(message.command_id, { ok: true, turn: message.applies_to_turn, preview: previewOf(message.preview) });
    }
    if (message.type !== "error" || !message.ref) return false;
    return this.finish(message.ref, { ok: false, code: message.code, message: message.message ?? "" });
  }

  /** @param {string} id @param {Result} result @returns {boolean} */
  finish(id, result) {
    const open = this.open.get(id);
    if (!open) return false;
    this.open.delete(id);
    open.done(result);
    return true;
  }
}

/** @param {any} preview @returns {{question: string, strategy: string | null, node_label: string | null} | null} */
function previewOf(preview) {
  if (!preview) return null;
  if (typeof preview === "string") return { question: preview, strategy: null, node_label: null };
  return { question: preview.question ?? "", strategy: preview.strategy ?? null, node_label: preview.node_label ?? null };
}
