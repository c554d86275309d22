/** The bar that goes through an interview turn by turn: a slider, buttons, arrow keys, and playing it. */

import { h, icon } from "./dom.js";
import { isOver, lastTurn } from "./model.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Model} Model */

const PLAY_MS = 2_500;

/** @param {App} app @param {(turn: number) => void} look */
export function turnBar(app, look) {
  const { t } = app;
  let turn = 0;
  let last = 0;
  let over = false;
  /** @type {ReturnType<typeof setInterval> | null} */
  let playing = null;
  const slider = h("input", { type: "range", min: 0, max: 0, step: 1, id: "turn-slider", "aria-label": t("mod.replay.turn"), oninput: () => {
    stop();
    look(Number(slider.value));
  } });
  const button = (/** @type {string} */ name, /** @type {() => void} */ act) => h("button", { type: "button", class: "icon-button outlined", id: `turn-${name}`, "aria-label": t(`mod.replay.${name}`), onclick: () => {
    stop();
    act();
  } }, icon(name));
  const back = button("back", () => step(-1));
  const next = button("next", () => step(1));
  const first = button("first", () => look(0));
  const play = h("button", { type: "button", class: "icon-button outlined", id: "turn-play", onclick: () => (playing ? stop() : start()) });
  const where = h("output", { class: "numbers turn-where", for: "turn-slider", id: "turn-where" });
  const live = h("button", { type: "button", class: "primary small", id: "turn-live", onclick: () => look(Infinity) }, t("mod.replay.live"));
  const element = h("div", { class: "turn-bar", role: "group", "aria-label": t("mod.replay.title"), hidden: true }, h("div", "cluster", first, back, play, next), slider, where, live);
  writePlay();

  function writePlay() {
    play.replaceChildren(icon(playing ? "pause" : "play"));
    play.setAttribute("aria-label", t(playing ? "mod.replay.stop" : "mod.replay.play"));
  }

  function start() {
    if (turn >= last) look(0);
    playing = setInterval(() => (turn >= last ? stop() : look(turn + 1)), PLAY_MS);
    writePlay();
  }

  function stop() {
    if (playing) clearInterval(playing);
    playing = null;
    writePlay();
  }

  /** @param {number} by */
  const step = (by) => look(Math.min(last, Math.max(0, turn + by)));

  return {
    element,
    /** @param {Model} model @param {import("./detail.js").Looking} looking */
    update(model, looking) {
      last = lastTurn(model);
      turn = Math.min(last, looking.turn);
      over = isOver(model.state);
      element.hidden = last === 0;
      slider.max = String(last);
      slider.value = String(turn);
      slider.setAttribute("aria-valuetext", t("mod.replay.where", { turn, last }));
      where.textContent = t(looking.live ? "mod.replay.now" : "mod.replay.where", { turn, last });
      live.hidden = over || looking.live;
      play.hidden = !over;
      back.setAttribute("aria-disabled", String(turn === 0));
      next.setAttribute("aria-disabled", String(turn >= last));
    },
    /** @param {KeyboardEvent} event */
    key(event) {
      const rtl = document.documentElement.dir === "rtl";
      const by = /** @type {Record<string, number>} */ ({ ArrowLeft: rtl ? 1 : -1, ArrowRight: rtl ? -1 : 1 })[event.key];
      const target = /** @type {HTMLElement} */ (event.target);
      if (by === undefined || last === 0 || target.closest("[role=tablist], [role=application], .table-wrap, .scrolls")) return false;
      stop();
      step(by);
      return true;
    },
    destroy: stop,
  };
}
