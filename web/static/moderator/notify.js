/** Telling a moderator who does not look: the title, a notification, a short sound. */

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./rows.js").Row} Row */

/** Two soft notes: hertz, start and length in seconds. */
const NOTES = [[660, 0, 0.16], [880, 0.14, 0.22]];

export class Notifier {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.settings = app.shelf.read("notify", { on: false, sound: true });
    /** @type {AudioContext | null} */
    this.audio = null;
    this.title = "askwell";
    this.calling = 0;
  }

  /** @returns {boolean} whether the browser may show notifications. */
  get allowed() {
    return "Notification" in window && Notification.permission === "granted";
  }

  /** Switched on by a click, which is when browsers let one ask and make sounds. @param {boolean} on */
  async turn(on) {
    this.settings.on = on;
    this.app.shelf.write("notify", this.settings);
    if (!on) return;
    this.audio ??= new AudioContext();
    void this.audio.resume();
    if ("Notification" in window && Notification.permission === "default") await Notification.requestPermission();
    this.chime();
  }

  /** @param {string} title of the view. @param {number} [calling] rows that need a person. */
  name(title, calling = this.calling) {
    this.title = title;
    this.calling = calling;
    const now = `${calling ? `(${calling}) ` : ""}${title} · askwell`;
    if (document.title !== now) document.title = now;
  }

  /** @param {{row: Row, alert: {code: string, since: string}}[]} alerts new ones, most pressing first. */
  tell(alerts) {
    const first = alerts[0];
    if (!first || !this.settings.on) return;
    if (this.settings.sound) this.chime();
    if (!document.hidden || !this.allowed) return;
    const { t, word } = this.app;
    const more = alerts.length > 1 ? ` ${t("mod.notify.more", { count: alerts.length - 1 })}` : "";
    const shown = new Notification(word("mod.alert", first.alert.code), {
      body: `${first.row.concept_name || first.row.concept_id}${more}`, tag: `askwell:${first.row.session_id}:${first.alert.code}`,
    });
    shown.onclick = () => {
      window.focus();
      location.hash = `#/interview/${encodeURIComponent(first.row.session_id)}`;
      shown.close();
    };
  }

  chime() {
    const audio = this.audio;
    if (!audio || audio.state !== "running") return;
    for (const [hertz = 0, start = 0, length = 0] of NOTES) {
      const note = audio.createOscillator();
      const gain = audio.createGain();
      note.frequency.value = hertz;
      const from = audio.currentTime + start;
      gain.gain.setValueAtTime(0, from);
      gain.gain.linearRampToValueAtTime(0.08, from + 0.02);
      gain.gain.exponentialRampToValueAtTime(0.0005, from + length);
      note.connect(gain).connect(audio.destination);
      note.start(from);
      note.stop(from + length);
    }
  }
}
