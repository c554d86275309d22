/** The pages' sentences, numbers and dates in the reader's language; English where there is no other. */

import english from "./en.js";

/**
 * One sentence, or one per plural category of the language (`Intl.PluralRules`); `count` decides, else the first number.
 * @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Wording
 * @typedef {Record<string, Wording>} Table
 *
 * @typedef {object} Speech
 * @property {string} language BCP 47 tag of the sentences.
 * @property {"ltr" | "rtl"} direction
 * @typedef {((key: string, values?: Record<string, string | number>) => string) & Readonly<Speech>} Texts
 */

const SHELF_KEY = "askwell:language";
/** Letters of scripts that run from right to left, and of the others. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LEFT_TO_RIGHT = /[A-Za-z\u00c0-\u058f\u0900-\u1fff\u2c00-\ud7ff]/;
const ISOLATE = ["\u2068", "\u2069"];

/** @type {Promise<Record<string, string[]>> | null} */
let listing = null;

/**
 * Which languages there are, by part; the server lists the files beside this one. Only English where it can't be asked.
 * @param {string} [part] such as `kiosk`; the common one if not given.
 * @returns {Promise<string[]>} tags in alphabetical order.
 */
export async function languagesOf(part = "common") {
  listing ??= import(new URL("./languages.js", import.meta.url).href)
    .then((/** @type {{default: Record<string, string[]>}} */ found) => found.default)
    .catch(() => ({}));
  return (await listing)[part] ?? ["en"];
}

/**
 * @param {string} wanted a BCP 47 tag.
 * @param {readonly string[]} known
 * @returns {string | null} the closest one that is known: the tag itself, else what is left of it without its last parts.
 */
export function closest(wanted, known) {
  const parts = wanted.toLowerCase().split("-");
  for (; parts.length > 0; parts.pop()) {
    const tag = parts.join("-");
    if (known.includes(tag)) return tag;
  }
  return null;
}

/**
 * @param {readonly (string | null | undefined)[]} wanted best first.
 * @param {readonly string[]} known
 * @returns {string} the first that is known; English if none is.
 */
export function firstKnown(wanted, known) {
  for (const tag of wanted) {
    const found = tag ? closest(tag, known) : null;
    if (found) return found;
  }
  return "en";
}

/** What the reader chose on this device, then what the browser says. @returns {string[]} */
export function readersLanguages() {
  const chosen = chosenLanguage();
  return chosen ? [chosen, ...navigator.languages] : [...navigator.languages];
}

/** @returns {string | null} */
function chosenLanguage() {
  try {
    return window.localStorage.getItem(SHELF_KEY);
  } catch {
    return null;
  }
}

/** Remembers a choice for all pages of this server. @param {string} language */
export function rememberLanguage(language) {
  try {
    window.localStorage.setItem(SHELF_KEY, language);
  } catch {
    // The browser forbids keeping anything; the choice holds for this page.
  }
}

/**
 * The common sentences and those of the parts, in one language.
 * @param {string | readonly (string | null | undefined)[]} wanted a tag, or several, best first.
 * @param {...string} parts such as `moderator`; what a part lacks in the language is there in English.
 * @returns {Promise<Texts>}
 */
export async function loadTexts(wanted, ...parts) {
  const language = firstKnown(typeof wanted === "string" ? [wanted] : wanted, await languagesOf());
  const usual = Promise.all(parts.map((part) => load(`./${part}.en.js`)));
  const own = language === "en" ? Promise.resolve([]) : Promise.all([load(`./${language}.js`), ...parts.map((part) => ownOf(part, language))]);
  const [tables, mine] = await Promise.all([usual, own.catch(() => null)]);
  return textsOf(Object.assign({}, english, ...tables, ...(mine ?? [])), mine ? language : "en");
}

/** @param {string} part @param {string} language @returns {Promise<Table>} */
async function ownOf(part, language) {
  return (await languagesOf(part)).includes(language) ? load(`./${part}.${language}.js`) : {};
}

/** @param {string} file @returns {Promise<Table>} */
async function load(file) {
  const found = /** @type {{default: Table}} */ (await import(new URL(file, import.meta.url).href));
  return found.default;
}

/** The sentences of the voice part too, which are fetched with it. @param {string} language @returns {Promise<Texts>} */
export const loadVoiceTexts = (language) => loadTexts(language, "voice");

/**
 * @param {Table} table
 * @param {string} [language]
 * @returns {Texts} throws for a key no file has, so that a missing sentence is noticed at once.
 */
export function textsOf(table, language = "en") {
  const plural = new Intl.PluralRules(language);
  const digits = new Intl.NumberFormat(language);
  /** @type {"ltr" | "rtl"} */
  const direction = table["language.direction"] === "rtl" ? "rtl" : "ltr";
  /** @type {(key: string, values?: Record<string, string | number>) => string} */
  const say = (key, values = {}) => {
    const wording = table[key];
    if (wording === undefined) throw new Error(`no text for ${key}`);
    const count = values["count"] ?? Object.values(values).find((value) => typeof value === "number");
    const text = typeof wording === "string" ? wording : wording[plural.select(Number(count ?? 0))] ?? wording.other ?? "";
    return text.replace(/\{(\w+)\}/g, (_, name) => {
      const value = values[name] ?? "";
      return typeof value === "number" ? digits.format(value) : isolated(value, direction);
    });
  };
  return Object.assign(say, { language, direction });
}

/**
 * Keeps a name or quotation that runs the other way from turning its surroundings round.
 * @param {string} text
 * @param {"ltr" | "rtl"} direction of what stands around it.
 * @returns {string}
 */
export function isolated(text, direction) {
  const foreign = (direction === "rtl" ? LEFT_TO_RIGHT : RIGHT_TO_LEFT).test(text);
  return foreign ? ISOLATE.join(text) : text;
}

/** @param {string} tag @returns {string} the language's name in itself; the tag where the browser knows none. */
export function languageName(tag) {
  const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

/**
 * Fills the page and shows it: `lang` and `dir` of the document, `data-t` (text), `data-t-label` (aria-label) and
 * `data-t-placeholder` under the root. Until then the style sheet keeps the page blank.
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
  if (root === document) {
    document.documentElement.lang = t.language;
    document.documentElement.dir = t.direction;
    document.documentElement.dataset["worded"] = "";
  }
}
