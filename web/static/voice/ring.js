/** A ring around the sign: it fills as an ending comes, and empties while the answer may still be gone on with. */

const NS = "http://www.w3.org/2000/svg";

export class Ring {
  constructor() {
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("viewBox", "0 0 44 44");
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("focusable", "false");
    svg.setAttribute("class", "voice-ring");
    this.element = svg;
    /** @type {import("./state.js").Ring | null} */
    this.shown = null;
  }

  /** @param {import("./state.js").Ring | null} ring */
  render(ring) {
    if (ring === this.shown) return;
    this.shown = ring;
    if (!ring) return this.element.replaceChildren();
    const circle = document.createElementNS(NS, "circle");
    for (const [name, value] of [["cx", "22"], ["cy", "22"], ["r", "20.5"], ["pathLength", "100"]]) circle.setAttribute(String(name), String(value));
    circle.setAttribute("class", ring.over ? "over" : "ending");
    circle.style.animationDuration = `${ring.ms}ms`;
    this.element.replaceChildren(circle);
  }
}
