/** The conversation so far, as a list that only ever changes where it must. */

import { errorText } from "../core/errors.js";
import { answerKey, folded, lastQuestion } from "../core/log.js";
import { parseRated, ratedWords } from "../core/ratings.js";
import { correctable, standingWords } from "../core/state.js";
import { fitHeight, isCoarse, make } from "./dom.js";

/** @typedef {import("../core/state.js").State} State */
/** @typedef {import("../core/state.js").Entry} Entry */
/** @typedef {import("../texts/index.js").Texts} Texts */
/** @typedef {(event: import("../core/reduce.js").Event) => void} Dispatch */
/** @typedef {Entry & {note: string, correct: boolean, edit: string | null, fault: string}} Row */

/**
 * The log with what is on its way laid over it; the open question is left out, it stands below.
 * @param {State} state
 * @param {Texts} t
 * @returns {Row[]}
 */
export function rows(state, t) {
  const open = standingWords(state)?.key;
  const streamed = state.rephrasing ? null : state.stream;
  const entries = folded(state.log).filter((entry) => entry.key !== open && entry.key !== `q${streamed?.turn}`);
  const pending = state.pending;
  const waiting = pending && !pending.accepted ? t(state.link === "ready" && !pending.failed ? "talk.sending" : "talk.kept") : "";
  if (pending && pending.kind !== "correct" && !entries.some((entry) => entry.turnKey === pending.turnKey)) {
    const turn = (lastQuestion(state.log)?.turn ?? -1) + 1;
    const asked = state.log.find((entry) => entry.key === open);
    if (asked) entries.push(asked);
    entries.push({
      key: answerKey(turn), speaker: "respondent", turn, kind: pending.kind,
      text: pending.kind === "rate" ? ratedWords(parseRated(pending.text), state.rating) : pending.text,
      utteranceId: null, turnKey: pending.turnKey, edited: false,
    });
  }
  const sent = new Set(state.log.map((entry) => entry.turnKey));
  const fixable = correctable(state)?.key ?? state.editing?.key;
  return entries.map((entry) => {
    const fixed = pending?.kind === "correct" && !sent.has(pending.turnKey) && pending.utteranceId === entry.utteranceId;
    const mine = fixed || (pending !== null && entry.turnKey === pending.turnKey);
    return {
      ...entry,
      text: fixed ? pending.text : entry.text,
      note: mine && waiting ? waiting : entry.edited ? t("talk.edited") : "",
      correct: entry.key === fixable && !state.editing,
      edit: state.editing?.key === entry.key ? state.editing.text : null,
      fault: state.editing?.key === entry.key && state.problem?.at === "edit" ? faultText(state.problem.code, t) : "",
    };
  });
}

/** @param {string} code @param {Texts} t */
export const faultText = (code, t) => t(errorText(code));

export class Conversation {
  /**
   * @param {HTMLElement} list
   * @param {Texts} t
   * @param {Dispatch} dispatch
   * @param {() => string} freshKey
   */
  constructor(list, t, dispatch, freshKey) {
    this.list = list;
    this.t = t;
    this.dispatch = dispatch;
    this.freshKey = freshKey;
    /** @type {Map<string, {item: HTMLElement, print: string}>} */
    this.items = new Map();
    this.drawn = false;
  }

  /** @param {readonly Row[]} wanted */
  render(wanted) {
    const keys = new Set(wanted.map((row) => row.key));
    for (const [key, { item }] of this.items) {
      if (!keys.has(key)) {
        item.remove();
        this.items.delete(key);
      }
    }
    wanted.forEach((row, index) => {
      const item = this.#item(row);
      if (this.list.children[index] !== item) this.list.insertBefore(item, this.list.children[index] ?? null);
    });
    this.drawn ||= wanted.length > 0;
  }

