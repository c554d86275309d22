/** Asks whether the server keeps what respondents say. */

const EVERY_MS = 10_000;

/**
 * @typedef {{key: "mod.health.answers" | "mod.health.store", reason: string}} Trouble what moderators are told.
 * @typedef {{redis?: string, database?: string, writer?: string}} Checks
 */

/**
 * The worst of what is wrong; null when all is well, or when the server does not say.
 * @param {Checks | undefined} checks of `/readyz`.
 * @returns {Trouble | null}
 */
export function troubleOf(checks) {
  if (!checks) return null;
  if (checks.redis && checks.redis !== "ok") return { key: "mod.health.answers", reason: checks.redis };
  const behind = [checks.database, checks.writer].find((state) => state && state !== "ok");
  return behind ? { key: "mod.health.store", reason: behind.replace(/^degraded: /, "") } : null;
}

/**
 * Ask now and again until stopped. A server that is not reached is the socket's to tell.
 * @param {() => Promise<{checks?: Checks} | null>} ask
 * @param {(trouble: Trouble | null) => void} tell
 * @returns {() => void} stops it.
 */
export function watchHealth(ask, tell) {
  let stopped = false;
  const look = async () => {
    const found = await ask();
    if (!stopped && found) tell(troubleOf(found.checks));
  };
  void look();
  const timer = setInterval(() => void look(), EVERY_MS);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
