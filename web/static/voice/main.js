/** Speaking in a browser: holds microphone, wire, reader and panel together around the state machine. */

import { online, scene } from "../core/state.js";
import { loadVoiceTexts } from "../texts/index.js";
import { Aloud } from "./aloud.js";
import { joined } from "./answering.js";
import { playCue } from "./cues.js";
import { isOurs } from "./hearing.js";
import { interviewOf } from "./interview.js";
import { Ear, isSound } from "./levels.js";
import { Line } from "./line.js";
import { voiceReduce } from "./machine.js";
import { Microphone } from "./microphone.js";
import { Panel } from "./panel.js";
import { constraintsFor, loadSettings, saveSettings } from "./settings.js";
import { AudioShelf } from "./shelf.js";
import { collecting, initialVoice, readByServer } from "./state.js";
import { FRAME_MS } from "./tape.js";

/**
 * @typedef {import("../core/state.js").State} State
 * @typedef {import("../core/messages.js").ServerMessage} ServerMessage
 * @typedef {import("./levels.js").Level} Level
 * @typedef {import("./machine.js").VoiceEvent} VoiceEvent
 * @typedef {import("./state.js").VoiceEffect} VoiceEffect
 *
 * What the page lends to its voice.
 * @typedef {object} Host
 * @property {string} sessionId
 * @property {import("../core/pending.js").Shelf | null} shelf
 * @property {(message: import("../core/messages.js").ClientMessage) => void} send
 * @property {(bytes: Uint8Array<ArrayBuffer>) => void} sendBytes
 * @property {() => number} received where the server said, at its last greeting, that it wants to go on.
 * @property {() => number} buffered bytes not yet out of the socket.
 * @property {(event: import("../core/reduce.js").Event) => void} dispatch
 * @property {() => State} state
 * @property {() => string} freshKey
 */

/** What is said while a finger leaves the button still counts, and what the device has not handed over yet. */
const TAIL_MS = 160;
/** A loudspeaker's last words hang in the room for a moment. */
const ECHO_MS = 250;
const PUMP_MS = 40;
/** Sounding frames in a row before somebody is taken to go on speaking. */
const SOUNDING_FRAMES = 4;
const MARGIN_S = 20;

/** Set while an answer is being spoken in this interview, so that a page loaded anew looks for it. @param {string} sessionId */
export const keptFlag = (sessionId) => `askwell:${sessionId}:spoken`;

export class Voice {
  /** @param {Host} host @param {string} language of the page. @returns {Promise<Voice>} */
  static async create(host, language) {
    const [t] = await Promise.all([loadVoiceTexts(language), loadStyle()]);
    return new Voice(host, t);
  }

  /** @param {Host} host @param {import("../texts/index.js").Texts} t */
  constructor(host, t) {
    this.host = host;
    const offer = host.state().detail?.speech ?? null;
    this.state = initialVoice(loadSettings(host.shelf, offer), offer);
    this.audio = new AudioShelf(host.sessionId);
    this.line = new Line(((offer?.max_answer_s ?? 300) + MARGIN_S) * 1000 / FRAME_MS, {
      message: host.send,
      bytes: host.sendBytes,
      keep: (frame) => {
        if (this.state.check === null) this.audio.keep(this.line.key ?? "", frame);
      },
      forget: (seq) => {
        void this.audio.forget(seq);
        if (this.line.tape.frames.length === 0) this.#flag(false);
      },
      wipe: () => void this.audio.wipe(),
      linked: () => online(host.state()),
    });
    this.ear = new Ear();
    this.microphone = new Microphone({
      frame: (pcm, level) => this.#frame(pcm, level),
      asleep: (asleep) => this.state.asleep !== asleep && this.#do({ type: "asleep", asleep, key: host.freshKey() }),
      deaf: (deaf) => this.#do({ type: "deaf", deaf }),
      lost: () => this.#do({ type: "refused", obstacle: "lost" }),
    });
    this.reader = new Aloud({
      ask: () => host.send({ type: "read_aloud", on: true, now: true }),
      started: () => this.#do({ type: "reading" }),
      over: (how) => this.#read(how),
      audible: (turn) => this.#do({ type: "audible", turn }),
    });
    this.#voices();
    this.panel = new Panel(t, {
      act: (event) => this.#do(event),
      key: host.freshKey,
      choose: () => this.choose(),
      leave: () => this.leave(),
      wake: () => this.#wake(),
      skip: () => {
        this.#do({ type: "skipped" });
        host.dispatch({ type: "skip", turnKey: host.freshKey() });
      },
      rephrase: () => {
        this.#do({ type: "skipped" });
        host.dispatch({ type: "rephrase" });
      },
      drop: () => {
        this.line.cancel();
        this.leave();
      },
      speaks: () => this.reader.speaks(this.state.interview.language),
      prime: () => this.reader.prime(),
    });
    /** @type {VoiceEvent[]} */
    this.queue = [];
    this.working = false;
    /** @type {Map<string, number>} */
    this.timers = new Map();
    this.tailUntil = 0;
    this.sounding = 0;
    this.projected = "";
    this.pumping = 0;
    /** @type {WakeLockSentinel | null} */
    this.lock = null;
    this.line.resume(host.received());
    this.#listen();
  }

