/** Who may come in: named tokens of moderators and kiosks, made, listed and revoked. */

import { Refusal, api } from "./api.js";
import { badge, h } from "./dom.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./api.js").Token} Token */
/** @typedef {import("./api.js").Concept} Concept */

/** @param {App} app @returns {import("./main.js").View} */
export function tokensView(app) {
  const { t, f } = app;
  /** @type {Concept[]} */
  let concepts = [];
  const name = h("input", { id: "token-name", type: "text", maxlength: 100, autocomplete: "off", required: true });
  const kind = h("select", { id: "token-kind" }, ...["moderator", "device"].map((one) => h("option", { value: one }, t(`mod.tokens.${one}`))));
  const all = h("input", { type: "checkbox", id: "token-all", checked: true, onchange: () => (boxes.hidden = all.checked) });
  const boxes = h("fieldset", { class: "concept-boxes", hidden: true }, h("legend", "visually-hidden", t("mod.tokens.scope")));
  const fault = h("p", { class: "field-fault", role: "alert" });
  const create = h("button", { type: "submit", class: "primary", id: "token-create" }, t("mod.tokens.create"));
  const fresh = h("div", { class: "notice fresh-token", role: "status", hidden: true });
  const form = h("form", { class: "card stack token-form", novalidate: true, onsubmit: submit },
    h("h2", "title-m", t("mod.tokens.new")),
    h("div", "token-fields", h("div", "field", h("label", { for: "token-name" }, t("mod.tokens.name")), name), h("div", "field", h("label", { for: "token-kind" }, t("mod.tokens.kind")), kind)),
    h("div", {}, h("label", "check", all, t("mod.tokens.all")), boxes), fault, h("div", "actions", create));
  const list = h("div", "token-list");
  const element = h("div", "access stack", h("h1", { class: "title-l", tabindex: "-1" }, t("mod.tokens.title")), h("p", "soft lead-in", t("mod.tokens.text")), fresh, h("div", "access-parts", list, form));
  let busy = false;

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (busy) return;
    fault.textContent = "";
    const chosen = [...boxes.querySelectorAll("input:checked")].map((box) => /** @type {HTMLInputElement} */ (box).value);
    if (!name.value.trim() || (!all.checked && chosen.length === 0)) {
      fault.textContent = t(name.value.trim() ? "mod.tokens.no_concept" : "mod.tokens.no_name");
      (name.value.trim() ? all : name).focus();
      return;
    }
    busy = true;
    try {
      const made = await api.makeToken({ kind: kind.value, name: name.value.trim(), concepts: all.checked ? null : chosen });
      show(made);
      form.reset();
      boxes.hidden = true;
      await load();
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
      fault.textContent = failure.detail || t("mod.error.offline");
    } finally {
      busy = false;
    }
  }

  /** @param {Token & {token: string}} made shown this once. */
  function show(made) {
    const code = h("code", { class: "token-code", tabindex: "0" }, made.token);
    const link = made.kind === "device" ? (made.concepts ?? concepts.map((one) => one.id)).slice(0, 12).map((id) => `${location.origin}/kiosk/${encodeURIComponent(id)}#${made.token}`) : [];
    const copy = h("button", { type: "button", class: "outlined", id: "token-copy", onclick: async () => {
      await navigator.clipboard?.writeText(made.token);
      app.toast(t("mod.tokens.copied"));
    } }, t("mod.tokens.copy"));
    fresh.hidden = false;
    fresh.replaceChildren(h("p", {}, h("b", {}, t("mod.tokens.made", { name: made.name }))), code, h("div", "actions", copy, h("button", { type: "button", class: "quiet", onclick: () => {
      fresh.hidden = true;
      fresh.replaceChildren();
    } }, t("mod.close"))),
    link.length ? h("details", {}, h("summary", {}, t("mod.tokens.kiosk_links")), h("ul", "kiosk-links fine", ...link.map((url) => h("li", {}, h("code", {}, url))))) : "");
    code.focus();
  }

  async function load() {
    try {
      const { items } = await api.tokens();
      const known = [...items].sort((a, b) => Number(Boolean(a.revoked_at)) - Number(Boolean(b.revoked_at)) || b.created_at.localeCompare(a.created_at));
      if (known.length === 0) {
        list.replaceChildren(h("div", "empty card", h("h2", {}, t("mod.tokens.none.title")), h("p", {}, t("mod.tokens.none.text"))));
        return;
      }
      list.replaceChildren(h("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": t("mod.tokens.list") }, h("table", "table token-table",
        h("thead", {}, h("tr", {}, ...["name", "kind", "scope", "created", "maker", "seen", "state"].map((key) => h("th", { scope: "col" }, t(`mod.tokens.${key}`))))),
        h("tbody", {}, ...known.map(row)))));
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
      if (failure.status === 401) app.signedOut();
      else list.replaceChildren(h("p", { class: "notice alarm", role: "alert" }, failure.detail || t("mod.error.offline")));
    }
  }

  /** @param {Token} token */
  function row(token) {
    const named = new Map(concepts.map((one) => [one.id, one.title || one.name]));
    const scope = token.concepts ? f.list(token.concepts.map((id) => named.get(id) ?? id)) : t("mod.tokens.everything");
    const seen = token.last_seen ? f.ago(Math.max(0, (app.now() - Date.parse(token.last_seen)) / 1000)) : "–";
    return h("tr", { class: token.revoked_at ? "revoked" : false, "data-token": token.id }, h("th", { scope: "row", dir: "auto" }, token.name), h("td", {}, t(`mod.tokens.${token.kind}`)), h("td", {}, scope),
      h("td", {}, f.date(token.created_at, { dateStyle: "medium" })), h("td", { dir: "auto" }, token.created_by_name || "–"), h("td", {}, seen), h("td", {}, token.revoked_at ? badge(t("mod.tokens.revoked")) : revoke(token)));
  }

  /** Asked twice: a token can't be brought back. @param {Token} token */
  function revoke(token) {
    const button = h("button", { type: "button", class: "link", "aria-label": t("mod.tokens.revoke_named", { name: token.name }) }, t("mod.tokens.revoke"));
    let sure = false;
    button.addEventListener("blur", () => {
      sure = false;
      button.textContent = t("mod.tokens.revoke");
    });
    button.addEventListener("click", async () => {
      if (!sure) {
        sure = true;
        button.textContent = t("mod.tokens.sure");
        button.setAttribute("aria-label", t("mod.tokens.sure_named", { name: token.name }));
        return;
      }
      try {
        await api.revokeToken(token.id);
        app.toast(t("mod.tokens.gone", { name: token.name }));
      } catch (failure) {
        if (!(failure instanceof Refusal)) throw failure;
        app.toast(failure.detail || t("mod.error.offline"), "alarm");
      }
      await load();
      /** @type {HTMLElement | null} */ (element.querySelector("h1"))?.focus();
    });
    return button;
  }

  void api.concepts().then(({ items }) => {
    concepts = items;
    boxes.append(...items.map((one) => h("label", "check", h("input", { type: "checkbox", value: one.id }), one.title || one.name)));
  }, () => undefined).then(load);
  return { element, title: t("mod.tokens.title") };
}
