/** What speaking looks like: a state, a level, the words as they come, and few buttons. */

import { byId, enable, isCoarse, isEnabled, make, show, write } from "../interview/dom.js";
import { shownText } from "./captions.js";
import { icon } from "./icons.js";
import { Meter } from "./meter.js";
import { browserOf, canRetry } from "./obstacles.js";
import { TalkButton, takesKeys } from "./push.js";
import { Ring } from "./ring.js";
import { checkWords } from "./soundcheck.js";
import { belongs, canEnd, interruptible, pauseOf, timeGiven, timeMeans, voiceMood } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./state.js").VoiceMood} VoiceMood
 * @typedef {import("./machine.js").VoiceEvent} VoiceEvent
 * @typedef {import("../texts/index.js").Texts} Texts
 *
 * @typedef {object} Hands
 * @property {(event: VoiceEvent) => void} act
 * @property {() => string} key a fresh turn key.
 * @property {() => void} choose ask for the microphone.
 * @property {() => void} leave back to typing.
 * @property {() => void} wake the microphone, within a gesture.
 * @property {() => void} skip
 * @property {() => void} rephrase
 * @property {() => void} drop forget what was kept.
 * @property {() => boolean} speaks whether questions can be read aloud on this device.
 * @property {() => void} prime let the loudspeaker begin within a gesture.
 */

/** @type {Record<VoiceMood, import("./icons.js").IconName>} */
const SIGNS = {
  off: "mic", kept: "mic", asking: "mic", blocked: "alert", connecting: "link", reconnecting: "link", paused: "pause", check: "mic",
  asleep: "off", reading: "loud", review: "check", stalled: "alert", transcribing: "dots", thinking: "dots", closed: "dots", correcting: "keys", adding: "mic",
  over: "check", muted: "off", almost_up: "glass", hearing: "ear", didnt_catch: "alert", held: "ear", ready: "mic", patient: "glass", listening: "mic",
};
/** Moods in which the level tells something. */
const LIVE = new Set(["check", "over", "adding", "listening", "hearing", "held", "patient", "almost_up", "didnt_catch", "ready", "reconnecting", "thinking", "asking"]);

/** Stands for a text within a sentence. */
const PLACE = "\u0000";

/** Hints that are no complaint. */
const CALM = new Set(["over", "adding", "adding_push", "almost_up", "reconnecting", "too_long", "no_voice", "busy"]);

/** Moods that need an act of somebody who may not see them, and that nothing else tells. */
const ACT = new Set(["asleep", "muted"]);

