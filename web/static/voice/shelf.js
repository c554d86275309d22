/** Frames of the running answer, put aside on the device so that a reload of the page costs no word. */

/** @typedef {import("./tape.js").Frame} Frame */
/** @typedef {{key: string, frames: Frame[]}} KeptAnswer */

const NAME = "askwell-speech";
const STORE = "frames";
const EVERY_MS = 500;

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** @returns {Promise<IDBDatabase>} */
function open() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: ["session", "seq"] });
  return done(request);
}

export class AudioShelf {
  /** @param {string} session */
  constructor(session) {
    this.session = session;
    /** @type {Promise<IDBDatabase | null> | null} */
    this.opened = null;
    /** @type {{session: string, seq: number, key: string, pcm: Uint8Array}[]} */
    this.waiting = [];
    this.timer = 0;
  }

  /** @param {string} key turn key of the answer. @param {Frame} frame */
  keep(key, frame) {
    this.waiting.push({ session: this.session, seq: frame.seq, key, pcm: frame.pcm });
    this.timer ||= window.setTimeout(() => void this.flush(), EVERY_MS);
  }

  async flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    const batch = this.waiting;
    this.waiting = [];
    if (batch.length > 0) await this.#with("readwrite", (store) => batch.forEach((row) => store.put(row)), "strict");
  }

  /** @param {number} seq everything below goes. */
  async forget(seq) {
    this.waiting = this.waiting.filter((row) => row.seq >= seq);
    if (seq > 0) await this.#with("readwrite", (store) => void store.delete(IDBKeyRange.bound([this.session, 0], [this.session, seq], false, true)));
  }

  async wipe() {
    this.waiting = [];
    await this.#with("readwrite", (store) => void store.delete(this.#mine()));
  }

  /** @returns {Promise<KeptAnswer | null>} the newest answer of an earlier visit that has not become words. */
  async load() {
    const base = await this.#base();
    if (!base) return null;
    try {
      /** @type {{seq: number, key: string, pcm: Uint8Array}[]} */
      const rows = await done(base.transaction(STORE).objectStore(STORE).getAll(this.#mine()));
      return newest(rows);
    } catch {
      return null;
    }
  }

  /** @returns {Promise<IDBDatabase | null>} null where the browser keeps nothing: a reload costs the words then. */
  #base() {
    this.opened ??= (async () => open())().catch(() => null);
    return this.opened;
  }

  #mine() {
    return IDBKeyRange.bound([this.session, 0], [this.session, Infinity]);
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => void} act
   * @param {IDBTransactionDurability} [durability] strict where a power cut must cost no word.
   */
  async #with(mode, act, durability = "default") {
    const base = await this.#base();
    if (!base) return;
    try {
      const transaction = base.transaction(STORE, mode, { durability });
      act(transaction.objectStore(STORE));
      await new Promise((resolve) => {
        transaction.oncomplete = resolve;
        transaction.onerror = resolve;
        transaction.onabort = resolve;
      });
    } catch {
      return;
    }
  }
}

/**
 * @param {readonly {seq: number, key: string, pcm: Uint8Array}[]} rows by number.
 * @returns {KeptAnswer | null} the longest run without gaps that ends with the newest frame, under the newest key.
 */
export function newest(rows) {
  const last = rows.at(-1);
  if (!last) return null;
  let from = rows.length - 1;
  while (from > 0 && rows[from - 1]?.seq === (rows[from]?.seq ?? 0) - 1) from -= 1;
  return { key: last.key, frames: rows.slice(from).map(({ seq, pcm }) => ({ seq, pcm })) };
}
