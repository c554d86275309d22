/** The way through a kiosk, from the attract screen back to it. No browser in here: events come in, the next step comes out. */

/**
 * What the server says about a concept on a kiosk, `GET /api/kiosk/{concept_id}`; times in seconds.
 * @typedef {object} Offer
 * @property {{id: string, title: string, languages: string[], consent: {text: string, version: string} | null}} concept
 * @property {{respondent_ref: "off" | "optional" | "required", eligibility: {id: string, text: string}[],
 *   modes: ("text" | "voice")[], half_duplex: boolean, idle_warning_s: number, idle_reset_s: number, thanks_s: number,
 *   operator: boolean}} kiosk
 * @property {{available: boolean, record_audio?: boolean}} speech
 * @property {string} language the offer's texts are in.
 * @property {Record<string, {supported: boolean}>} languages whether an interview can be held in each of the concept's.
 * @property {string} version of the server.
 *
 * An interview under way on this device; all that is kept of it besides the one answer.
 * @typedef {{id: string, token: string, concept: string, language: string, mode: Mode, consent: string}} Interview
 * @typedef {"text" | "voice"} Mode
 *
 * @typedef {"starting" | "blocked" | "attract" | "resume" | "language" | "interviewer" | "unsuited" | "consent" | "mode"
 *   | "opening" | "talk" | "thanks" | "goodbye" | "clearing"} Stage
 *
 * @typedef {object} Flow
 * @property {Stage} stage
 * @property {Offer | null} offer
 * @property {string} language chosen, "" before.
 * @property {string} reference of the respondent, as the interviewer gives it.
 * @property {Record<string, boolean>} eligible answers of the interviewer, by id.
 * @property {string} agreed version of the consent text that was agreed to; "" where there is none.
 * @property {Mode} mode
 * @property {Interview | null} interview
 * @property {string} problem key of a sentence; "" for none.
 *
 * @typedef {{type: "offer", language: string} | {type: "open"} | {type: "mount"} | {type: "clear"}} Effect
 *
 * @typedef {{type: "found", interview: Interview} | {type: "offered", offer: Offer} | {type: "refused", code: string}
 *   | {type: "touch"} | {type: "language", language: string} | {type: "reference", text: string}
 *   | {type: "eligible", id: string, yes: boolean} | {type: "next"} | {type: "back"} | {type: "agree"} | {type: "decline"}
 *   | {type: "mode", mode: Mode} | {type: "retry"} | {type: "opened", interview: Interview} | {type: "not_opened", code: string}
 *   | {type: "consent_moved", offer: Offer} | {type: "talking"} | {type: "over"} | {type: "withdrawn"} | {type: "shut", code: string}
 *   | {type: "resume"} | {type: "reset"}} Event
 */

/** @type {Flow} */
export const INITIAL = {
  stage: "starting", offer: null, language: "", reference: "", eligible: {}, agreed: "", mode: "text", interview: null, problem: "",
};

/** Stages in which a person is at it, so that leaving them alone for long means that the person is gone. @type {ReadonlySet<Stage>} */
export const ATTENDED = new Set(["resume", "language", "interviewer", "unsuited", "consent", "mode", "opening", "talk"]);

/** Codes that waiting mends; the others need an operator. */
const PASSING = new Set(["network", "internal", "storage_unavailable", "too_many_sessions", "rate_limited", "starting"]);

/** @param {Offer} offer @returns {boolean} whether the interviewer has something to fill in. */
export const attendedStart = (offer) => offer.kiosk.respondent_ref !== "off" || offer.kiosk.eligibility.length > 0;

/** @param {Offer} offer @returns {Mode[]} ways to answer that work here. */
export function modesOf(offer) {
  const modes = offer.kiosk.modes.filter((mode) => mode === "text" || offer.speech.available);
  return modes.length > 0 ? modes : ["text"];
}

/** @param {Offer} offer @param {string} language @returns {boolean} whether an interview in it can be held here. */
export const isSpoken = (offer, language) => offer.languages?.[language]?.supported !== false;

/** @param {Flow} flow @returns {Stage[]} the stages before the interview that this concept has, in order. */
function stages(flow) {
  const { offer } = flow;
  if (!offer) return [];
  /** @type {[Stage, boolean][]} */
  const all = [
    ["attract", true], ["language", offer.concept.languages.length > 1], ["interviewer", attendedStart(offer)],
    ["consent", true], ["mode", modesOf(offer).length > 1],
  ];
  return all.filter(([, has]) => has).map(([stage]) => stage);
}

/** @param {Flow} flow @param {1 | -1} by @returns {[Flow, Effect[]]} */
function move(flow, by) {
  const way = stages(flow);
  const next = way[way.indexOf(flow.stage) + by];
  if (next) return [{ ...flow, stage: next, problem: "" }, []];
  return by > 0 ? [{ ...flow, stage: "opening", problem: "" }, [{ type: "open" }]] : [flow, []];
}

