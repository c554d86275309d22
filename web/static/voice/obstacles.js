/** What stands between a respondent and their microphone, by its exact name. */

/**
 * @typedef {"insecure" | "unsupported" | "framed" | "denied" | "dismissed" | "system" | "no_device" | "busy" | "lost"
 *   | "muted" | "asleep" | "failed" | "unavailable"} Obstacle
 *
 * @typedef {{secure: boolean, devices: boolean, worklet: boolean, allowed: boolean}} Ground what the browser offers;
 *   `allowed` is false where the page stands in a frame that may not use a microphone.
 * @typedef {"chrome" | "firefox" | "safari" | "ios" | "android" | "other"} Browser
 */

/** @param {Ground} ground @returns {Obstacle | null} what is known before anybody is asked. */
export function obstacleBefore(ground) {
  if (!ground.secure) return "insecure";
  if (!ground.devices || !ground.worklet) return "unsupported";
  return ground.allowed ? null : "framed";
}

/**
 * @param {string} name of the error that asking for a microphone gave.
 * @param {string} message as the browser words it; only Chromium says when the system refused.
 * @param {string} permission "granted", "denied", "prompt", or "" where the browser does not tell.
 * @returns {Obstacle}
 */
export function obstacleOf(name, message, permission) {
  switch (name) {
    case "NotAllowedError":
    case "PermissionDeniedError":
      if (/system/i.test(message)) return "system";
      return permission === "prompt" || /dismissed/i.test(message) ? "dismissed" : "denied";
    case "SecurityError": return "framed";
    case "NotFoundError":
    case "DevicesNotFoundError":
    case "OverconstrainedError": return "no_device";
    case "NotReadableError":
    case "TrackStartError":
    case "AbortError": return "busy";
    case "TypeError":
    case "NotSupportedError": return "unsupported";
    default: return "failed";
  }
}

/** Whether trying again without leaving the page can help. @param {Obstacle} obstacle */
export function canRetry(obstacle) {
  return !["insecure", "unsupported", "framed", "unavailable"].includes(obstacle);
}

/**
 * Which way to explain where a permission is given back.
 * @param {string} agent `navigator.userAgent`.
 * @param {number} touchPoints `navigator.maxTouchPoints`: an iPad calls itself a Mac.
 * @returns {Browser}
 */
export function browserOf(agent, touchPoints) {
  if (/iPhone|iPad|iPod/.test(agent) || (/Macintosh/.test(agent) && touchPoints > 1)) return "ios";
  if (/Firefox\//.test(agent)) return "firefox";
  if (/Android/.test(agent)) return "android";
  if (/Chrom(e|ium)\/|Edg\//.test(agent)) return "chrome";
  return /Safari\//.test(agent) ? "safari" : "other";
}
