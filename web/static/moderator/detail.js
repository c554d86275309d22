/** One interview: everything about it, live or at any turn of its past, and the hands to act on it. */

import { actingBar } from "./acting.js";
import { api, Refusal } from "./api.js";
import { Once, badge, h } from "./dom.js";
import { auditPanel } from "./audit.js";
import { conversationPanel } from "./conversation.js";
import { costPanel } from "./costs.js";
import { endingPanel } from "./ending.js";
import { graphPanel } from "./graphs.js";
import { elementsPanel } from "./elements.js";
import { gridPanel } from "./grid.js";
import { guidePanel } from "./guide.js";
import { asOf, fromSnapshot, isOver, lastTurn, turnAt } from "./model.js";
import { rankingPanel } from "./ranking.js";
import { turnBar } from "./replay.js";
import { signalsPanel } from "./signals.js";
import { takingHome } from "./taking.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Model} Model */

/**
 * A part of the page: `update` gets the interview as it stands at the turn that is looked at.
 * @typedef {{section: HTMLElement, update: (model: Model, view: Looking) => void, destroy?: () => void}} Panel
 * @typedef {{turn: number, live: boolean, whole: Model}} Looking `whole` is the interview up to now.
 */

/** Of a decision further back the socket brings only this many candidates. */
const BRIEF = 3;

