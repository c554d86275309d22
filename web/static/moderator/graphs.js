/** The graphs: as a picture or as a table, what was said behind each node, and how to steer there. */

import { Once, badge, h, panel, said } from "./dom.js";
import { graphOf, typesOf } from "./graphdata.js";
import { Picture } from "./picture.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./graphdata.js").Item} Item */
/** @typedef {import("./graphdata.js").Graph} Graph */

/**
 * @param {App} app
 * @param {{steer: (wish: {node_id?: string, label?: string}) => void, look: (turn: number) => void}} actions
 * @returns {import("./detail.js").Panel}
 */
export function graphPanel(app, actions) {
  const { t, f } = app;
  const { section, head, body } = panel("graph", t("mod.graph"));
  const once = new Once();
  const look = app.shelf.read("graph", { which: "surface", table: false });
  let drawable = true;
  /** @type {string | null} */
  let chosen = null;
  /** @type {Model | null} */
  let model = null;
  let turn = 0;
  let live = true;

  const which = choice("which", ["surface", "canonical"], () => look.which, (name) => {
    look.which = name;
    chosen = null;
    picture.moved = false;
  });
  const how = choice("how", ["picture", "table"], () => (look.table || !drawable ? "table" : "picture"), (name) => (look.table = name === "table"));
  head.append(which.element, how.element);
  const note = h("p", { class: "fine", hidden: true }, t("mod.no_graphs"));
  const canvas = h("div", "graph-canvas");
  const tool = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {() => void} */ act) => h("button", { type: "button", class: "icon-button outlined", "aria-label": t(`mod.graph.${name}`), onclick: act }, sign);
  const tools = h("div", "graph-tools", tool("closer", "+", () => picture.zoom(1.3)), tool("farther", "−", () => picture.zoom(1 / 1.3)), tool("fit", "⤢", () => picture.fit(true)));
  const figure = h("div", { class: "graph-figure", role: "img" }, canvas);
  const stage = h("div", "graph-stage", figure, tools);
  const table = h("div");
  const legend = h("ul", { class: "legend fine", "aria-label": t("mod.graph.legend") });
  const card = h("div", { class: "node-card", hidden: true, tabindex: "-1", role: "region", "aria-label": t("mod.graph.quotes") });
  body.append(note, stage, table, legend, card);
  const picture = new Picture(canvas, (id) => choose(id, false));
  void picture.ready().then((can) => {
    drawable = can;
    note.hidden = can;
    redraw();
  });

  /** @param {string} name @param {string[]} values @param {() => string} now @param {(value: string) => void} act */
  function choice(name, values, now, act) {
    const buttons = values.map((value) => h("button", { type: "button", id: `graph-${value}`, onclick: () => {
      act(value);
      app.shelf.write("graph", look);
      redraw();
    } }, t(`mod.graph.${value}`)));
    const element = h("div", { class: "segments", role: "group", "aria-label": t(`mod.graph.${name}`) }, ...buttons);
    return { element, write: () => buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(values[at] === now()))) };
  }

  function redraw() {
    which.write();
    how.write();
    if (!model) return;
    const graph = graphOf(model, look.which === "canonical" ? "canonical" : "surface");
    const asTable = look.table || !drawable;
    how.element.hidden = !drawable;
    stage.hidden = asTable || graph.items.length === 0;
    table.hidden = !asTable && graph.items.length > 0;
    writeLegend(graph);
    figure.setAttribute("aria-label", t("mod.graph.summary", { nodes: graph.items.length, links: graph.lines.length }));
    if (graph.items.length === 0) table.replaceChildren(h("p", "soft", t(`mod.graph.none_${look.which === "canonical" ? "canonical" : "surface"}`)));
    else if (asTable) writeTable(graph);
    else {
      picture.draw(graph, live ? Math.max(...graph.items.map((item) => item.turn)) : turn);
      picture.mark(chosen);
    }
    const item = graph.items.find((one) => one.id === chosen);
    if (item) writeCard(item, graph);
    else card.hidden = true;
  }

  /** @param {string | null} id @param {boolean} focus whether the quotes get the keyboard. */
  function choose(id, focus) {
    chosen = id;
    redraw();
    if (id && focus) card.focus();
  }

  /** @param {Graph} graph */
  function writeLegend(graph) {
    if (!model) return;
    const used = new Map(graph.items.map((item) => [item.type, item.colour]));
    const types = typesOf(model).filter((type) => used.has(type.name)).sort((a, b) => (b.level ?? 0) - (a.level ?? 0));
    legend.replaceChildren(...types.map((type) => h("li", {}, h("span", { class: `swatch swatch-${used.get(type.name)}`, "aria-hidden": "true" }),
      `${app.word("mod.type", type.name)}${type.level === null ? "" : ` · ${t("mod.graph.level", { level: type.level })}`}`)),
    ...(graph.items.length ? [h("li", {}, h("span", { class: "swatch swatch-focus", "aria-hidden": "true" }), t("mod.graph.focused")), h("li", {}, h("span", { class: "swatch swatch-spent", "aria-hidden": "true" }), t("mod.graph.exhausted"))] : []));
    legend.hidden = graph.items.length === 0;
  }

  /** @param {Graph} graph */
  function writeTable(graph) {
    const name = new Map(graph.items.map((item) => [item.id, item.label]));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.["node"];
    const heads = ["concept", "type", "turn", "mentions", "focus", "exhaustion", "leads"];
    const items = [...graph.items].sort((a, b) => b.lane - a.lane || a.turn - b.turn);
    table.replaceChildren(h("div", { class: "table-wrap graph-table", tabindex: "0", role: "group", "aria-label": t("mod.graph") }, h("table", "table dense",
      h("caption", "visually-hidden", t("mod.graph.summary", { nodes: graph.items.length, links: graph.lines.length })),
      h("thead", {}, h("tr", {}, ...heads.map((key, at) => h("th", { scope: "col", class: at > 1 && at < 6 ? "number" : false }, t(`mod.graph.${key}`))))),
      h("tbody", {}, ...items.map((item) => h("tr", item.id === chosen ? { class: "current" } : {},
        h("th", { scope: "row" }, h("button", { type: "button", class: "link node-link", dir: "auto", "data-node": item.id, onclick: () => choose(item.id, true) }, item.label), item.focused ? badge(t("mod.graph.focused"), "solid") : null, item.faded ? badge(app.word("mod.status", item.status)) : null),
        h("td", "type-cell", h("span", { class: `swatch swatch-${item.colour}`, "aria-hidden": "true" }), app.word("mod.type", item.type)),
        h("td", "number", f.number(item.turn)), h("td", "number", f.number(item.mentions)), h("td", "number", f.number(item.times)), h("td", "number", f.percent(item.exhaustion)),
        said("", graph.lines.filter((line) => line.source === item.id).map((line) => name.get(line.target)).join("; ") || "–", "td")))))));
    if (focused) /** @type {HTMLElement | null} */ (table.querySelector(`[data-node="${CSS.escape(focused)}"]`))?.focus({ preventScroll: true });
  }

  /** @param {Item} item @param {Graph} graph */
  function writeCard(item, graph) {
    if (!model) return;
    const name = new Map(graph.items.map((one) => [one.id, one]));
    const turns = new Map(model.lines.map((line) => [line.id, line.turn_number]));
    const links = graph.lines.filter((line) => line.source === item.id || line.target === item.id).map((line) => {
      const out = line.source === item.id;
      const other = name.get(out ? line.target : line.source);
      return h("li", {}, h("span", "soft", t(out ? "mod.graph.to" : "mod.graph.from", { type: app.word("mod.edge", line.type) })), " ",
        h("button", { type: "button", class: "link", dir: "auto", onclick: () => choose(other?.id ?? null, true) }, other?.label ?? ""),
        line.basis ? h("span", "fine", ` ${t(`mod.basis.${line.basis}`)}`) : null);
    });
    const nodeId = look.which === "canonical" ? model.slots.find((slot) => slot.id === item.id)?.surface_nodes[0]?.id : item.id;
    const may = live && nodeId !== undefined && ["active", "paused", "closing"].includes(model.state);
    card.hidden = false;
    card.replaceChildren(
      h("div", "card-head", h("h3", { class: "title-m", dir: "auto" }, item.label), h("button", { type: "button", class: "quiet", onclick: () => picture.choose(null) }, t("mod.close"))),
      h("div", "cluster", badge(app.word("mod.type", item.type)), item.focused ? badge(t("mod.graph.focused"), "solid") : null, item.exhausted ? badge(t("mod.graph.spent"), "caution") : null, item.faded ? badge(app.word("mod.status", item.status)) : null),
      h("p", "fine", [t("mod.graph.first", { turn: item.turn }), item.times ? t("mod.graph.times", { count: item.times }) : t("mod.graph.never"), t("mod.graph.exhaustion_is", { share: f.percent(item.exhaustion) }), item.also ? t(look.which === "canonical" ? "mod.graph.means" : "mod.graph.slot", { name: look.which === "canonical" ? item.also : item.also.replaceAll("_", " ") }) : null].filter(Boolean).join(" · ")),
      h("ul", "node-quotes", ...item.quotes.map((quote) => h("li", {}, said("quote", quote.quote, "blockquote"), turns.has(quote.utterance_id) ? h("button", { type: "button", class: "link fine", onclick: () => actions.look(turns.get(quote.utterance_id) ?? 0) }, t("mod.line.turn", { turn: turns.get(quote.utterance_id) ?? 0 })) : null))),
      links.length ? h("ul", "node-links", ...links) : h("p", "fine", t("mod.graph.orphan")),
      may ? h("button", { type: "button", class: "outlined", onclick: () => actions.steer({ node_id: nodeId, label: item.label }) }, t("mod.graph.steer")) : "");
  }

  return {
    section,
    update(shown, looking) {
      model = shown;
      turn = looking.turn;
      live = looking.live;
      if (once.differs(shown.nodes, shown.edges, shown.slots, shown.slotEdges, shown.turns, looking.turn, looking.live, shown.state)) redraw();
    },
    destroy: () => picture.destroy(),
  };
}
