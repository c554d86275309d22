/** A kiosk: flow, interview, idle clock and reset held together. */

import { loadSaved } from "../core/pending.js";
import { scene } from "../core/state.js";
import { byId } from "../interview/dom.js";
import { InterviewPage } from "../interview/page.js";
import { fillTexts, loadTexts } from "../texts/index.js";
import { ATTENDED, INITIAL, step } from "./flow.js";
import { IdleClock } from "./idle.js";
import { Operator } from "./operator.js";
import { emptyPage, emptyStorage } from "./purge.js";
import { Screens } from "./screens.js";
import { Refusal } from "./server.js";
import { Still } from "./still.js";
import { TalkingView } from "./talking.js";

/**
 * @typedef {import("./flow.js").Event} Event
 * @typedef {import("./flow.js").Flow} Flow
 * @typedef {import("./flow.js").Interview} Interview
 * @typedef {import("./vault.js").Vault} Vault
 * @typedef {import("../texts/index.js").Texts} Texts
 */

const INTERVIEW = "interview";
const LEAVING = "leaving";
const TICK_MS = 250;
const LOOK_MS = 20_000;
const RETRY_MS = [500, 1_000, 2_000, 4_000];
const SLOW_AFTER = 10;
/** How long a reset waits for the server to take the last answer, in milliseconds of being connected. */
const LAST_ANSWER_MS = 15_000;
/** How long somebody may think about withdrawing, once the thank-you should have been cleared. */
const DOUBT_MS = 30_000;
/** Messages that come without anybody doing anything. */
const BACKGROUND = new Set(["pong", "audio.ack", "ready"]);

/** @param {Vault} vault @param {string} concept @returns {Interview | null} what an earlier life of the page left. */
export function kept(vault, concept) {
  try {
    const found = JSON.parse(vault.getItem(INTERVIEW) ?? "null");
    return found && found.concept === concept && found.id && found.token ? found : null;
  } catch {
    return null;
  }
}

export class Kiosk {
  /**
   * @param {object} parts
   * @param {string} parts.concept
   * @param {Vault} parts.vault
   * @param {import("./server.js").KioskServer} parts.server
   * @param {import("./guard.js").Guard} parts.guard
   * @param {import("./installation.js").Installation} parts.installation
   * @param {import("./chime.js").Chime} parts.chime
   * @param {Texts} parts.t
   */
  constructor({ concept, vault, server, guard, installation, chime, t }) {
    this.concept = concept;
    this.vault = vault;
    this.server = server;
    this.guard = guard;
    this.installation = installation;
    this.t = t;
    /** @type {Flow} */
    this.flow = INITIAL;
    /** @type {InterviewPage | null} */
    this.page = null;
    this.idle = new IdleClock(Infinity, Infinity);
    this.failures = 0;
    this.looking = 0;
    /** The newest look counts. */
    this.looks = 0;
    this.shownAt = 0;
    this.reachable = false;
    /** Whether the offer is in the language that was chosen. */
    this.worded = true;
    this.force = false;
    this.resumed = false;
    this.screens = new Screens((event) => this.dispatch(event), t, () => void this.look());
    this.still = new Still(chime, () => this.touch());
    this.operator = new Operator(this);
    vault.told = () => this.operator.alarm();
    this.#listen();
    this.render();
  }

