/** How a device is doing, as lines for its operator. No browser in here. */

import { formatsOf } from "../texts/formats.js";

/**
 * @typedef {import("./server.js").Status} Status
 * @typedef {import("../texts/index.js").Texts} Texts
 * @typedef {{name: string, value: string, bad?: boolean}} Fact
 *
 * What the page itself knows.
 * @typedef {{running: boolean, owing: boolean, fault: import("./vault.js").Fault | null, installed: boolean, waiting: boolean}} Here
 */

/** Less free space than this is told as a problem, in bytes. */
const SCARCE = 500_000_000;
/** A clock that is off by more is told as a problem. */
const CLOCK_OFF_MS = 120_000;

/** @param {Texts} t @param {Status | null} status null where the server can't be reached. @param {Here} here @returns {Fact[]} */
export function factsOf(t, status, here) {
  const running = !here.running ? "none" : here.owing ? "waiting" : "running";
  /** @type {Fact[]} */
  const facts = [
    { name: t("kiosk.fact.server"), value: t(`kiosk.fact.server.${status ? "ready" : "away"}`), bad: !status },
    { name: t("kiosk.fact.interview"), value: t(`kiosk.fact.interview.${running}`), bad: here.owing },
  ];
  if (status) facts.push(...ofStatus(t, status));
  facts.push(
    { name: t("kiosk.fact.browser"), value: t(`kiosk.fact.browser.${here.fault ?? "fine"}`), bad: here.fault !== null },
    { name: t("kiosk.fact.page"), value: t(`kiosk.fact.page.${here.waiting ? "waiting" : here.installed ? "yes" : "no"}`) },
  );
  return facts;
}

/** @param {Texts} t @param {Status} status @returns {Fact[]} */
function ofStatus(t, status) {
  const { sync, unsynced, storage } = status;
  const to = sync.to ?? "";
  const { bytes, moment } = formatsOf(t);
  const reached = !sync.to ? "off" : sync.connected === null ? "unknown" : sync.connected ? "yes" : "no";
  const finished = t("kiosk.fact.unsynced.finished", { count: unsynced.finished });
  /** @type {Fact[]} */
  const facts = [{ name: t("kiosk.fact.sync"), value: t(`kiosk.fact.sync.${reached}`, { to }), bad: reached === "no" }];
  if (sync.to) facts.push({ name: t("kiosk.fact.sync.last"), value: sync.last_at ? moment(sync.last_at) : t("kiosk.fact.sync.never") });
  if (sync.last_error) facts.push({ name: t("kiosk.fact.sync.error"), value: sync.last_error, bad: true });
  facts.push(
    { name: t("kiosk.fact.unsynced"), value: unsynced.unfinished ? t("kiosk.fact.unsynced.open", { finished, count: unsynced.unfinished }) : finished },
    {
      name: t("kiosk.fact.storage"), bad: storage.free_bytes < SCARCE,
      value: t("kiosk.fact.storage.free", { free: bytes(storage.free_bytes), used: bytes(storage.used_bytes) }),
    },
    { name: t("kiosk.fact.version"), value: status.version },
  );
  if (status.device) facts.push({ name: t("kiosk.fact.device"), value: status.device.name });
  return facts;
}

/** @param {Texts} t @param {Status | null} status @param {Date} now by the device's own clock. @returns {Fact} */
export function clockFact(t, status, now) {
  const offMs = status ? Math.abs(now.getTime() - new Date(status.clock.now).getTime()) : 0;
  const name = t("kiosk.fact.clock");
  const text = formatsOf(t).moment(now);
  if (offMs <= CLOCK_OFF_MS) return { name, value: text };
  return { name, value: t("kiosk.fact.clock.off", { now: text, minutes: Math.round(offMs / 60_000) }), bad: true };
}
