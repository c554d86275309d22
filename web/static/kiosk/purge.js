/** Leaves nothing of a respondent in the browser: storage, databases, caches, page. */

import { isOurs } from "./keys.js";

/** Databases that keep what is said; the vault empties itself. */
const DATABASES = ["askwell-speech"];
const DEADLINE_MS = 2_000;

/** Everything that was written or shown goes out of the document, also out of what the browser could bring back. */
export function emptyPage() {
  for (const field of document.querySelectorAll("input, textarea")) {
    const typed = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (field);
    typed.value = "";
    typed.defaultValue = "";
  }
  document.querySelector("main")?.replaceChildren();
  for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
  getSelection()?.removeAllRanges();
  window.speechSynthesis?.cancel();
  window.name = "";
}

/** @returns {Promise<void>} never rejects: what can be removed is. */
export async function emptyStorage() {
  for (const name of ["localStorage", "sessionStorage"]) attempt(() => emptyShelf(/** @type {"localStorage"} */ (name)));
  await Promise.allSettled([...DATABASES.map(remove), emptyCaches()]);
}

/** @param {"localStorage" | "sessionStorage"} name */
function emptyShelf(name) {
  const shelf = window[name];
  for (const key of Object.keys(shelf)) if (name === "sessionStorage" || !isOurs(key)) shelf.removeItem(key);
}

/** @param {() => void} act */
function attempt(act) {
  try {
    act();
  } catch {
    return;
  }
}

/** @param {string} name @returns {Promise<void>} */
function remove(name) {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
    setTimeout(resolve, DEADLINE_MS);
  });
}

/** The page's own files stay; anything else has no business here. */
async function emptyCaches() {
  if (!("caches" in window)) return;
  const names = await caches.keys();
  await Promise.all(names.filter((name) => !name.startsWith("askwell-kiosk-")).map((name) => caches.delete(name)));
}
