/** The interview page: one state, one reducer, one view, in the interview's own language. */

import { fillTexts, loadTexts, readersLanguages } from "../texts/index.js";
import { byId } from "./dom.js";
import { InterviewPage, shelfOf } from "./page.js";
import { View } from "./view.js";

/** After this long the page says in the reader's language that it is still opening. */
const PATIENCE_MS = 1_200;
const DEADLINE_MS = 8_000;

/**
 * What the server has of the session, asked for before anything is shown: it says which language to show.
 * @param {string} sessionId
 * @param {string} token
 * @returns {Promise<import("../core/state.js").Detail | null>} null where it can't be had now; the page will ask again.
 */
async function lookUp(sessionId, token) {
  if (token === "") return null;
  try {
    const response = await fetch(`/api/sessions/${encodeURIComponent(sessionId)}`, {
      cache: "no-store", headers: { authorization: `Bearer ${token}`, accept: "application/json" },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** @param {Promise<unknown>} found */
async function sayThatItTakesTime(found) {
  const late = new Promise((resolve) => setTimeout(() => resolve(true), PATIENCE_MS));
  if (await Promise.race([found.then(() => false), late]) !== true) return;
  const t = await loadTexts(readersLanguages());
  if (await Promise.race([found.then(() => false), Promise.resolve(true)]) !== true) return;
  fillTexts(document, t);
  byId("loading-text").textContent = t("interview.loading");
}

async function main() {
  const sessionId = decodeURIComponent(location.pathname.split("/").filter(Boolean).at(-1) ?? "");
  const token = decodeURIComponent(location.hash.slice(1));
  const found = lookUp(sessionId, token);
  void sayThatItTakesTime(found);
  const detail = await found;
  const t = await loadTexts([detail?.language, ...readersLanguages()]);
  fillTexts(document, t);
  const page = new InterviewPage({
    sessionId, token, shelf: shelfOf(), language: t.language,
    view: (dispatch, freshKey) => new View(t, dispatch, freshKey),
  });
  byId("speak").addEventListener("click", () => page.speaking.choose());
  byId("continue-here").addEventListener("click", () => page.continueHere());
  window.addEventListener("hashchange", () => location.reload());
  page.start(detail);
}

await main();
