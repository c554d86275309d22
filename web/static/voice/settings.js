/** How a respondent wants to speak; kept on the device, the same for all interviews. */

/**
 * @typedef {"quick" | "normal" | "patient"} Patience
 * @typedef {object} Settings
 * @property {"hands" | "push"} mode hands-free, or a button held while speaking.
 * @property {Patience | null} patience null: as the study has it.
 * @property {boolean} read questions are read aloud.
 * @property {boolean} deviceVoice by a voice of the device, also where the server has one.
 * @property {boolean | null} interrupt words stop the reading; without it nothing is listened to meanwhile; null: as
 *   the server has it.
 * @property {boolean | null} review texts are read through before they are sent; null: as the study has it.
 * @property {boolean} sounds
 * @property {string} device id of the microphone; "" for the system's choice.
 * @property {boolean | null} echo echo cancellation; null: only while questions are read aloud.
 * @property {boolean} noise noise suppression; costs words.
 * @property {boolean} gain automatic gain; costs words.
 * @property {boolean} checked whether somebody has tried on this device whether they are heard, or did not want to.
 *
 * @typedef {import("../core/state.js").SpeechOffer} SpeechOffer
 * @typedef {import("../core/pending.js").Shelf} Shelf
 */

const KEY = "askwell:voice";

/** @type {Settings} */
export const USUAL = {
  mode: "hands", patience: null, read: false, deviceVoice: false, interrupt: null, review: null, sounds: false, device: "",
  echo: null, noise: false, gain: false, checked: false,
};

/** @param {unknown} value @param {readonly T[]} choices @param {T} usual @returns {T} @template T */
const choice = (value, choices, usual) => choices.find((one) => one === value) ?? usual;

/** @param {any} value @param {Settings} usual @returns {Settings} what can be read of it. */
export function readSettings(value, usual) {
  if (value === null || typeof value !== "object") return usual;
  const yes = [true, false];
  return {
    mode: choice(value.mode, /** @type {const} */ (["hands", "push"]), usual.mode),
    patience: choice(value.patience, /** @type {const} */ (["quick", "normal", "patient", null]), usual.patience),
    read: choice(value.read, yes, usual.read),
    deviceVoice: choice(value.deviceVoice, yes, usual.deviceVoice),
    interrupt: choice(value.interrupt, [true, false, null], usual.interrupt),
    review: choice(value.review, [true, false, null], usual.review),
    sounds: choice(value.sounds, yes, usual.sounds),
    device: typeof value.device === "string" ? value.device : usual.device,
    echo: choice(value.echo, [true, false, null], usual.echo),
    noise: choice(value.noise, yes, usual.noise),
    gain: choice(value.gain, yes, usual.gain),
    checked: choice(value.checked, yes, usual.checked),
  };
}

/** The server's own defaults for the microphone. @param {SpeechOffer | null | undefined} offer @returns {Settings} */
export function usualFor(offer) {
  return {
    ...USUAL, echo: offer?.echo_cancellation ?? USUAL.echo, noise: offer?.noise_suppression ?? USUAL.noise,
    gain: offer?.auto_gain_control ?? USUAL.gain,
  };
}

/** @param {Shelf | null} shelf @param {SpeechOffer | null | undefined} offer @returns {Settings} */
export function loadSettings(shelf, offer) {
  const usual = usualFor(offer);
  try {
    return readSettings(JSON.parse(shelf?.getItem(KEY) ?? "null"), usual);
  } catch {
    return usual;
  }
}

/** @param {Shelf | null} shelf @param {Settings} settings @returns {boolean} false where the browser keeps nothing. */
export function saveSettings(shelf, settings) {
  try {
    shelf?.setItem(KEY, JSON.stringify(settings));
    return shelf !== null;
  } catch {
    return false;
  }
}

/** What the microphone is asked for. @param {Settings} settings @returns {MediaTrackConstraints} */
export function constraintsFor(settings) {
  return {
    channelCount: { ideal: 1 },
    echoCancellation: { ideal: settings.echo ?? settings.read },
    noiseSuppression: { ideal: settings.noise },
    autoGainControl: { ideal: settings.gain },
    ...(settings.device ? { deviceId: { exact: settings.device } } : {}),
  };
}

/**
 * What the server is told.
 * @param {Settings} settings @param {SpeechOffer | null | undefined} offer
 * @param {boolean} [held] whether the page decides what becomes of the next text, whatever the respondent wishes.
 */
export function wishes(settings, offer, held = false) {
  return {
    type: /** @type {const} */ ("set"), patience: settings.mode === "push" ? "patient" : patienceOf(settings, offer), spoken: settings.read,
    review_transcript: held || reviewOf(settings, offer),
  };
}

/** @param {Settings} settings @param {SpeechOffer | null | undefined} offer @returns {Patience} */
export function patienceOf(settings, offer) {
  return settings.patience ?? choice(offer?.patience, /** @type {const} */ (["quick", "normal", "patient"]), "normal");
}

/** Only where the server listens while a question is read. @param {Settings} settings @param {SpeechOffer | null | undefined} offer @returns {boolean} */
export function interruptOf(settings, offer) {
  return offer?.barge_in === true && settings.interrupt !== false;
}

/** @param {Settings} settings @param {SpeechOffer | null | undefined} offer @returns {boolean} */
export function reviewOf(settings, offer) {
  return settings.review ?? offer?.review_transcript ?? false;
}
