/** The calls of the moderator's page. The cookie says who is asking. */

const DEADLINE_MS = 20_000;

/** A refusal by the server; `status` 0 when it was not reached. */
export class Refusal extends Error {
  /** @param {number} status @param {string} code of the problem, or "". @param {string} detail the server's own words. */
  constructor(status, code, detail) {
    super(detail || code || `status ${status}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>} the answer's content; null when it has none.
 */
async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method, cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(DEADLINE_MS),
      ...(body ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {}),
    });
  } catch {
    throw new Refusal(0, "", "");
  }
  const content = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new Refusal(response.status, content?.code ?? "", content?.detail ?? "");
  return content;
}

/** @param {Record<string, string | number | null | undefined>} values */
function query(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return kept.length ? `?${new URLSearchParams(kept.map(([name, value]) => [name, String(value)]))}` : "";
}

/**
 * @typedef {{kind: string, name: string, token_id: string, concepts: string[] | null}} Me
 * @typedef {{id: string, kind: string, name: string, concepts: string[] | null, created_at: string,
 *   created_by?: string | null, created_by_name?: string | null, revoked_at: string | null, last_seen?: string | null}} Token
 * @typedef {{id: string, name: string, title?: string, methodology: string, languages: string[]}} Concept
 * @typedef {{id: string, state: string, concept_id: string, concept_name: string, turn_count: number, max_turns: number,
 *   respondent_ref: string | null, created_at: string, updated_at: string, reason?: string, match?: string | null,
 *   device?: {id: string, name: string} | null, language?: string}} Found
 */

export const api = {
  /** @returns {Promise<Me>} */
  me: () => call("GET", "/api/me"),
  /** @param {string} token */
  signIn: (token) => call("POST", "/api/login", { token }),
  signOut: () => call("POST", "/api/logout"),
  /** What the server says of itself, also where it is not ready; null when it was not reached. @returns {Promise<any>} */
  async health() {
    const asked = { cache: /** @type {const} */ ("no-store"), signal: AbortSignal.timeout(DEADLINE_MS) };
    return fetch("/readyz", asked).then((response) => response.json()).catch(() => null);
  },
  /** @returns {Promise<{items: Token[]}>} */
  tokens: () => call("GET", "/api/tokens"),
  /** @param {{kind: string, name: string, concepts: string[] | null}} wanted @returns {Promise<Token & {token: string}>} */
  makeToken: ({ kind, name, concepts }) => call("POST", "/api/tokens", { kind, name, ...(concepts ? { concepts } : {}) }),
  /** @param {string} id */
  revokeToken: (id) => call("DELETE", `/api/tokens/${encodeURIComponent(id)}`),
  /** @returns {Promise<{items: Concept[]}>} */
  concepts: () => call("GET", "/api/concepts"),
  /** @returns {Promise<{items: any[]}>} */
  methodologies: () => call("GET", "/api/methodologies"),
  /**
   * @param {{q?: string, state?: string, concept_id?: string, cursor?: string | null, limit?: number}} wanted
   * @returns {Promise<{items: Found[], next_cursor: string | null}>}
   */
  sessions: (wanted) => call("GET", `/api/sessions${query(wanted)}`),
  /**
   * A finished interview, in the form of a snapshot.
   * @param {string} id
   * @returns {Promise<any>}
   */
  async whole(id) {
    const path = `/api/sessions/${encodeURIComponent(id)}`;
    const [detail, graph, canonical, scores, transcript, methods] = await Promise.all([
      call("GET", path), call("GET", `${path}/graph`), call("GET", `${path}/canonical-graph`), call("GET", `${path}/scores`),
      call("GET", `${path}/transcript`), this.methodologies(),
    ]);
    const method = methods.items.find((/** @type {any} */ item) => item.id === detail.methodology);
    return {
      ...detail, graph, canonical, turns: scores.items, transcript: transcript.items,
      ontology: { nodes: method?.nodes ?? [] }, strategies: method?.strategies ?? [],
    };
  },
};
