/**
 * The one thing a kiosk keeps while somebody is interviewed: which interview it is, and the answer the server does not
 * have yet. One record, written through to the disk, gone at the reset.
 *
 * A shelf like `localStorage`, but that one reaches the disk only seconds later: too late for a battery that gives up.
 */

const NAME = "askwell-kiosk";
const STORE = "vault";
const KEY = "now";
/** What is typed is written together; what is sent is written at once. */
const LAZY_MS = 200;

/** @typedef {"full" | "unavailable"} Fault why nothing is kept: then it stays in memory, and the operator is told. */

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

export class Vault {
  /** @param {IDBDatabase | null} base @param {Map<string, string>} map */
  constructor(base, map) {
    this.base = base;
    this.map = map;
    /** @type {Fault | null} */
    this.fault = base ? null : "unavailable";
    this.told = () => {};
    this.timer = 0;
    this.dirty = false;
    this.sealed = false;
    /** @type {Promise<void> | null} */
    this.writing = null;
  }

  /** @returns {Promise<Vault>} with what an earlier life of this page left. */
  static async open() {
    try {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      const base = await done(request);
      const kept = await done(base.transaction(STORE).objectStore(STORE).get(KEY));
      return new Vault(base, readable(kept));
    } catch {
      return new Vault(null, new Map());
    }
  }

  /** @param {string} key */
  getItem(key) {
    return this.map.get(key) ?? null;
  }

  /** @param {string} key @param {string} value */
  setItem(key, value) {
    if (this.map.get(key) === value) return;
    this.map.set(key, value);
    this.#changed();
  }

  /** @param {string} key */
  removeItem(key) {
    if (this.map.delete(key)) this.#changed();
  }

  #changed() {
    if (this.sealed) return;
    this.dirty = true;
    this.timer ||= window.setTimeout(() => void this.settled(), LAZY_MS);
  }

  /** @returns {Promise<boolean>} once all there is is on the disk; false where it could not be kept. */
  async settled() {
    clearTimeout(this.timer);
    this.timer = 0;
    while (this.dirty || this.writing) {
      this.writing ??= this.#write().finally(() => { this.writing = null; });
      await this.writing;
    }
    return this.fault === null;
  }

  async #write() {
    this.dirty = false;
    const { base, map } = this;
    if (!base) return;
    try {
      const transaction = base.transaction(STORE, "readwrite", { durability: "strict" });
      const store = transaction.objectStore(STORE);
      if (map.size === 0) store.delete(KEY);
      else store.put(Object.fromEntries(map), KEY);
      await new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      this.#tell(null);
    } catch (error) {
      this.#tell(error instanceof DOMException && error.name === "QuotaExceededError" ? "full" : "unavailable");
    }
  }

  /** @param {Fault | null} fault */
  #tell(fault) {
    if (fault === this.fault) return;
    this.fault = fault;
    this.told();
  }

  /** Forgets everything, and whatever somebody still wants to put in. @returns {Promise<void>} once it is off the disk. */
  async clear() {
    this.map.clear();
    this.dirty = true;
    this.sealed = true;
    await this.settled();
  }

  /** Takes things in again. */
  reopen() {
    this.sealed = false;
  }
}

/** @param {unknown} kept @returns {Map<string, string>} nothing where it is not what we wrote. */
function readable(kept) {
  if (!kept || typeof kept !== "object") return new Map();
  return new Map(Object.entries(kept).filter(([, value]) => typeof value === "string"));
}
