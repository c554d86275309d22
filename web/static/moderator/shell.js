/** What is around every view: the bar, the banner about the connection, and short messages. */

import { Once, h, icon } from "./dom.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").View} View */

const TOAST_MS = 7_000;

/** @param {string} id @returns {HTMLElement} */
function at(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** @param {App} app @param {() => void} onSignOut */
export function makeShell(app, onSignOut) {
  const { t, f } = app;
  const bar = at("bar");
  const main = at("main");
  const banner = at("banner");
  const toasts = at("toasts");
  const nav = at("nav");
  const kiosks = at("kiosks");
  const kiosksOnce = new Once();
  const bell = /** @type {HTMLButtonElement} */ (at("bell"));
  bell.prepend(icon("bell"));
  bell.addEventListener("click", () => {
    const on = !app.notifier.settings.on;
    void app.notifier.turn(on).then(() => {
      writeBell();
      toast(t(on ? (app.notifier.allowed ? "mod.notify.on" : "mod.notify.sound_only") : "mod.notify.off"));
    });
  });
  let linkText = "";
  let troubleText = "";
  at("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  at("sign-out").addEventListener("click", onSignOut);

  function writeBell() {
    bell.setAttribute("aria-pressed", String(app.notifier.settings.on));
  }

  function writeBanner() {
    const text = linkText || troubleText;
    banner.hidden = !text;
    if (banner.textContent !== text) banner.textContent = text;
  }

  /** @param {string} text @param {"" | "caution" | "alarm"} [kind] */
  function toast(text, kind = "") {
    const close = h("button", { type: "button", class: "link", onclick: () => made.remove() }, t("mod.close"));
    const made = h("div", `toast ${kind}`.trim(), h("span", {}, text), close);
    toasts.append(made);
    setTimeout(() => made.remove(), TOAST_MS);
  }

  return {
    bar,
    toast,

    /** @param {View} view @param {string | null} place in the navigation; none: nobody is signed in. */
    show(view, place) {
      main.replaceChildren(view.element);
      document.body.dataset["place"] = place ?? "signin";
      for (const element of [nav, at("who")]) element.hidden = place === null;
      if (place === null) {
        linkText = troubleText = "";
        writeBanner();
      }
      writeBell();
      for (const link of nav.querySelectorAll("a")) {
        const here = link.dataset["place"] === (place === "interview" ? "overview" : place);
        if (here) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      scrollTo(0, 0);
      const heading = main.querySelector("h1");
      if (shownOnce) heading?.focus({ preventScroll: true });
      shownOnce = true;
    },

    /** @param {string} name */
    who(name) {
      at("who-name").textContent = name;
    },

    /** @param {import("./socket.js").Status} status @param {number} retryMs @param {number} heard milliseconds; 0: never. */
    link(status, retryMs, heard) {
      const lost = status === "waiting" || (status === "connecting" && heard > 0);
      document.body.classList.toggle("stale", lost && heard > 0);
      banner.dataset["state"] = status;
      const since = heard ? ` ${t("mod.link.since", { time: f.date(heard, { hour: "2-digit", minute: "2-digit", second: "2-digit" }) })}` : "";
      const text = status === "waiting" && retryMs > 900 ? t("mod.link.lost", { seconds: Math.ceil(retryMs / 1000) }) : t("mod.link.trying");
      linkText = lost ? text + since : "";
      writeBanner();
    },

    /** What is wrong with the server. @param {import("./health.js").Trouble | null} trouble */
    trouble(trouble) {
      troubleText = trouble ? t(trouble.key, { reason: trouble.reason }) : "";
      writeBanner();
    },

    /** @param {{name: string, online: boolean, last_seen: string | null}[]} all */
    kiosks(all) {
      if (!kiosksOnce.differs(JSON.stringify(all))) return;
      kiosks.hidden = all.length === 0;
      const away = all.filter((kiosk) => !kiosk.online);
      kiosks.className = `badge ${away.length ? "alarm" : "good"}`;
      kiosks.textContent = away.length ? t("mod.kiosks.away", { count: away.length, names: f.list(away.map((kiosk) => kiosk.name)) }) : t("mod.kiosks.online", { count: all.length });
    },

    /** The server can't be asked who is there. @param {() => void} again */
    failed(again) {
      const retry = h("button", { type: "button", class: "primary", onclick: () => {
        main.replaceChildren();
        again();
      } }, t("mod.again"));
      main.replaceChildren(h("div", { class: "empty", role: "alert" }, h("h1", "title-m", t("mod.unreachable.title")), h("p", {}, t("mod.unreachable.text")), retry));
    },
  };
}

let shownOnce = false;
