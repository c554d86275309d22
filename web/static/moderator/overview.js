/** The overview: every running interview as a row that keeps up with it, however many there are. */

import { Once, h } from "./dom.js";
import { makeRow } from "./row.js";
import { LIVE_STATES, SORTS, chosen, counted, nameOf } from "./rows.js";
import { rowAfterKey, windowOf } from "./window.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./rows.js").Row} Row */

/** While rows change often, their order changes no faster than this. */
const SETTLE_MS = 1_500;

/** @param {App} app @returns {import("./main.js").View} */
export function overviewView(app) {
  const { t } = app;
  const look = app.shelf.read("overview", { sort: "attention", backwards: false, concept: "", state: "", alone: false });
  let text = "";
  /** @type {Row[]} */
  let shown = [];
  let current = "";
  let ordered = 0;
  /** px; 0: not measured yet. */
  let rowHeight = 0;
  /** @type {Map<string, ReturnType<typeof makeRow>>} */
  const made = new Map();
  const controlsOnce = new Once();

  const search = h("input", { type: "search", placeholder: t("mod.overview.search"), "aria-label": t("mod.overview.search"), id: "overview-search", autocomplete: "off" });
  const concept = h("select", { "aria-label": t("mod.overview.concept"), id: "overview-concept" });
  const state = h("select", { "aria-label": t("mod.overview.state"), id: "overview-state" }, h("option", { value: "" }, t("mod.overview.any_state")),
    ...LIVE_STATES.map((name) => h("option", { value: name }, t(`mod.state.${name}`))));
  const sort = h("select", { id: "overview-sort" }, ...SORTS.map((name) => h("option", { value: name }, t(`mod.sort.${name}`))));
  const backwards = h("button", { type: "button", class: "outlined", id: "overview-backwards" }, t("mod.overview.backwards"));
  const alone = h("button", { type: "button", class: "outlined", id: "overview-alone" }, t("mod.overview.alone"));
  const count = h("p", { class: "fine numbers", id: "overview-count", role: "status" });
  const heads = h("div", { class: "row-heads", "aria-hidden": "true" },
    ...["subject", "turn", "engagement", "depth", "saturation", "last", "people"].map((name) => h("span", `head-${name}`, t(`mod.row.${name}`))));
  const rows = h("ol", { class: "rows", id: "rows", "aria-label": t("mod.overview.list") });
  const nothing = h("div", { class: "empty", id: "overview-empty" });
  const element = h("div", "overview",
    h("div", "overview-head", h("h1", { class: "title-l", tabindex: "-1" }, t("mod.overview.title")), count),
    h("div", { class: "filters", role: "search", "aria-label": t("mod.overview.filters") },
      h("span", "inline-field filter-search", search), h("span", "inline-field", concept), h("span", "inline-field", state),
      h("label", "inline-field filter-sort", t("mod.overview.sort"), sort), backwards, alone),
    h("p", { class: "visually-hidden", id: "rows-help" }, t("mod.overview.keys")), heads, rows, nothing);
  search.addEventListener("input", () => {
    text = search.value;
    refresh(true);
  });
  concept.addEventListener("change", () => keep({ concept: concept.value }));
  state.addEventListener("change", () => keep({ state: state.value }));
  sort.addEventListener("change", () => keep({ sort: /** @type {any} */ (sort.value) }));
  backwards.addEventListener("click", () => keep({ backwards: !look.backwards }));
  alone.addEventListener("click", () => keep({ alone: !look.alone }));
  rows.addEventListener("keydown", onKey);
  rows.addEventListener("focusin", (event) => {
    const item = /** @type {HTMLElement} */ (event.target).closest("li");
    if (item) current = item.dataset["id"] ?? "";
  });
  const draw = () => place();
  const measure = () => {
    rowHeight = 0;
    place();
  };
  window.addEventListener("scroll", draw, { passive: true });
  window.addEventListener("resize", measure);

  /** @param {Partial<typeof look>} change */
  function keep(change) {
    Object.assign(look, change);
    app.shelf.write("overview", look);
    refresh(true);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = shown.findIndex((row) => row.session_id === current);
    const to = rowAfterKey(event.key, at, shown.length, Math.max(1, Math.floor(innerHeight / rowHeight) - 2));
    const row = to === null ? undefined : shown[to];
    if (to === null || !row) return;
    event.preventDefault();
    current = row.session_id;
    bring(to);
    place();
    made.get(current)?.link.focus({ preventScroll: true });
  }

  /** Scroll so that a row is seen whole. @param {number} at */
  function bring(at) {
    const top = rows.getBoundingClientRect().top + at * rowHeight;
    const upper = app.topInset() + 8;
    if (top < upper) scrollBy(0, top - upper);
    else if (top + rowHeight > innerHeight) scrollBy(0, top + rowHeight - innerHeight + 8);
  }

  /** @param {boolean} [now] whether the order may change at once. */
  function refresh(now = false) {
    const all = app.state.rows;
    const held = rows.contains(document.activeElement) || rows.matches(":hover");
    const may = now || shown.length === 0 || (!held && performance.now() - ordered > SETTLE_MS);
    const wish = { text, concept: look.concept, state: look.state, alone: look.alone };
    const fresh = chosen(all.values(), wish, /** @type {any} */ (look.sort), look.backwards);
    if (may) {
      shown = fresh;
      ordered = performance.now();
    } else {
      const by = new Map(fresh.map((row) => [row.session_id, row]));
      const kept = shown.flatMap((row) => by.get(row.session_id) ?? []);
      for (const row of kept) by.delete(row.session_id);
      shown = [...kept, ...by.values()];
    }
    if (!shown.some((row) => row.session_id === current)) current = shown[0]?.session_id ?? "";
    writeControls(all);
    place();
  }

  /** @param {ReadonlyMap<string, Row>} all */
  function writeControls(all) {
    const { live, alerts } = counted(all.values());
    const names = new Map([...all.values()].map((row) => [row.concept_id, nameOf(row)]));
    if (look.concept && !names.has(look.concept)) names.set(look.concept, look.concept);
    if (controlsOnce.differs([...names.keys()].sort().join("\n"))) {
      concept.replaceChildren(h("option", { value: "" }, t("mod.overview.any_concept")),
        ...[...names].sort((a, b) => a[1].localeCompare(b[1])).map(([id, name]) => h("option", { value: id }, name)));
    }
    concept.value = look.concept;
    state.value = look.state;
    sort.value = look.sort;
    backwards.setAttribute("aria-pressed", String(look.backwards));
    alone.setAttribute("aria-pressed", String(look.alone));
    const told = app.state.loaded ? `${t("mod.overview.live", { count: live })} · ${alerts ? t("mod.overview.alerts", { count: alerts }) : t("mod.overview.calm")}${shown.length < all.size ? ` · ${t("mod.overview.shown", { count: shown.length })}` : ""}` : "";
    if (count.textContent !== told) count.textContent = told;
    const empty = app.state.loaded && shown.length === 0;
    heads.hidden = rows.hidden = shown.length === 0;
    nothing.hidden = !empty && app.state.loaded;
    if (!app.state.loaded) fill(nothing, "loading");
    else if (empty) fill(nothing, all.size === 0 ? "none" : "no_match");
  }

  /** @param {HTMLElement} box @param {"loading" | "none" | "no_match"} what */
  function fill(box, what) {
    if (box.dataset["what"] === what) return;
    box.dataset["what"] = what;
    if (what === "loading") {
      box.replaceChildren(h("span", { class: "ripple", "aria-hidden": "true" }, h("span"), h("span"), h("span")), h("p", {}, t("mod.overview.loading")));
      return;
    }
    const clear = h("button", { type: "button", class: "outlined", onclick: () => {
      text = search.value = "";
      keep({ concept: "", state: "", alone: false });
      search.focus();
    } }, t("mod.overview.clear"));
    const start = h("a", { class: "button outlined", href: "/" }, t("mod.overview.start"));
    box.replaceChildren(h("h2", {}, t(`mod.overview.${what}.title`)), h("p", {}, t(`mod.overview.${what}.text`)), what === "none" ? start : clear);
  }

  /** Make the rows that are seen, and only those. */
  function place() {
    if (shown.length === 0 || !element.isConnected) {
      for (const old of made.values()) old.item.remove();
      made.clear();
      rows.style.height = "0";
      return;
    }
    rowHeight ||= heightOf(/** @type {Row} */ (shown[0]));
    const box = rows.getBoundingClientRect();
    const { first, end } = windowOf({ count: shown.length, rowHeight, top: -box.top, height: innerHeight });
    const wanted = new Set(shown.slice(first, end).map((row) => row.session_id));
    const focused = rows.contains(document.activeElement) ? current : "";
    for (const [id, old] of made) {
      if (wanted.has(id) || id === focused) continue;
      old.item.remove();
      made.delete(id);
    }
    shown.forEach((row, at) => {
      if (!wanted.has(row.session_id) && row.session_id !== focused) return;
      let there = made.get(row.session_id);
      if (!there) {
        there = makeRow(app, row.session_id);
        made.set(row.session_id, there);
        rows.append(there.item);
      }
      there.item.style.transform = `translateY(${at * rowHeight}px)`;
      there.item.setAttribute("aria-posinset", String(at + 1));
      there.item.setAttribute("aria-setsize", String(shown.length));
      there.item.dataset["at"] = String(at);
      there.link.tabIndex = row.session_id === current ? 0 : -1;
      there.update(row);
    });
    rows.style.height = `${shown.length * rowHeight}px`;
    inOrder();
  }

  /** How high every row is, as the style sheet says for this width. @param {Row} row */
  function heightOf(row) {
    const { item } = makeRow(app, row.session_id);
    rows.append(item);
    const height = item.offsetHeight;
    item.remove();
    return height || 1;
  }

  /** Screen readers and the tab key go by the document's order. */
  function inOrder() {
    const items = [...rows.children];
    const sorted = [...items].sort((a, b) => Number(/** @type {HTMLElement} */ (a).dataset["at"]) - Number(/** @type {HTMLElement} */ (b).dataset["at"]));
    if (!rows.contains(document.activeElement) && sorted.some((item, at) => item !== items[at])) rows.append(...sorted);
  }

  refresh(true);
  return {
    element,
    title: t("mod.overview.title"),
    update: () => refresh(),
    tick: () => {
      refresh();
      for (const row of made.values()) row.tick();
    },
    key(event) {
      if (event.key !== "/") return false;
      search.focus();
      search.select();
      return true;
    },
    destroy() {
      window.removeEventListener("scroll", draw);
      window.removeEventListener("resize", measure);
    },
  };
}
