/**
 * Keeps what a respondent has typed on the device until the server has it.
 *
 * One record per session: the draft in the box, the answer that was sent and not yet settled, a correction that is being
 * written, and a withdrawal that the server has not confirmed. It survives a lost connection, a closed tab and a crashed
 * browser, and is wiped when the interview ends or is erased.
 */

import { countRated, readRated } from "./ratings.js";

/**
 * An answer on its way. `accepted` is true from `turn.started` on: the server has it, it is never sent again unasked.
 * @typedef {{kind: "answer" | "skip" | "correct" | "rate", text: string, turnKey: string, utteranceId?: string,
 *   accepted: boolean}} Kept
 * @typedef {{utteranceId: string, text: string}} Correcting
 * @typedef {{draft: string, pending: Kept | null, rated?: import("./ratings.js").Rated, correcting?: Correcting | null,
 *   withdrawing?: boolean}} Saved
 * @typedef {Pick<Storage, "getItem" | "setItem" | "removeItem">} Shelf
 *
 * A shelf that writes behind the page's back says when what it was given is safe; what is sent waits for that.
 * @typedef {Shelf & {settled?: () => Promise<unknown>}} Keeping
 */

const KINDS = new Set(["answer", "skip", "correct", "rate"]);

/** @type {Saved} */
const NOTHING = { draft: "", pending: null };

/** @param {string} sessionId */
const shelfKey = (sessionId) => `askwell:${sessionId}`;

/** @param {any} value @returns {Kept | null} */
function readKept(value) {
  if (!value || typeof value !== "object" || !KINDS.has(value.kind)) return null;
  if (typeof value.text !== "string" || typeof value.turnKey !== "string" || value.turnKey === "") return null;
  if (value.kind === "correct" && typeof value.utteranceId !== "string") return null;
  const kept = { kind: value.kind, text: value.text, turnKey: value.turnKey, accepted: value.accepted === true };
  return value.kind === "correct" ? { ...kept, utteranceId: value.utteranceId } : kept;
}

/** @param {any} value @returns {Correcting | null} */
function readCorrecting(value) {
  if (!value || typeof value.utteranceId !== "string" || typeof value.text !== "string") return null;
  return { utteranceId: value.utteranceId, text: value.text };
}

/**
 * @param {Shelf | null} shelf null where the browser forbids storage.
 * @param {string} sessionId
 * @returns {Saved} what was kept; empty when there is nothing, or nothing that can be read.
 */
export function loadSaved(shelf, sessionId) {
  try {
    const value = JSON.parse(shelf?.getItem(shelfKey(sessionId)) ?? "null");
    if (!value || typeof value !== "object") return NOTHING;
    const rated = readRated(value.rated);
    const correcting = readCorrecting(value.correcting);
    return {
      draft: typeof value.draft === "string" ? value.draft : "", pending: readKept(value.pending),
      ...(countRated(rated) > 0 ? { rated } : {}), ...(correcting ? { correcting } : {}),
      ...(value.withdrawing === true ? { withdrawing: true } : {}),
    };
  } catch {
    return NOTHING;
  }
}

/**
 * @param {Shelf | null} shelf
 * @param {string} sessionId
 * @param {Saved} saved
 * @returns {boolean} false when the browser would not keep it (storage full or forbidden).
 */
export function saveSaved(shelf, sessionId, saved) {
  if (!shelf) return false;
  try {
    const empty = saved.draft === "" && saved.pending === null && !saved.correcting && !saved.withdrawing;
    if (empty && countRated(saved.rated ?? {}) === 0) shelf.removeItem(shelfKey(sessionId));
    else shelf.setItem(shelfKey(sessionId), JSON.stringify(saved));
    return true;
  } catch {
    return false;
  }
}

/** @param {Shelf | null} shelf @param {string} sessionId */
export function wipeSaved(shelf, sessionId) {
  try {
    shelf?.removeItem(shelfKey(sessionId));
  } catch {
    return;
  }
}