/** @param {App} app @param {string} id @returns {import("./main.js").View} */
export function detailView(app, id) {
  const { t } = app;
  /** @type {Model | null} */
  let complete = null;
  let fetching = false;
  /** @type {number | null} the turn looked back at; null follows the interview. */
  let cursor = null;
  let told = "";

  const title = h("h1", { class: "title-l", tabindex: "-1" }, "…");
  const facts = h("p", "facts soft");
  const badges = h("div", "cluster badges");
  const factsOnce = new Once();
  const drawnOnce = new Once();
  const status = h("p", { class: "visually-hidden", role: "status" });
  const bar = turnBar(app, (turn) => look(turn));
  const acting = actingBar(app, id);
  const actions = { steer: acting.steer, look: (/** @type {number} */ turn) => look(turn) };
  const conversation = conversationPanel(app, actions);
  const ranking = rankingPanel(app);
  const graph = graphPanel(app, actions);
  const signals = signalsPanel(app);
  const guide = guidePanel(app);
  const elements = elementsPanel(app);
  const grid = gridPanel(app);
  const ending = endingPanel(app);
  const costs = costPanel(app);
  const audit = auditPanel(app);
  /** @type {Panel[]} */
  const panels = [conversation, ranking, elements, graph, signals, guide, grid, ending, costs, audit];
  const jumps = h("nav", { class: "jumps segments", "aria-label": t("mod.jump") }, ...panels.map(({ section }) => h("a", {
    href: `#${section.id}`, class: "button", onclick: (/** @type {Event} */ event) => {
      event.preventDefault();
      section.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
      section.focus({ preventScroll: true });
    },
  }, section.querySelector("h2")?.textContent ?? "")));
  const body = h("div", { class: "detail-body", hidden: true },
    h("div", "detail-said", conversation.section), h("div", "detail-why", ranking.section, elements.section, graph.section, signals.section),
    h("div", "detail-figures", guide.section, grid.section, ending.section, costs.section, audit.section));
  const waiting = h("div", "empty", h("span", { class: "ripple", "aria-hidden": "true" }, h("span"), h("span"), h("span")), h("p", {}, t("mod.detail.loading")));
  const head = h("header", { class: "detail-head", hidden: true }, h("div", "detail-name", badges, h("div", "detail-title", title, takingHome(app, id)), facts), acting.element);
  const element = h("div", "detail",
    h("p", "trail", h("a", { href: "#/" }, t("mod.overview.title"))), head, status, jumps, bar.element, waiting, body);
  jumps.hidden = true;

  /** @param {number} turn */
  function look(turn) {
    const model = complete ?? app.state.model;
    if (!model) return;
    const last = lastTurn(model);
    const live = !isOver(model.state) && turn >= last;
    cursor = live || turn > last ? null : Math.max(0, turn);
    if (isOver(model.state)) cursor = Math.min(last, Math.max(0, turn));
    void ensureScores(model);
    update();
  }

  /** Decisions of long ago come without their runners-up; fetch them once. @param {Model} model */
  async function ensureScores(model) {
    const lacking = model.turns.some((turn) => turn.candidates.length <= BRIEF && turn.candidate_count > turn.candidates.length);
    if (fetching || (complete && isOver(complete.state)) || !(lacking || isOver(model.state))) return;
    fetching = true;
    try {
      const whole = fromSnapshot(await api.whole(id), id);
      if (isOver(whole.state)) complete = whole;
      else if (app.state.model) app.state.model = { ...app.state.model, turns: joined(app.state.model.turns, whole.turns) };
      update();
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
    } finally {
      fetching = false;
    }
  }

  function update() {
    if (!app.state.model) return cleared();
    const whole = complete ?? app.state.model;
    if (isOver(whole.state)) {
      void ensureScores(whole);
      cursor ??= lastTurn(whole);
    }
    if (!drawnOnce.differs(whole, cursor)) return;
    const first = head.hidden;
    waiting.hidden = true;
    head.hidden = body.hidden = jumps.hidden = false;
    if (first && document.activeElement === document.body) title.focus({ preventScroll: true });
    const last = lastTurn(whole);
    const looking = { turn: cursor ?? last, live: cursor === null, whole };
    const shown = cursor === null || cursor >= last ? whole : asOf(whole, cursor);
    writeHead(whole, looking);
    bar.update(whole, looking);
    acting.update(whole);
    element.classList.toggle("looking-back", !looking.live && !isOver(whole.state));
    for (const panel of panels) panel.update(shown, looking);
    const now = t("mod.detail.at_turn", { turn: looking.turn, strategy: app.word("mod.strategy", turnAt(whole, looking.turn)?.strategy ?? "–") });
    if (now !== told && !looking.live) status.textContent = now;
    told = now;
  }

  /** @param {Model} model @param {Looking} looking */
  function writeHead(model, looking) {
    if (!factsOnce.differs(model.state, model.reason, model.claimedBy, model.pausedBy, model.respondent, model.watchers, model.alerts, model.concept, model.turnCount, model.maxTurns, looking.live, model.failed)) return;
    title.textContent = model.concept;
    const methodology = app.word("mod.method", model.methodology);
    facts.textContent = [t("mod.row.turn_of", { turn: model.turnCount, most: model.maxTurns }), methodology, model.respondentRef, model.id.slice(0, 8),
      model.watchers.length ? t("mod.detail.watched", { names: app.f.list(model.watchers) }) : null].filter(Boolean).join(" · ");
    const over = isOver(model.state);
    /** @type {HTMLElement[]} */
    const found = [badge(app.word("mod.state", model.state), over ? "" : model.state === "active" || model.state === "closing" ? "good" : "caution")];
    if (over && model.reason) found.push(badge(app.word("mod.reason", model.reason)));
    if (model.claimedBy) found.push(badge(t("mod.row.claimed", { name: model.claimedBy }), "solid"));
    if (!over && model.respondent) {
      const away = !model.respondent.connected;
      found.push(badge(away ? t("mod.doing.away") : app.word("mod.doing", model.respondent.activity), away ? "caution" : "good"));
    }
    for (const alert of model.alerts) found.push(badge(app.word("mod.alert", alert.code), "alarm"));
    if (model.failed) found.push(badge(t("mod.detail.failed"), "alarm"));
    badges.replaceChildren(...found);
    view.title = model.concept;
  }

  /** Nothing is known of the interview: not yet, or not any more. */
  function cleared() {
    complete = null;
    if (!head.hidden) {
      head.hidden = body.hidden = jumps.hidden = bar.element.hidden = true;
      waiting.hidden = false;
      acting.destroy();
    }
    if (app.state.missing) refused(app.state.missing);
  }

  /** @param {string} code */
  function refused(code) {
    waiting.replaceChildren(h("h1", { class: "title-m", tabindex: "-1" }, t("mod.detail.missing.title")),
      h("p", {}, app.word("mod.error", code)), h("a", { class: "button outlined", href: "#/" }, t("mod.detail.back")));
  }

  app.watch(id);
  /** @type {import("./main.js").View} */
  const view = {
    element,
    title: t("mod.detail.title"),
    update,
    tick: () => audit.tick(),
    key: (event) => bar.key(event),
    destroy() {
      for (const panel of panels) panel.destroy?.();
      acting.destroy();
      bar.destroy();
      app.watch(null);
    },
  };
  return view;
}

/** @param {import("./model.js").Turn[]} known @param {import("./model.js").Turn[]} fetched */
function joined(known, fetched) {
  return known.map((turn) => {
    const other = fetched.find((one) => one.turn_number === turn.turn_number);
    return other && other.candidates.length > turn.candidates.length ? { ...turn, candidates: other.candidates } : turn;
  });
}