  #listen() {
    for (const name of ["pointerdown", "keydown", "input"]) {
      document.addEventListener(name, () => this.touch(), { capture: true, passive: true });
    }
    byId("opening-retry").addEventListener("click", () => this.dispatch({ type: "retry" }));
    byId("speak").addEventListener("click", () => this.page?.speaking.choose());
    byId("continue-here").addEventListener("click", () => this.page?.continueHere());
    setInterval(() => this.#tick(), TICK_MS);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") void this.vault.settled();
      else void this.look();
    });
    this.operator.alarm();
  }

  /** A sign of life. */
  touch() {
    this.idle.touch(performance.now());
  }

  start() {
    const interview = kept(this.vault, this.concept);
    this.resumed = interview !== null;
    if (interview && loadSaved(this.vault, interview.id).withdrawing) this.vault.setItem(LEAVING, "1");
    if (interview) this.dispatch({ type: "found", interview });
    void this.look();
  }

  /** @param {Event} event */
  dispatch(event) {
    const before = this.flow;
    const [after, effects] = step(before, event);
    this.flow = after;
    if (after.stage !== before.stage) {
      this.touch();
      this.shownAt = performance.now();
      this.guard.engage(ATTENDED.has(after.stage));
      this.installation.between(after.stage === "attract");
    }
    this.render();
    for (const effect of effects) {
      if (effect.type === "offer") void this.look();
      else if (effect.type === "open") void this.#open();
      else if (effect.type === "mount") this.#mount();
      else void this.#clear();
    }
    if (after.stage === "resume" && this.vault.getItem(LEAVING)) this.dispatch({ type: "reset" });
  }

  render() {
    this.screens.render(this.flow, { slow: this.failures >= SLOW_AFTER, ready: this.worded });
  }

  /** Asks the server what is on offer, and whether it is there at all; again and again. */
  async look() {
    clearTimeout(this.looking);
    const turn = (this.looks += 1);
    const { language } = this.flow;
    this.worded = language === "" || this.t.language === language || this.flow.offer?.language === language;
    let delayMs = LOOK_MS;
    try {
      const offer = await this.server.offer(this.concept, language);
      const t = await loadTexts([language, offer.language], "kiosk");
      if (turn !== this.looks || this.flow.language !== language) return;
      this.reachable = true;
      this.failures = 0;
      this.#word(t);
      this.idle.warningMs = offer.kiosk.idle_warning_s * 1000;
      this.idle.resetMs = offer.kiosk.idle_reset_s * 1000;
      this.worded = true;
      this.dispatch({ type: "offered", offer });
    } catch (error) {
      if (turn !== this.looks) return;
      const code = error instanceof Refusal ? error.code : "network";
      this.reachable = code !== "network";
      delayMs = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)] ?? LOOK_MS;
      this.failures += 1;
      this.dispatch({ type: "refused", code });
    }
    this.looking = window.setTimeout(() => void this.look(), delayMs);
  }

  /** @param {Texts} t */
  #word(t) {
    if (t.language === this.t.language) return;
    this.t = this.screens.t = t;
    fillTexts(document, t);
  }

  /** Consent is given: now, and not before, there is an interview. */
  async #open() {
    const { flow, concept } = this;
    const reference = flow.reference.trim();
    try {
      const made = await this.server.open({
        concept_id: concept, language: flow.language,
        ...(reference ? { respondent_ref: reference } : {}),
        ...(Object.keys(flow.eligible).length > 0 ? { eligibility: flow.eligible } : {}),
      });
      /** @type {Interview} */
      const interview = {
        id: made.session_id, token: made.respondent_token, concept, language: flow.language, mode: flow.mode, consent: flow.agreed,
      };
      if (this.flow.stage !== "opening") return;
      this.vault.setItem(INTERVIEW, JSON.stringify(interview));
      await this.vault.settled();
      this.dispatch({ type: "opened", interview });
    } catch (error) {
      this.dispatch({ type: "not_opened", code: error instanceof Refusal ? error.code : "network" });
    }
  }

  #mount() {
    const { flow, vault, t } = this;
    if (this.page) return this.page.dispatch({ type: "agree" });
    const interview = /** @type {Interview} */ (flow.interview);
    if (vault.getItem("askwell:voice") === null) {
      const interrupt = flow.offer?.kiosk.half_duplex === false ? null : false;
      vault.setItem("askwell:voice", JSON.stringify({ mode: "hands", read: true, interrupt, checked: true }));
    }
    this.page = new InterviewPage({
      sessionId: interview.id, token: interview.token, shelf: vault, language: t.language, keepsAccepted: false,
      view: (dispatch, freshKey) => new TalkingView(t, dispatch, freshKey, {
        consent: (consent) => this.#consent(consent),
        talking: () => this.#talking(),
        over: () => this.dispatch({ type: "over" }),
        withdrawn: () => this.dispatch({ type: "withdrawn" }),
        shut: (code) => this.dispatch({ type: "shut", code }),
      }, this.resumed),
      heard: (message) => {
        if (!BACKGROUND.has(message.type)) this.touch();
      },
    });
    this.page.start();
  }

  /** Agreed to already, unless the text is another one by now. @param {{text: string, version: string}} consent */
  #consent(consent) {
    const { flow, page } = this;
    if (flow.stage === "clearing" || !page) return;
    if (consent.version === flow.agreed) return page.dispatch({ type: "agree" });
    if (flow.stage === "consent" || !flow.offer) return;
    const offer = { ...flow.offer, concept: { ...flow.offer.concept, consent } };
    this.dispatch({ type: "consent_moved", offer });
  }

  #talking() {
    if (this.flow.stage !== "opening") return;
    this.dispatch({ type: "talking" });
    const kept = this.vault.getItem(`askwell:${this.flow.interview?.id}:spoken`) !== null;
    if (this.flow.mode === "voice" && this.page?.state.detail?.speech?.available && !kept) this.page.speaking.choose();
  }

  #tick() {
    const { flow, still, operator } = this;
    const now = performance.now();
    if (flow.stage === "thanks" || flow.stage === "goodbye") {
      const left = (flow.offer?.kiosk.thanks_s ?? 20) * 1000 - (now - this.shownAt);
      this.screens.countdown(flow.stage, Math.max(0, Math.ceil(left / 1000)));
      const asking = /** @type {HTMLDialogElement} */ (byId("dialog")).open;
      if (left <= (asking ? -DOUBT_MS : 0) && !operator.open) this.dispatch({ type: "reset" });
    }
    if (!ATTENDED.has(flow.stage) || operator.open || this.page?.speaking.voice?.reader.busy) {
      if (operator.open || !still.open) this.touch();
      return still.hide();
    }
    const { phase, leftMs } = this.idle.at(now);
    if (phase === "calm") return still.hide();
    if (phase === "warning") return still.show(this.t, leftMs, this.idle.resetMs);
    still.hide();
    this.dispatch({ type: "reset" });
  }

  /** Nothing of this respondent stays; the answer that the server does not have yet is handed over first. */
  async #clear() {
    this.still.hide();
    this.vault.setItem(LEAVING, "1");
    await this.#handOver();
    this.page?.speaking.forget();
    this.page?.close();
    await this.vault.clear();
    emptyPage();
    await emptyStorage();
    this.guard.restart();
  }

  /**
   * Until the server has taken the answer, or refused it; while it can't be reached nobody could begin anyway. A
   * withdrawal waits for as long as it takes.
   */
  async #handOver() {
    const interview = kept(this.vault, this.concept);
    const saved = interview && loadSaved(this.vault, interview.id);
    if (!interview || !saved || (saved.pending === null && !saved.withdrawing)) return;
    if (!this.page) {
      this.flow = { ...this.flow, interview, agreed: interview.consent };
      this.#mount();
    }
    let connectedMs = 0;
    while (!this.force) {
      const { state } = /** @type {InterviewPage} */ (/** @type {unknown} */ (this.page));
      const withdrawing = state.leaving === "withdraw";
      if (["blocked", "goodbye"].includes(scene(state)) || (scene(state) === "done" && !withdrawing)) return;
      if (!withdrawing && (!state.pending || state.pending.accepted || state.pending.failed || connectedMs >= LAST_ANSWER_MS)) return;
      if (state.link === "ready") connectedMs += TICK_MS;
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }
}
