/** The door: a moderator's token becomes a cookie. */

import { Refusal, api } from "./api.js";
import { h } from "./dom.js";

/** @typedef {import("./main.js").App} App */

/** @param {App} app @param {(name: string) => void} enter @returns {import("./main.js").View} */
export function signInView(app, enter) {
  const { t } = app;
  const token = h("input", { id: "token", name: "token", type: "password", autocomplete: "current-password", spellcheck: "false", autocapitalize: "off", required: true, "aria-describedby": "token-hint token-fault" });
  const fault = h("p", { class: "field-fault", id: "token-fault", role: "alert" });
  const button = h("button", { class: "primary", type: "submit", id: "sign-in" }, t("mod.signin.enter"));
  const form = h("form", { class: "card raised stack signin", novalidate: true, onsubmit: submit },
    h("h1", { class: "title-l", tabindex: "-1" }, t("mod.signin.title")),
    h("p", "soft", t("mod.signin.text")),
    // Password managers keep a token under this name.
    h("input", { type: "text", name: "username", autocomplete: "username", value: "moderator", hidden: true }),
    h("div", "field", h("label", { for: "token" }, t("mod.signin.token")), token, h("p", { class: "field-hint", id: "token-hint" }, t("mod.signin.hint")), fault),
    h("div", "actions", button));
  let busy = false;

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (busy) return;
    const value = token.value.trim();
    if (!value) {
      refuse("mod.signin.empty");
      return;
    }
    busy = true;
    button.setAttribute("aria-disabled", "true");
    try {
      enter((await api.signIn(value)).name);
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
      refuse(failure.status === 0 ? "mod.error.offline" : failure.status === 429 ? "mod.error.rate_limited" : "mod.signin.wrong");
    } finally {
      busy = false;
      button.removeAttribute("aria-disabled");
    }
  }

  /** @param {string} key */
  function refuse(key) {
    fault.textContent = t(key);
    token.setAttribute("aria-invalid", "true");
    token.focus();
    token.select();
  }

  return { element: h("div", "door", form), title: t("mod.signin.title") };
}
