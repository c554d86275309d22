/** The scene in which the interview happens: question, log, answer box, and what the page says about itself. */

import { COUNTER_FROM_CHARS, MAX_ANSWER_CHARS, answerLength } from "../core/answer.js";
import { errorText } from "../core/errors.js";
import { PAUSED, asksForRatings, busy, canAnswer, canSpeak, mood, online, scene, standingWords } from "../core/state.js";
import { Conversation, rows } from "./conversation.js";
import { byId, enable, fitHeight, isCoarse, isEnabled, isStill, make, show, write, writeProse } from "./dom.js";
import { QuestionView } from "./question.js";
import { RatingsView } from "./ratings.js";
import { StimulusDialog } from "./stimulus.js";

/** @typedef {import("../core/state.js").State} State */
/** @typedef {import("../texts/index.js").Texts} Texts */
/** @typedef {import("./conversation.js").Dispatch} Dispatch */

/** Moods in which the rings spread below the conversation. */
const STIRRING = new Set(["thinking", "sending", "opening"]);

export class Talk {
  /** @param {Texts} t @param {Dispatch} dispatch @param {() => string} freshKey */
  constructor(t, dispatch, freshKey) {
    this.t = t;
    this.dispatch = dispatch;
    this.answer = /** @type {HTMLTextAreaElement} */ (byId("answer"));
    this.question = new QuestionView(byId("question"));
    this.stimulus = new StimulusDialog(t, dispatch);
    this.ratings = new RatingsView(byId("ratings"), t, dispatch, freshKey);
    this.conversation = new Conversation(byId("log"), t, dispatch, freshKey);
    this.offered = "";
    this.freshKey = freshKey;
    this.spoken = 0;
    this.scrolled = "";
    this.following = true;
    this.#listen(freshKey);
  }

