/** Numbers, amounts, dates and spans of time as the reader writes them. */

/** @typedef {import("./index.js").Texts} Texts */

/** Units of time in seconds, largest first. @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [["year", 31_557_600], ["month", 2_629_800], ["week", 604_800], ["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];

/** @param {Pick<Texts, "language">} texts */
export function formatsOf({ language }) {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const list = new Intl.ListFormat(language, { type: "conjunction" });
  /** @type {Map<string, Intl.NumberFormat>} */
  const numbers = new Map();
  /** @type {Map<string, Intl.DateTimeFormat>} */
  const dates = new Map();

  /** @param {number} value @param {Intl.NumberFormatOptions} [options] */
  const number = (value, options = {}) => {
    const key = JSON.stringify(options);
    const format = numbers.get(key) ?? new Intl.NumberFormat(language, options);
    numbers.set(key, format);
    return format.format(value);
  };
  /** @param {Date | number | string} at a moment: milliseconds, or ISO 8601. @param {Intl.DateTimeFormatOptions} options */
  const date = (at, options) => {
    const key = JSON.stringify(options);
    const format = dates.get(key) ?? new Intl.DateTimeFormat(language, options);
    dates.set(key, format);
    return format.format(new Date(at));
  };

  return {
    number,
    date,
    /** @param {number} share in [0, 1]. */
    percent: (share) => number(share, { style: "percent", maximumFractionDigits: 0 }),
    /** @param {number} amount @param {string} [currency] ISO 4217. */
    money: (amount, currency = "USD") => number(amount, { style: "currency", currency, maximumFractionDigits: amount < 1 ? 4 : 2 }),
    /** @param {number} count */
    bytes: (count) => {
      const step = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
      const unit = /** @type {string} */ (["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"][step]);
      return number(count / 1000 ** step, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: step > 1 ? 1 : 0 });
    },
    /** @param {Date | number | string} at */
    time: (at) => date(at, { hour: "2-digit", minute: "2-digit" }),
    /** @param {Date | number | string} at */
    moment: (at) => date(at, { dateStyle: "medium", timeStyle: "short" }),
    /** @param {number} seconds */
    seconds: (seconds) => number(seconds, { style: "unit", unit: "second", unitDisplay: "short", maximumFractionDigits: seconds < 10 ? 1 : 0 }),
    /** @param {number} ms */
    milliseconds: (ms) => number(ms, { style: "unit", unit: "millisecond", unitDisplay: "short", maximumFractionDigits: 0 }),
    /** How long ago, in the largest unit that fits. @param {number} seconds 0 or more. */
    ago: (seconds) => {
      const [unit, length] = UNITS.find(([, size]) => seconds >= size) ?? /** @type {const} */ (["second", 1]);
      return relative.format(-Math.floor(seconds / length), unit);
    },
    /** @param {readonly string[]} parts */
    list: (parts) => list.format(parts),
  };
}
