/** How far each element of a concept test was spoken of, and how the respondent is doing. */

import { Once, badge, h, hidden, panel } from "./dom.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").ElementRow} ElementRow */
/** @typedef {import("./model.js").Spirits} Spirits */

const COLUMNS = ["element", "mentioned", "reaction", "understood", "connected", "asked"];

/** @param {App} app @returns {import("./detail.js").Panel} */
export function elementsPanel(app) {
  const { t } = app;
  const { section, body } = panel("elements", t("mod.elements"));
  const once = new Once();

  /** A sign, with words for whoever does not see it. @param {boolean | null} yes @param {string} [title] */
  const mark = (yes, title = "") => h("span", { class: `mark mark-${yes === null ? "none" : yes ? "yes" : "no"}`, title: title || null },
    h("span", { "aria-hidden": "true" }, yes === null ? "–" : yes ? "✓" : "○"), hidden(title || t(yes === null ? "mod.elements.not_needed" : yes ? "mod.yes" : "mod.no")));

  /** @param {ElementRow} row */
  function line(row) {
    const spoken = row.mentioned > 0;
    const silent = t("mod.elements.unspoken");
    const apart = row.unconnected_to.length > 0 ? t("mod.elements.apart", { names: row.unconnected_to.join(", ") }) : "";
    const worn = row.declined ? t("mod.elements.declined") : row.exhausted ? t("mod.elements.exhausted") : "";
    const reactions = row.reactions.map((name) => app.word("mod.reaction", name)).join(", ");
    /** The heading goes with the cell where there is no room for columns. @param {string} name @param {...import("./dom.js").Child} inside */
    const cell = (name, ...inside) => h("td", { role: "cell", "data-name": t(`mod.elements.${name}`) }, ...inside);
    return h("tr", { role: "row", class: spoken ? null : "unspoken" },
      h("th", { scope: "row", role: "rowheader", dir: "auto" }, row.label),
      cell("mentioned", spoken ? String(row.mentioned) : mark(false)),
      cell("reaction", reactions || mark(spoken ? false : null, spoken ? "" : silent)),
      cell("understood", mark(spoken ? row.understood : null, spoken ? t(row.understood ? "mod.elements.explained" : "mod.elements.named") : silent)),
      cell("connected", mark(row.connected, apart)),
      cell("asked", String(row.focused), worn ? badge(worn, "caution") : null));
  }

  /** @param {Spirits} spirits */
  function mood(spirits) {
    return h("p", "spirits cluster",
      spirits.momentum ? badge(t(`mod.momentum.${spirits.momentum}`), spirits.momentum === "high" ? "good" : spirits.momentum === "low" ? "caution" : "") : null,
      spirits.ambiguity && spirits.ambiguity !== "none" ? badge(t(`mod.ambiguity.${spirits.ambiguity}`), "caution") : null,
      spirits.fatigued ? badge(t("mod.fatigued"), "alarm") : null);
  }

  return {
    section,
    update(_, looking) {
      // It is kept as it stands now: what was decided in a turn is in that turn's ranking.
      const { elements, spirits } = looking.whole;
      if (!once.differs(elements, spirits)) return;
      const done = elements.filter((row) => row.gaps.length === 0).length;
      const heads = COLUMNS.map((name) => h("th", { scope: "col", role: "columnheader" }, t(`mod.elements.${name}`)));
      body.replaceChildren(...(spirits ? [mood(spirits)] : []),
        ...(elements.length === 0 ? [h("p", "fine", t("mod.elements.none"))]
          : [h("p", "fine", t("mod.elements.done", { have: done, limit: elements.length })),
            h("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": t("mod.elements") },
              h("table", { class: "table dense elements", role: "table" }, h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...heads)),
                h("tbody", { role: "rowgroup" }, ...elements.map(line))))]));
    },
  };
}