export class Panel {
  /** @param {Texts} t @param {Hands} hands */
  constructor(t, hands) {
    this.t = t;
    this.hands = hands;
    this.meter = new Meter(t);
    this.seconds = 0;
    /** @type {VoiceState | null} */
    this.state = null;
    /** @type {import("./dialog.js").SettingsDialog | null} loaded when it is first opened. */
    this.dialog = null;
    /** @type {import("./soundcheck-view.js").SoundCheck | null} loaded where it is wanted. */
    this.check = null;
    this.checking = false;
    this.talk = new TalkButton(t, {
      press: (latch) => hands.act({ type: "press", latch, key: hands.key() }),
      release: () => hands.act({ type: "release" }),
      state: () => this.state?.push ?? "up",
    });
    const act = hands.act;
    const root = make("section", "voice");
    root.id = "voice";
    root.dataset["testid"] = "voice";
    root.setAttribute("aria-labelledby", "voice-heading");
    const heading = make("h2", "visually-hidden", t("voice.heading"));
    heading.id = "voice-heading";

    this.sign = make("div", "voice-sign");
    this.sign.setAttribute("aria-hidden", "true");
    this.ring = new Ring();
    this.mood = make("p", "voice-mood");
    this.mood.id = "voice-mood";
    this.mood.dataset["testid"] = "voice-mood";
    this.mood.tabIndex = -1;
    const gear = this.#button("voice-settings", "quiet icon-button", "", () => void this.#openSettings(), "gear");
    gear.setAttribute("aria-label", t("voice.settings"));
    const top = make("div", "voice-top");
    top.append(this.sign, this.mood, this.meter.element, gear);

    this.hint = make("p", "voice-hint");
    this.hint.id = "voice-hint";
    this.hint.setAttribute("role", "status");

    this.before = make("span", "before");
    this.firm = make("span", "firm");
    this.soft = make("span", "soft");
    this.empty = make("p", "voice-empty");
    this.caption = make("p", "caption");
    this.caption.id = "caption";
    this.caption.dataset["testid"] = "caption";
    this.caption.dir = "auto";
    this.caption.append(this.before, this.firm, this.soft);

    this.review = /** @type {HTMLTextAreaElement} */ (make("textarea", "voice-review"));
    this.review.id = "voice-review";
    this.review.dataset["testid"] = "voice-review";
    this.review.dir = "auto";
    this.review.rows = 3;
    this.review.setAttribute("aria-label", t("voice.review.label"));
    this.review.addEventListener("input", () => act({ type: "review", text: this.review.value }));
    this.review.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || event.shiftKey) return;
      event.preventDefault();
      act({ type: "review_send" });
    });

    this.obstacle = make("div", "obstacle");
    this.obstacle.id = "voice-obstacle";
    this.obstacle.dataset["testid"] = "voice-obstacle";
    this.obstacleText = make("p");
    this.obstacleHow = make("p", "obstacle-how");
    this.obstacle.append(this.obstacleText, this.obstacleHow);

    this.mute = this.#button("voice-mute", "quiet", t("voice.mute"), () => act({ type: "mute", key: hands.key() }), "mic");
    this.wait = this.#button("voice-wait", "quiet", t("voice.wait"), () => this.#time(), "glass");
    this.done = this.#button("voice-done", "primary", t("voice.done"), () => act({ type: "done" }), "check");
    this.hush = this.#button("voice-hush", "primary", t("voice.hush"), () => act({ type: "hush" }), "loud");
    this.again = this.#button("voice-retry", "primary", t("voice.retry"), () => this.state?.stage === "blocked" ? hands.choose() : act({ type: "retry" }));
    this.wake = this.#button("voice-wake", "primary", t("voice.wake"), hands.wake, "mic");
    this.send = this.#button("voice-send", "primary", t("voice.review.send"), () => act({ type: "review_send" }));
    this.resay = this.#button("voice-resay", "quiet", t("voice.review.again"), () => act({ type: "review_again", key: hands.key() }), "mic");
    this.goOn = this.#button("voice-go-on", "primary", t("voice.kept.go_on"), hands.choose, "mic");
    this.sendKept = this.#button("voice-send-kept", "quiet", t("voice.kept.send"), () => act({ type: "kept_send", key: hands.key() }));
    this.drop = this.#button("voice-drop", "quiet", t("voice.kept.drop"), hands.drop);
    this.wait.setAttribute("aria-keyshortcuts", "Space");
    document.addEventListener("keydown", (event) => this.#key(event));
    this.move = this.#button("voice-move", "link voice-move", "", () => act({ type: "moved", key: hands.key() }));
    const row = make("div", "voice-row");
    row.append(this.mute, this.wait, this.resay, this.drop, this.sendKept, this.talk.element, this.hush, this.wake, this.again, this.goOn, this.send, this.done);

    const card = make("div", "voice-card");
    card.append(top, this.hint, this.empty, this.caption, this.review, this.obstacle, this.move, row);
    this.card = card;

    this.skip = this.#button("voice-skip", "quiet", "", hands.skip);
    this.rephrase = this.#button("voice-rephrase", "quiet", "", hands.rephrase);
    this.read = this.#button("voice-read", "quiet", t("voice.again.read"), () => {
      hands.prime();
      act({ type: "read_again" });
    });
    write(this.skip, byId("skip").textContent ?? "");
    write(this.rephrase, byId("rephrase").textContent ?? "");
    this.type = this.#button("voice-type", "quiet", t("voice.type"), hands.leave, "keys");
    const links = make("div", "voice-links");
    links.append(this.skip, this.rephrase, this.read, this.type);

    this.live = make("p", "visually-hidden");
    this.live.id = "voice-live";
    this.live.setAttribute("aria-live", "polite");
    root.append(heading, card, links, this.live);
    root.hidden = true;
    this.root = root;
    byId("composer").after(root);
  }

  /** @param {string} id @param {string} className @param {string} text @param {() => void} act @param {import("./icons.js").IconName} [sign] */
  #button(id, className, text, act, sign) {
    const button = /** @type {HTMLButtonElement} */ (make("button", className));
    button.type = "button";
    button.id = id;
    button.dataset["testid"] = id;
    if (sign) button.append(icon(sign));
    button.append(make("span", "button-word", text));
    button.addEventListener("click", () => isEnabled(button) && act());
    return button;
  }

  /** The space bar asks for time, where nothing else would take it. @param {KeyboardEvent} event */
  #key(event) {
    const { state } = this;
    if (!state || event.key !== " " || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const { wait } = this;
    if (state.settings.mode === "push" || timeGiven(state) || wait.offsetParent === null || !isEnabled(wait) || takesKeys(event.target)) return;
    event.preventDefault();
    this.#time();
  }

  /** "I'm still thinking", or "I wasn't finished" after an ending. */
  #time() {
    const { state, hands } = this;
    if (state) hands.act(timeMeans(state) === "more" ? { type: "unfinished", key: hands.key() } : { type: "wait" });
  }

  /** @param {number} seconds of speech that an earlier visit left. */
  kept(seconds) {
    this.seconds = seconds;
  }

  /** @param {VoiceState} voice */
  render(voice) {
    this.state = voice;
    const { t } = this;
    const mood = voiceMood(voice);
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    const within = active !== null && this.root.contains(active);
    const shown = voice.stage !== "off";
    show(this.root, shown);
    if (!shown) return;
    if (this.root.dataset["mood"] !== mood) {
      if (ACT.has(mood)) this.say([{ text: `${t(`voice.mood.${mood}`)}. ${t(`voice.empty.${mood}`)}` }]);
      this.root.dataset["mood"] = mood;
      this.sign.replaceChildren(icon(SIGNS[mood]), this.ring.element);
    }
    this.ring.render(voice.ring);
    this.root.dataset["mode"] = voice.settings.mode;
    this.root.classList.toggle("adding", voice.adding !== null);
    const heard = mood === "check" && checkWords(voice) !== "";
    write(this.mood, t(mood === "blocked" ? `voice.obstacle.${voice.obstacle}.title` : heard ? "voice.check.works" : `voice.mood.${mood}`));
    this.meter.rest(!LIVE.has(mood) || voice.muted);
    const hint = hintOf(voice, mood);
    this.#words(voice, mood, hint);
    this.#buttons(voice, mood);
    this.#obstacle(voice);
    this.hint.classList.toggle("calm", CALM.has(hint));
    write(this.hint, hint ? t(`voice.hint.${hint}`) : "");
    this.dialog?.render(voice);
    this.#check(voice, mood === "check", hint);
    if (within && active.offsetParent === null) this.focus();
  }

  /** Where the check can't be loaded, nobody is kept from answering. @param {VoiceState} voice @param {boolean} wanted @param {string} hint */
  #check(voice, wanted, hint) {
    this.check?.render(voice, wanted, hint);
    if (!wanted || this.check || this.checking) return;
    this.checking = true;
    const { hands } = this;
    const over = () => hands.act({ type: "check_over", key: hands.key() });
    import("./soundcheck-view.js").then(({ SoundCheck }) => {
      this.check = new SoundCheck(this.t, (...options) => this.#button(...options), {
        over, keep: () => hands.act({ type: "check_kept" }), device: () => void this.#openSettings(),
      });
      this.card.append(this.check.element);
      if (this.state) this.render(this.state);
    }).catch(over).finally(() => { this.checking = false; });
  }

  /** A dialog that can't be loaded now can be asked for again. */
  async #openSettings() {
    const loaded = await import("./dialog.js").catch(() => null);
    if (!loaded || !this.state) return;
    this.dialog ??= new loaded.SettingsDialog(this.t, this.hands);
    this.dialog.open(this.state);
  }

  /** @param {VoiceState} voice @param {VoiceMood} mood @param {string} hint */
  #words(voice, mood, hint) {
    const { t } = this;
    const { firm, soft, caption, empty, review } = this;
    const said = voice.check?.words ?? voice.adding?.text ?? "";
    const before = said ? `${said} ` : "";
    const worded = before + shownText(voice.caption) !== "" && !voice.review && mood !== "blocked";
    const grew = firm.textContent !== voice.caption.firm || soft.textContent !== voice.caption.soft;
    write(this.before, before);
    write(firm, voice.caption.firm);
    write(soft, voice.caption.soft);
    caption.lang = voice.interview.language;
    show(caption, worded);
    if (worded && grew) caption.scrollTop = caption.scrollHeight;
    const reopens = (voice.offer?.reopen_s ?? 0) > 0;
    const how = mood === "reading" && interruptible(voice) ? "reading.interrupt"
      : mood === "ready" && !isCoarse() ? "ready.keys"
      : mood === "listening" && reopens ? "listening.reopen" : mood;
    const seconds = mood === "listening" ? pauseOf(voice) : this.seconds;
    const text = worded || hint === "silent" || hint === "deaf" || voice.review || mood === "blocked" || mood === "off" ? "" : t(`voice.empty.${how}`, { seconds });
    write(empty, text);
    show(empty, text !== "");
    show(review, voice.review !== null && mood === "review");
    if (voice.review && review.value !== voice.review.text) review.value = voice.review.text;
    review.lang = voice.interview.language;
  }

  /** @param {VoiceState} voice @param {VoiceMood} mood */
  #buttons(voice, mood) {
    const { t } = this;
    const on = voice.stage === "on";
    const quiet = ["review", "asleep", "stalled", "paused", "reading", "correcting", "check"].includes(mood);
    const push = voice.settings.mode === "push";
    const { mute, wait, done } = this;
    show(mute, on && !quiet && !push);
    write(/** @type {HTMLElement} */ (mute.querySelector(".button-word")), t(voice.muted ? "voice.unmute" : "voice.mute"));
    mute.querySelector("svg")?.replaceWith(icon(voice.muted ? "off" : "mic"));
    mute.classList.toggle("strong", voice.muted);
    const more = timeMeans(voice) === "more";
    show(wait, on && (more ? !quiet || mood === "reading" : !quiet && !push));
    write(/** @type {HTMLElement} */ (wait.querySelector(".button-word")), t(more ? "voice.unfinished" : "voice.wait"));
    wait.setAttribute("aria-pressed", String(timeGiven(voice)));
    enable(wait, more || canEnd(voice));
    const other = belongs(voice);
    show(this.move, other !== "" && !quiet);
    if (other) write(/** @type {HTMLElement} */ (this.move.querySelector(".button-word")), t(`voice.${other}`));
    show(this.talk.element, on && !quiet && push);
    this.talk.render(voice.push, voice.interview.floor === "free" && !voice.answer?.stopping);
    show(done, on && !quiet && !push);
    enable(done, canEnd(voice));
    show(this.hush, mood === "reading");
    show(this.again, mood === "stalled" || (voice.stage === "blocked" && voice.obstacle !== null && canRetry(voice.obstacle)));
    show(this.wake, mood === "asleep");
    show(this.send, mood === "review");
    enable(this.send, (voice.review?.text.trim() ?? "") !== "" && voice.interview.floor === "free");
    show(this.resay, mood === "review");
    for (const button of [this.goOn, this.sendKept, this.drop]) show(button, mood === "kept");
    const free = voice.interview.floor === "free" && voice.interview.online;
    for (const button of [this.skip, this.rephrase]) {
      show(button, on && mood !== "review" && mood !== "check");
      enable(button, free && !voice.answer?.stopping);
    }
    show(this.read, on && voice.settings.read && mood !== "review" && mood !== "check");
    enable(this.read, free && !voice.reading && !voice.answer?.worded);
    show(this.type, mood !== "kept");
    this.type.classList.toggle("strong", voice.stage === "blocked");
  }

  /** @param {VoiceState} voice */
  #obstacle(voice) {
    const { t } = this;
    const what = voice.stage === "blocked" ? voice.obstacle : null;
    show(this.obstacle, what !== null);
    this.obstacle.dataset["code"] = what ?? "";
    if (!what) return;
    write(this.obstacleText, t(`voice.obstacle.${what}.text`));
    const how = what === "denied" ? t(`voice.how.${browserOf(navigator.userAgent, navigator.maxTouchPoints)}`) : "";
    write(this.obstacleHow, how);
    show(this.obstacleHow, how !== "");
  }

  /** @param {string} text in the language of the interview. */
  announce(text) {
    this.say([{ text, lang: this.state?.interview.language ?? "" }]);
  }

  /** @param {string} what @param {string} text in the language of the interview; the sentence around it is the page's. */
  tell(what, text) {
    const lang = this.state?.interview.language ?? "";
    const [before = "", after = ""] = this.t(`voice.tell.${what}`, { text: PLACE }).split(PLACE);
    this.say([{ text: before }, { text, lang }, { text: after }]);
  }

  /** @param {{text: string, lang?: string}[]} parts */
  say(parts) {
    this.live.replaceChildren(...parts.filter(({ text }) => text !== "").map(({ text, lang }) => {
      const part = make("span", "", text);
      if (lang) part.lang = lang;
      return part;
    }));
  }

  /** The keyboard goes where there is something to do, unless it is in the middle of something. */
  focus() {
    requestAnimationFrame(() => {
      const { state } = this;
      const active = document.activeElement;
      const writing = active instanceof HTMLTextAreaElement && active.offsetParent !== null && active !== this.review;
      if (!state || writing || document.querySelector("dialog[open]")) return;
      const target = state.review ? this.review
        : state.settings.mode === "push" && state.stage === "on" ? this.talk.element
        : this.mood;
      target.focus({ preventScroll: true });
    });
  }
}

/** @param {VoiceState} voice @param {VoiceMood} mood @returns {string} */
function hintOf(voice, mood) {
  if (voice.stage !== "on") return "";
  if (mood === "reconnecting") return shownText(voice.caption) === "" ? "" : mood;
  if (mood === "almost_up" || mood === "over") return mood;
  if (mood === "adding") return voice.deaf ? "deaf" : voice.verdict !== "ok" ? voice.verdict : voice.settings.mode === "push" ? "adding_push" : mood;
  if (mood === "check") return checkWords(voice) ? "" : voice.deaf ? "deaf" : voice.verdict !== "ok" ? voice.verdict : voice.notice === "didnt_catch" ? "unheard" : voice.notice === "busy" ? "busy" : "";
  if (voice.notice === "no_voice" || voice.notice === "too_long" || voice.notice === "busy") return voice.notice;
  if (!["listening", "hearing", "held", "patient", "didnt_catch"].includes(mood)) return "";
  if (voice.deaf) return "deaf";
  return voice.verdict === "ok" ? "" : voice.verdict;
}
