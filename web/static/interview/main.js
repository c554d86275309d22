/** The interview page: one state, one reducer, one view. */

import { fillTexts, loadTexts } from "../texts/index.js";
import { byId } from "./dom.js";
import { InterviewPage, shelfOf } from "./page.js";
import { View } from "./view.js";

async function main() {
  const sessionId = decodeURIComponent(location.pathname.split("/").filter(Boolean).at(-1) ?? "");
  const token = decodeURIComponent(location.hash.slice(1));
  const t = await loadTexts(navigator.language);
  fillTexts(document, t);
  const page = new InterviewPage({
    sessionId, token, shelf: shelfOf(), language: navigator.language,
    view: (dispatch, freshKey) => new View(t, dispatch, freshKey),
  });
  byId("speak").addEventListener("click", () => page.speaking.choose());
  byId("continue-here").addEventListener("click", () => page.continueHere());
  window.addEventListener("hashchange", () => location.reload());
  page.start();
}

await main();
