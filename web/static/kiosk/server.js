/** What a kiosk asks of its server over HTTP. */

const DEADLINE_MS = 10_000;
const EXPORT_DEADLINE_MS = 120_000;

/**
 * @typedef {import("./flow.js").Offer} Offer
 *
 * `GET /api/kiosk/status`; times are ISO 8601 in UTC, sizes in bytes.
 * @typedef {object} Status
 * @property {string} version
 * @property {{to: string | null, state: string, connected: boolean | null, last_at: string | null, last_error: string | null,
 *   sending?: {done: number, total: number} | null}} sync
 * @property {{finished: number, unfinished: number}} unsynced
 * @property {{free_bytes: number, used_bytes: number}} storage
 * @property {{now: string}} clock
 * @property {{name: string} | null} [device]
 */

/** A refusal by the server, or "network" where none could be reached. */
export class Refusal extends Error {
  /** @param {string} code @param {number} [waitS] seconds until it may be tried again. */
  constructor(code, waitS = 0) {
    super(code);
    this.code = code;
    this.waitS = waitS;
  }
}

export class KioskServer {
  /** @param {string} token the device's; "" where interviews are open to everyone on this machine. */
  constructor(token) {
    this.token = token;
    this.key = "";
  }

  /**
   * @param {string} path
   * @param {{method?: string, body?: object, deadlineMs?: number}} [options]
   * @returns {Promise<Response>} throws a Refusal.
   */
  async #ask(path, { method = "GET", body, deadlineMs = DEADLINE_MS } = {}) {
    /** @type {Record<string, string>} */
    const headers = { accept: "application/json" };
    if (this.token) headers["authorization"] = `Bearer ${this.token}`;
    if (this.key) headers["x-kiosk-key"] = this.key;
    if (body) headers["content-type"] = "application/json";
    /** @type {Response} */
    let response;
    try {
      response = await fetch(path, {
        method, headers, cache: "no-store", signal: AbortSignal.timeout(deadlineMs), ...(body ? { body: JSON.stringify(body) } : {}),
      });
    } catch {
      throw new Refusal("network");
    }
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    const code = typeof problem.code === "string" ? problem.code : response.status === 503 ? "starting" : "internal";
    throw new Refusal(code, Number(response.headers.get("retry-after")) || 0);
  }

  /** @param {string} concept @param {string} language "" for the concept's own. @returns {Promise<Offer>} */
  async offer(concept, language) {
    const query = language ? `?language=${encodeURIComponent(language)}` : "";
    return (await this.#ask(`/api/kiosk/${encodeURIComponent(concept)}${query}`)).json();
  }

  /**
   * @param {{concept_id: string, language: string, respondent_ref?: string, eligibility?: Record<string, boolean>}} wish
   * @returns {Promise<{session_id: string, respondent_token: string}>}
   */
  async open(wish) {
    return (await this.#ask("/api/sessions", { method: "POST", body: wish })).json();
  }

  /** @param {string} pin @returns {Promise<number>} for how many seconds the operator's calls are open. */
  async unlock(pin) {
    const { key, unlocked_s: seconds } = await (await this.#ask("/api/kiosk/unlock", { method: "POST", body: { pin } })).json();
    this.key = key;
    return seconds;
  }

  lock() {
    this.key = "";
  }

  /** @returns {Promise<Status>} */
  async status() {
    return (await this.#ask("/api/kiosk/status")).json();
  }

  /** @returns {Promise<{name: string, file: Blob}>} every interview that has not been sent on. */
  async exported() {
    const response = await this.#ask("/api/kiosk/unsynced/export", { deadlineMs: EXPORT_DEADLINE_MS });
    const name = /filename="?([\w.-]+)"?/.exec(response.headers.get("content-disposition") ?? "")?.[1];
    return { name: name ?? "askwell-unsynced.jsonl.gz", file: await response.blob() };
  }

  async restart() {
    await this.#ask("/api/kiosk/restart", { method: "POST", body: {} });
  }
}
