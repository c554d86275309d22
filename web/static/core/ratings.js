/** Ratings of a repertory grid: kept while they are given, told in words once they are sent. */

/**
 * What a question asks to rate: each element on each construct, from `lowest` (the emergent pole) to `highest`.
 * @typedef {{elements: {id: string, label: string}[],
 *   constructs: {id: string, emergent: string, contrast?: string | null}[], lowest: number, highest: number}} RatingForm
 *
 * By construct and element; what is missing is not rated.
 * @typedef {Record<string, Record<string, number>>} Rated
 */

/** @param {unknown} value anything that may have been kept. @returns {Rated} what of it are ratings. */
export function readRated(value) {
  /** @type {Rated} */
  const rated = {};
  if (!value || typeof value !== "object") return rated;
  for (const [construct, of] of Object.entries(value)) {
    if (!of || typeof of !== "object") continue;
    const usable = Object.entries(of).filter(([, rating]) => Number.isInteger(rating));
    if (usable.length > 0) rated[construct] = Object.fromEntries(usable);
  }
  return rated;
}

/** @param {string} text @returns {Rated} what was sent as a text. */
export function parseRated(text) {
  try {
    return readRated(JSON.parse(text));
  } catch {
    return {};
  }
}

/** @param {Rated} rated @param {string} construct @param {string} element @param {number | null} value null takes it back. @returns {Rated} */
export function withRating(rated, construct, element, value) {
  const { [element]: _, ...others } = rated[construct] ?? {};
  return readRated({ ...rated, [construct]: value === null ? others : { ...others, [element]: value } });
}

/** @param {Rated} rated @param {RatingForm} form @returns {Rated} what of the ratings belongs to the form. */
export function fitting(rated, form) {
  /** @type {Rated} */
  const fit = {};
  for (const { id } of form.constructs) {
    for (const element of form.elements) {
      const value = rated[id]?.[element.id];
      if (value !== undefined && value >= form.lowest && value <= form.highest) (fit[id] ??= {})[element.id] = value;
    }
  }
  return fit;
}

/** @param {Rated} rated @returns {number} */
export const countRated = (rated) => Object.values(rated).reduce((sum, of) => sum + Object.keys(of).length, 0);

/** The ratings as the transcript tells them, a line per construct. @param {Rated} rated @param {RatingForm | null} form @returns {string} */
export function ratedWords(rated, form) {
  if (!form) return "";
  return form.constructs.flatMap(({ id, emergent, contrast }) => {
    const of = rated[id] ?? {};
    const told = form.elements.filter((element) => element.id in of).map((element) => `${element.label} ${of[element.id]}`);
    return told.length > 0 ? [`${emergent} – ${contrast ?? "…"}: ${told.join(", ")}`] : [];
  }).join("\n");
}