  /** @param {() => string} freshKey */
  #listen(freshKey) {
    const { answer, dispatch } = this;
    const submit = () => dispatch({ type: "submit", turnKey: freshKey() });
    answer.addEventListener("input", () => {
      fitHeight(answer);
      dispatch({ type: "draft", text: answer.value });
    });
    answer.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      const always = event.ctrlKey || event.metaKey;
      if (!always && (event.shiftKey || event.altKey || isCoarse())) return;
      event.preventDefault();
      submit();
    });
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      if (isEnabled(byId("send"))) submit();
    });
    /** @param {string} id @param {() => void} act */
    const on = (id, act) => byId(id).addEventListener("click", (event) => {
      if (isEnabled(/** @type {Element} */ (event.currentTarget))) act();
    });
    on("skip", () => dispatch({ type: "skip", turnKey: freshKey() }));
    on("rephrase", () => dispatch({ type: "rephrase" }));
    on("pause", () => dispatch({ type: "pause" }));
    on("resume", () => dispatch({ type: "resume" }));
    on("finish", () => dispatch({ type: "ask_to_leave", dialog: "finish" }));
    on("withdraw", () => dispatch({ type: "ask_to_leave", dialog: "withdraw" }));
    on("retry", () => dispatch({ type: "retry" }));
    on("take-back", () => dispatch({ type: "take_back" }));
    this.#follow();
    write(byId("answer-hint"), this.t(isCoarse() ? "answer.hint.coarse" : "answer.hint.fine"));
  }

  /** Keeps the newest thing in view while question and dock grow, until the respondent scrolls back to read. */
  #follow() {
    const grown = new ResizeObserver(() => {
      if (this.following && document.body.dataset["scene"] === "talk") this.#scrollToNewest("instant");
    });
    for (const id of ["dock", "question", "log"]) grown.observe(byId(id));
    let before = window.scrollY;
    window.addEventListener("scroll", () => {
      if (window.scrollY < before - 2) this.following = Math.abs(window.scrollY - this.#newestTop()) < 4;
      before = window.scrollY;
    }, { passive: true });
  }

  /** Where to scroll: the end of the page, but never past the start of the question. @returns {number} */
  #newestTop() {
    const root = document.documentElement;
    const bar = /** @type {HTMLElement} */ (document.querySelector(".bar"));
    const covered = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
    const end = root.scrollHeight - root.clientHeight;
    const { element } = this.question;
    if (element.textContent === "") return end;
    return Math.max(0, Math.min(end, element.getBoundingClientRect().top + window.scrollY - covered - 16));
  }

  /** @param {ScrollBehavior} behavior */
  #scrollToNewest(behavior) {
    this.following = true;
    window.scrollTo({ top: this.#newestTop(), behavior });
  }

  /** @param {State} state */
  render(state) {
    const now = mood(state);
    this.#renderQuestion(state, now);
    this.ratings.render(state);
    this.#renderOffers(state);
    this.#renderBox(state, now);
    this.#renderStatus(state, now);
    this.#renderProblem(state);
    this.#renderBar(state);
    this.#announce(state);
    this.#scroll(state, now);
  }

  /** @param {State} state @param {import("../core/state.js").Mood} now */
  #renderQuestion(state, now) {
    const list = rows(state, this.t);
    this.conversation.render(list);
    show(byId("log-region"), list.length > 0);
    const open = standingWords(state);
    const asked = state.pending && state.pending.kind !== "correct" ? null : open;
    const text = withoutHelp(state.stream?.text || (asked?.text ?? ""), state.help);
    const live = state.synced && document.visibilityState === "visible";
    this.question.set(text, { whole: !state.stream && asked !== null, unfold: live });
    const element = this.question.element;
    element.dataset["turn"] = String(state.stream?.turn ?? asked?.turn ?? "");
    element.classList.toggle("resting", PAUSED.has(state.session ?? "") || (state.rephrasing && !state.stream) || (busy(state) && !state.stream));
    element.lang = state.detail?.language ?? "";
    show(byId("ripple"), text === "" && STIRRING.has(now));
  }

  /** What can be chosen instead of writing, and where to find help. @param {State} state */
  #renderOffers(state) {
    const box = byId("offers");
    const print = JSON.stringify(state.offers);
    if (print !== this.offered) {
      this.offered = print;
      box.replaceChildren(...state.offers.map((offer) => {
        const button = /** @type {HTMLButtonElement} */ (make("button", "offer", offer.label));
        button.type = "button";
        button.dataset["offer"] = offer.name;
        button.dataset["testid"] = `offer-${offer.name}`;
        button.dir = "auto";
        button.addEventListener("click", () => this.dispatch({ type: "choose", name: offer.name, turnKey: this.freshKey() }));
        return button;
      }));
    }
    const free = state.stopping ? online(state) : canAnswer(state);
    for (const button of box.querySelectorAll("button")) enable(button, free);
    show(box, state.offers.length > 0 && !busy(state));
    writeProse(byId("help"), state.help);
    show(byId("help"), state.help !== "");
  }

  /** @param {State} state @param {import("../core/state.js").Mood} now */
  #renderBox(state, now) {
    const { answer } = this;
    if (answer.value !== state.draft) {
      answer.value = state.draft;
      fitHeight(answer);
    }
    answer.lang = state.detail?.language ?? "";
    answer.dir = state.draft === "" ? this.t.direction : "auto";
    const faulty = state.problem?.at === "answer";
    answer.setAttribute("aria-invalid", String(faulty));
    byId("composer").classList.toggle("invalid", faulty);
    show(byId("composer"), now !== "taken" && !state.editing && !state.speaking && !state.stopping && !asksForRatings(state));
    show(byId("speak"), canSpeak(state));
    document.body.dataset["speaking"] = String(state.speaking);
    byId("skip-link").setAttribute("href", state.speaking ? "#voice-mood" : asksForRatings(state) ? "#ratings" : "#answer");
    const free = canAnswer(state);
    const length = answerLength(state.draft);
    enable(byId("send"), free);
    enable(byId("skip"), free);
    enable(byId("rephrase"), free && online(state));
    const count = byId("answer-count");
    const left = MAX_ANSWER_CHARS - length;
    const shown = length >= COUNTER_FROM_CHARS;
    write(count, !shown ? "" : left >= 0 ? this.t("answer.left", { count: left }) : this.t("answer.over", { count: -left }));
    count.classList.toggle("over", left < 0);
  }

  /** @param {State} state @param {import("../core/state.js").Mood} now */
  #renderStatus(state, now) {
    const status = byId("status");
    const noticed = state.notice && ["thinking", "yours", "opening", "sending"].includes(now) ? noticeText(state.notice, this.t) : "";
    write(status, noticed || this.t(`mood.${now}`));
    status.dataset["state"] = now;
    show(byId("continue-here"), now === "taken");
    show(byId("resume"), now === "paused");
    enable(byId("resume"), online(state));
  }

  /** @param {State} state */
  #renderProblem(state) {
    const problem = state.problem?.at === "edit" ? null : state.problem;
    const box = byId("error");
    const text = problem ? this.t(problemText(problem.code, state.draft)) : "";
    write(byId("error-text"), text);
    show(box, problem !== null);
    box.dataset["code"] = problem?.code ?? "";
    show(byId("retry"), problem?.retry === true);
    show(byId("take-back"), problem !== null && state.pending?.failed != null);
  }

  /** @param {State} state */
  #renderBar(state) {
    const calm = online(state) && !state.leaving;
    show(byId("pause"), !PAUSED.has(state.session ?? ""));
    enable(byId("pause"), calm);
    enable(byId("finish"), calm);
    enable(byId("withdraw"), !state.leaving);
    const percent = Math.round(state.progress * 100);
    const bar = byId("progress");
    bar.setAttribute("aria-valuenow", String(percent));
    bar.setAttribute("aria-valuetext", this.t("talk.progress.value", { percent }));
    byId("progress-fill").style.transform = `scaleX(${state.progress})`;
  }

  /** @param {State} state */
  #announce(state) {
    if (state.spoken.count === this.spoken) return;
    this.spoken = state.spoken.count;
    write(byId("announcer"), state.spoken.text);
  }

  /** Brings the newest thing into view, once per thing. @param {State} state @param {string} now */
  #scroll(state, now) {
    const at = `${state.stream?.turn ?? standingWords(state)?.key ?? now}:${state.pending?.turnKey ?? ""}`;
    if (at === this.scrolled || scene(state) !== "talk" || state.editing) return;
    this.scrolled = at;
    requestAnimationFrame(() => {
      if (document.body.dataset["scene"] === "talk") this.#scrollToNewest(isStill() ? "instant" : "smooth");
    });
  }
}

/** What was asked, without where to find help, which stands below it. @param {string} text @param {string} help */
function withoutHelp(text, help) {
  return help && text !== help && text.endsWith(help) ? text.slice(0, -help.length).trim() : text;
}

/** @param {string} code @param {string} draft @returns {string} */
function problemText(code, draft) {
  return code === "invalid_input" && draft.trim() !== "" ? "error.invalid_input.server" : errorText(code);
}

const NOTICES = new Set(["still_thinking", "answer_kept", "moderator_here", "time_almost_up", "didnt_catch"]);

/** What a notice says, in the page's own words: those of the server know one language only. @param {{code: string}} notice @param {Texts} t */
function noticeText({ code }, t) {
  return NOTICES.has(code) ? t(`notice.${code}`) : "";
}
