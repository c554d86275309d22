/** As much of a browser as the voice part touches: elements, an audio thread and a microphone that do what a test says. */

/** An element that keeps what it is told. */
export class Piece extends EventTarget {
  /** @param {string} tag */
  constructor(tag) {
    super();
    this.tag = tag;
    this.id = "";
    this.lang = "";
    this.className = "";
    this.hidden = false;
    /** @type {Record<string, string>} */
    this.dataset = {};
    /** @type {Record<string, string>} */
    this.style = {};
    /** @type {(Piece | string)[]} */
    this.children = [];
    /** @type {Map<string, string>} */
    this.attributes = new Map();
    /** @type {Set<string>} */
    this.classes = new Set();
    this.scrollHeight = 0;
    this.value = "";
    this.classList = {
      contains: (/** @type {string} */ name) => this.classes.has(name),
      toggle: (/** @type {string} */ name, /** @type {boolean} */ on) => {
        if (on) this.classes.add(name);
        else this.classes.delete(name);
        return on;
      },
    };
  }

  /** @returns {string} */
  get textContent() {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }

  set textContent(text) {
    this.children = [text];
  }

  /** @returns {Piece | null} */
  get offsetParent() {
    return this.hidden ? null : this;
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) { this.attributes.set(name, value); }

  /** @param {string} name */
  getAttribute(name) { return this.attributes.get(name) ?? null; }

  /** @param {string} name */
  removeAttribute(name) { this.attributes.delete(name); }

  /** @param {(Piece | string)[]} children */
  append(...children) { this.children.push(...children); }

  /** @param {(Piece | string)[]} children */
  replaceChildren(...children) { this.children = children; }

  after() { return undefined; }

  replaceWith() { return undefined; }

  setPointerCapture() { return undefined; }

  focus() { return undefined; }

  click() { this.dispatchEvent(new Event("click")); }

  /** @param {unknown} other */
  contains(other) { return this === other; }

  /** The first within that has this class or tag. @param {string} selector @returns {Piece | null} */
  querySelector(selector) {
    const name = selector.replace(/^\./, "");
    for (const child of this.children) {
      if (typeof child === "string") continue;
      if (child.tag === name || child.className.split(" ").includes(name)) return child;
      const within = child.querySelector(selector);
      if (within) return within;
    }
    return null;
  }

  /** The piece within that has this id. @param {string} id @returns {Piece} */
  find(id) {
    const all = [...this.pieces()];
    const found = all.find((piece) => piece.id === id);
    if (!found) throw new Error(`there is no #${id}`);
    return found;
  }

  /** @returns {Generator<Piece>} */
  *pieces() {
    yield this;
    for (const child of this.children) if (child instanceof Piece) yield* child.pieces();
  }
}

/** A track, a stream or a node that is told what happened to it. */
class Part extends EventTarget {
  constructor() {
    super();
    this.enabled = true;
    this.muted = false;
    this.port = { onmessage: /** @type {((message: {data: any}) => void) | null} */ (null) };
  }

  /** @param {Part} next */
  connect(next) { return next; }

  stop() { return undefined; }
}

/** What a test turns. */
export class Browser {
  constructor() {
    /** Whether the part on the audio thread can be fetched. */
    this.fetchable = true;
    this.asked = 0;
    this.track = new Part();
    /** @type {any[]} */
    this.contexts = [];
    /** @type {Part[]} */
    this.nodes = [];
    /** @type {(() => void)[]} */
    this.clocks = [];
    this.window = new EventTarget();
    this.document = new Piece("document");
    this.#install();
  }

  get context() {
    return this.contexts.at(-1);
  }

  /** Seconds pass. @param {number} count */
  pass(count) {
    for (let second = 0; second < count; second += 1) for (const tick of this.clocks) tick();
  }

  /** A frame arrives. */
  frame() {
    this.nodes.at(-1)?.port.onmessage?.({ data: { pcm: new ArrayBuffer(1280), rms: 0, peak: 0, clipped: 0 } });
  }

  #install() {
    const browser = this;
    const body = new Piece("body");
    class Context extends EventTarget {
      constructor() {
        super();
        this.state = "running";
        this.destination = new Part();
        this.audioWorklet = {
          addModule: async () => {
            if (!browser.fetchable) throw new DOMException("", "AbortError");
          },
        };
        browser.contexts.push(this);
      }

      /** @param {string} state */
      become(state) {
        this.state = state;
        this.dispatchEvent(new Event("statechange"));
      }

      async resume() { this.become("running"); }

      async close() { this.state = "closed"; }

      createMediaStreamSource() { return new Part(); }
    }
    class Node extends Part {
      constructor() {
        super();
        browser.nodes.push(this);
      }
    }
    Object.assign(this.window, {
      isSecureContext: true,
      setInterval: (/** @type {() => void} */ tick) => browser.clocks.push(tick),
    });
    const named = new Map([["composer", new Piece("div")], ["skip", new Piece("button")], ["rephrase", new Piece("button")]]);
    Object.assign(this.document, {
      body, activeElement: null, createElement: (/** @type {string} */ tag) => new Piece(tag),
      createElementNS: (/** @type {string} */ _, /** @type {string} */ tag) => new Piece(tag),
      getElementById: (/** @type {string} */ id) => named.get(id) ?? null,
    });
    const stream = { getTracks: () => [this.track], getAudioTracks: () => [this.track] };
    const mediaDevices = {
      getUserMedia: async () => {
        browser.asked += 1;
        return stream;
      },
    };
    const matchMedia = () => ({ matches: false });
    const globals = {
      window: this.window, document: this.document, navigator: { mediaDevices, userAgent: "", maxTouchPoints: 0 }, matchMedia,
      AudioContext: Context, AudioWorkletNode: Node, GainNode: Part,
      clearInterval: (/** @type {number} */ id) => { browser.clocks[id - 1] = () => undefined; },
      requestAnimationFrame: () => 0, HTMLTextAreaElement: class {},
    };
    for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}
