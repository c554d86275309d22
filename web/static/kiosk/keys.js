/** What the device itself keeps between respondents: which concept it is for, and its token. */

const TOKEN = "askwell:kiosk:token";
const CONCEPT = "askwell:kiosk:concept";

/** @param {string} key @returns {boolean} whether a key of the device's storage is the device's own. */
export const isOurs = (key) => key === TOKEN || key === CONCEPT;

/**
 * Takes the token out of the address, where the operator's link had it, and keeps it.
 * @param {string} concept
 * @returns {string} the device's token; "" where it has none.
 */
export function deviceToken(concept) {
  const given = decoded(location.hash.slice(1));
  if (given) history.replaceState(history.state, "", location.pathname);
  try {
    if (given) localStorage.setItem(TOKEN, given);
    if (localStorage.getItem(CONCEPT) !== concept) localStorage.setItem(CONCEPT, concept);
    return given || (localStorage.getItem(TOKEN) ?? "");
  } catch {
    return given;
  }
}

/** @param {string} part of an address. @returns {string} as it stands, where it is not well-formed. */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @returns {string} the concept this device was last opened for; "" if none. */
export function lastConcept() {
  try {
    return localStorage.getItem(CONCEPT) ?? "";
  } catch {
    return "";
  }
}
