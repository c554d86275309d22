/** The hands: what a moderator can do to an interview, and what came of it. */

import { askDialog } from "./dialogs.js";
import { Once, h } from "./dom.js";
import { isOver } from "./model.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {{type: string, [field: string]: unknown}} Act */

/** Alerts that stay until somebody says that they have seen them. */
const CARES = new Set(["risk", "distress", "minor"]);
const MOST_QUESTION = 1000;
const MOST_NOTE = 4000;
const MOST_TURNS = 50;

/** @param {App} app @param {string} id of the interview. */
export function actingBar(app, id) {
  const { t } = app;
  /** @type {Model | null} */
  let model = null;
  const once = new Once();
  const running = new Set();
  const told = h("p", { class: "acting-told", id: "acting-told", role: "status" });
  const over = h("p", { class: "notice acting-over", hidden: true }, t("mod.acting.over"));
  const pause = button("pause", () => void act({ type: model?.pausedBy || model?.state === "paused" ? "resume" : "pause" }, pause));
  const claim = button("claim", () => void act({ type: model?.claimedBy ? "release" : "claim" }, claim));
  const inject = button("inject", () => void openInject());
  const steer = button("steer", () => void openSteer({}));
  const note = button("note", () => void openNote());
  const extend = button("extend", () => void openExtend());
  const end = button("end", () => void openEnd());
  const patience = h("select", { id: "act-patience", onchange: () => void act({ type: "set", patience: patience.value }, patience) },
    ...["quick", "normal", "patient"].map((name) => h("option", { value: name }, t(`mod.patience.${name}`))));
  const patienceField = h("label", "inline-field", t("mod.acting.patience"), patience);
  const seen = button("acknowledge", () => void act({ type: "acknowledge" }, seen));
  const free = button("release_held", () => void act({ type: "release_held" }, free));
  const care = h("div", { class: "care", role: "group", "aria-label": t("mod.acting.care"), hidden: true }, seen, free);
  const bar = h("div", { class: "acting", role: "group", "aria-label": t("mod.acting") }, inject, steer, pause, claim, note, extend, patienceField, end);
  const element = h("div", "acting-box", bar, over, care, told);
  end.classList.add("ending");
  inject.classList.replace("outlined", "primary");
  /** @type {(() => void)[]} */
  const closers = [];

  /** @param {string} name @param {() => void} run */
  function button(name, run) {
    return h("button", { type: "button", class: "outlined", id: `act-${name}`, onclick: (/** @type {Event} */ event) => {
      const here = /** @type {HTMLElement} */ (event.currentTarget);
      if (here.getAttribute("aria-disabled") !== "true") run();
    } }, t(`mod.act.${name}`));
  }

  /**
   * Do it once, and tell what came of it.
   * @param {Act} what @param {HTMLElement} [by]
   * @returns {Promise<import("./commands.js").Result>}
   */
  async function act(what, by) {
    if (by) mark(by, true);
    tell(t(app.state.link === "live" ? "mod.acting.sent" : "mod.acting.waits"), "");
    const result = await app.commands.run({ ...what, session_id: id });
    if (by) mark(by, false);
    if (result.ok) tell(t(`mod.done.${what.type}`, { turn: result.turn }), "good");
    else tell(reason(result), result.code === "taken_back" ? "" : "alarm");
    return result;
  }

  /** @param {HTMLElement} by @param {boolean} busy */
  function mark(by, busy) {
    if (busy) running.add(by);
    else running.delete(by);
    by.toggleAttribute("aria-busy", busy);
    by.setAttribute("aria-disabled", String(busy));
  }

  /** @param {{code: string, message: string}} refusal */
  function reason(refusal) {
    if (refusal.code === "session_completed") return t("mod.acting.over");
    if (refusal.code === "taken_back") return t("mod.acting.taken_back");
    return refusal.message || app.word("mod.error", refusal.code);
  }

  /** @param {string} text @param {"" | "good" | "alarm"} kind */
  function tell(text, kind) {
    told.textContent = text;
    told.dataset["kind"] = kind;
  }

  /** @param {Omit<import("./dialogs.js").Ask, "takeBack" | "run" | "reason"> & {what: () => Act}} ask */
  function open({ what, ...ask }) {
    /** @type {Act} */
    let wished = { type: "" };
    const run = () => act(wished = what());
    const { close, done } = askDialog(app, { ...ask, run, reason, takeBack: () => app.commands.takeBack({ ...wished, session_id: id }) });
    closers.push(close);
    return done;
  }

  function openInject() {
    const question = h("textarea", { id: "inject-question", rows: 4, required: true, dir: "auto", "aria-describedby": "inject-count inject-hint" });
    const count = h("p", { class: "field-hint numbers", id: "inject-count" });
    const fit = () => {
      const length = [...question.value.trim()].length;
      count.textContent = t("mod.inject.count", { length, most: MOST_QUESTION });
      count.classList.toggle("field-fault", length > MOST_QUESTION);
      return length > 0 && length <= MOST_QUESTION;
    };
    question.addEventListener("input", fit);
    fit();
    return open({ name: "inject", fields: [h("div", "field", h("label", { for: "inject-question" }, t("mod.inject.label")), question, count, h("p", { class: "field-hint", id: "inject-hint" }, t(model?.claimedBy ? "mod.inject.hint_claimed" : "mod.inject.hint")))],
      check: () => (fit() ? null : t([...question.value.trim()].length ? "mod.inject.too_long" : "mod.inject.empty", { most: MOST_QUESTION })),
      what: () => ({ type: "inject", question: question.value.trim() }) });
  }

  /** @param {{strategy?: string, node_id?: string, label?: string}} wish */
  function openSteer(wish) {
    const known = model;
    if (!known) return Promise.resolve();
    const strategy = h("select", { id: "steer-strategy" }, h("option", { value: "" }, t("mod.steer.any_strategy")), ...known.strategies.map((one) => h("option", { value: one.name, title: one.description }, app.word("mod.strategy", one.name))));
    const nodes = known.nodes.filter((node) => !node.superseded_by);
    const node = h("select", { id: "steer-node" }, h("option", { value: "" }, t("mod.steer.any_node")), ...nodes.map((one) => h("option", { value: one.id }, one.label)));
    strategy.value = wish.strategy ?? "";
    node.value = wish.node_id ?? "";
    const about = h("p", { class: "field-hint", id: "steer-about" });
    const shown = h("div", { class: "notice preview", role: "status", hidden: true });
    const chosen = () => ({ ...(strategy.value ? { strategy: strategy.value } : {}), ...(node.value ? { node_id: node.value } : {}) });
    let asked = 0;
    const changed = () => {
      asked += 1;
      shown.hidden = true;
      about.textContent = known.strategies.find((one) => one.name === strategy.value)?.description ?? "";
    };
    strategy.addEventListener("change", changed);
    node.addEventListener("change", changed);
    changed();
    const preview = h("button", { type: "button", class: "outlined", id: "steer-preview", onclick: async () => {
      if (!strategy.value && !node.value) {
        write(t("mod.steer.empty"), "caution");
        return;
      }
      const mine = (asked += 1);
      write(t("mod.steer.previewing"), "");
      const result = await app.commands.run({ type: "steer", ...chosen(), preview: true, session_id: id });
      if (mine !== asked) return;
      if (!result.ok) write(reason(result), "alarm");
      else {
        write("", "");
        shown.replaceChildren(h("p", "fine", t("mod.steer.would")), h("p", { class: "quote", dir: "auto" }, result.preview?.question || t("mod.steer.no_preview")));
      }
    } }, t("mod.steer.preview"));
    const write = (/** @type {string} */ text, /** @type {string} */ kind) => {
      shown.hidden = false;
      shown.className = `notice preview ${kind}`.trim();
      shown.textContent = text;
    };
    return open({ name: "steer", fields: [
      h("div", "field", h("label", { for: "steer-strategy" }, t("mod.steer.strategy")), strategy, about),
      h("div", "field", h("label", { for: "steer-node" }, t("mod.steer.node")), node), shown],
    extra: preview, check: () => (strategy.value || node.value ? null : t("mod.steer.empty")), what: () => ({ type: "steer", ...chosen() }) });
  }

  function openNote() {
    const text = h("textarea", { id: "note-text", rows: 5, dir: "auto", maxlength: MOST_NOTE });
    const turn = model?.turnCount ?? 0;
    const tied = h("input", { type: "checkbox", id: "note-tied", checked: true });
    return open({ name: "note", fields: [h("div", "field", h("label", { for: "note-text" }, t("mod.note.label")), text), h("label", "check", tied, t("mod.note.tied", { turn }))],
      check: () => (text.value.trim() ? null : t("mod.note.empty")),
      what: () => ({ type: "note", text: text.value.trim(), ...(tied.checked ? { turn_number: turn } : {}) }) });
  }

  function openExtend() {
    const turns = h("input", { type: "number", id: "extend-turns", min: 1, max: MOST_TURNS, value: 3, inputmode: "numeric" });
    const whole = () => Number.isInteger(turns.valueAsNumber) && turns.valueAsNumber >= 1 && turns.valueAsNumber <= MOST_TURNS;
    return open({ name: "extend", fields: [h("div", "field", h("label", { for: "extend-turns" }, t("mod.extend.label")), turns, h("p", "field-hint", t("mod.extend.hint", { most: model?.maxTurns ?? 0 })))],
      check: () => (whole() ? null : t("mod.extend.wrong", { most: MOST_TURNS })), what: () => ({ type: "extend", turns: turns.valueAsNumber }) });
  }

  function openEnd() {
    const why = h("input", { type: "text", id: "end-reason", maxlength: 300, dir: "auto", autocomplete: "off" });
    return open({ name: "end", danger: true, fields: [h("div", "field", h("label", { for: "end-reason" }, t("mod.end.label")), why)],
      check: () => (why.value.trim() ? null : t("mod.end.empty")), what: () => ({ type: "end", reason: why.value.trim() }) });
  }

  return {
    element,
    /** @param {{strategy?: string, node_id?: string, label?: string}} wish */
    steer: (wish) => void openSteer(wish),
    /** @param {Model} now */
    update(now) {
      model = now;
      if (!once.differs(now.state, now.pausedBy, now.claimedBy, now.patience, now.alerts, now.heldBack)) return;
      const cares = now.alerts.some((alert) => CARES.has(alert.code));
      seen.hidden = !cares;
      free.hidden = !now.heldBack;
      care.hidden = !cares && !now.heldBack;
      const done = isOver(now.state);
      bar.hidden = done;
      over.hidden = !done;
      pause.textContent = t(now.state === "paused" ? "mod.act.resume" : "mod.act.pause");
      const mine = now.claimedBy === app.state.me?.name;
      claim.textContent = t(now.claimedBy ? (mine ? "mod.act.release" : "mod.act.release_other") : "mod.act.claim");
      claim.setAttribute("aria-pressed", String(now.claimedBy !== null));
      patience.value = now.patience ?? "normal";
    },
    destroy() {
      for (const close of closers) close();
    },
  };
}
