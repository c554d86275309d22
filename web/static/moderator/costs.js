/** How long each stage of a turn took, and what language models were asked and cost. */

import { Once, h, panel } from "./dom.js";
import { turnAt } from "./model.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Usage} Usage */

/** In the order of the turn; what stands beside each other in time is named after what it waits for. */
const STAGES = ["context", "utterance", "srl", "rating", "extraction", "graph", "slots", "state", "strategy", "continuation", "question", "response", "scoring"];

/** @param {App} app @returns {import("./detail.js").Panel} */
export function costPanel(app) {
  const { t, f } = app;
  const { section, head, body } = panel("costs", t("mod.costs"));
  const turnOf = h("span", "fine numbers");
  head.append(turnOf);
  const once = new Once();
  const ms = (/** @type {number} */ value) => (value >= 1000 ? f.seconds(value / 1000) : f.milliseconds(value));

  return {
    section,
    update(model, looking) {
      const turn = turnAt(model, looking.turn) ?? model.turns.at(-1) ?? null;
      if (!once.differs(turn, model.usage)) return;
      turnOf.textContent = turn ? t("mod.line.turn", { turn: turn.turn_number }) : "";
      const taken = Object.entries(turn?.stages_ms ?? {}).sort((a, b) => STAGES.indexOf(a[0]) - STAGES.indexOf(b[0]));
      const most = Math.max(1, ...taken.map(([, value]) => value));
      const stages = taken.map(([name, value]) => {
        const bar = h("span");
        bar.style.width = `${Math.max(1, Math.round((value / most) * 100))}%`;
        return h("li", "stage", h("span", "stage-name", app.word("mod.stage", name)), h("span", { class: "gauge", "aria-hidden": "true" }, bar), h("span", "numbers stage-ms", ms(value)));
      });
      body.replaceChildren(
        ...(stages.length ? [h("h3", "small-head", t("mod.costs.stages")), h("ul", "stages", ...stages)] : [h("p", "soft", t("mod.costs.no_stages"))]),
        h("h3", "small-head", t("mod.costs.usage")), usage(model.usage));
    },
  };

  /** @param {Usage | null} sum */
  function usage(sum) {
    if (!sum || !sum.calls) return h("p", "soft", t("mod.costs.none"));
    const pairs = [
      ["calls", f.number(sum.calls)], ["failed", sum.failed ? f.number(sum.failed) : ""], ["discarded", sum.discarded ? f.number(sum.discarded) : ""],
      ["input", f.number(sum.input_tokens)], ["cached", sum.cached_tokens ? f.number(sum.cached_tokens) : ""], ["output", f.number(sum.output_tokens)],
      ["latency", ms(sum.latency_ms)], ["cost", money(sum.cost)], ["unpriced", sum.unpriced_calls ? f.number(sum.unpriced_calls) : ""],
      ["fallbacks", sum.fallback_questions ? f.number(sum.fallback_questions) : ""],
    ].filter(([, value]) => value);
    const roles = Object.entries(sum.by_role ?? {});
    return h("div", {}, h("dl", "pairs", ...pairs.flatMap(([name = "", value = ""]) => [h("dt", {}, t(`mod.usage.${name}`)), h("dd", {}, value)])),
      roles.length ? h("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": t("mod.costs.by_role") }, h("table", "table dense",
        h("thead", {}, h("tr", {}, ...["role", "calls", "input", "output", "cost"].map((name, at) => h("th", { scope: "col", class: at ? "number" : false }, t(`mod.usage.${name}`))))),
        h("tbody", {}, ...roles.map(([role, part]) => h("tr", {}, h("th", { scope: "row" }, app.word("mod.role", role)), h("td", "number", f.number(part.calls)), h("td", "number", f.number(part.input_tokens)), h("td", "number", f.number(part.output_tokens)), h("td", "number", money(part.cost) || "–")))))) : null);
  }

  /** @param {Record<string, number>} cost by currency. */
  function money(cost) {
    return Object.entries(cost ?? {}).map(([currency, amount]) => (/^[A-Z]{3}$/.test(currency) ? f.money(amount, currency) : `${f.number(amount)} ${currency}`.trim())).join(" + ");
  }
}
