/** Interviews that are over, or left alone: found by what they are about, who gave them, or what was said. */

import { Refusal, api } from "./api.js";
import { badge, h, said } from "./dom.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./api.js").Found} Found */

const PAUSE_MS = 250;
const STATES = ["completed", "abandoned", "failed", ""];

/** @param {App} app @returns {import("./main.js").View} */
export function finishedView(app) {
  const { t, f } = app;
  const look = app.shelf.read("finished", { state: "completed", concept: "" });
  /** @type {string | null} */
  let cursor = null;
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const search = h("input", { type: "search", id: "finished-search", autocomplete: "off", placeholder: t("mod.finished.search"), "aria-label": t("mod.finished.search"), oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(() => void find(false), PAUSE_MS);
  } });
  const state = h("select", { id: "finished-state", "aria-label": t("mod.overview.state"), onchange: () => keep({ state: state.value }) }, ...STATES.map((name) => h("option", { value: name }, name ? t(`mod.state.${name}`) : t("mod.overview.any_state"))));
  const concept = h("select", { id: "finished-concept", "aria-label": t("mod.overview.concept"), onchange: () => keep({ concept: concept.value }) }, h("option", { value: "" }, t("mod.overview.any_concept")));
  const status = h("p", { class: "fine", role: "status" });
  const list = h("ol", { class: "found stack", "aria-label": t("mod.finished.title") });
  const more = h("button", { type: "button", class: "outlined", id: "finished-more", hidden: true, onclick: () => void find(true) }, t("mod.finished.more"));
  const element = h("div", "finished", h("div", "overview-head", h("h1", { class: "title-l", tabindex: "-1" }, t("mod.finished.title")), status),
    h("div", { class: "filters", role: "search", "aria-label": t("mod.overview.filters") }, h("span", "inline-field filter-search", search), h("span", "inline-field", concept), h("span", "inline-field", state)),
    list, h("div", "actions", more));
  state.value = look.state;

  /** @param {Partial<typeof look>} change */
  function keep(change) {
    Object.assign(look, change);
    app.shelf.write("finished", look);
    void find(false);
  }

  /** @param {Found} row */
  function item(row) {
    const about = [row.respondent_ref, row.device ? t("mod.row.kiosk", { name: row.device.name }) : null, f.moment(row.created_at), row.id.slice(0, 8)].filter(Boolean).join(" · ");
    return h("li", "card tight found-item", h("div", "cluster spread",
      h("a", { class: "row-link title-m", href: `#/interview/${encodeURIComponent(row.id)}` }, row.concept_name || row.concept_id),
      h("span", "cluster", badge(app.word("mod.state", row.state), row.state === "completed" ? "good" : "caution"), h("span", "fine numbers", t("mod.row.turn_of", { turn: row.turn_count, most: row.max_turns })))),
    h("p", "fine", about), row.match ? said("quote found-match", row.match, "blockquote") : null);
  }

  /** @param {boolean} further the next page. */
  async function find(further) {
    const mine = (asked += 1);
    if (!further) status.textContent = t("mod.finished.searching");
    try {
      const page = await api.sessions({ q: search.value.trim(), state: look.state, concept_id: look.concept, cursor: further ? cursor : null, limit: 25 });
      if (mine !== asked) return;
      cursor = page.next_cursor;
      more.hidden = cursor === null;
      if (!further) list.replaceChildren();
      const first = page.items.map((row) => {
        const made = item(row);
        list.append(made);
        return made;
      })[0];
      if (further) first?.querySelector("a")?.focus();
      const count = list.children.length;
      status.textContent = count ? t(cursor ? "mod.finished.shown_more" : "mod.finished.shown", { count }) : "";
      if (count === 0) list.append(h("li", "empty", h("h2", {}, t("mod.finished.none.title")), h("p", {}, t(search.value.trim() ? "mod.finished.none.search" : "mod.finished.none.text"))));
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
      if (failure.status === 401) app.signedOut();
      else status.textContent = failure.detail || t("mod.error.offline");
    }
  }

  void api.concepts().then(({ items }) => {
    concept.append(...items.map((one) => h("option", { value: one.id }, one.title || one.name)));
    concept.value = look.concept;
  }, () => undefined);
  void find(false);
  return {
    element,
    title: t("mod.finished.title"),
    key(event) {
      if (event.key !== "/") return false;
      search.focus();
      return true;
    },
    destroy: () => clearTimeout(timer),
  };
}
