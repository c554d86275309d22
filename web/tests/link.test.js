/** Coming back, stepping aside, giving up. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs, restartMs } from "../static/core/backoff.js";
import { mood, scene } from "../static/core/state.js";
import { Page } from "./driver.js";

/** @param {Page} page @param {string} name */
const delay = (page, name) => page.effects.flatMap((effect) => (effect.type === "timer" && effect.name === name ? [effect.delayMs] : []))[0];

test("backoff_doubles_up_to_twelve_seconds_and_is_spread_over_half", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map((failures) => backoffMs(failures, 1)), [400, 800, 1600, 3200, 6400, 12_000, 12_000]);
  assert.equal(backoffMs(1, 0), 200);
  assert.ok(restartMs(0) >= 250 && restartMs(0.999) < 2_000);
});

test("lost_connection_waits_longer_each_time_until_ready", () => {
  const page = Page.talking();
  const delays = [1, 2, 3].map(() => {
    page.do({ type: "closed", code: 1006, random: 0 });
    const waited = delay(page, "reconnect");
    page.do({ type: "timer", name: "reconnect", now: 0, random: 0 });
    return waited;
  });
  assert.deepEqual(delays, [200, 400, 800]);
  page.do({ type: "opened" }).ready().do({ type: "closed", code: 1006, random: 0 });
  assert.equal(delay(page, "reconnect"), 200);
});

test("taken_over_by_another_tab_does_not_reconnect_until_asked", () => {
  const page = Page.talking().do({ type: "closed", code: 4001, random: 0 });
  assert.equal(mood(page.state), "taken");
  assert.equal(delay(page, "reconnect"), undefined);
  page.do({ type: "nudged" });
  assert.equal(page.state.link, "taken");
  page.do({ type: "continue", saved: { draft: "from the other", pending: null } });
  assert.ok(page.effect("connect"));
  assert.deepEqual([page.state.draft, page.state.lastEventId, page.state.epoch], ["from the other", 0, null]);
});

test("restarting_server_is_visited_again_soon", () => {
  const page = Page.talking().do({ type: "closed", code: 1012, random: 0.5 });
  assert.equal(delay(page, "reconnect"), 1000);
});

test("wrong_token_is_fatal_and_stays_so", () => {
  const page = new Page().do({ type: "start" }).do({ type: "opened" }).hear({ type: "error", code: "unauthorised" });
  assert.equal(scene(page.state), "blocked");
  page.do({ type: "closed", code: 1008, random: 0 });
  assert.equal(delay(page, "reconnect"), undefined);
});

test("not_found_before_ready_is_fatal_and_after_it_is_told", () => {
  const early = new Page().do({ type: "start" }).do({ type: "opened" }).hear({ type: "error", code: "not_found" });
  assert.equal(scene(early.state), "blocked");
  const late = Page.talking().hear({ type: "error", code: "not_found" });
  assert.equal(scene(late.state), "talk");
  assert.equal(late.state.problem?.code, "not_found");
});

test("second_failure_in_a_row_asks_over_http_whether_the_link_is_good", () => {
  const page = Page.talking().do({ type: "closed", code: 1006, random: 0 });
  assert.equal(page.effect("fetch"), undefined);
  page.do({ type: "closed", code: 1006, random: 0 });
  assert.ok(page.effect("fetch"));
  page.do({ type: "fetch_failed", code: "network" });
  assert.equal(scene(page.state), "talk");
  page.do({ type: "timer", name: "refetch", now: 0, random: 0 });
  assert.ok(page.effect("fetch"));
  page.do({ type: "fetch_failed", code: "unauthorised" });
  assert.equal(scene(page.state), "blocked");
});

test("quiet_server_is_pinged_then_left", () => {
  const page = Page.talking();
  page.do({ type: "timer", name: "heartbeat", now: 7, random: 0 });
  assert.deepEqual(page.sent.at(-1), { type: "ping", t: 7 });
  page.do({ type: "timer", name: "deadline", now: 8, random: 0 });
  assert.equal(page.state.link, "waiting");
  assert.ok(page.effect("disconnect"));
});

test("pong_calls_off_the_deadline", () => {
  const page = Page.talking().do({ type: "timer", name: "heartbeat", now: 7, random: 0 }).hear({ type: "pong" });
  assert.ok(page.effects.some((effect) => effect.type === "cancel" && effect.name === "deadline"));
});

test("completed_session_closed_by_the_server_is_left_alone", () => {
  const page = Page.talking().durable({ type: "session.state", state: "completed", reason: "closing" });
  page.do({ type: "closed", code: 1000, random: 0 });
  assert.equal(page.state.link, "closed");
  assert.equal(scene(page.state), "done");
});
