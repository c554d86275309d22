/** The start page: the subjects, a door to each in each of its languages, and the ways to the other pages. */

import { closest, fillTexts, languageName, languagesOf, loadTexts, readersLanguages, rememberLanguage } from "../texts/index.js";
import { Refusal, fetchConcepts, openInterview } from "./api.js";

/** @typedef {import("./api.js").Concept} Concept */

const METHODS = ["means_end_chain", "jobs_to_be_done", "critical_incident", "customer_journey_mapping", "repertory_grid"];

const list = element("concepts");
const status = element("status");
const error = element("error");
const again = element("retry");
const choice = /** @type {HTMLSelectElement} */ (element("language"));
let t = await loadTexts(readersLanguages());
/** @type {Concept[]} */
let concepts = [];
/** @type {{key: string, calm: boolean, next: (() => void) | null} | null} */
let told = null;
let opening = false;

again.addEventListener("click", () => told?.next?.());
choice.addEventListener("change", () => void speak(choice.value));
window.addEventListener("pageshow", (event) => {
  if (event.persisted) settle();
});
word();
void offerLanguages();
void load();

/** @param {string} id @returns {HTMLElement} */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Everything that is shown, in the present language. */
function word() {
  fillTexts(document, t);
  document.title = t("home.title");
  list.replaceChildren(...concepts.map(row));
  drawKiosks();
  if (told) tell(told.key, told.calm, told.next);
}

async function offerLanguages() {
  const known = await languagesOf();
  const options = known.map((tag) => {
    const option = new Option(languageName(tag), tag, false, tag === t.language);
    option.lang = tag;
    return option;
  });
  choice.replaceChildren(...options);
  element("languages").hidden = known.length < 2;
}

/** @param {string} tag */
async function speak(tag) {
  rememberLanguage(tag);
  t = await loadTexts(tag);
  word();
}

async function load() {
  hush();
  status.textContent = t("home.loading");
  try {
    const { items, open } = await fetchConcepts();
    concepts = items;
    list.replaceChildren(...concepts.map(row));
    drawKiosks();
    if (concepts.length === 0) tell(open ? "home.empty" : "home.closed", true, null);
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    if (failure.status === 401) tell("home.closed", true, null);
    else tell("home.failed", false, () => void load());
  } finally {
    status.textContent = "";
  }
}

/** @param {Concept} concept @returns {HTMLElement} */
function row(concept) {
  const own = languageOf(concept);
  const button = door(concept, own, "concept");
  const name = make("span", "concept-name");
  name.append(foreign(titleIn(concept, own), own));
  const about = make("span", "concept-about", aboutOf(concept));
  if (concept.languages.length === 1 && own !== t.language) about.append(" · ", foreign(languageName(own), own));
  button.append(name, about, make("span", "concept-go", t("home.start")));
  const item = make("li");
  item.append(button);
  if (concept.languages.length > 1) item.append(doors(concept, [own, ...concept.languages.filter((tag) => tag !== own)], own));
  return item;
}

/** Words in a language that may not be the page's. @param {string} text @param {string} language */
function foreign(text, language) {
  const made = make("bdi", "", text);
  made.lang = language;
  return made;
}

/**
 * The languages of a subject; the one that the row itself opens is only named.
 * @param {Concept} concept @param {readonly string[]} languages @param {string} own
 */
function doors(concept, languages, own) {
  const shelf = make("ul", "concept-languages");
  shelf.append(...languages.map((tag) => {
    const item = make("li");
    const name = tag === own ? make("span", "badge good", languageName(tag)) : door(concept, tag, "badge");
    if (tag !== own) {
      name.textContent = languageName(tag);
      name.setAttribute("aria-label", t("home.start_in", { title: titleIn(concept, tag), language: languageName(tag) }));
    }
    name.lang = tag;
    item.append(name);
    return item;
  }));
  return shelf;
}

/** @param {Concept} concept @param {string} language @param {string} className */
function door(concept, language, className) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = className;
  button.dataset["conceptId"] = concept.id;
  button.dataset["language"] = language;
  button.addEventListener("click", () => void start(concept, language, button));
  return button;
}

/** @param {string} tag @param {string} [className] @param {string} [text] */
function make(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

/** @param {Concept} concept @param {string} language */
const titleIn = (concept, language) => concept.titles?.[language] ?? (concept.title || concept.name);

/** What kind of conversation it is, in plain words; the methodology's own name when we have none. @param {Concept} concept */
function aboutOf(concept) {
  return METHODS.includes(concept.methodology) ? t(`method.${concept.methodology}`) : concept.methodology.replaceAll("_", " ");
}

/** @param {Concept} concept @returns {string} the reader's language, where the concept has it; else its own first one. */
function languageOf(concept) {
  for (const wanted of [t.language, ...readersLanguages()]) {
    const found = closest(wanted, concept.languages.map((tag) => tag.toLowerCase()));
    if (found) return concept.languages.find((tag) => tag.toLowerCase() === found) ?? found;
  }
  return concept.languages[0] ?? "en";
}

/** Kiosks are set up by hand: one address for each subject. */
function drawKiosks() {
  element("kiosks").hidden = concepts.length === 0;
  element("kiosk-list").replaceChildren(...concepts.map((concept) => {
    const own = languageOf(concept);
    const link = document.createElement("a");
    link.href = `/kiosk/${encodeURIComponent(concept.id)}`;
    link.append(foreign(titleIn(concept, own), own));
    const item = make("li");
    item.append(link);
    return item;
  }));
}

/** @param {Concept} concept @param {string} language @param {HTMLElement} button */
async function start(concept, language, button) {
  if (opening) return;
  opening = true;
  hush();
  status.textContent = t("home.starting");
  for (const other of list.querySelectorAll("button")) other.setAttribute("aria-disabled", "true");
  button.setAttribute("aria-busy", "true");
  try {
    location.assign(await openInterview(concept.id, language));
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    settle();
    const { status: code } = failure;
    const retry = () => void start(concept, language, button);
    if (code === 403 || code === 401) tell("home.closed", true, null);
    else if (failure.code === "language_unsupported") tell("home.unsupported", true, null);
    else if (code === 404) tell("home.gone", true, () => void load());
    else if (code === 429 || failure.code === "too_many_sessions") tell("home.busy", true, retry);
    else tell("home.refused", false, retry);
  }
}

function settle() {
  opening = false;
  status.textContent = "";
  for (const button of list.querySelectorAll("button")) {
    button.removeAttribute("aria-disabled");
    button.removeAttribute("aria-busy");
  }
}

function hush() {
  told = null;
  error.hidden = true;
}

/**
 * @param {string} key of title and text.
 * @param {boolean} calm whether this is how things are, rather than a failure.
 * @param {(() => void) | null} next what "try again" does.
 */
function tell(key, calm, next) {
  told = { key, calm, next };
  element("error-title").textContent = t(`${key}.title`);
  element("error-text").textContent = t(`${key}.text`);
  error.classList.toggle("calm", calm);
  again.hidden = next === null;
  error.hidden = false;
  error.focus();
}