/** @param {Flow} flow @returns {boolean} whether the interviewer's part is complete. */
export function canGoOn(flow) {
  if (!flow.offer || flow.stage !== "interviewer") return true;
  const { respondent_ref: wanted, eligibility } = flow.offer.kiosk;
  if (wanted === "required" && flow.reference.trim() === "") return false;
  return eligibility.every(({ id }) => id in flow.eligible);
}

/** @param {Flow} flow @returns {[Flow, Effect[]]} nothing is left; the page begins anew. */
const clear = (flow) => [{ ...INITIAL, offer: flow.offer, stage: "clearing" }, [{ type: "clear" }]];

/** @param {Flow} flow @param {Event} event @returns {[Flow, Effect[]]} */
export function step(flow, event) {
  const { stage, offer } = flow;
  if (stage === "clearing") return [flow, []];
  switch (event.type) {
    case "found":
      return [{ ...flow, interview: event.interview, language: event.interview.language, mode: event.interview.mode, agreed: event.interview.consent }, []];
    case "offered": {
      const next = { ...flow, offer: event.offer, problem: "" };
      if (stage !== "starting" && stage !== "blocked") return [next, []];
      return [{ ...next, stage: flow.interview ? "resume" : "attract" }, []];
    }
    case "refused":
      if (!["starting", "blocked", "attract"].includes(stage)) return [flow, []];
      return [{ ...flow, stage: PASSING.has(event.code) ? "starting" : "blocked", problem: event.code }, []];
    case "touch": {
      if (stage !== "attract" || !offer) return [flow, []];
      const language = offer.concept.languages.find((tag) => isSpoken(offer, tag)) ?? offer.language;
      return move({ ...flow, language }, 1);
    }
    case "language": {
      if (stage !== "language" || !offer || !isSpoken(offer, event.language)) return [flow, []];
      const [next, effects] = move({ ...flow, language: event.language }, 1);
      return [next, [...effects, { type: "offer", language: event.language }]];
    }
    case "reference": return stage === "interviewer" ? [{ ...flow, reference: event.text, problem: "" }, []] : [flow, []];
    case "eligible":
      if (stage !== "interviewer") return [flow, []];
      return [{ ...flow, eligible: { ...flow.eligible, [event.id]: event.yes }, problem: "" }, []];
    case "next": {
      if (stage !== "interviewer") return [flow, []];
      if (!canGoOn(flow)) return [{ ...flow, problem: "kiosk.interviewer.incomplete" }, []];
      if (Object.values(flow.eligible).includes(false)) return [{ ...flow, stage: "unsuited" }, []];
      return move(flow, 1);
    }
    case "back":
      if (stage === "opening" && !flow.interview && flow.problem) return [{ ...flow, stage: "consent", problem: "" }, []];
      return ["language", "interviewer", "consent", "mode"].includes(stage) ? move(flow, -1) : [flow, []];
    case "agree": {
      if (stage !== "consent" || !offer) return [flow, []];
      const agreed = { ...flow, agreed: offer.concept.consent?.version ?? "", mode: modesOf(offer)[0] ?? "text" };
      return flow.interview ? [{ ...agreed, stage: "opening", problem: "" }, [{ type: "mount" }]] : move(agreed, 1);
    }
    case "decline": return stage === "consent" ? [{ ...flow, stage: "goodbye" }, []] : [flow, []];
    case "mode": return stage === "mode" ? move({ ...flow, mode: event.mode }, 1) : [flow, []];
    case "retry":
      return stage === "opening" && flow.problem && !flow.interview ? [{ ...flow, problem: "" }, [{ type: "open" }]] : [flow, []];
    case "opened":
      return stage === "opening" && !flow.interview ? [{ ...flow, interview: event.interview, problem: "" }, [{ type: "mount" }]] : [flow, []];
    case "not_opened": return stage === "opening" && !flow.interview ? [{ ...flow, problem: event.code }, []] : [flow, []];
    case "consent_moved": return [{ ...flow, stage: "consent", offer: event.offer, problem: "kiosk.consent.moved" }, []];
    case "talking": return stage === "opening" || stage === "resume" ? [{ ...flow, stage: "talk", problem: "" }, []] : [flow, []];
    case "over": return stage === "goodbye" ? [flow, []] : [{ ...flow, stage: "thanks", problem: "" }, []];
    case "withdrawn": return [{ ...flow, stage: "goodbye", problem: "" }, []];
    case "shut": return clear(flow);
    case "resume": return stage === "resume" ? [{ ...flow, stage: "opening", problem: "" }, [{ type: "mount" }]] : [flow, []];
    case "reset": return clear(flow);
  }
}

/** Whether an error of opening goes away by itself. @param {string} code */
export const isPassing = (code) => PASSING.has(code);
