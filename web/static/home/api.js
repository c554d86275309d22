/** The two calls of the start page. */

/**
 * `titles` by language.
 * @typedef {{id: string, name: string, title?: string, titles?: Record<string, string>, methodology: string,
 *   engine: string, languages: string[]}} Concept
 */

const DEADLINE_MS = 10_000;

/** A refusal by the server; `status` 0 when it was not reached. */
export class Refusal extends Error {
  /** @param {number} status @param {string} code of the problem, or "". */
  constructor(status, code) {
    super(code || `status ${status}`);
    this.status = status;
    this.code = code;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
async function call(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(DEADLINE_MS), ...options });
  } catch {
    throw new Refusal(0, "");
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Refusal(response.status, typeof body?.code === "string" ? body.code : "");
  return body;
}

/** @returns {Promise<{items: Concept[], open: boolean}>} `open`: whether everyone sees all there are. */
export async function fetchConcepts() {
  const body = await call("/api/concepts");
  return { items: body?.items ?? [], open: body?.open !== false };
}

/**
 * @param {string} conceptId
 * @param {string | null} language null leaves it to the concept.
 * @returns {Promise<string>} where the interview is.
 */
export async function openInterview(conceptId, language) {
  const body = await call("/api/sessions", {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ concept_id: conceptId, ...(language ? { language } : {}) }),
  });
  return `/interview/${encodeURIComponent(body.session_id)}#${encodeURIComponent(body.respondent_token)}`;
}
