/** Building blocks of the moderator's views; text is always text, never markup. */

/** @typedef {Node | string | null | false | undefined} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * An element. `on…` attributes are listeners, `true` is an empty attribute, `false` and null are none.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes | string} [attributes] a string is the class.
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  const given = typeof attributes === "string" ? { class: attributes } : attributes;
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name.slice(2).toLowerCase(), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false).map(asNode));
  return element;
}

/** @param {Child} child @returns {Node} */
const asNode = (child) => (child instanceof Node ? child : document.createTextNode(String(child)));

/** What somebody said: its own direction, as text. @param {string} className @param {string} text @param {"p" | "span" | "blockquote" | "td"} [tag] */
export const said = (className, text, tag = "span") => h(tag, { class: className, dir: "auto" }, text);

/** A name that may be broken after its points and underscores. @param {string} name @returns {HTMLElement} */
export const breakable = (name) => h("span", "signal-name", ...name.split(/(?<=[._])/).flatMap((part, at) => (at ? [h("wbr"), part] : [part])));

/** @param {string} text for screen readers only. */
export const hidden = (text) => h("span", "visually-hidden", text);

/**
 * A badge with a dot.
 * @param {string} text @param {"good" | "caution" | "alarm" | "solid" | ""} [kind]
 */
export const badge = (text, kind = "") => h("span", `badge ${kind}`.trim(), text);

/** @param {number} share in [0, 1]. @param {string} [label] hidden from screen readers without one. */
export function gauge(share, label) {
  const bar = h("span");
  bar.style.width = `${Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10}%`;
  const roles = label ? { role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(share * 100) } : { "aria-hidden": "true" };
  return h("span", { class: "gauge", ...roles }, bar);
}

/** Replace what is in an element only if it differs in what it was made from. */
export class Once {
  constructor() {
    /** @type {unknown[]} */
    this.from = [];
  }

  /** @param {...unknown} from @returns {boolean} whether any of it is another than last time. */
  differs(...from) {
    const same = from.length === this.from.length && from.every((value, at) => Object.is(value, this.from[at]));
    this.from = from;
    return !same;
  }
}

const SVG = "http://www.w3.org/2000/svg";

/** Paths on a 24 × 24 grid. @type {Record<string, string>} */
const ICONS = {
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  first: "M18 5l-7 7 7 7M6 5v14",
  last: "M6 5l7 7-7 7M18 5v14",
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8.5 5.5v13M15.5 5.5v13",
  bell: "M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 2h-15zM10 21h4",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 14.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6z",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20",
  hand: "M8 12V6.2a1.6 1.6 0 0 1 3.2 0V11m0-6a1.6 1.6 0 0 1 3.2 0v6m0-4a1.6 1.6 0 0 1 3.2 0v6.5c0 4-2.3 6.500-5.800 6.500-3 0-4.600-1.400-6.200-4.300L4.300 12.800a1.600 1.600 0 0 1 2.700-1.700L8 12.600",
};

/** @param {string} name @returns {SVGSVGElement} a drawing that screen readers pass over. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", ["back", "next", "first", "last"].includes(name) ? "icon mirrored" : "icon");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name] ?? "");
  svg.append(path);
  return svg;
}

/**
 * A section with a heading that can be jumped to.
 * @param {string} id @param {string} title @param {...Child} children
 * @returns {{section: HTMLElement, head: HTMLElement, body: HTMLElement}}
 */
export function panel(id, title, ...children) {
  const head = h("div", "card-head", h("h2", { id: `${id}-title`, class: "title-s" }, title));
  const body = h("div", "panel-body", ...children);
  return { section: h("section", { class: `card panel panel-${id}`, id, "aria-labelledby": `${id}-title`, tabindex: "-1" }, head, body), head, body };
}
