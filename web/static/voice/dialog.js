/** The settings of speaking, in a dialog. */

import { make, show, write } from "../interview/dom.js";
import { microphones } from "./microphone.js";
import { interruptOf, patienceOf, reviewOf } from "./settings.js";
import { silenceOf } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./settings.js").Settings} Settings
 * @typedef {import("./panel.js").Hands} Hands
 * @typedef {import("../texts/index.js").Texts} Texts
 */

export class SettingsDialog {
  /** @param {Texts} t @param {Hands} hands */
  constructor(t, hands) {
    this.t = t;
    this.hands = hands;
    /** @type {VoiceState | null} */
    this.state = null;
    /** @type {Map<string, HTMLInputElement>} */
    this.inputs = new Map();
    this.devices = /** @type {HTMLSelectElement} */ (make("select"));
    this.deviceVoice = this.#check("device-voice", (on) => ({ deviceVoice: on }), "voice.set.device-voice.more");
    this.interrupt = this.#check("interrupt", (on) => ({ interrupt: on }), "voice.set.interrupt.more");
    this.privacy = make("p", "fine");
    this.pauses = make("p", "fine");
    this.pauses.id = "voice-pauses";
    /** What each choice of patience is in seconds. @type {Map<import("./settings.js").Patience, HTMLElement>} */
    this.seconds = new Map();
    this.element = this.#build();
    document.body.append(this.element);
  }

