/** Line drawings for buttons and states; made as elements, never as markup. */

const NS = "http://www.w3.org/2000/svg";

/** Paths on a square of 24. */
const PATHS = {
  mic: ["M12 3.5a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0v-5a3 3 0 0 1 3-3z", "M5.5 11.5a6.5 6.5 0 0 0 13 0", "M12 18v3"],
  off: ["M9 9v2.5a3 3 0 0 0 5 2.2", "M15 10.5v-4a3 3 0 0 0-5.8-1", "M5.5 11.5a6.5 6.5 0 0 0 10.6 5", "M18.5 11.5a6.4 6.4 0 0 1-.6 2.7", "M12 18v3", "M4 4l16 16"],
  ear: ["M4 12v0", "M8 9v6", "M12 6v12", "M16 9v6", "M20 12v0"],
  dots: ["M6 12v0", "M12 12v0", "M18 12v0"],
  loud: ["M4 10v4h3.5L12 18V6L7.5 10z", "M15.5 9a4 4 0 0 1 0 6", "M18 6.5a8 8 0 0 1 0 11"],
  alert: ["M12 4.5L21 19.5H3z", "M12 10v4", "M12 16.8v.1"],
  link: ["M4 9a12 12 0 0 1 16 0", "M7 12.5a7.5 7.5 0 0 1 10 0", "M12 17v.1"],
  glass: ["M7 4h10", "M7 20h10", "M8 4c0 5 8 6 8 11v5", "M16 4c0 5-8 6-8 11v5"],
  gear: ["M5 7h8", "M17 7h2", "M15 5v4", "M5 12h2", "M11 12h8", "M9 10v4", "M5 17h6", "M15 17h4", "M13 15v4"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  keys: ["M4 7h16v10H4z", "M7.5 10.5v.1", "M12 10.5v.1", "M16.5 10.5v.1", "M8.5 14h7"],
  pause: ["M9 6v12", "M15 6v12"],
};

/** @typedef {keyof typeof PATHS} IconName */

/** @param {IconName} name @returns {SVGSVGElement} hidden from assistive technology. */
export function icon(name) {
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  svg.setAttribute("class", `icon ${name}`);
  for (const d of PATHS[name]) {
    const path = document.createElementNS(NS, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}
