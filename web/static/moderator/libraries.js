/** The libraries that draw; null where the server has no copy of them. */

/** @typedef {typeof import("uplot")} Chart */
/** @typedef {typeof import("cytoscape")} Grapher */

/** @type {Map<string, Promise<any>>} */
const asked = new Map();

/** @param {string} file @returns {Promise<any>} */
function load(file) {
  const known = asked.get(file) ?? import(new URL(`../vendor/${file}`, import.meta.url).href).then((found) => found.default, () => null);
  asked.set(file, known);
  return known;
}

/** @returns {Promise<Chart | null>} */
export async function loadChart() {
  const chart = await load("uplot.js");
  if (chart && !document.getElementById("uplot-style")) {
    const sheet = document.createElement("link");
    sheet.id = "uplot-style";
    sheet.rel = "stylesheet";
    sheet.href = new URL("../vendor/uplot.css", import.meta.url).href;
    document.head.append(sheet);
  }
  return chart;
}

/** @returns {Promise<Grapher | null>} */
export const loadGrapher = () => load("cytoscape.js");

/** @param {string} name of a custom property. @returns {string} its value, for what draws on a canvas. */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Colours change with the system; what is on a canvas has to be drawn anew. @param {() => void} act @returns {() => void} ends it. */
export function onScheme(act) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", act);
  return () => media.removeEventListener("change", act);
}
