/**
 * Copies what the moderator page loads from installed packages, with their licences.
 *
 *     node vendor.mjs NODE_MODULES TARGET
 */

import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const FILES = {
  "uplot/dist/uPlot.esm.js": "uplot.js",
  "uplot/dist/uPlot.min.css": "uplot.css",
  "uplot/LICENSE": "uplot.LICENSE.txt",
  "cytoscape/dist/cytoscape.esm.min.mjs": "cytoscape.js",
  "cytoscape/LICENSE": "cytoscape.LICENSE.txt",
};

const [from, to] = process.argv.slice(2);
if (!from || !to) throw new Error("usage: node vendor.mjs NODE_MODULES TARGET");
mkdirSync(to, { recursive: true });
for (const [source, target] of Object.entries(FILES)) copyFileSync(join(from, source), join(to, target));
