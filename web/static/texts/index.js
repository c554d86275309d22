/** The pages' sentences in the reader's language; English where there is no other. */

import english from "./en.js";

/** @typedef {(key: string, values?: Record<string, string | number>) => string} Texts */

/** Languages that have a file beside this one. */
const LANGUAGES = ["en"];

/**
 * @param {string} language a BCP 47 tag; its first part decides.
 * @returns {Promise<Texts>}
 */
export async function loadTexts(language) {
  const wanted = language.toLowerCase().split("-")[0] ?? "en";
  if (wanted === "en" || !LANGUAGES.includes(wanted)) return textsOf(english);
  const own = /** @type {{default: Record<string, string>}} */ (await import(`./${wanted}.js`));
  return textsOf({ ...english, ...own.default });
}

/** The sentences of the voice part, which are fetched with it. @param {string} language @returns {Promise<Texts>} */
export async function loadVoiceTexts(language) {
  const wanted = language.toLowerCase().split("-")[0] ?? "en";
  const { default: usual } = await import("./voice.en.js");
  if (wanted === "en" || !LANGUAGES.includes(wanted)) return textsOf(usual);
  const own = /** @type {{default: Record<string, string>}} */ (await import(`./voice.${wanted}.js`));
  return textsOf({ ...usual, ...own.default });
}

/**
 * @param {Record<string, string>} table
 * @returns {Texts} throws for a key no file has, so that a missing sentence is noticed at once.
 */
export function textsOf(table) {
  return (key, values = {}) => {
    const text = table[key];
    if (text === undefined) throw new Error(`no text for ${key}`);
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
  };
}

/**
 * Fills `data-t` (text), `data-t-label` (aria-label) and `data-t-placeholder` under a root.
 * @param {ParentNode} root
 * @param {Texts} t
 */
export function fillTexts(root, t) {
  for (const element of root.querySelectorAll("[data-t]")) {
    element.textContent = t(/** @type {HTMLElement} */ (element).dataset["t"] ?? "");
  }
  for (const element of root.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.getAttribute("data-t-label") ?? ""));
  }
  for (const element of root.querySelectorAll("[data-t-placeholder]")) {
    element.setAttribute("placeholder", t(element.getAttribute("data-t-placeholder") ?? ""));
  }
}
