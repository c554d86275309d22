/** Shows where in the flow the kiosk is, and turns touches into the flow's events. */

import { errorText } from "../core/errors.js";
import { byId, enable, isEnabled, make, show, write, writeProse } from "../interview/dom.js";
import { languageName } from "../texts/index.js";
import { canGoOn, isPassing, isSpoken, modesOf } from "./flow.js";

/**
 * @typedef {import("./flow.js").Flow} Flow
 * @typedef {import("./flow.js").Stage} Stage
 * @typedef {import("../texts/index.js").Texts} Texts
 */

/** Which section shows a stage. @type {Record<Stage, string>} */
const SECTION = {
  starting: "starting", clearing: "starting", blocked: "blocked", attract: "attract", resume: "interrupted",
  language: "language", interviewer: "interviewer", unsuited: "unsuited", consent: "consent", mode: "mode",
  opening: "opening", talk: "talk", thanks: "thanks", goodbye: "goodbye",
};
const SECTIONS = [...new Set(Object.values(SECTION))];
/** Stages from which a respondent may begin anew without being asked back. @type {ReadonlySet<Stage>} */
const LEAVABLE = new Set(["language", "interviewer", "consent", "mode"]);
const BLOCKS = new Set(["unauthorised", "forbidden", "not_found", "no_concept", "elsewhere"]);

export class Screens {
  /** @param {(event: import("./flow.js").Event) => void} dispatch @param {Texts} t @param {() => void} again asks the server at once. */
  constructor(dispatch, t, again) {
    this.dispatch = dispatch;
    this.t = t;
    this.shown = "";
    this.statementsOf = "";
    /** @param {string} id @param {() => void} act */
    const on = (id, act) => byId(id).addEventListener("click", (event) => {
      if (isEnabled(/** @type {Element} */ (event.currentTarget))) act();
    });
    byId("attract").addEventListener("click", () => dispatch({ type: "touch" }));
    on("blocked-retry", again);
    on("resume-yes", () => dispatch({ type: "resume" }));
    on("resume-no", () => dispatch({ type: "reset" }));
    on("leave", () => dispatch({ type: "reset" }));
    on("consent-agree", () => dispatch({ type: "agree" }));
    on("consent-decline", () => dispatch({ type: "decline" }));
    on("mode-voice", () => dispatch({ type: "mode", mode: "voice" }));
    on("mode-text", () => dispatch({ type: "mode", mode: "text" }));
    for (const button of document.querySelectorAll("[data-act]")) {
      const type = /** @type {"back" | "reset"} */ (button.getAttribute("data-act"));
      button.addEventListener("click", () => dispatch({ type }));
    }
    const reference = /** @type {HTMLInputElement} */ (byId("reference"));
    reference.addEventListener("input", () => dispatch({ type: "reference", text: reference.value }));
    byId("interviewer").addEventListener("submit", (event) => {
      event.preventDefault();
      reference.blur();
      dispatch({ type: "next" });
    });
  }

  /** @param {Flow} flow @param {{slow: boolean, ready: boolean}} now `ready`: the texts are in the chosen language. */
  render(flow, { slow, ready }) {
    const { t } = this;
    const { stage, offer } = flow;
    for (const section of SECTIONS) show(byId(section), section === SECTION[stage]);
    document.body.dataset["scene"] = stage;
    document.title = offer ? `${offer.concept.title} · ${t("app.name")}` : t("app.name");
    const within = ["consent", "mode", "opening", "talk", "language", "interviewer"].includes(stage);
    write(byId("concept"), within ? offer?.concept.title ?? "" : "");
    show(byId("controls"), stage === "talk");
    show(byId("progress"), stage === "talk");
    show(byId("skip-link"), stage === "talk");
    show(byId("leave"), LEAVABLE.has(stage) && !flow.interview);
    this.#starting(stage, slow);
    if (stage === "blocked") write(byId("blocked-text"), t(`kiosk.blocked.${BLOCKS.has(flow.problem) ? flow.problem : "other"}`));
    if (stage === "attract" && offer) this.#attract(offer);
    if (stage === "language" && offer) this.#languages(offer);
    if (stage === "interviewer" && offer) this.#interviewer(flow, offer);
    if (stage === "consent" && offer) this.#consent(flow, offer, ready);
    if (stage === "mode" && offer) this.#modes(modesOf(offer));
    if (stage === "opening") this.#opening(flow);
    if (stage === "goodbye") {
      write(byId("goodbye-heading"), t(flow.interview ? "goodbye.title" : "kiosk.declined.title"));
      write(byId("goodbye-text"), t(flow.interview ? "goodbye.text" : "kiosk.declined.text"));
    }
    if (stage !== this.shown) this.#arrive(stage);
  }

