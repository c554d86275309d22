/** How near the interview is to its end: the rules that end it, and how complete the picture is. */

import { Once, gauge, h, hidden, panel } from "./dom.js";
import { completeness, latest, stopping } from "./insight.js";

/** @typedef {import("./main.js").App} App */

/** @param {App} app @returns {import("./detail.js").Panel} */
export function endingPanel(app) {
  const { t, f } = app;
  const { section, body } = panel("ending", t("mod.ending"));
  const once = new Once();
  return {
    section,
    update(model) {
      if (!once.differs(model.turns, model.turnCount, model.maxTurns)) return;
      const rules = stopping(model).map(({ rule, have, limit }) => {
        const share = limit ? have / limit : 0;
        const bar = gauge(share);
        bar.classList.add(share >= 1 ? "full" : share >= 0.6 ? "near" : "far");
        return h("li", "rule", h("span", "rule-name", t(`mod.rule.${rule}`)), h("span", "numbers rule-count", t("mod.of", { have, limit })), bar);
      });
      const shares = completeness(model).map(({ name, share }) => h("li", "rule", h("span", "rule-name", t(`mod.share.${name}`)), h("span", "numbers rule-count", f.percent(share)), gauge(share)));
      const last = latest(model);
      const complete = last?.signals["graph.chain_completion.has_complete"];
      const note = last && last.turn_number < model.limits.min_turn_for_saturation
        ? t("mod.ending.early", { turn: model.limits.min_turn_for_saturation }) : typeof complete === "boolean" ? t(complete ? "mod.ending.chain" : "mod.ending.no_chain") : "";
      body.replaceChildren(h("h3", "small-head", t("mod.ending.rules")), h("ul", "rules", ...rules),
        ...(shares.length ? [h("h3", "small-head", t("mod.ending.shares")), h("ul", "rules", ...shares)] : []),
        ...(note ? [h("p", "fine", note)] : []),
        ...(last?.reason ? [h("p", "notice", hidden(`${t("mod.ending.reason")} `), app.word("mod.reason", last.reason))] : []));
    },
  };
}