  #build() {
    const { t } = this;
    const dialog = /** @type {HTMLDialogElement} */ (make("dialog", "voice-dialog"));
    dialog.id = "voice-dialog";
    dialog.dataset["testid"] = "voice-dialog";
    dialog.setAttribute("aria-labelledby", "voice-dialog-title");
    const title = make("h2", "", t("voice.set.title"));
    title.id = "voice-dialog-title";
    const close = /** @type {HTMLButtonElement} */ (make("button", "primary", t("voice.set.close")));
    close.type = "button";
    close.id = "voice-dialog-close";
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });

    this.devices.id = "voice-device";
    this.devices.addEventListener("change", () => this.#set({ device: this.devices.value }));
    const device = make("label", "field");
    device.append(make("span", "field-name", t("voice.set.device")), this.devices);

    const more = make("details", "more");
    more.append(make("summary", "", t("voice.set.more")), make("p", "fine", t("voice.set.more.text")),
      this.#check("echo", (on) => ({ echo: on })), this.#check("noise", (on) => ({ noise: on })), this.#check("gain", (on) => ({ gain: on })));

    const checks = make("div", "checks");
    checks.append(
      this.#check("review", (on) => ({ review: on })),
      this.#check("read", (on) => {
        if (on) this.hands.prime();
        return { read: on };
      }),
      this.deviceVoice,
      this.interrupt,
      this.#check("sounds", (on) => ({ sounds: on })),
    );
    const actions = make("div", "actions");
    actions.append(close);
    dialog.append(
      title,
      this.#choice("mode", ["hands", "push"], (value) => ({ mode: value })),
      this.#patience(),
      checks, device, more, this.privacy, actions,
    );
    return dialog;
  }

  /**
   * @template {string} V
   * @param {string} name @param {readonly V[]} values @param {(value: V) => Partial<Settings>} change
   */
  #choice(name, values, change) {
    const set = make("fieldset", `choice ${name}`);
    set.append(make("legend", "", this.t(`voice.set.${name}`)));
    const row = make("div", "choice-row");
    for (const value of values) {
      const label = make("label", "radio");
      const input = this.#input("radio", `${name}-${value}`, () => this.#set(change(value)));
      input.name = `voice-${name}`;
      const words = make("span", "radio-words");
      words.append(make("span", "", this.t(`voice.set.${name}.${value}`)), make("span", "fine", this.t(`voice.set.${name}.${value}.more`)));
      label.append(input, words);
      row.append(label);
    }
    set.append(row);
    return set;
  }

  /** What each choice means, in seconds, stands in it once the server's times are known. */
  #patience() {
    const set = this.#choice("patience", /** @type {const} */ (["quick", "normal", "patient"]), (value) => ({ patience: value }));
    for (const value of /** @type {const} */ (["quick", "normal", "patient"])) {
      const words = this.inputs.get(`patience-${value}`)?.nextElementSibling?.firstElementChild;
      if (words) this.seconds.set(value, /** @type {HTMLElement} */ (words));
    }
    set.setAttribute("aria-describedby", this.pauses.id);
    set.append(this.pauses);
    return set;
  }

  /** @param {string} name @param {(on: boolean) => Partial<Settings>} change @param {string} [more] */
  #check(name, change, more = "") {
    const label = make("label", "check");
    const input = this.#input("checkbox", name, () => this.#set(change(input.checked)));
    const words = make("span", "radio-words");
    words.append(make("span", "", this.t(`voice.set.${name}`)));
    if (more) words.append(make("span", "fine", this.t(more)));
    label.append(input, words);
    return label;
  }

  /** @param {string} type @param {string} name @param {() => void} changed */
  #input(type, name, changed) {
    const input = /** @type {HTMLInputElement} */ (make("input"));
    input.type = type;
    input.id = `voice-set-${name}`;
    input.addEventListener("change", changed);
    this.inputs.set(name, input);
    return input;
  }

  /** @param {Partial<Settings>} change */
  #set(change) {
    if (this.state) this.hands.act({ type: "settings", settings: { ...this.state.settings, ...change }, key: this.hands.key() });
  }

  /** @param {VoiceState} voice */
  open(voice) {
    this.state = voice;
    void this.#fill();
    this.#show(voice);
    this.element.showModal();
  }

  async #fill() {
    const found = await microphones();
    const usual = /** @type {HTMLOptionElement} */ (make("option", "", this.t("voice.set.device.usual")));
    usual.value = "";
    this.devices.replaceChildren(usual, ...found.map(({ id, label }) => {
      const option = /** @type {HTMLOptionElement} */ (make("option", "", label));
      option.value = id;
      return option;
    }));
    const wanted = this.state?.settings.device ?? "";
    this.devices.value = found.some(({ id }) => id === wanted) ? wanted : "";
  }

  /** @param {VoiceState} voice */
  render(voice) {
    this.state = voice;
    if (this.element.open) this.#show(voice);
    if (this.element.open && voice.stage === "off") this.element.close();
  }

  /** @param {VoiceState} voice */
  #show(voice) {
    const { settings, offer } = voice;
    /** @param {string} name @param {boolean} on */
    const mark = (name, on) => {
      const input = this.inputs.get(name);
      if (input && input.checked !== on) input.checked = on;
    };
    mark(`mode-${settings.mode}`, true);
    mark(`patience-${patienceOf(settings, offer)}`, true);
    for (const [value, words] of this.seconds) write(words, this.t(`voice.set.patience.${value}`, { seconds: silenceOf(voice, value) }));
    const reopen = offer?.reopen_s ?? 0;
    write(this.pauses, this.t(reopen > 0 ? "voice.set.patience.reopen" : "voice.set.patience.note", { seconds: reopen }));
    mark("review", reviewOf(settings, offer));
    mark("read", settings.read);
    mark("device-voice", settings.deviceVoice);
    mark("interrupt", interruptOf(settings, offer));
    mark("sounds", settings.sounds);
    mark("echo", settings.echo ?? settings.read);
    mark("noise", settings.noise);
    mark("gain", settings.gain);
    show(this.deviceVoice, settings.read && offer?.voice === true);
    show(this.interrupt, settings.read && offer?.barge_in === true);
    this.privacy.textContent = this.t(offer?.record_audio ? "voice.set.recorded" : "voice.set.unrecorded");
  }
}
