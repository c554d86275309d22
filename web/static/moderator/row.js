/** One row of the overview. */

import { badge, gauge, h, hidden, icon, said } from "./dom.js";
import { newest, nameOf, pressing } from "./rows.js";
import { makeSpark } from "./spark.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./rows.js").Row} Row */

const DEPTH_WORDS = ["surface", "shallow", "moderate", "deep"];

/** @param {Row} row @returns {"good" | "caution" | "alarm" | ""} */
function toneOf(row) {
  if (pressing(row) > 0) return "alarm";
  if (row.state === "active" || row.state === "closing") return "good";
  return row.state === "paused" || row.state === "abandoned" ? "caution" : "";
}

/**
 * @param {App} app @param {string} id
 * @returns {{item: HTMLLIElement, link: HTMLAnchorElement, update: (row: Row) => void, tick: () => void}}
 */
export function makeRow(app, id) {
  const { t, f } = app;
  /** @type {Row | null} */
  let last = null;
  const dot = h("span", { class: "dot", "aria-hidden": "true" });
  const link = h("a", { class: "row-link", href: `#/interview/${encodeURIComponent(id)}`, "aria-describedby": "rows-help" });
  const state = h("span", "row-state");
  const about = h("span", "row-about clip");
  const turn = h("span", "row-number numbers");
  const progress = gauge(0);
  const phase = h("span", "fine clip");
  const engagement = spark(t("mod.row.engagement"));
  const depth = spark(t("mod.row.depth"));
  const saturation = h("span", "row-number numbers");
  const saturationBar = gauge(0);
  const question = said("row-question clip", "");
  const answer = said("row-answer clip", "");
  const doing = h("span", "row-doing fine");
  const watchers = h("span", "row-watchers fine clip");
  const alerts = h("span", "row-alerts");
  const age = h("span", "fine numbers row-age");
  const item = h("li", { class: "row", "data-id": id },
    h("div", "row-subject", h("div", "row-title", dot, link), state, about),
    h("div", "row-turn", turn, progress, phase),
    h("div", "row-engagement", ...engagement.parts), h("div", "row-depth", ...depth.parts),
    h("div", "row-saturation", h("span", "cell-label", t("mod.row.saturation")), saturation, saturationBar),
    h("div", "row-last", question, answer, doing),
    h("div", "row-people", alerts, watchers, age));

  /** @param {string} label */
  function spark(label) {
    const picture = makeSpark(84, 30);
    const value = h("span", "spark-value numbers");
    return { parts: [h("span", "cell-label", label), h("span", "spark-pair", picture.element, value)], picture, value };
  }

  /** @param {Row} row */
  function update(row) {
    if (row === last) return;
    const before = last;
    last = row;
    dot.className = `dot ${toneOf(row)}${row.activity === "speaking" || row.activity === "asking" ? " beating" : ""}`.trim();
    link.textContent = nameOf(row);
    item.classList.toggle("calling", pressing(row) > 0);
    state.replaceChildren(badge(app.word("mod.state", row.state), toneOf(row) === "alarm" ? "" : toneOf(row)),
      ...(row.claimed_by ? [badge(t("mod.row.claimed", { name: row.claimed_by }), "solid")] : []));
    about.textContent = [row.respondent_ref, row.kiosk ? t("mod.row.kiosk", { name: row.kiosk }) : null, row.session_id.slice(0, 8)].filter(Boolean).join(" · ");
    turn.textContent = t("mod.row.turn_of", { turn: row.turn_number, most: row.max_turns });
    setGauge(progress, row.turn_number / row.max_turns);
    phase.textContent = row.phase ? app.word("mod.phase", row.phase) : "";
    drawSpark(engagement, row.engagement ?? [], 1, 0, (value) => f.percent(value));
    drawSpark(depth, row.depth ?? [], 4, 1, (value) => t(`mod.depth.${DEPTH_WORDS[Math.round(value) - 1] ?? "surface"}`));
    saturation.textContent = typeof row.saturation === "number" ? f.percent(row.saturation) : "–";
    setGauge(saturationBar, row.saturation ?? 0);
    question.textContent = row.last_question ?? "";
    answer.textContent = row.last_answer ?? "";
    doing.textContent = doingOf(row);
    const names = row.watchers ?? [];
    watchers.replaceChildren(...(names.length ? [icon("eye"), hidden(`${t("mod.row.watchers")}: `), names.join(", ")] : []));
    alerts.replaceChildren(...(row.alerts ?? []).map((alert) => badge(app.word("mod.alert", alert.code), "alarm")));
    tick();
    if (before && before.turn_number !== row.turn_number) flash(item);
  }

  /** @param {Row} row */
  function doingOf(row) {
    if (row.connected === false && ["active", "closing"].includes(row.state)) return t("mod.doing.away");
    return row.activity && row.activity !== "idle" ? app.word("mod.doing", row.activity) : "";
  }

  /** @param {ReturnType<typeof spark>} where @param {readonly (number | null)[]} values @param {number} top @param {number} bottom @param {(value: number) => string} word */
  function drawSpark(where, values, top, bottom, word) {
    where.picture.draw(values, top, bottom);
    const now = newest(values);
    where.value.textContent = now === null ? "–" : word(now);
  }

  function tick() {
    if (last) age.textContent = f.ago(Math.max(0, (app.now() - Date.parse(last.updated_at)) / 1000));
  }

  return { item, link, update, tick };
}

/** @param {HTMLElement} element @param {number} share */
function setGauge(element, share) {
  const bar = /** @type {HTMLElement} */ (element.firstElementChild);
  bar.style.width = `${Math.round(Math.min(1, Math.max(0, share || 0)) * 100)}%`;
}

/** Something new came in: the other of two equal animations begins anew without measuring the page. @param {HTMLElement} item */
function flash(item) {
  const again = item.classList.toggle("fresh-again", item.classList.contains("fresh"));
  item.classList.toggle("fresh", !again);
}
