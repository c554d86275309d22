/** The repertory grid as far as it was elicited: a row per construct between its poles, a column per element. */

import { Once, h, panel } from "./dom.js";

/** @typedef {import("./main.js").App} App */

/** @param {App} app @returns {import("./detail.js").Panel} */
export function gridPanel(app) {
  const { t } = app;
  const { section, body } = panel("grid", t("mod.grid"));
  const once = new Once();
  return {
    section,
    update(model) {
      const { grid } = model;
      section.hidden = grid === null;
      if (!grid || !once.differs(grid)) return;
      const head = h("tr", "", h("th", { scope: "col" }, t("mod.grid.emergent")),
        ...grid.elements.map(({ label }) => h("th", { scope: "col", dir: "auto" }, label)),
        h("th", { scope: "col" }, t("mod.grid.contrast")));
      const rows = grid.constructs.map(({ emergent, contrast, ratings }) => h("tr", "", h("th", { scope: "row", dir: "auto" }, emergent),
        ...grid.elements.map(({ id }) => h("td", "grid-rating", String(ratings[id] ?? "–"))),
        h("td", { dir: "auto" }, contrast ?? "–")));
      const table = h("table", "grid-table", h("thead", "", head), h("tbody", "", ...rows));
      body.replaceChildren(h("div", { class: "grid-scroll", tabindex: "0", role: "region", "aria-label": t("mod.grid") }, table),
        h("p", "fine", h("a", { download: true, href: `/api/sessions/${encodeURIComponent(model.id)}/export?format=grid` }, t("mod.grid.take"))));
    },
  };
}
