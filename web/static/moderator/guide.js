/** What the interview should speak of, and how far that is. */

import { Once, h, panel } from "./dom.js";

/** @typedef {import("./main.js").App} App */

/** A sign before each topic that needs no colour. @type {Record<string, string>} */
const SIGNS = { covered: "✓", asked: "?", declined: "–", left: "–", open: "○" };

/** @param {App} app @returns {import("./detail.js").Panel} */
export function guidePanel(app) {
  const { t } = app;
  const { section, body } = panel("guide", t("mod.guide"));
  const once = new Once();
  return {
    section,
    update(model) {
      if (!once.differs(model.guide)) return;
      if (model.guide.length === 0) {
        body.replaceChildren(h("p", "fine", t("mod.guide.none")));
        return;
      }
      const done = model.guide.filter((topic) => topic.status !== "open" && topic.status !== "left").length;
      const items = model.guide.map((topic) => h("li", `topic topic-${topic.status}`,
        h("span", { class: "topic-sign", "aria-hidden": "true" }, SIGNS[topic.status] ?? "○"),
        h("span", "topic-name", topic.label),
        h("span", "fine", t(`mod.guide.${topic.status}`, { turn: topic.turn ?? 0 }),
          ...(topic.status === "left" && topic.reason ? [`: ${app.word("mod.reason", topic.reason)}`] : []))));
      body.replaceChildren(h("p", "fine", t("mod.of", { have: done, limit: model.guide.length })), h("ul", "topics", ...items));
    },
  };
}
