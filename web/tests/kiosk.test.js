/** The kiosk's way from one person to the next, its idle clock, and what its operator reads. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { INITIAL, canGoOn, modesOf, step } from "../static/kiosk/flow.js";
import { factsOf, clockFact } from "../static/kiosk/facts.js";
import { leaves } from "../static/kiosk/guard.js";
import { IdleClock } from "../static/kiosk/idle.js";
import english from "../static/texts/en.js";
import { textsOf } from "../static/texts/index.js";
import kiosk from "../static/texts/kiosk.en.js";

/** @typedef {import("../static/kiosk/flow.js").Event} Event */
/** @typedef {import("../static/kiosk/flow.js").Offer} Offer */

const t = textsOf({ ...english, ...kiosk });

/** @param {{concept?: object, kiosk?: object, speech?: object, languages?: object}} [over] @returns {Offer} */
function offer(over = {}) {
  return /** @type {Offer} */ ({
    concept: { id: "c", title: "Coffee", languages: ["en"], consent: { text: "May we?", version: "3" }, ...over.concept },
    kiosk: {
      respondent_ref: "off", eligibility: [], modes: ["text", "voice"], half_duplex: true, idle_warning_s: 60, idle_reset_s: 30,
      thanks_s: 15, operator: true, ...over.kiosk,
    },
    speech: { available: true, ...over.speech }, languages: over.languages ?? {}, language: "en", version: "1",
  });
}

const INTERVIEW = { id: "s", token: "secret", concept: "c", language: "en", mode: /** @type {const} */ ("text"), consent: "3" };

/** @param {import("../static/kiosk/flow.js").Flow} flow @param {...Event} events */
function walk(flow, ...events) {
  /** @type {import("../static/kiosk/flow.js").Effect[]} */
  const effects = [];
  for (const event of events) {
    const [next, more] = step(flow, event);
    flow = next;
    effects.push(...more);
  }
  return { flow, effects: effects.map((effect) => effect.type) };
}

test("plain_concept_goes_from_attract_to_consent_and_opens_only_after_it", () => {
  const { flow, effects } = walk(INITIAL, { type: "offered", offer: offer() }, { type: "touch" });
  assert.equal(flow.stage, "consent");
  assert.deepEqual(effects, []);
  const agreed = walk(flow, { type: "agree" }, { type: "mode", mode: "voice" });
  assert.equal(agreed.flow.stage, "opening");
  assert.equal(agreed.flow.agreed, "3");
  assert.equal(agreed.flow.mode, "voice");
  assert.deepEqual(agreed.effects, ["open"]);
});

test("mode_is_not_asked_where_there_is_only_one_that_works", () => {
  for (const one of [offer({ speech: { available: false } }), offer({ kiosk: { modes: ["voice"] } })]) {
    const { flow, effects } = walk(INITIAL, { type: "offered", offer: one }, { type: "touch" }, { type: "agree" });
    assert.equal(flow.stage, "opening");
    assert.equal(flow.mode, modesOf(one)[0]);
    assert.deepEqual(effects, ["open"]);
  }
  assert.deepEqual(modesOf(offer({ kiosk: { modes: ["voice"] }, speech: { available: false } })), ["text"]);
});

test("language_that_nobody_understands_cannot_be_chosen", () => {
  const two = offer({ concept: { languages: ["de", "en"] }, languages: { de: { supported: false }, en: { supported: true } } });
  const { flow } = walk(INITIAL, { type: "offered", offer: two }, { type: "touch" });
  assert.equal(flow.stage, "language");
  assert.equal(flow.language, "en");
  assert.equal(walk(flow, { type: "language", language: "de" }).flow.stage, "language");
  const chosen = walk(flow, { type: "language", language: "en" });
  assert.equal(chosen.flow.stage, "consent");
  assert.deepEqual(chosen.effects, ["offer"]);
});

