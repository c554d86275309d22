/** An interview to take home: one file for each of the programs that read it. */

import { h } from "./dom.js";

/** @typedef {import("./main.js").App} App */

/** Names as the export knows them; the first are the likeliest. */
const FORMATS = ["docx", "md", "csv", "graphml", "qdpx", "vtt", "json"];

/** @param {App} app @param {string} id of the interview. @returns {HTMLElement} */
export function takingHome(app, id) {
  const { t } = app;
  const links = FORMATS.map((name) => h("a", { download: true, onclick: () => close(false) },
    h("b", {}, t(`mod.take.${name}`)), h("span", "fine", t(`mod.take.${name}.for`))));
  const all = h("input", { type: "checkbox", onchange: point });
  const files = h("ul", "taking-files card tight", ...links.map((link) => h("li", {}, link)),
    h("li", {}, h("label", "check", all, t("mod.take.inferred"))));
  point();
  const summary = h("summary", "button outlined", t("mod.take"));
  const element = h("details", { class: "taking", onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && element.open) {
      event.stopPropagation();
      close(true);
    }
  }, ontoggle: () => {
    if (element.open) document.addEventListener("pointerdown", elsewhere);
    else document.removeEventListener("pointerdown", elsewhere);
  }, onfocusout: (/** @type {FocusEvent} */ event) => {
    if (event.relatedTarget instanceof Node && !element.contains(event.relatedTarget)) close(false);
  } }, summary, files);

  /** The complete file has every relation anyhow. */
  function point() {
    const wanted = all.checked ? "&relations=all" : "";
    links.forEach((link, index) => {
      link.setAttribute("href", `/api/sessions/${encodeURIComponent(id)}/export?format=${FORMATS[index]}${wanted}`);
    });
  }

  /** @param {Event} event */
  function elsewhere({ target }) {
    if (!(target instanceof Node && element.contains(target))) close(false);
  }

  /** @param {boolean} back whether the focus returns to where it was opened. */
  function close(back) {
    element.open = false;
    if (back) summary.focus();
  }

  return element;
}
