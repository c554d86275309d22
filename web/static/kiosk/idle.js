/** Counts how long nobody has done anything. Times come in, in milliseconds of a clock that only runs forward. */

/** @typedef {{phase: "calm" | "warning" | "over", leftMs: number}} Idle `leftMs`: until the reset, during a warning. */

export class IdleClock {
  /** @param {number} warningMs from the last sign of life to the warning. @param {number} resetMs from the warning to the reset. */
  constructor(warningMs, resetMs) {
    this.warningMs = warningMs;
    this.resetMs = resetMs;
    this.last = 0;
  }

  /** A sign of life. @param {number} nowMs */
  touch(nowMs) {
    this.last = Math.max(this.last, nowMs);
  }

  /** @param {number} nowMs @returns {Idle} */
  at(nowMs) {
    const quietMs = Math.max(0, nowMs - this.last);
    if (quietMs < this.warningMs) return { phase: "calm", leftMs: this.resetMs };
    const leftMs = this.warningMs + this.resetMs - quietMs;
    return leftMs > 0 ? { phase: "warning", leftMs } : { phase: "over", leftMs: 0 };
  }
}
