/** Who did what to this interview, and when. */

import { Once, h, panel, said } from "./dom.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Action} Action */

/** @param {App} app @returns {import("./detail.js").Panel & {tick: () => void}} */
export function auditPanel(app) {
  const { t, f } = app;
  const { section, body } = panel("audit", t("mod.audit"));
  const once = new Once();
  /** @type {{time: HTMLElement, at: string}[]} */
  let times = [];

  /** @param {Action} action */
  function detailOf(action) {
    const details = action.details ?? {};
    const parts = [];
    if (details["strategy"]) parts.push(app.word("mod.strategy", String(details["strategy"])));
    for (const name of ["question", "text", "reason", "node_label", "turns", "patience"]) {
      const value = details[name];
      if (value !== undefined && value !== null && value !== "") parts.push(name === "turns" ? t("mod.audit.turns", { count: Number(value) }) : String(value));
    }
    return parts.join(" · ");
  }

  function tick() {
    for (const { time, at } of times) time.textContent = f.ago(Math.max(0, (app.now() - Date.parse(at)) / 1000));
  }

  return {
    section,
    tick,
    update(model) {
      if (!once.differs(model.actions)) return;
      times = [];
      if (model.actions.length === 0) {
        body.replaceChildren(h("p", "soft", t("mod.audit.none")));
        return;
      }
      body.replaceChildren(h("ol", "actions-list", ...[...model.actions].reverse().map((action) => {
        const time = h("time", { class: "fine numbers", datetime: action.recorded_at, title: f.moment(action.recorded_at) });
        times.push({ time, at: action.recorded_at });
        const detail = detailOf(action);
        return h("li", {}, h("p", "action-head", h("b", {}, action.moderator), ` ${app.word("mod.did", action.action)}`, action.turn_number ? h("span", "fine numbers", ` · ${t("mod.line.turn", { turn: action.turn_number })}`) : null),
          detail ? said("action-detail", detail, "p") : null, time);
      })));
      tick();
    },
  };
}
