/** Questions asked back before something is done. */

import { h } from "./dom.js";

/** @typedef {import("./main.js").App} App */

/**
 * @typedef {{name: string, fields: HTMLElement[], danger?: boolean, extra?: HTMLElement,
 *   check: () => string | null, run: () => Promise<{ok: boolean, code?: string, message?: string}>, takeBack: () => void,
 *   reason: (refusal: {code: string, message: string}) => string}} Ask `check` tells what is wrong with the fields;
 *   `takeBack` is called where the dialog is left before `run` has come to its end; sentences are found under
 *   `mod.ask.<name>.…`.
 */

/** @param {App} app @param {Ask} ask @returns {{close: () => void, done: Promise<void>}} */
export function askDialog(app, { name, fields, danger = false, extra, check, run, takeBack, reason }) {
  const { t } = app;
  const back = /** @type {HTMLElement | null} */ (document.activeElement);
  const fault = h("p", { class: "field-fault", role: "alert", id: `ask-${name}-fault` });
  const waits = h("p", { class: "field-hint", role: "status" });
  const confirm = h("button", { type: "submit", class: danger ? "danger" : "primary", id: `ask-${name}-confirm` }, t(`mod.ask.${name}.confirm`));
  let busy = false;
  const form = h("form", { class: "stack", novalidate: true, onsubmit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    const wrong = check();
    fault.textContent = wrong ?? "";
    if (wrong) {
      form.querySelector("textarea, input, select")?.dispatchEvent(new Event("input"));
      /** @type {HTMLElement | null} */ (form.querySelector("textarea, input:not([type=checkbox]), select"))?.focus();
      return;
    }
    busy = true;
    confirm.setAttribute("aria-disabled", "true");
    waits.textContent = app.state.link === "live" ? "" : t("mod.acting.waits");
    const result = await run();
    busy = false;
    waits.textContent = "";
    confirm.removeAttribute("aria-disabled");
    if (result.ok) dialog.close();
    else fault.textContent = reason({ code: result.code ?? "internal", message: result.message ?? "" });
  } }, ...fields, fault, waits, h("div", "actions", confirm, extra, h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, t("mod.cancel"))));
  form.addEventListener("input", () => { fault.textContent = ""; });
  form.addEventListener("change", () => { fault.textContent = ""; });
  const dialog = h("dialog", { class: "ask", id: `ask-${name}`, "aria-labelledby": `ask-${name}-title` },
    h("h2", { id: `ask-${name}-title` }, t(`mod.ask.${name}.title`)), h("p", {}, t(`mod.ask.${name}.text`)), form);
  const done = new Promise((/** @type {(nothing: void) => void} */ resolve) => {
    dialog.addEventListener("close", () => {
      if (busy) takeBack();
      dialog.remove();
      if (back?.isConnected) back.focus();
      resolve();
    });
  });
  document.body.append(dialog);
  dialog.showModal();
  return { close: () => dialog.open && dialog.close(), done };
}