  /** Whose voice reads. */
  #voices() {
    this.reader.offered = this.state.offer?.voice === true;
    this.reader.server = readByServer(this.state);
  }

  #listen() {
    const wake = () => this.#wake();
    // Where fingers touch, only the end of a touch is a gesture that may begin audio.
    for (const name of ["pointerdown", "pointerup", "click", "keydown"]) document.addEventListener(name, wake, { capture: true, passive: true });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") return void this.audio.flush();
      wake();
      if (this.state.stage === "on") void this.#stayAwake();
    });
    window.addEventListener("pagehide", () => void this.audio.flush());
  }

  /** Within the respondent's gesture: Safari wants audio and speech to begin there. */
  choose() {
    if (this.state.settings.read) this.reader.prime();
    const { checked } = loadSettings(this.host.shelf, this.state.offer);
    this.#do({ type: "choose", check: !checked && !this.state.settings.checked });
    this.host.dispatch({ type: "speaking", on: true });
  }

  #wake() {
    if (this.state.stage !== "on") return;
    if (this.microphone.stuck) void this.#open();
    else this.microphone.wake();
  }

  leave() {
    if (this.state.stage !== "off") this.#do({ type: "leave" });
  }

  /** Whether words have been heard that are not yet an answer. */
  get owing() {
    return this.state.stage === "on" && this.state.answer?.worded === true && !this.state.review && !this.state.check;
  }

  /** Ends the answer, as if its speaker had said so. */
  finish() {
    this.#do({ type: "done" });
  }

  /** Speech of before the page was loaded anew. @returns {Promise<void>} */
  async recall() {
    const kept = await this.audio.load();
    if (!kept) return this.#flag(false);
    this.line.restore(kept.key, kept.frames);
    this.line.resume(this.host.received());
    this.panel.kept(Math.max(1, Math.round(kept.frames.length * FRAME_MS / 1000)));
    this.#do({ type: "kept", key: kept.key });
    this.host.dispatch({ type: "speaking", on: true });
  }

  /** The page's state has changed. @param {State} state */
  changed(state) {
    const now = scene(state);
    if (state.speaking && (now === "done" || now === "goodbye" || now === "blocked" || state.link === "taken")) return this.leave();
    const view = interviewOf(state);
    const print = JSON.stringify(view);
    if (print === this.projected) return;
    this.projected = print;
    if (state.detail?.speech) this.state = { ...this.state, offer: state.detail.speech };
    if (!view.online) this.reader.lost();
    this.#do({ type: "interview", interview: view, key: this.host.freshKey() });
  }

  /** Sound of a question that the server reads. @param {ArrayBuffer} frame */
  sounded(frame) {
    this.reader.sounded(frame);
  }

  /** @param {ServerMessage} message @returns {boolean} whether the rest of the page need not hear of it. */
  heard(message) {
    this.reader.heard(message);
    switch (message.type) {
      case "ready":
        this.line.greeted(message.first_unreceived_seq ?? 0);
        return false;
      case "audio.ack":
        this.line.ack(message.seq);
        this.#pump();
        return true;
      case "error": {
        if (message.ref === this.line.dropped && message.ref !== null && message.ref !== undefined) return true;
        const ours = isOurs(this.state, message);
        this.#do({ type: "message", message, key: this.host.freshKey() });
        return ours;
      }
      case "notice": {
        const ours = this.state.answer !== null && ["didnt_catch", "time_almost_up"].includes(message.code);
        this.#do({ type: "message", message, key: this.host.freshKey() });
        return ours;
      }
      default:
        this.#do({ type: "message", message, key: this.host.freshKey() });
        return false;
    }
  }

  /** Nothing of what was said stays on the device. */
  wipe() {
    this.line.end();
    this.#flag(false);
  }

  /** @param {VoiceEvent} event */
  #do(event) {
    this.queue.push(event);
    if (this.working) return;
    this.working = true;
    for (let next = this.queue.shift(); next; next = this.queue.shift()) {
      const before = this.state;
      const [state, effects] = voiceReduce(before, next);
      this.state = state;
      this.#voices();
      for (const effect of effects) this.#run(effect);
      if (state !== before) this.panel.render(state);
    }
    this.working = false;
    if (this.state.stage === "off" && this.host.state().speaking) this.host.dispatch({ type: "speaking", on: false });
  }

  /** @param {VoiceEffect} effect */
  #run(effect) {
    const { host, line } = this;
    switch (effect.type) {
      case "open": return void this.#open();
      case "reopen": return void this.#open();
      case "close": return this.#close();
      case "enable": return this.microphone.enable(effect.on);
      case "send": return host.send(effect.message);
      case "begin":
        if (!this.state.check) this.#flag(true);
        line.begin(effect.key);
        return this.#pump();
      case "stop": return this.#stop();
      case "over": return line.over(effect.next);
      case "taken": return line.taken();
      case "cancel": return line.cancel();
      case "lost": return line.lost();
      case "rewind": return line.rewind();
      case "replay": return line.resume(0);
      case "read": return this.reader.read(effect.text, this.state.interview.language, effect.turn, effect.again);
      case "written": return this.reader.written(effect.text);
      case "hush": return this.reader.hush();
      case "cue": return this.state.settings.sounds ? playCue(this.microphone.context, effect.name) : undefined;
      case "say": return host.dispatch({ type: "say", text: effect.text, turnKey: effect.key });
      case "add": return host.dispatch({ type: "add", text: effect.text, turnKey: effect.key });
      case "draft": {
        const { draft } = host.state();
        const text = joined(draft, effect.text, effect.instead, effect.once);
        return text === draft ? undefined : host.dispatch({ type: "draft", text });
      }
      case "save": return void saveSettings(host.shelf, this.state.settings);
      case "timer": return this.#timer(effect.name, effect.delayMs);
      case "untimer": return this.#untimer(effect.name);
      case "heard":
        line.heard = true;
        return this.ear.heard();
      case "unheard": line.heard = false; return;
      case "knock": return host.dispatch({ type: "retry" });
      case "announce": return this.panel.announce(effect.text);
      case "tell": return this.panel.tell(effect.what, effect.text ?? "");
      case "focus": return this.panel.focus();
    }
  }

  async #open() {
    this.ear.reset();
    const obstacle = await this.microphone.open(constraintsFor(this.state.settings));
    if (obstacle === "late" || this.state.stage === "off") return;
    if (obstacle) return this.#do({ type: "refused", obstacle });
    this.microphone.enable(!this.state.muted);
    void this.#stayAwake();
    if (this.state.stage === "asking") this.#do({ type: "opened", key: this.host.freshKey() });
  }

  #close() {
    this.microphone.close();
    this.reader.close();
    this.panel.meter.reset();
    void this.lock?.release().catch(() => undefined);
    this.lock = null;
  }

  /** A screen that locks itself takes the microphone along. */
  async #stayAwake() {
    try {
      this.lock = await navigator.wakeLock.request("screen");
    } catch {
      this.lock = null;
    }
  }

  /** @param {Uint8Array} pcm @param {Level} level */
  #frame(pcm, level) {
    this.panel.meter.push(level);
    const sound = isSound(level);
    const listening = collecting(this.state);
    const verdict = listening ? this.ear.push(level) : "ok";
    if (verdict !== this.state.verdict) this.#do({ type: "verdict", verdict });
    if (!listening && performance.now() > this.tailUntil) {
      this.line.waiting.drain();
      this.sounding = 0;
      return;
    }
    if (!this.line.hear(pcm, sound)) this.#do({ type: "full" });
    this.sounding = sound ? this.sounding + 1 : 0;
    if (this.sounding === SOUNDING_FRAMES && !this.state.answer) this.#do({ type: "sound", key: this.host.freshKey() });
    this.#pump();
  }

  /** Sends what may be sent now, and the rest when it may. */
  #pump() {
    this.line.pump(performance.now(), this.host.buffered());
    if (!this.line.open || this.line.backlog === 0 || this.pumping) return;
    this.pumping = window.setTimeout(() => {
      this.pumping = 0;
      this.#pump();
    }, PUMP_MS);
  }

  #stop() {
    if (this.line.stopAt !== null) return;
    const { key } = this.line;
    const end = () => {
      this.tailUntil = 0;
      if (this.line.key === key) this.line.stop();
      this.#pump();
    };
    if (this.microphone.context === null) return end();
    this.tailUntil = performance.now() + TAIL_MS;
    setTimeout(end, TAIL_MS);
  }

  /** @param {"finished" | "stopped" | "failed"} how */
  #read(how) {
    const tell = () => this.#do({ type: "read", how, key: this.host.freshKey() });
    if (how === "finished") setTimeout(tell, ECHO_MS);
    else tell();
  }

  /** @param {import("./state.js").Timer} name @param {number} delayMs */
  #timer(name, delayMs) {
    this.#untimer(name);
    this.timers.set(name, window.setTimeout(() => this.#do({ type: "timer", name, key: this.host.freshKey() }), delayMs));
  }

  /** @param {string} name */
  #untimer(name) {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }

  /** @param {boolean} on */
  #flag(on) {
    const { shelf, sessionId } = this.host;
    try {
      if (on) shelf?.setItem(keptFlag(sessionId), "1");
      else shelf?.removeItem(keptFlag(sessionId));
    } catch {
      return;
    }
  }
}

/** @returns {Promise<void>} once the sheet is there; without it after a while, since words matter more than looks. */
function loadStyle() {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = "/static/voice/voice.css";
    link.onload = () => resolve();
    link.onerror = () => resolve();
    document.head.append(link);
    setTimeout(resolve, 3_000);
  });
}
