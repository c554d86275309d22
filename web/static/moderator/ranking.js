/** Why this question: the candidates of a decision, best first, and what each score is made of. */

import { Once, badge, breakable, h, panel, said } from "./dom.js";
import { askedOf, decomposed, ranked, reasons } from "./insight.js";
import { turnAt } from "./model.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Candidate} Candidate */
/** @typedef {import("./model.js").Term} Term */
/** @typedef {import("./model.js").Turn} Turn */

const SHOWN = 5;

/** @param {App} app @returns {import("./detail.js").Panel} */
export function rankingPanel(app) {
  const { t, f } = app;
  const { section, head, body } = panel("ranking", t("mod.ranking"));
  const turnOf = h("span", "fine numbers");
  head.append(turnOf);
  const once = new Once();
  /** @type {string | null} the candidate whose score is taken apart; null: the chosen one. */
  let open = null;
  let all = false;
  let shownTurn = -1;
  const number = (/** @type {number} */ value) => f.number(value === 0 ? 0 : value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

  /** @param {Candidate} candidate */
  const keyOf = (candidate) => `${candidate.strategy}|${candidate.target?.ids.join(" ") ?? ""}|${candidate.tactic}`;

  /** @param {Candidate} candidate @param {Candidate | null} asked @param {number} most @param {boolean} opened @param {() => void} redraw */
  function row(candidate, asked, most, opened, redraw) {
    const bar = h("span");
    const share = Math.max(0, candidate.final_score ?? 0) / (most || 1);
    bar.style.width = `${Math.round(share * 100)}%`;
    const button = h("button", { type: "button", class: "candidate", "aria-expanded": String(opened), "data-strategy": candidate.strategy, onclick: () => {
      open = opened ? "" : keyOf(candidate);
      redraw();
    } },
    h("span", "candidate-rank numbers", String(candidate.rank)),
    h("span", "candidate-name", h("span", "candidate-strategy", app.word("mod.strategy", candidate.strategy)), candidate.target?.label ? said("candidate-node clip", candidate.target.label) : h("span", "candidate-node soft", t("mod.ranking.no_node"))),
    candidate === asked ? badge(t("mod.ranking.asked"), "solid") : candidate.selected ? badge(t("mod.ranking.proposed")) : null,
    h("span", "candidate-score numbers", scoreText(candidate)),
    h("span", { class: "gauge candidate-bar", "aria-hidden": "true" }, bar));
    return h("li", candidate === asked ? "chosen" : {}, button, opened ? apart(candidate) : null);
  }

  /** @param {Candidate} candidate */
  function apart(candidate) {
    const { moving, still, base, after } = decomposed(candidate);
    const signed = (/** @type {number} */ value) => f.number(value, { signDisplay: value === 0 ? "auto" : "exceptZero", minimumFractionDigits: 2, maximumFractionDigits: 2 });
    const line = (/** @type {Term} */ term) => h("tr", {},
      h("th", { scope: "row" }, breakable(term.name), term.reason ? h("span", "fine", ` ${term.reason}`) : null),
      h("td", "number", valueText(term.value ?? null)), h("td", "number", term.weight === null || term.weight === undefined ? "–" : number(term.weight)),
      h("td", `number ${term.amount < 0 ? "minus" : "plus"}`, signed(term.amount)));
    const headRow = h("thead", {}, h("tr", {}, ...["signal", "value", "weight", "contribution"].map((name, at) => h("th", { scope: "col", class: at ? "number" : false }, t(`mod.ranking.${name}`)))));
    const sum = (/** @type {string} */ name, /** @type {string} */ text, strong = false) => h("tr", strong ? "total" : {}, h("th", { scope: "row", colspan: 3 }, name), h("td", "number", text));
    const step = (/** @type {Term} */ term) => {
      const name = term.name === "phase" ? t(term.kind === "bonus" ? "mod.ranking.bonus" : "mod.ranking.multiplier") : term.reason ? `${term.name}: ${term.reason}` : term.name;
      return sum(name, term.kind === "veto" ? t("mod.ranking.veto") : term.kind === "multiplied" ? `× ${number(term.amount)}` : signed(term.amount));
    };
    const foot = h("tfoot", {}, sum(t("mod.ranking.base"), number(base)), ...after.map(step), sum(t("mod.ranking.final"), scoreText(candidate), true));
    const caption = t("mod.ranking.caption", { strategy: app.word("mod.strategy", candidate.strategy), node: candidate.target?.label || t("mod.ranking.no_node") });
    return h("div", "apart",
      h("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": caption }, h("table", "table dense decomposition", h("caption", "visually-hidden", caption), headRow, h("tbody", {}, ...moving.map(line)), foot)),
      still.length ? h("details", {}, h("summary", {}, t("mod.ranking.still", { count: still.length })), h("ul", "still fine", ...still.map((part) => h("li", {}, `${part.name} (${valueText(part.value ?? null)})`)))) : null);
  }

  /** @param {Candidate} candidate @returns {string} why it was asked, as a sentence. */
  function sentence(candidate) {
    const told = reasons(candidate).map((term) => clause(term)).filter((text) => text !== "");
    const about = candidate.target?.label ? t("mod.why.about", { focus: candidate.target.label }) : "";
    const strategy = `${app.word("mod.strategy", candidate.strategy)}${about}`;
    return told.length ? t("mod.why", { strategy, reasons: f.list([...new Set(told)]) }) : t("mod.why.nothing", { strategy });
  }

  /** @param {Term} term @returns {string} one reason: in the page's words, else in those of the engine. */
  function clause(term) {
    if (t.language === "en" && term.reason && term.name !== "phase") return term.reason;
    try {
      return t(`mod.why.${term.name}`);
    } catch {
      return t.language === "en" ? "" : term.reason ?? "";
    }
  }

  /** @param {Candidate} candidate */
  function scoreText(candidate) {
    return candidate.final_score === null ? t("mod.ranking.veto") : number(candidate.final_score);
  }

  /** @param {import("./model.js").SignalValue} value */
  function valueText(value) {
    if (typeof value === "number") return f.number(value, { maximumFractionDigits: 2 });
    if (typeof value === "boolean") return t(value ? "mod.yes" : "mod.no");
    return value === null ? "–" : app.word("mod.value", value);
  }

  /** @param {Turn | null} turn @param {boolean} before */
  function nothing(turn, before) {
    return h("p", "soft", t(turn?.directive ? "mod.ranking.directed" : before ? "mod.ranking.opening" : "mod.ranking.none"));
  }

  return {
    section,
    update(model, looking) {
      const turn = turnAt(model, looking.turn) ?? (looking.live ? model.turns.at(-1) ?? null : null);
      if ((turn?.turn_number ?? 0) !== shownTurn) {
        open = null;
        shownTurn = turn?.turn_number ?? 0;
        all = false;
      }
      if (!once.differs(turn, looking.turn)) return;
      const redraw = () => {
        const candidates = ranked(turn?.candidates ?? []);
        turnOf.textContent = turn ? `${t("mod.line.turn", { turn: turn.turn_number })}${turn.phase ? ` · ${app.word("mod.phase", turn.phase)}` : ""}` : "";
        if (!turn || candidates.length === 0) {
          body.replaceChildren(...directed(turn), nothing(turn, looking.turn === 0));
          return;
        }
        const most = Math.max(...candidates.map((candidate) => candidate.final_score ?? 0));
        const shown = all ? candidates : candidates.slice(0, SHOWN);
        const asked = askedOf(turn);
        if (asked && !shown.includes(asked)) shown.push(asked);
        const opened = open ?? keyOf(/** @type {Candidate} */ (asked ?? candidates[0]));
        const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.closest?.(".candidate");
        const at = focused && body.contains(focused) ? [...body.querySelectorAll(".candidate")].indexOf(focused) : -1;
        const more = candidates.length > SHOWN ? h("button", { type: "button", class: "link", onclick: () => {
          all = !all;
          redraw();
        } }, all ? t("mod.ranking.fewer") : t("mod.ranking.more", { count: turn.candidate_count })) : null;
        body.replaceChildren(...directed(turn), ...(asked && !asked.selected && !turn.directive ? [h("p", "notice", t("mod.ranking.taken"))] : []), ...(asked ? [h("p", "why", sentence(asked))] : []), h("ol", "candidates", ...shown.map((candidate) => row(candidate, asked, most, keyOf(candidate) === opened, redraw))), ...(more ? [more] : []));
        if (at >= 0) /** @type {HTMLElement | undefined} */ ([...body.querySelectorAll(".candidate")][at])?.focus({ preventScroll: true });
      };
      redraw();
    },
  };

  /** @param {Turn | null} turn what a moderator asked for. */
  function directed(turn) {
    const directive = turn?.directive;
    if (!directive) return [];
    const text = directive.kind === "inject" ? t("mod.ranking.injected") : t("mod.ranking.steered", { strategy: directive.strategy ? app.word("mod.strategy", directive.strategy) : "–" });
    return [h("p", "notice", text)];
  }
}
