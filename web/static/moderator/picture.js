/** A graph as a picture that grows: nodes keep their places as far as they can, new ones come out of their neighbours. */

import { laid } from "./layout.js";
import { loadGrapher, onScheme, token } from "./libraries.js";

/** @typedef {import("./graphdata.js").Graph} Graph */

const MOVE_MS = 350;
const LABEL = 42;

/** @param {string} text */
const short = (text) => (text.length > LABEL ? `${text.slice(0, LABEL - 1)}…` : text);

/** @returns {any} how things look, in the colours of the page. */
function styles() {
  const [ink, card, line, edge, accent, sans] = ["--ink", "--card", "--line", "--edge", "--accent", "--sans"].map(token);
  const colours = Array.from({ length: 8 }, (_, at) => ({ selector: `.c${at + 1}`, style: { "background-color": token(`--data-${at + 1}`) } }));
  return [
    { selector: "node", style: {
      width: "data(size)", height: "data(size)", label: "data(label)", color: ink, "font-family": sans, "font-size": 11, "text-wrap": "wrap", "text-max-width": "104px",
      "text-valign": "bottom", "text-margin-y": 5, "text-background-color": card, "text-background-opacity": 0.86, "text-background-padding": "2px", "text-background-shape": "roundrectangle",
      "border-width": 0, "pie-size": "100%", "pie-1-background-color": edge, "pie-1-background-size": "data(exhaustion)", "pie-1-background-opacity": 0.85,
      "overlay-opacity": 0, "min-zoomed-font-size": 5,
    } },
    ...colours,
    { selector: "edge", style: { width: 1.5, "line-color": edge, "target-arrow-color": edge, "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "bezier", opacity: 0.75, "overlay-opacity": 0 } },
    { selector: "node.faded", style: { opacity: 0.55, "border-width": 1.5, "border-style": "dashed", "border-color": line } },
    { selector: "node.fresh", style: { "outline-width": 2, "outline-color": edge, "outline-style": "dotted", "outline-offset": 3 } },
    { selector: "edge.inferred", style: { "line-style": "dashed", opacity: 0.5 } },
    { selector: "edge.fresh", style: { width: 2.5, opacity: 1 } },
    { selector: "node.focused", style: { "outline-width": 3.5, "outline-color": accent, "outline-style": "solid", "outline-offset": 3, "font-weight": "bold" } },
    { selector: "node:selected", style: { "border-width": 3, "border-color": ink, "border-style": "solid", opacity: 1 } },
    { selector: "edge.near", style: { "line-color": ink, "target-arrow-color": ink, opacity: 1, width: 2 } },
  ];
}

export class Picture {
  /** @param {HTMLElement} box @param {(id: string | null) => void} onChoose */
  constructor(box, onChoose) {
    this.box = box;
    this.onChoose = onChoose;
    /** @type {import("cytoscape").Core | null} */
    this.cy = null;
    this.moved = false;
    this.columns = 6;
    this.unscheme = onScheme(() => this.cy?.style(styles()));
    this.watching = new ResizeObserver(() => {
      if (!this.cy || box.clientWidth === 0) return;
      this.cy.resize();
      if (!this.moved) this.fit();
    });
    this.watching.observe(box);
  }

  /** @returns {Promise<boolean>} whether pictures can be drawn here. */
  async ready() {
    if (this.cy) return true;
    const cytoscape = await loadGrapher();
    if (!cytoscape) return false;
    if (this.cy) return true;
    const cy = cytoscape({ container: this.box, style: styles(), minZoom: 0.15, maxZoom: 2.5, autoungrabify: true, boxSelectionEnabled: false, selectionType: "single", userZoomingEnabled: false });
    this.cy = cy;
    cy.on("tap", (event) => {
      if (event.target === cy) this.choose(null);
      else if (event.target.isNode()) this.choose(event.target.id());
    });
    cy.on("dragpan pinchzoom", () => (this.moved = true));
    cy.on("mouseover", "node", () => (this.box.style.cursor = "pointer"));
    cy.on("mouseout", "node", () => (this.box.style.cursor = ""));
    return true;
  }

  /** @param {string | null} id */
  choose(id) {
    this.mark(id);
    this.onChoose(id);
  }

  /** Show which node is looked at. @param {string | null} id */
  mark(id) {
    const cy = this.cy;
    if (!cy) return;
    cy.elements().unselect().removeClass("near");
    const node = id ? cy.getElementById(id) : null;
    if (node?.nonempty()) node.select().connectedEdges().addClass("near");
  }

  /** @param {Graph} graph @param {number} turn what came in it is marked as new. */
  draw({ items, lines }, turn) {
    const cy = this.cy;
    if (!cy) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.columns = Math.max(3, Math.min(8, Math.floor(this.box.clientWidth / 116) || 6));
    const places = laid(items, lines, this.columns);
    const wanted = new Set([...items, ...lines].map((one) => one.id));
    const before = cy.nodes().length;
    cy.batch(() => {
      cy.elements().filter((element) => !wanted.has(element.id())).remove();
      for (const item of items) {
        const data = { id: item.id, label: short(item.label), size: 20 + Math.min(14, (item.mentions - 1) * 4), exhaustion: Math.round(item.exhaustion * 100) };
        const classes = [`c${item.colour}`, item.faded ? "faded" : "", item.focused ? "focused" : "", item.turn === turn && turn > 0 ? "fresh" : ""].filter(Boolean).join(" ");
        const known = cy.getElementById(item.id);
        if (known.nonempty()) known.data(data).classes(classes);
        else cy.add({ group: "nodes", data, classes, position: this.origin(item.id, lines) ?? places.get(item.id) ?? { x: 0, y: 0 } });
      }
      for (const line of lines) {
        const known = cy.getElementById(line.id);
        const classes = [line.turn === turn && turn > 0 && "fresh", line.basis === "inferred" && "inferred"].filter(Boolean).join(" ");
        if (known.nonempty()) known.classes(classes);
        else cy.add({ group: "edges", data: { id: line.id, source: line.source, target: line.target }, classes });
      }
    });
    const move = !still && before > 0;
    cy.nodes().forEach((node) => {
      const to = places.get(node.id());
      if (!to) return;
      if (move) node.stop().animate({ position: to }, { duration: MOVE_MS, easing: "ease-out-cubic" });
      else node.position(to);
    });
    if (!this.moved) {
      if (move && cy.nodes().length !== before) setTimeout(() => this.fit(true), MOVE_MS + 30);
      else if (before === 0) this.fit();
    }
  }

  /** Where a new node comes from: a neighbour that is there. @param {string} id @param {Graph["lines"]} lines */
  origin(id, lines) {
    const line = lines.find((one) => one.source === id || one.target === id);
    if (!line || !this.cy) return null;
    const other = this.cy.getElementById(line.source === id ? line.target : line.source);
    return other.nonempty() ? { ...other.position() } : null;
  }

  /** All of it, not larger than life. @param {boolean} [smooth] */
  fit(smooth = false) {
    const cy = this.cy;
    if (!cy || cy.nodes().empty() || cy.destroyed()) return;
    this.moved = false;
    const box = cy.elements().boundingBox({ includeLabels: true });
    const room = { width: this.box.clientWidth - 32, height: this.box.clientHeight - 32 };
    const zoom = Math.max(0.5, Math.min(1.15, room.width / box.w, room.height / box.h));
    const pan = { x: this.box.clientWidth / 2 - (zoom * (box.x1 + box.x2)) / 2, y: this.box.clientHeight / 2 - (zoom * (box.y1 + box.y2)) / 2 };
    if (smooth) cy.animate({ zoom, pan }, { duration: MOVE_MS });
    else cy.viewport({ zoom, pan });
  }

  /** @param {number} factor */
  zoom(factor) {
    if (!this.cy) return;
    this.moved = true;
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: { x: this.box.clientWidth / 2, y: this.box.clientHeight / 2 } });
  }

  destroy() {
    this.watching.disconnect();
    this.unscheme();
    this.cy?.destroy();
    this.cy = null;
  }
}
