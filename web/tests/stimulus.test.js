/** The stimulus: before the first question, again on request, and never in the way of what was said already. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { interviewOf } from "../static/voice/interview.js";
import { CONSENT, Page } from "./driver.js";

const IMAGE = { url: "/api/sessions/s/stimulus", width: 4, height: 3, alt: "A cup." };

/** @param {Partial<import("../static/core/state.js").Detail>} detail @returns {Page} */
const opened = (detail) => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).ready({ state: "created" });
  return page.fetched({ state: "created", stimulus: "A new cup.", ...detail });
};

test("stimulus_comes_after_consent_and_before_the_question", () => {
  const page = opened({ consent: CONSENT });
  assert.equal(page.state.dialog, null);
  page.do({ type: "agree" });
  assert.equal(page.state.dialog, "stimulus");
  assert.equal(interviewOf(page.state).floor, "closed");
  page.do({ type: "stay" });
  assert.equal(page.state.dialog, null);
  assert.ok(page.effect("focus"));
});

test("stimulus_is_shown_again_on_request_only", () => {
  const page = opened({}).do({ type: "stay" });
  page.fetched({ state: "active", stimulus: "A new cup." });
  assert.equal(page.state.dialog, null);
  page.do({ type: "show_stimulus" });
  assert.equal(page.state.dialog, "stimulus");
});

test("interview_without_a_stimulus_has_nothing_to_show", () => {
  const page = opened({ stimulus: null });
  assert.equal(page.state.dialog, null);
  assert.equal(page.do({ type: "show_stimulus" }).state.dialog, null);
});

test("stimulus_is_not_shown_by_itself_once_something_was_said", () => {
  const row = { id: "u1", turn_number: 1, speaker: "respondent", kind: "answer", text: "Warm." };
  assert.equal(opened({ state: "active", transcript: [row] }).state.dialog, null);
});

test("image_is_fetched_once_it_is_to_be_seen_and_again_if_it_did_not_come", () => {
  const page = opened({ stimulus: null, stimulus_image: IMAGE });
  assert.deepEqual(page.effect("fetch_image"), { type: "fetch_image", url: IMAGE.url });
  page.do({ type: "stay" }).do({ type: "show_stimulus" });
  assert.deepEqual(page.effect("fetch_image"), { type: "fetch_image", url: IMAGE.url });
  page.do({ type: "image", url: "data:image/png;base64," }).do({ type: "stay" }).do({ type: "show_stimulus" });
  assert.equal(page.effect("fetch_image"), undefined);
});

test("consent_that_is_wanted_anew_takes_the_stimulus_away_until_it_is_given", () => {
  const page = opened({ consent: CONSENT }).do({ type: "agree" });
  page.hear({ type: "error", code: "invalid_input", ref: "consent" });
  page.fetched({ state: "created", stimulus: "A new cup.", consent: { ...CONSENT, version: "v2" } });
  assert.equal(page.state.dialog, null);
  page.do({ type: "agree" });
  assert.equal(page.state.dialog, "stimulus");
});

test("finishing_is_not_meant_by_closing_the_stimulus", () => {
  const page = opened({}).do({ type: "leave" });
  assert.equal(page.state.leaving, null);
});
