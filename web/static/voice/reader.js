/** Reads questions aloud with the voices of the device. */

/** @typedef {{lang: string, localService: boolean, default: boolean, name: string}} VoiceLike */

/** Chromium goes silent in the middle of long utterances, so they are read in pieces of at most this length. */
const PIECE_CHARS = 180;

/**
 * @template {VoiceLike} T
 * @param {readonly T[]} voices
 * @param {string} language BCP 47.
 * @returns {T | null} null where none speaks the language: a wrong accent is worse than silence.
 */
export function voiceFor(voices, language) {
  const wanted = language.toLowerCase().replace("_", "-");
  const base = wanted.split("-")[0] ?? wanted;
  /** @param {T} voice */
  const score = (voice) => {
    const own = voice.lang.toLowerCase().replace("_", "-");
    if (own !== wanted && own.split("-")[0] !== base) return -1;
    return (own === wanted ? 4 : 0) + (voice.default ? 2 : 0) + (voice.localService ? 1 : 0);
  };
  const best = voices.reduce((/** @type {T | null} */ found, voice) => (score(voice) > (found ? score(found) : -1) ? voice : found), null);
  return best;
}

/** @param {string} text @returns {string[]} sentences, long ones cut between words. */
export function piecesOf(text) {
  const sentences = text.match(/[^.!?…。？！]+[.!?…。？！]*["'”’)\]]*\s*|[.!?…。？！]+\s*/gu) ?? [];
  return sentences.flatMap((sentence) => {
    const parts = [];
    let rest = sentence.trim();
    while (rest.length > PIECE_CHARS) {
      const at = rest.lastIndexOf(" ", PIECE_CHARS);
      const cut = at > 0 ? at : PIECE_CHARS;
      parts.push(rest.slice(0, cut).trim());
      rest = rest.slice(cut).trim();
    }
    return rest ? [...parts, rest] : parts;
  });
}

export class Reader {
  /** @param {{started: () => void, over: (how: "finished" | "stopped" | "failed") => void}} told */
  constructor({ started, over }) {
    this.started = started;
    this.over = over;
    this.turn = 0;
    this.busy = false;
    this.watch = 0;
  }

  get able() {
    return typeof window.speechSynthesis === "object" && typeof SpeechSynthesisUtterance === "function";
  }

  /** Safari lets the first words begin within a gesture only. */
  prime() {
    if (this.able && !this.busy) window.speechSynthesis.speak(new SpeechSynthesisUtterance(""));
  }

  /** @param {string} language @returns {boolean} */
  speaks(language) {
    return this.able && voiceFor(window.speechSynthesis.getVoices(), language) !== null;
  }

  /** @param {string} text @param {string} language */
  async read(text, language) {
    this.#end();
    const turn = (this.turn += 1);
    if (!this.able) return this.over("failed");
    this.busy = true;
    const voice = voiceFor(await this.#voices(), language);
    if (turn !== this.turn) return;
    const pieces = piecesOf(text);
    if (!voice || pieces.length === 0) return this.#finish("failed");
    pieces.forEach((piece, index) => {
      const utterance = new SpeechSynthesisUtterance(piece);
      utterance.voice = voice;
      utterance.lang = voice.lang;
      utterance.onstart = () => {
        if (turn !== this.turn) return;
        if (index === 0) this.started();
        this.#expect(turn, piece);
      };
      utterance.onend = () => turn === this.turn && index === pieces.length - 1 && this.#finish("finished");
      utterance.onerror = () => turn === this.turn && this.#finish("failed");
      window.speechSynthesis.speak(utterance);
    });
    this.#expect(turn, pieces[0] ?? "");
  }

  /** Stops in the middle. */
  hush() {
    if (!this.busy) return;
    this.silence();
    this.over("stopped");
  }

  /** The same, and nothing is told. */
  silence() {
    if (!this.busy) return;
    this.turn += 1;
    this.#end();
    clearTimeout(this.watch);
    this.busy = false;
  }

  #end() {
    if (this.able) window.speechSynthesis.cancel();
  }

  /** @param {"finished" | "stopped" | "failed"} how */
  #finish(how) {
    clearTimeout(this.watch);
    this.busy = false;
    this.over(how);
  }

  /** Some engines never say that they have ended; nobody is to wait for them. @param {number} turn @param {string} piece */
  #expect(turn, piece) {
    clearTimeout(this.watch);
    this.watch = window.setTimeout(() => {
      if (turn !== this.turn) return;
      this.turn += 1;
      this.#end();
      this.#finish("finished");
    }, 5_000 + piece.length * 150);
  }

  /** Voices arrive late in some browsers. @returns {Promise<SpeechSynthesisVoice[]>} */
  async #voices() {
    const synthesis = window.speechSynthesis;
    if (synthesis.getVoices().length > 0) return synthesis.getVoices();
    await new Promise((resolve) => {
      synthesis.addEventListener("voiceschanged", resolve, { once: true });
      setTimeout(resolve, 1_000);
    });
    return synthesis.getVoices();
  }
}