  /** @param {Row} row */
  #item(row) {
    const print = JSON.stringify([row.text, row.kind, row.note, row.correct, row.edit !== null, row.fault]);
    const old = this.items.get(row.key);
    if (old?.print === print) return old.item;
    const item = old?.item ?? make("li", `utterance ${row.speaker}${this.drawn ? " fresh" : ""}`);
    item.dataset["key"] = row.key;
    item.dataset["turn"] = String(row.turn);
    item.classList.toggle("skipped", row.kind === "skip");
    const held = item.contains(document.activeElement);
    if (row.edit !== null && item.querySelector("textarea")) this.#fault(item, row.fault);
    else item.replaceChildren(...(row.edit === null ? this.#said(row) : this.#form(row)));
    if (held && !item.contains(document.activeElement)) item.querySelector("button")?.focus();
    this.items.set(row.key, { item, print });
    return item;
  }

  /** @param {Row} row */
  #said(row) {
    const who = make("span", "visually-hidden", `${this.t(row.speaker === "respondent" ? "talk.you" : "talk.interviewer")}: `);
    const said = make("p", "said");
    const words = make("span", "words", row.kind === "skip" ? this.t("talk.skipped") : row.text);
    said.dir = "auto";
    said.append(who, words);
    const meta = make("p", "meta");
    if (row.note) meta.append(make("span", "note", row.note));
    if (row.correct) {
      const button = /** @type {HTMLButtonElement} */ (make("button", "link", this.t("answer.correct")));
      button.type = "button";
      button.id = "correct";
      button.dataset["testid"] = "correct";
      button.addEventListener("click", () => this.dispatch({ type: "edit" }));
      meta.append(button);
    }
    return meta.childElementCount > 0 ? [said, meta] : [said];
  }

  /** @param {Row} row */
  #form(row) {
    const form = /** @type {HTMLFormElement} */ (make("form", "edit"));
    const area = /** @type {HTMLTextAreaElement} */ (make("textarea"));
    area.id = "edit";
    area.dataset["testid"] = "edit";
    area.dir = "auto";
    area.setAttribute("aria-label", this.t("answer.correct.label"));
    area.setAttribute("aria-describedby", "edit-error");
    area.value = row.edit ?? "";
    const save = () => this.dispatch({ type: "edit_submit", turnKey: this.freshKey() });
    area.addEventListener("input", () => {
      fitHeight(area);
      this.dispatch({ type: "edit_text", text: area.value });
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.preventDefault();
        this.dispatch({ type: "edit_cancel" });
      } else if (event.key === "Enter" && event.target === area && !event.isComposing && (event.ctrlKey || event.metaKey || (!event.shiftKey && !isCoarse()))) {
        event.preventDefault();
        save();
      }
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      save();
    });
    const actions = make("div", "actions");
    const keep = /** @type {HTMLButtonElement} */ (make("button", "primary small", this.t("answer.correct.save")));
    keep.type = "submit";
    keep.id = "correct-save";
    keep.dataset["testid"] = "correct-save";
    const drop = /** @type {HTMLButtonElement} */ (make("button", "quiet", this.t("answer.correct.cancel")));
    drop.type = "button";
    drop.id = "correct-cancel";
    drop.dataset["testid"] = "correct-cancel";
    drop.addEventListener("click", () => this.dispatch({ type: "edit_cancel" }));
    actions.append(keep, drop);
    const fault = make("p", "problem");
    fault.id = "edit-error";
    fault.setAttribute("role", "alert");
    form.append(area, fault, actions);
    this.#fault(form, row.fault);
    requestAnimationFrame(() => fitHeight(area));
    return [form];
  }

  /** @param {HTMLElement} root @param {string} text */
  #fault(root, text) {
    const fault = /** @type {HTMLElement} */ (root.querySelector("#edit-error"));
    fault.hidden = text === "";
    fault.textContent = text;
    root.querySelector("textarea")?.setAttribute("aria-invalid", String(text !== ""));
  }
}