test("interviewer_has_to_fill_in_everything_and_a_no_starts_nothing", () => {
  const strict = offer({ kiosk: { respondent_ref: "required", eligibility: [{ id: "adult", text: "18?" }] } });
  let { flow } = walk(INITIAL, { type: "offered", offer: strict }, { type: "touch" });
  assert.equal(flow.stage, "interviewer");
  assert.equal(canGoOn(flow), false);
  flow = walk(flow, { type: "next" }).flow;
  assert.equal(flow.problem, "kiosk.interviewer.incomplete");
  flow = walk(flow, { type: "reference", text: " " }, { type: "eligible", id: "adult", yes: true }, { type: "next" }).flow;
  assert.equal(flow.stage, "interviewer");
  flow = walk(flow, { type: "reference", text: "B7" }).flow;
  assert.equal(walk(flow, { type: "next" }).flow.stage, "consent");
  const unsuited = walk(flow, { type: "eligible", id: "adult", yes: false }, { type: "next" });
  assert.equal(unsuited.flow.stage, "unsuited");
  assert.deepEqual(unsuited.effects, []);
});

test("back_leads_to_the_step_before_and_keeps_what_was_said", () => {
  const strict = offer({ kiosk: { respondent_ref: "required" } });
  const { flow } = walk(INITIAL, { type: "offered", offer: strict }, { type: "touch" }, { type: "reference", text: "B7" }, { type: "next" }, { type: "back" });
  assert.equal(flow.stage, "interviewer");
  assert.equal(flow.reference, "B7");
});

test("opening_that_failed_is_tried_again_once_per_touch_of_a_failure", () => {
  const { flow } = walk(INITIAL, { type: "offered", offer: offer() }, { type: "touch" }, { type: "agree" }, { type: "mode", mode: "text" });
  assert.deepEqual(walk(flow, { type: "retry" }).effects, []);
  const failed = walk(flow, { type: "not_opened", code: "network" });
  assert.equal(failed.flow.problem, "network");
  const again = walk(failed.flow, { type: "retry" }, { type: "retry" }, { type: "opened", interview: INTERVIEW }, { type: "opened", interview: { ...INTERVIEW, id: "other" } });
  assert.deepEqual(again.effects, ["open", "mount"]);
  assert.equal(again.flow.interview?.id, "s");
});

test("reset_forgets_everything_and_nothing_brings_it_back", () => {
  const { flow } = walk(INITIAL, { type: "offered", offer: offer() }, { type: "touch" }, { type: "agree" }, { type: "mode", mode: "text" }, { type: "opened", interview: INTERVIEW }, { type: "talking" });
  assert.equal(flow.stage, "talk");
  const after = walk(flow, { type: "reset" }, { type: "talking" }, { type: "over" }, { type: "offered", offer: offer() });
  assert.equal(after.flow.stage, "clearing");
  assert.equal(after.flow.interview, null);
  assert.equal(after.flow.reference, "");
  assert.deepEqual(after.effects, ["clear"]);
});

test("interrupted_interview_is_offered_before_anything_of_it_is_shown", () => {
  const { flow, effects } = walk(INITIAL, { type: "found", interview: INTERVIEW }, { type: "offered", offer: offer() });
  assert.equal(flow.stage, "resume");
  assert.deepEqual(effects, []);
  assert.deepEqual(walk(flow, { type: "resume" }).effects, ["mount"]);
  assert.deepEqual(walk(flow, { type: "reset" }).effects, ["clear"]);
});

test("server_that_starts_is_waited_for_and_one_that_refuses_is_said", () => {
  assert.equal(walk(INITIAL, { type: "refused", code: "network" }).flow.stage, "starting");
  assert.equal(walk(INITIAL, { type: "refused", code: "unauthorised" }).flow.stage, "blocked");
  const { flow } = walk(INITIAL, { type: "offered", offer: offer() });
  assert.equal(walk(flow, { type: "refused", code: "network" }).flow.stage, "starting");
  const talking = { ...flow, stage: /** @type {const} */ ("talk") };
  assert.equal(walk(talking, { type: "refused", code: "network" }).flow.stage, "talk");
});

test("consent_that_changed_meanwhile_is_asked_again_for_the_same_interview", () => {
  const { flow } = walk(INITIAL, { type: "offered", offer: offer() }, { type: "touch" }, { type: "agree" }, { type: "mode", mode: "text" }, { type: "opened", interview: INTERVIEW });
  const moved = walk(flow, { type: "consent_moved", offer: offer({ concept: { consent: { text: "New", version: "4" } } }) });
  assert.equal(moved.flow.stage, "consent");
  const again = walk(moved.flow, { type: "agree" });
  assert.equal(again.flow.agreed, "4");
  assert.deepEqual(again.effects, ["mount"]);
});

