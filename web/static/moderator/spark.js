/** Small lines without axes, as SVG; their meaning is in the text beside them. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {readonly (number | null)[]} values
 * @param {number} top the upper end of the axis, which begins at `bottom`.
 * @param {{width: number, height: number, slots: number, bottom?: number}} box px; `slots` values fill the width.
 * @returns {{line: string, x: number, y: number} | null} path data, and where the newest value is; null without values.
 */
export function sparkPath(values, top, { width, height, slots, bottom = 0 }) {
  const inset = 2.5;
  const shown = values.slice(-slots);
  const step = (width - 2 * inset) / Math.max(1, slots - 1);
  const points = shown.flatMap((value, index) => {
    if (value === null) return [];
    const share = Math.min(1, Math.max(0, (value - bottom) / (top - bottom || 1)));
    return [[inset + index * step, height - inset - share * (height - 2 * inset)]];
  });
  const last = points.at(-1);
  if (!last) return null;
  const line = points.map(([x = 0, y = 0], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return { line, x: last[0] ?? 0, y: last[1] ?? 0 };
}

/**
 * A picture that can be drawn again and again.
 * @param {number} width @param {number} height px.
 * @returns {{element: SVGSVGElement, draw: (values: readonly (number | null)[], top: number, bottom?: number) => void}}
 */
export function makeSpark(width, height) {
  const element = document.createElementNS(SVG, "svg");
  element.setAttribute("class", "spark");
  element.setAttribute("viewBox", `0 0 ${width} ${height}`);
  element.setAttribute("width", String(width));
  element.setAttribute("height", String(height));
  element.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("fill", "none");
  const dot = document.createElementNS(SVG, "circle");
  dot.setAttribute("r", "2.5");
  element.append(line, dot);
  dot.setAttribute("visibility", "hidden");
  let drawn = "";
  return {
    element,
    draw(values, top, bottom = 0) {
      const path = sparkPath(values, top, { width, height, slots: 20, bottom });
      const now = path ? `${path.line} ${path.x}` : "";
      if (now === drawn) return;
      drawn = now;
      line.setAttribute("d", path?.line ?? "");
      dot.setAttribute("visibility", path ? "visible" : "hidden");
      if (path) {
        dot.setAttribute("cx", path.x.toFixed(1));
        dot.setAttribute("cy", path.y.toFixed(1));
      }
    },
  };
}
