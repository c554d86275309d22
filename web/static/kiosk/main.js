/** Starts the kiosk page: one per device, with whatever an interrupted interview left. */

import { loadTexts, fillTexts } from "../texts/index.js";
import { Chime } from "./chime.js";
import { Guard } from "./guard.js";
import { Installation } from "./installation.js";
import { decoded, deviceToken, lastConcept } from "./keys.js";
import { Kiosk, kept } from "./kiosk.js";
import { emptyStorage } from "./purge.js";
import { KioskServer } from "./server.js";
import { Vault } from "./vault.js";
import { followViewport } from "./viewport.js";

/** A page that is just being left still holds the device for a moment. */
const LOCK_DEADLINE_MS = 4_000;

/** @returns {Promise<boolean>} whether this is the device's only kiosk page; it stays so for as long as it is open. */
function alone() {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const held = () => {
      resolve(true);
      return new Promise(() => undefined);
    };
    navigator.locks.request("askwell-kiosk", { signal: AbortSignal.timeout(LOCK_DEADLINE_MS) }, held).catch(() => resolve(false));
  });
}

async function main() {
  const concept = decoded(location.pathname.split("/")[2] ?? "");
  const last = concept ? "" : lastConcept();
  if (last) return location.replace(`/kiosk/${encodeURIComponent(last)}`);
  const token = concept ? deviceToken(concept) : "";
  window.addEventListener("hashchange", () => {
    if (location.hash) location.reload();
  });
  void navigator.storage?.persist?.().catch(() => undefined);
  const guard = new Guard();
  followViewport();
  const installation = new Installation();
  void installation.install();
  const [t, only] = await Promise.all([loadTexts(navigator.language, "kiosk"), alone()]);
  fillTexts(document, t);
  const vault = only ? await Vault.open() : new Vault(null, new Map());
  if (only && !kept(vault, concept)) {
    await vault.clear();
    await emptyStorage();
    vault.reopen();
  }
  const kiosk = new Kiosk({ concept, vault, guard, installation, t, server: new KioskServer(token), chime: new Chime() });
  if (!concept || !only) kiosk.dispatch({ type: "refused", code: concept ? "elsewhere" : "no_concept" });
  else kiosk.start();
}

await main();
