/** Small hands for the view: finding, hiding, disabling; nothing is ever written as markup. */

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return /** @type {T} */ (element);
}

/** @param {HTMLElement} element @param {boolean} shown */
export function show(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}

/** @param {HTMLElement} element @param {string} text */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Disabled without losing the focus, so that a keyboard stays where it was.
 * @param {HTMLElement} button @param {boolean} enabled
 */
export function enable(button, enabled) {
  if (enabled) button.removeAttribute("aria-disabled");
  else if (button.getAttribute("aria-disabled") !== "true") button.setAttribute("aria-disabled", "true");
}

/** @param {Element} button */
export function isEnabled(button) {
  return button.getAttribute("aria-disabled") !== "true";
}

/**
 * @param {string} tag
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElement}
 */
export function make(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** Numbers to call, which would read backwards among words that run from right to left. */
const NUMBER = /[+(]?\d[\d ()/.-]{4,}\d/g;

/** Paragraphs of a text, parted by blank lines. @param {HTMLElement} element @param {string} text */
export function writeProse(element, text) {
  if (element.dataset["text"] === text) return;
  element.dataset["text"] = text;
  element.replaceChildren(...text.trim().split(/\n\s*\n/).filter(Boolean).map((part) => {
    const paragraph = make("p", "", part.replace(/\s*\n\s*/g, " ").trim().replace(NUMBER, "\u2066$&\u2069"));
    paragraph.dir = "auto";
    return paragraph;
  }));
}

/** As tall as what is in it; the style sheet sets the limit. @param {HTMLTextAreaElement} area */
export function fitHeight(area) {
  area.style.height = "auto";
  const edges = area.offsetHeight - area.clientHeight;
  area.style.height = `${area.scrollHeight + edges}px`;
}

/** Fingers rather than a mouse. */
export const isCoarse = () => matchMedia("(pointer: coarse)").matches;

/** @returns {boolean} whether movement is unwelcome. */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