  /** @param {Stage} stage */
  #arrive(stage) {
    this.shown = stage;
    window.scrollTo({ top: 0, behavior: "instant" });
    const heading = byId(SECTION[stage]).querySelector("h1");
    if (stage !== "talk") heading?.focus({ preventScroll: true });
  }

  /** @param {Stage} stage @param {boolean} slow */
  #starting(stage, slow) {
    const clearing = stage === "clearing";
    write(byId("starting-title"), this.t(clearing ? "kiosk.clearing.title" : "kiosk.starting.title"));
    write(byId("starting-text"), this.t(clearing ? "kiosk.clearing.text" : slow ? "kiosk.starting.slow" : "kiosk.starting.text"));
  }

  /** @param {import("./flow.js").Offer} offer */
  #attract(offer) {
    write(byId("attract-title"), offer.concept.title);
    const others = offer.concept.languages.length > 1 ? offer.concept.languages : [];
    const list = byId("greetings");
    if (list.dataset["of"] === others.join()) return;
    list.dataset["of"] = others.join();
    list.replaceChildren(...others.map((tag) => {
      const item = make("li", "", languageName(tag));
      item.lang = tag;
      return item;
    }));
  }

  /** @param {import("./flow.js").Offer} offer */
  #languages(offer) {
    const list = byId("languages");
    const print = JSON.stringify([offer.concept.languages, offer.languages, this.t.language]);
    if (list.dataset["of"] === print) return;
    list.dataset["of"] = print;
    list.replaceChildren(...offer.concept.languages.map((tag) => {
      const item = make("li");
      const button = /** @type {HTMLButtonElement} */ (make("button", "choice plain", languageName(tag)));
      button.type = "button";
      button.lang = tag;
      button.dir = "auto";
      button.dataset["language"] = tag;
      button.addEventListener("click", () => this.dispatch({ type: "language", language: tag }));
      item.append(button);
      if (isSpoken(offer, tag)) return item;
      enable(button, false);
      const why = make("span", "choice-text", this.t("kiosk.language.not_here"));
      why.lang = this.t.language;
      button.append(why);
      return item;
    }));
  }

  /** @param {Flow} flow @param {import("./flow.js").Offer} offer */
  #interviewer(flow, offer) {
    const { t } = this;
    const { respondent_ref: wanted, eligibility } = offer.kiosk;
    show(byId("reference-field"), wanted !== "off");
    write(byId("reference-label"), t(wanted === "required" ? "kiosk.interviewer.reference" : "kiosk.interviewer.reference.optional"));
    const reference = /** @type {HTMLInputElement} */ (byId("reference"));
    reference.required = wanted === "required";
    if (reference.value !== flow.reference) reference.value = flow.reference;
    const print = JSON.stringify(eligibility) + t.language;
    if (print !== this.statementsOf) {
      this.statementsOf = print;
      byId("statements").replaceChildren(...eligibility.map((statement) => this.#statement(statement)));
    }
    for (const { id } of eligibility) {
      for (const yes of [true, false]) {
        const radio = /** @type {HTMLInputElement} */ (byId(`eligible-${id}-${yes}`));
        radio.checked = flow.eligible[id] === yes;
      }
    }
    byId("interviewer-next").classList.toggle("waiting", !canGoOn(flow));
    write(byId("interviewer-problem"), flow.problem ? t(flow.problem) : "");
    show(byId("interviewer-problem"), flow.problem !== "");
  }

  /** @param {{id: string, text: string}} statement */
  #statement({ id, text }) {
    const field = make("fieldset", "statement");
    const legend = make("legend", "", text);
    legend.dir = "auto";
    const row = make("div", "yes-no");
    for (const yes of [true, false]) {
      const label = make("label", "radio");
      const radio = /** @type {HTMLInputElement} */ (make("input"));
      radio.type = "radio";
      radio.name = `eligible-${id}`;
      radio.id = `eligible-${id}-${yes}`;
      radio.addEventListener("change", () => this.dispatch({ type: "eligible", id, yes }));
      label.append(radio, make("span", "", this.t(yes ? "kiosk.interviewer.yes" : "kiosk.interviewer.no")));
      row.append(label);
    }
    field.append(legend, row);
    return field;
  }

  /** @param {Flow} flow @param {import("./flow.js").Offer} offer @param {boolean} ready */
  #consent(flow, offer, ready) {
    const { t } = this;
    const { consent, title } = offer.concept;
    write(byId("consent-title"), title);
    const spoken = modesOf(offer).includes("voice");
    write(byId("consent-kept"), t(`kiosk.consent.kept.${!spoken ? "typed" : offer.speech.record_audio ? "voice" : "words"}`));
    writeProse(byId("consent-text"), consent?.text ?? "");
    show(byId("consent-text"), Boolean(consent?.text));
    byId("consent-text").lang = flow.language;
    write(byId("consent-version"), consent ? t("consent.version", { version: consent.version }) : "");
    write(byId("consent-problem"), flow.problem ? t(flow.problem) : "");
    show(byId("consent-problem"), flow.problem !== "");
    enable(byId("consent-agree"), ready);
  }

  /** @param {readonly import("./flow.js").Mode[]} modes the study's first choice first. */
  #modes(modes) {
    const first = byId(`mode-${modes[0] ?? "text"}`).parentElement;
    if (first?.previousElementSibling) first.parentElement?.prepend(first);
  }

  /** @param {Flow} flow */
  #opening(flow) {
    const { t } = this;
    const failed = flow.problem !== "";
    write(byId("opening-title"), t(failed ? "kiosk.opening.failed" : "kiosk.opening.title"));
    write(byId("opening-text"), !failed ? "" : t(flow.problem === "network" ? "kiosk.opening.network" : errorText(flow.problem)));
    show(byId("opening-well"), !failed);
    show(byId("opening-actions"), failed);
    show(byId("opening-retry"), failed && isPassing(flow.problem));
  }

  /** @param {Stage} stage @param {number} seconds until the screen clears itself. */
  countdown(stage, seconds) {
    if (stage === "thanks") write(byId("thanks-clears"), this.t("kiosk.clears", { count: seconds }));
    if (stage === "goodbye") write(byId("goodbye-clears"), this.t("kiosk.clears", { count: seconds }));
  }
}

