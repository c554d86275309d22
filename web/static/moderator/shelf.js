/** What the page remembers on this device: how a moderator likes the lists, never anything of an interview. */

const KEY = "askwell:moderator:";

export const shelf = {
  /**
   * @template {object} T
   * @param {string} name @param {T} usual
   * @returns {T} as it was kept, with what is missing or of another kind as usual.
   */
  read(name, usual) {
    /** @type {any} */
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(KEY + name) ?? "null");
    } catch {
      kept = null;
    }
    const found = { ...usual };
    for (const [key, value] of Object.entries(usual)) {
      if (kept && typeof kept[key] === typeof value) /** @type {any} */ (found)[key] = kept[key];
    }
    return found;
  },

  /** @param {string} name @param {object} value */
  write(name, value) {
    try {
      localStorage.setItem(KEY + name, JSON.stringify(value));
    } catch {
      // The browser forbids keeping anything; it holds for this page.
    }
  },
};
