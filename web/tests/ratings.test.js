/** Ratings of a grid: given, kept, sent, taken back. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSaved, saveSaved } from "../static/core/pending.js";
import { countRated, fitting, parseRated, ratedWords, readRated, withRating } from "../static/core/ratings.js";
import { canAnswer, correctable } from "../static/core/state.js";
import { Page } from "./driver.js";

const FORM = {
  elements: [{ id: "e1", label: "Aldi" }, { id: "e2", label: "Waitrose" }],
  constructs: [{ id: "c1", emergent: "cheap", contrast: "dear" }, { id: "c2", emergent: "near", contrast: null }],
  lowest: 1, highest: 5,
};

function asked() {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "active" });
  page.fetched({ state: "active" });
  return page.durable({ type: "question.completed", turn_number: 0, text: "Where do they stand?", ratings: FORM });
}

test("what_is_kept_is_read_as_ratings_or_not_at_all", () => {
  for (const odd of [null, undefined, 3, "x", [], { c1: 2 }, { c1: { e1: "2" } }, { c1: { e1: 1.5 } }, { c1: {} }]) {
    assert.deepEqual(readRated(odd), {});
  }
  assert.deepEqual(readRated({ c1: { e1: 2, e2: "x" } }), { c1: { e1: 2 } });
  assert.deepEqual(parseRated("{"), {});
});

test("rating_is_given_changed_and_taken_back", () => {
  const one = withRating({}, "c1", "e1", 2);
  assert.deepEqual(withRating(one, "c1", "e2", 5), { c1: { e1: 2, e2: 5 } });
  assert.deepEqual(withRating(one, "c1", "e1", 4), { c1: { e1: 4 } });
  assert.deepEqual(withRating(one, "c1", "e1", null), {});
});

test("only_what_belongs_to_the_form_is_sent", () => {
  assert.deepEqual(fitting({ c1: { e1: 2, e9: 3 }, c9: { e1: 1 }, c2: { e1: 7 } }, FORM), { c1: { e1: 2 } });
});

test("ratings_are_sent_under_one_key_and_read_in_words", () => {
  const page = asked();
  page.do({ type: "rate", turnKey: "k0" });
  assert.equal(page.sentOf("rate").length, 0, "nothing was rated");
  page.do({ type: "rated", construct: "c1", element: "e1", value: 1 });
  page.do({ type: "rated", construct: "c1", element: "e2", value: 5 });
  assert.equal(countRated(page.state.rated), 2);
  page.do({ type: "rate", turnKey: "k1" });
  page.do({ type: "rate", turnKey: "k2" });
  assert.deepEqual(page.sentOf("rate"), [{ type: "rate", ratings: { c1: { e1: 1, e2: 5 } }, turn_key: "k1" }]);
  page.durable({ type: "turn.started", turn_number: 1, turn_key: "k1" });
  assert.equal(page.state.log.at(-1)?.text, "cheap – dear: Aldi 1, Waitrose 5");
  page.durable({ type: "question.completed", turn_number: 1, text: "What else?" });
  page.durable({ type: "turn.completed", turn_number: 1, turn_key: "k1", result: { utterance_id: "u1", should_continue: true } });
  assert.equal(page.state.rating, null);
  assert.ok(canAnswer(page.state));
  assert.equal(correctable(page.state), null, "ratings are not corrected in words");
});

test("refused_ratings_stand_in_the_grid_again", () => {
  const page = asked();
  page.do({ type: "rated", construct: "c2", element: "e1", value: 3 }).do({ type: "rate", turnKey: "k1" });
  page.hear({ type: "error", code: "invalid_input", ref: "k1" });
  assert.deepEqual(page.state.rated, { c2: { e1: 3 } });
  assert.equal(page.state.pending, null);
  assert.equal(page.state.draft, "");
});

test("ratings_survive_a_closed_page", () => {
  const shelf = new Map();
  const storage = {
    getItem: (/** @type {string} */ key) => shelf.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void shelf.set(key, value),
    removeItem: (/** @type {string} */ key) => void shelf.delete(key),
  };
  saveSaved(storage, "s", { draft: "", pending: null, rated: { c1: { e1: 4 } } });
  assert.deepEqual(loadSaved(storage, "s").rated, { c1: { e1: 4 } });
  saveSaved(storage, "s", { draft: "", pending: null, rated: {} });
  assert.equal(shelf.size, 0);
});

test("fetched_session_brings_the_form_back", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "active" });
  page.fetched({ state: "active", ratings: FORM, transcript: [{ id: "q", turn_number: 0, speaker: "interviewer", text: "Where?" }] });
  assert.deepEqual(page.state.rating, FORM);
  assert.equal(ratedWords({ c2: { e2: 2 } }, FORM), "near – …: Waitrose 2");
});