test("idle_warns_then_ends_and_a_touch_starts_over", () => {
  const idle = new IdleClock(60_000, 30_000);
  idle.touch(1_000);
  assert.deepEqual(idle.at(60_999), { phase: "calm", leftMs: 30_000 });
  assert.deepEqual(idle.at(61_000), { phase: "warning", leftMs: 30_000 });
  assert.deepEqual(idle.at(81_000), { phase: "warning", leftMs: 10_000 });
  assert.equal(idle.at(91_000).phase, "over");
  idle.touch(81_000);
  assert.equal(idle.at(91_000).phase, "calm");
  idle.touch(5);
  assert.equal(idle.at(140_999).phase, "calm");
});

test("keys_that_leave_the_page_are_known", () => {
  /** @param {Partial<KeyboardEvent>} event */
  const key = (event) => leaves(/** @type {KeyboardEvent} */ (event));
  assert.ok(key({ key: "F5" }) && key({ key: "r", ctrlKey: true }) && key({ key: "ArrowLeft", altKey: true }));
  assert.ok(!key({ key: "r" }) && !key({ key: "ArrowLeft" }) && !key({ key: "c", ctrlKey: true }));
});

test("operator_reads_what_is_wrong", () => {
  const here = { running: true, owing: true, fault: /** @type {const} */ ("full"), installed: true, waiting: false };
  const away = factsOf(t, null, here);
  assert.deepEqual(away.filter((fact) => fact.bad).map((fact) => fact.name), ["Server", "Interview now", "Browser storage"]);
  const status = {
    version: "1.2", sync: { to: "https://c", state: "waiting", connected: false, last_at: null, last_error: "no route" },
    unsynced: { finished: 1, unfinished: 2 }, storage: { free_bytes: 1000, used_bytes: 2_500_000 }, clock: { now: "2026-01-01T12:00:00Z" },
  };
  const facts = factsOf(t, status, { ...here, running: false, owing: false, fault: null });
  const said = Object.fromEntries(facts.map((fact) => [fact.name, fact.value]));
  assert.equal(said["Not yet sent"], "1 interview, and 2 unfinished");
  assert.equal(said["Last sent"], "never");
  assert.match(said["Storage"] ?? "", /1 kB free, 2.5 MB used/);
  assert.ok(facts.find((fact) => fact.name === "Storage")?.bad);
  assert.ok(clockFact(t, status, new Date("2026-01-01T13:00:00Z")).value.includes("60"));
  assert.equal(clockFact(t, status, new Date("2026-01-01T12:01:00Z")).bad, undefined);
});

test("every_kiosk_text_that_is_named_exists", () => {
  const root = new URL("../", import.meta.url);
  const files = ["kiosk.html", ...readdirSync(new URL("static/kiosk", root)).filter((name) => name.endsWith(".js")).map((name) => `static/kiosk/${name}`)];
  let found = 0;
  for (const file of files) {
    for (const [, key] of readFileSync(new URL(file, root), "utf8").matchAll(/(?:data-t(?:-label|-placeholder)?=|\bt\()"([\w.]+)"/g)) {
      assert.ok(t(/** @type {string} */ (key), { count: 2 }), `${file}: ${key}`);
      found += 1;
    }
  }
  assert.ok(found > 70);
});

test("kiosk_page_has_every_element_that_its_modules_look_for", () => {
  const root = new URL("../", import.meta.url);
  const page = readFileSync(new URL("kiosk.html", root), "utf8");
  const modules = [
    ...readdirSync(new URL("static/kiosk", root)).filter((name) => name.endsWith(".js")).map((name) => `kiosk/${name}`),
    "interview/talk.js", "interview/conversation.js", "interview/leaving.js", "voice/panel.js",
  ];
  let found = 0;
  for (const module of modules) {
    for (const [, id] of readFileSync(new URL(`static/${module}`, root), "utf8").matchAll(/(?:byId|\bon)\("([\w-]+)"/g)) {
      assert.ok(page.includes(`id="${id}"`), `${module} looks for #${id}`);
      found += 1;
    }
  }
  assert.ok(found > 80);
});

test("kiosk_ids_are_unique", () => {
  const page = readFileSync(new URL("../kiosk.html", import.meta.url), "utf8");
  const ids = [...page.matchAll(/\bid="([\w-]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
});
