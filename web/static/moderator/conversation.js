/** What is said, as it is said: questions while they are written, answers while they are spoken. */

import { Once, badge, h, panel, said } from "./dom.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Line} Line */

/** Acts for which a person should look. */
const CARE = new Set(["risk", "distress", "minor", "wants_stop", "wants_withdrawal"]);

/** @param {App} app @param {{look: (turn: number) => void}} actions @returns {import("./detail.js").Panel} */
export function conversationPanel(app, actions) {
  const { t } = app;
  const { section, body } = panel("conversation", t("mod.conversation"));
  const list = h("ol", { class: "lines" });
  const partial = h("div", { class: "line respondent forming", "aria-live": "off" });
  const stream = h("div", { class: "line interviewer forming", "aria-live": "off" });
  const heard = h("p", { class: "visually-hidden", role: "log", "aria-live": "polite" });
  const scroll = h("div", { class: "scrolls conversation-scroll", tabindex: "0", role: "group", "aria-label": t("mod.conversation.scroll") }, list, partial, stream);
  body.append(scroll, heard);
  const linesOnce = new Once();
  let count = -1;

  /** @param {Line} line @param {number} turn the one that is looked at. @param {boolean} decided whether it has a decision to show. */
  function item(line, turn, decided) {
    const mine = line.speaker === "respondent";
    const skipped = mine && !line.text;
    const who = t(`mod.speaker.${mine ? "respondent" : line.by === "moderator" || line.speaker === "moderator" ? "moderator" : "interviewer"}`);
    const marks = [
      line.kind === "rephrase" ? badge(t("mod.line.rephrase")) : null,
      line.kind === "correct" ? badge(t("mod.line.correct")) : null,
      line.corrected_by ? badge(t("mod.line.corrected")) : null,
      line.fallback ? badge(t("mod.line.fallback"), "caution") : null,
      line.spoken ? badge(t("mod.line.spoken")) : null,
      line.replies_to ? badge(app.word("mod.heard", line.replies_to), CARE.has(line.replies_to) ? "alarm" : "solid") : null,
    ];
    const why = !mine && decided ? h("button", { type: "button", class: "link fine", "data-turn": line.turn_number, onclick: () => actions.look(line.turn_number) }, t("mod.line.why")) : null;
    return h("li", { class: `line ${mine ? "respondent" : "interviewer"}${line.corrected_by ? " corrected" : ""}${line.turn_number === turn ? " current" : ""}` },
      h("div", "line-who fine", h("span", "numbers", `${who} · ${t("mod.line.turn", { turn: line.turn_number })}`), ...marks),
      skipped ? h("p", "soft", t("mod.line.skipped")) : said("line-text", line.text, "p"), second(line), why);
  }

  /** What was understood otherwise when the whole answer was read once more. @param {Line} line */
  function second(line) {
    return line.second_reading ? h("div", "second-reading fine", h("p", "soft", t("mod.line.second_reading")), said("line-text", line.second_reading, "p")) : null;
  }

  return {
    section,
    update(model, looking) {
      if (linesOnce.differs(model.lines, model.turns.length, looking.turn, looking.live)) {
        const near = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
        const decided = new Set(model.turns.filter((turn) => turn.candidates.length || turn.directive).map((turn) => turn.turn_number));
        list.replaceChildren(...model.lines.map((line) => item(line, looking.live ? -1 : looking.turn, decided.has(line.turn_number))));
        if (count < 0 || near || !looking.live) scroll.scrollTop = scroll.scrollHeight;
        const last = model.lines.at(-1);
        if (count >= 0 && model.lines.length > count && last && looking.live) {
          heard.textContent = `${t(`mod.speaker.${last.speaker === "respondent" ? "respondent" : "interviewer"}`)}: ${last.text || t("mod.line.skipped")}`;
        }
        count = model.lines.length;
      }
      const forming = looking.live ? model.partial?.text ?? model.held ?? "" : "";
      write(partial, forming, t(model.partial ? "mod.line.speaking" : "mod.line.held"));
      write(stream, looking.live && model.stream ? model.stream.text || "…" : "", t("mod.line.asking"));
    },
  };

  /** @param {HTMLElement} box @param {string} text @param {string} label */
  function write(box, text, label) {
    if (box.dataset["text"] === text) return;
    const near = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
    box.dataset["text"] = text;
    box.hidden = !text;
    box.replaceChildren(...(text ? [h("div", "line-who fine", label), said("line-text", text, "p")] : []));
    if (text && near) scroll.scrollTop = scroll.scrollHeight;
  }
}
