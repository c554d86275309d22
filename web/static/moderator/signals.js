/** Every signal with its history, as small multiples; as a table for whoever wants numbers, or has no charts. */

import { Once, h, panel } from "./dom.js";
import { histories, wordsOf } from "./insight.js";
import { loadChart, onScheme, token } from "./libraries.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {ReturnType<typeof histories>[number]} History */
/** @typedef {{figure: HTMLElement, plot: any, value: HTMLElement, box: HTMLElement, drawn: string}} Multiple */

const HEIGHT = 56;
/** Where the words for the values of a signal are. @type {Record<string, string>} */
const WORDS = { "llm.response_depth": "mod.depth", "meta.interview.phase": "mod.phase" };

/** @param {App} app @returns {import("./detail.js").Panel} */
export function signalsPanel(app) {
  const { t, f } = app;
  const { section, head, body } = panel("signals", t("mod.signals"));
  const once = new Once();
  /** @type {import("./libraries.js").Chart | null | undefined} undefined: not known yet. */
  let Chart;
  let table = false;
  /** @type {import("./model.js").Model | null} */
  let shown = null;
  let turn = 0;
  /** @type {Map<string, Multiple>} */
  const multiples = new Map();
  const toggle = h("button", { type: "button", class: "link fine", onclick: () => {
    table = !table;
    redraw();
  } });
  const grid = h("div", "multiples");
  const rows = h("div");
  const note = h("p", { class: "fine", hidden: true }, t("mod.no_charts"));
  head.append(toggle);
  body.append(note, grid, rows);
  void loadChart().then((found) => {
    Chart = found;
    if (!found) table = true;
    note.hidden = found !== null;
    redraw();
  });
  const watching = new ResizeObserver(() => {
    for (const { plot, box } of multiples.values()) {
      if (plot && box.clientWidth > 0 && plot.width !== box.clientWidth) plot.setSize({ width: box.clientWidth, height: HEIGHT });
    }
  });
  watching.observe(grid);
  const unscheme = onScheme(() => {
    for (const one of multiples.values()) one.plot?.destroy();
    multiples.clear();
    grid.replaceChildren();
    redraw();
  });

  /** @param {string} signal @param {import("./model.js").SignalValue | undefined} value */
  function text(signal, value) {
    if (typeof value === "number") return f.number(value, { maximumFractionDigits: 2 });
    if (typeof value === "boolean") return t(value ? "mod.yes" : "mod.no");
    return typeof value === "string" ? app.word(WORDS[signal] ?? "mod.value", value) : "–";
  }

  /** @param {string} signal */
  const nameOf = (signal) => app.word("mod.signal", signal);

  /** @param {History} history @returns {Multiple} */
  function make(history) {
    const value = h("span", "multiple-value numbers");
    const box = h("div", { class: "multiple-plot", "aria-hidden": "true" });
    const figure = h("figure", { class: "multiple", title: history.signal }, h("figcaption", "multiple-name", h("span", "clip", nameOf(history.signal)), value), box);
    return { figure, value, box, plot: null, drawn: "" };
  }

  /** @param {Multiple} one @param {History} history */
  function draw(one, history) {
    if (!Chart || one.box.clientWidth === 0) return;
    const words = wordsOf(history.signal);
    const key = `${history.top}`;
    const data = /** @type {any} */ ([history.turns, history.heights]);
    if (one.plot && one.drawn === key) {
      one.plot.setData(data);
      return;
    }
    one.plot?.destroy();
    one.drawn = key;
    const line = token("--accent");
    const stepped = Chart.paths.stepped?.({ align: 1 });
    one.plot = new Chart({
      width: one.box.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { show: false }, padding: [4, 4, 4, 4],
      axes: [{ show: false }, { show: false }],
      scales: { x: { time: false, range: (_, least, most) => [Math.min(1, least), Math.max(most, 4)] }, y: { range: [words ? -0.15 : -0.04 * history.top, history.top * 1.04 || 1] } },
      series: [{}, { stroke: line, width: 1.75, fill: `color-mix(in srgb, ${line} 9%, transparent)`, spanGaps: true, ...(stepped && words ? { paths: stepped } : {}), points: { show: (_, __, from, to) => to - from < 3, size: 5, fill: line } }],
      hooks: { draw: [(plot) => mark(plot)] },
    }, data, one.box);
  }

  /** A thin line at the turn that is looked at. @param {import("uplot")} plot */
  function mark(plot) {
    const x = plot.valToPos(turn, "x", true);
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = token("--edge");
    ctx.globalAlpha = 0.7;
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }

  function redraw() {
    toggle.textContent = t(table ? "mod.as_charts" : "mod.as_table");
    toggle.hidden = Chart === null;
    if (!shown) return;
    const all = histories(shown);
    grid.hidden = table || Chart === null;
    rows.hidden = !grid.hidden;
    if (all.length === 0) {
      body.dataset["empty"] = "";
      grid.hidden = true;
      rows.hidden = false;
      rows.replaceChildren(h("p", "soft", t("mod.signals.none")));
      return;
    }
    if (!rows.hidden) {
      writeTable(all);
      return;
    }
    // A turn that is being worked on has no signals yet; one that is looked back at, and has none, never had.
    const newest = turn >= Math.max(...all.flatMap(({ turns }) => turns));
    for (const history of all) {
      let one = multiples.get(history.signal);
      if (!one) {
        one = make(history);
        multiples.set(history.signal, one);
      }
      if (!one.figure.isConnected) grid.append(one.figure);
      const at = history.turns.indexOf(turn);
      one.value.textContent = text(history.signal, at >= 0 ? history.values[at] : newest ? history.values.at(-1) : undefined);
      draw(one, history);
    }
  }

  /** @param {History[]} all */
  function writeTable(all) {
    const turns = all[0]?.turns ?? [];
    const headRow = h("tr", {}, h("th", { scope: "col" }, t("mod.ranking.signal")), ...turns.map((number) => h("th", { scope: "col", class: number === turn ? "number current" : "number" }, t("mod.line.turn", { turn: number }))));
    rows.replaceChildren(h("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": t("mod.signals") }, h("table", "table dense", h("thead", {}, headRow),
      h("tbody", {}, ...all.map((history) => h("tr", {}, h("th", { scope: "row", title: history.signal }, nameOf(history.signal)), ...history.values.map((value) => h("td", "number", text(history.signal, value)))))))));
  }

  return {
    section,
    update(_, looking) {
      // The whole history stays in sight when looking back; a line marks the turn.
      shown = looking.whole;
      turn = looking.turn;
      if (once.differs(looking.whole.turns, looking.turn)) redraw();
    },
    destroy() {
      watching.disconnect();
      unscheme();
      for (const one of multiples.values()) one.plot?.destroy();
    },
  };
}
