/** The operator's corner: hold the sign, give the PIN, see how the device is doing, and do something about it. */

import { byId, make, show, write } from "../interview/dom.js";
import { clockFact, factsOf } from "./facts.js";
import { Refusal } from "./server.js";

/** @typedef {import("./kiosk.js").Kiosk} Kiosk */
/** @typedef {"end" | "over" | "export" | "restart" | "refresh"} Act */

/** How long the sign is held. */
export const HOLD_MS = 1_200;
/** How long the corner stays open with nobody touching it. */
const LONELY_MS = 60_000;
const PIN_DIGITS = 12;
/** What is asked back before it is done. @type {ReadonlySet<Act>} */
const GRAVE = new Set(["end", "over", "restart"]);

export class Operator {
  /** @param {Kiosk} kiosk */
  constructor(kiosk) {
    this.kiosk = kiosk;
    this.dialog = /** @type {HTMLDialogElement} */ (byId("operator"));
    this.pin = "";
    this.holding = 0;
    this.lonely = 0;
    /** @type {Act | null} what was touched once and has to be touched again. */
    this.asked = null;
    this.#listen();
    this.#pad();
  }

  get open() {
    return this.dialog.open;
  }

  #listen() {
    const corner = byId("corner");
    const let_go = () => {
      clearTimeout(this.holding);
      corner.classList.remove("held");
    };
    corner.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary) return;
      corner.classList.add("held");
      this.holding = window.setTimeout(() => {
        let_go();
        this.enter();
      }, HOLD_MS);
    });
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) corner.addEventListener(name, let_go);
    corner.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.enter();
    });
    byId("operator-close").addEventListener("click", () => this.close());
    this.dialog.addEventListener("close", () => this.#forget());
    this.dialog.addEventListener("pointerdown", () => this.#awake());
    this.dialog.addEventListener("keydown", (event) => {
      this.#awake();
      if (byId("operator-lock").hidden) return;
      if (/^\d$/.test(event.key)) this.#press(event.key);
      else if (event.key === "Backspace") this.#press("delete");
      else if (event.key === "Enter" && !(event.target instanceof HTMLButtonElement)) void this.#unlock();
    });
  }

  #pad() {
    const { t } = this.kiosk;
    const keys = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "delete", "0", "enter"];
    byId("pad").replaceChildren(...keys.map((key) => {
      const sign = { delete: "⌫", enter: "✓" }[key] ?? key;
      const button = /** @type {HTMLButtonElement} */ (make("button", key === "enter" ? "primary" : "outlined", sign));
      button.type = "button";
      button.dataset["key"] = key;
      if (sign !== key) button.setAttribute("aria-label", t(`kiosk.operator.${key}`));
      button.addEventListener("click", () => (key === "enter" ? void this.#unlock() : this.#press(key)));
      return button;
    }));
  }

  /** @param {string} key a digit, or "delete". */
  #press(key) {
    this.pin = key === "delete" ? this.pin.slice(0, -1) : (this.pin + key).slice(0, PIN_DIGITS);
    this.#fault("");
    this.#dots();
  }

  #dots() {
    const dots = byId("pin-dots");
    dots.setAttribute("aria-label", this.kiosk.t("kiosk.operator.digits", { count: this.pin.length }));
    dots.replaceChildren(...Array.from({ length: Math.max(4, this.pin.length) }, (_, index) => make("span", index < this.pin.length ? "pin-dot filled" : "pin-dot")));
  }

  /** @param {string} text */
  #fault(text) {
    write(byId("pin-problem"), text);
    show(byId("pin-problem"), text !== "");
  }

  /** From the corner to the PIN. */
  enter() {
    const { t, flow } = this.kiosk;
    this.pin = "";
    this.#pad();
    this.#dots();
    this.#fault("");
    const shut = flow.offer !== null && !flow.offer.kiosk.operator;
    show(byId("pad"), !shut);
    show(byId("pin-dots"), !shut);
    write(byId("operator-ask"), t(shut ? "kiosk.operator.closed" : "kiosk.operator.pin"));
    show(byId("operator-lock"), true);
    show(byId("operator-panel"), false);
    if (!this.dialog.open) this.dialog.showModal();
    this.#awake();
  }

  close() {
    this.dialog.close();
  }

  #forget() {
    this.pin = "";
    this.asked = null;
    clearTimeout(this.lonely);
    this.kiosk.server.lock();
    this.kiosk.touch();
  }

  #awake() {
    clearTimeout(this.lonely);
    this.lonely = window.setTimeout(() => this.close(), LONELY_MS);
  }

  async #unlock() {
    const { server, t } = this.kiosk;
    if (this.pin === "") return;
    const { pin } = this;
    this.pin = "";
    try {
      await server.unlock(pin);
      await this.#refresh();
      this.#say("");
      show(byId("operator-lock"), false);
      show(byId("operator-panel"), true);
    } catch (error) {
      this.#dots();
      const { code, waitS } = error instanceof Refusal ? error : new Refusal("network");
      const key = { forbidden: "wrong", unauthorised: "wrong", network: "unreachable", starting: "unreachable" }[code];
      this.#fault(code === "rate_limited" ? t("kiosk.operator.wait", { count: waitS }) : t(`kiosk.operator.${key ?? "failed"}`));
    }
  }

  async #refresh() {
    const { kiosk } = this;
    const status = await kiosk.server.status().catch((error) => {
      if (error instanceof Refusal && error.code === "forbidden") throw error;
      return null;
    });
    const { pending } = kiosk.page?.state ?? { pending: null };
    const facts = factsOf(kiosk.t, status, {
      running: kiosk.flow.interview !== null, owing: pending !== null && !pending.accepted, fault: kiosk.vault.fault,
      installed: kiosk.installation.installed, waiting: kiosk.installation.waiting,
    });
    facts.push(clockFact(kiosk.t, status, new Date()));
    byId("operator-facts").replaceChildren(...facts.flatMap(({ name, value, bad }) => [make("dt", "", name), make("dd", bad ? "bad" : "", value)]));
    this.#actions();
  }

  #actions() {
    const { t, flow } = this.kiosk;
    /** @type {Act[]} */
    const acts = [...(flow.stage === "talk" ? [/** @type {const} */ ("end")] : []), "over", "export", "restart", "refresh"];
    byId("operator-actions").replaceChildren(...acts.map((act) => {
      const sure = this.asked === act;
      const button = /** @type {HTMLButtonElement} */ (make("button", sure ? "danger big" : "outlined big", t(`kiosk.act.${act}${sure ? ".sure" : ""}`)));
      button.type = "button";
      button.id = `act-${act}`;
      button.dataset["testid"] = `act-${act}`;
      button.addEventListener("click", () => void this.#act(act));
      return button;
    }));
    if (this.asked) document.getElementById(`act-${this.asked}`)?.focus();
  }

  /** @param {string} problem @param {string} [done] */
  #say(problem, done = "") {
    write(byId("operator-problem"), problem);
    show(byId("operator-problem"), problem !== "");
    write(byId("operator-done"), done);
  }

  /** @param {Act} act */
  async #act(act) {
    const { kiosk } = this;
    this.#say("");
    if (GRAVE.has(act) && this.asked !== act) {
      this.asked = act;
      return this.#actions();
    }
    this.asked = null;
    try {
      await this.#do(act);
    } catch (error) {
      const code = error instanceof Refusal ? error.code : "internal";
      this.#say(kiosk.t(this.#problemOf(act, code)));
      if (code === "forbidden" && act !== "restart") this.enter();
    }
    if (this.dialog.open) this.#actions();
  }

  /** @param {Act} act @param {string} code @returns {string} */
  #problemOf(act, code) {
    if (code === "network") return "kiosk.operator.unreachable";
    if (act === "export" && code === "not_found") return "kiosk.act.export.none";
    if (act === "restart" && code === "forbidden") return "kiosk.act.restart.elsewhere";
    return code === "forbidden" ? "kiosk.operator.expired" : "kiosk.operator.failed";
  }

  /** @param {Act} act */
  async #do(act) {
    const { kiosk } = this;
    switch (act) {
      case "refresh": return this.#refresh();
      case "export": {
        const { name, file } = await kiosk.server.exported();
        save(name, file);
        return this.#say("", kiosk.t("kiosk.act.export.done", { name }));
      }
      case "restart":
        await kiosk.server.restart();
        this.close();
        return void kiosk.look();
      case "end":
        this.close();
        kiosk.page?.dispatch({ type: "ask_to_leave", dialog: "finish" });
        return kiosk.page?.dispatch({ type: "leave" });
      case "over":
        this.close();
        kiosk.force = true;
        return kiosk.dispatch({ type: "reset" });
    }
  }

  /** Shows on the sign that something needs the operator. */
  alarm() {
    const { t, vault } = this.kiosk;
    const mark = byId("corner-alarm");
    mark.title = vault.fault ? t(`kiosk.fact.browser.${vault.fault}`) : "";
    show(mark, vault.fault !== null);
    byId("corner").setAttribute("aria-label", vault.fault ? `${t("kiosk.operator.open")}. ${t("kiosk.operator.alarm")}` : t("kiosk.operator.open"));
  }
}

/** @param {string} name @param {Blob} file */
function save(name, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 30_000);
}
