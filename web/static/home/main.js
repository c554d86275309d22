/** The start page: the subjects, and a door to each. */

import { fillTexts, loadTexts } from "../texts/index.js";
import { Refusal, fetchConcepts, openInterview } from "./api.js";

/** @typedef {import("./api.js").Concept} Concept */

const t = await loadTexts(navigator.language);
fillTexts(document, t);
document.title = t("home.title");

const list = element("concepts");
const status = element("status");
const error = element("error");
const again = element("retry");
/** @type {() => void} */
let retry = load;
let opening = false;

again.addEventListener("click", () => retry());
window.addEventListener("pageshow", (event) => {
  if (event.persisted) settle();
});
void load();

/** @param {string} id @returns {HTMLElement} */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

async function load() {
  error.hidden = true;
  status.textContent = t("home.loading");
  try {
    const concepts = await fetchConcepts();
    status.textContent = "";
    list.replaceChildren(...concepts.map(row));
    if (concepts.length === 0) tell("home.empty", true, null);
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    status.textContent = "";
    tell("home.failed", false, load);
  }
}

/** @param {Concept} concept @returns {HTMLElement} */
function row(concept) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "concept";
  button.dataset["conceptId"] = concept.id;
  button.append(
    span("concept-name", concept.title || concept.name),
    span("concept-about", aboutOf(concept)),
    span("concept-go", t("home.start")),
  );
  button.addEventListener("click", () => void start(concept, button));
  const item = document.createElement("li");
  item.append(button);
  return item;
}

/** @param {string} className @param {string} text */
function span(className, text) {
  const made = document.createElement("span");
  made.className = className;
  made.textContent = text;
  return made;
}

/** What kind of conversation it is, in plain words; the methodology's own name when we have none. @param {Concept} concept */
function aboutOf(concept) {
  const known = ["means_end_chain", "jobs_to_be_done", "critical_incident"].includes(concept.methodology);
  return known ? t(`method.${concept.methodology}`) : concept.methodology.replaceAll("_", " ");
}

/** @param {Concept} concept @returns {string | null} the reader's language, where the concept offers a choice. */
function languageOf(concept) {
  if (concept.languages.length < 2) return null;
  const wanted = navigator.languages.map((tag) => tag.toLowerCase().split("-")[0]);
  return wanted.find((tag) => tag !== undefined && concept.languages.includes(tag)) ?? null;
}

/** @param {Concept} concept @param {HTMLElement} button */
async function start(concept, button) {
  if (opening) return;
  opening = true;
  error.hidden = true;
  status.textContent = t("home.starting");
  for (const other of list.querySelectorAll("button")) other.setAttribute("aria-disabled", "true");
  button.setAttribute("aria-busy", "true");
  try {
    location.assign(await openInterview(concept.id, languageOf(concept)));
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    settle();
    if (failure.status === 403 || failure.status === 401) tell("home.closed", true, null);
    else if (failure.status === 429 || failure.code === "too_many_sessions") tell("home.busy", true, () => void start(concept, button));
    else tell("home.refused", false, () => void start(concept, button));
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

/**
 * @param {string} key of title and text.
 * @param {boolean} calm whether this is how things are, rather than a failure.
 * @param {(() => void) | null} next what "try again" does.
 */
function tell(key, calm, next) {
  element("error-title").textContent = t(`${key}.title`);
  element("error-text").textContent = t(`${key}.text`);
  error.classList.toggle("calm", calm);
  again.hidden = next === null;
  if (next) retry = next;
  error.hidden = false;
  error.focus();
}
