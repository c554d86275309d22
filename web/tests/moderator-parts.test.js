/** The overview's rows, the list's window, commands and the connection of the moderator's page. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Commands } from "../static/moderator/commands.js";
import { troubleOf, watchHealth } from "../static/moderator/health.js";
import { chosen, counted, isGone, newAlerts, newest, pressing, rowsAfter } from "../static/moderator/rows.js";
import { ModeratorSocket } from "../static/moderator/socket.js";
import { sparkPath } from "../static/moderator/spark.js";
import { rowAfterKey, windowOf } from "../static/moderator/window.js";
import english from "../static/texts/en.js";
import { textsOf } from "../static/texts/index.js";
import moderator from "../static/texts/moderator.en.js";

/** @param {string} id @param {object} [more] @returns {import("../static/moderator/rows.js").Row} */
const row = (id, more = {}) => ({ session_id: id, concept_id: "coffee", state: "active", turn_number: 1, max_turns: 15, updated_at: `2026-01-01T00:00:0${id.length}Z`, alerts: [], ...more });
const ALL = { text: "", concept: "", state: "", alone: false };
const ids = (/** @type {{session_id: string}[]} */ rows) => rows.map((one) => one.session_id);
const alert = (/** @type {string} */ code, since = "2026-01-01T00:00:00Z") => ({ code, since });

test("rows_that_need_a_person_come_first_the_most_pressing_and_longest_waiting_before_others", () => {
  const rows = [row("a"), row("b", { alerts: [alert("fatigue")] }), row("c", { alerts: [alert("stuck", "2026-01-01T00:00:09Z")] }), row("d", { alerts: [alert("stuck")] })];
  assert.deepEqual(ids(chosen(rows, ALL, "attention", false)), ["d", "c", "b", "a"]);
  assert.deepEqual(ids(chosen(rows, { ...ALL, alone: true }, "attention", false)), ["d", "c", "b"]);
  assert.equal(pressing(row("x", { alerts: [alert("a_new_code")] })), 1);
});

test("rows_are_filtered_by_words_concept_and_state", () => {
  const rows = [row("a", { last_answer: "My <b>Kids</b>", respondent_ref: "R-1" }), row("b", { concept_id: "tea", state: "paused" })];
  assert.deepEqual(ids(chosen(rows, { ...ALL, text: "kids r-1" }, "updated", false)), ["a"]);
  assert.deepEqual(ids(chosen(rows, { ...ALL, concept: "tea", state: "paused" }, "updated", false)), ["b"]);
  assert.deepEqual(ids(chosen(rows, { ...ALL, state: "closing" }, "updated", false)), []);
});

test("rows_sort_backwards_and_stay_put_where_they_are_equal", () => {
  const rows = [row("b", { updated_at: "t" }), row("a", { updated_at: "t" }), row("c", { updated_at: "t", turn_number: 9 })];
  assert.deepEqual(ids(chosen(rows, ALL, "turn", false)), ["c", "a", "b"]);
  assert.deepEqual(ids(chosen(rows, ALL, "turn", true)), ["a", "b", "c"]);
});

test("rows_come_change_and_go_and_a_new_list_replaces_all", () => {
  const first = rowsAfter(new Map(), { type: "overview.rows", rows: [row("a"), row("b")] });
  const second = rowsAfter(first, { type: "overview.row", ...row("a", { turn_number: 2 }) });
  assert.equal(first.get("a")?.turn_number, 1, "the old ones are left alone");
  assert.equal(second.get("a")?.turn_number, 2);
  const third = rowsAfter(second, { type: "overview.gone", session_id: "b" });
  assert.deepEqual([...third.keys()], ["a"]);
  assert.equal(rowsAfter(third, { type: "pong" }), third);
  assert.equal(rowsAfter(third, { type: "overview.gone", session_id: "z" }), third);
});

test("alerts_are_told_once_and_ended_interviews_go_after_a_while", () => {
  const before = new Map([["a", row("a", { alerts: [alert("stuck")] })]]);
  const after = new Map([["a", row("a", { alerts: [alert("stuck"), alert("fatigue")] })], ["b", row("b", { alerts: [alert("model_failing")] })]]);
  assert.deepEqual(newAlerts(before, after).map(({ row: one, alert: { code } }) => [one.session_id, code]), [["b", "model_failing"], ["a", "fatigue"]]);
  assert.deepEqual(newAlerts(after, after), []);
  assert.deepEqual(counted(after.values()), { live: 2, alerts: 2 });
  assert.equal(isGone(row("a", { state: "completed", updated_at: "2026-01-01T00:00:00Z" }), Date.parse("2026-01-01T00:01:00Z")), true);
  assert.equal(isGone(row("a", { updated_at: "2026-01-01T00:00:00Z" }), Date.parse("2026-01-01T00:01:00Z")), false);
});

test("only_rows_in_sight_exist_however_long_the_list", () => {
  for (const top of [0, 1000, 46_000, 90_000]) {
    const { first, end } = windowOf({ count: 500, rowHeight: 92, top, height: 900 });
    assert.ok(end - first <= 24 && first >= 0 && end <= 500, `${top}: ${first}-${end}`);
    if (top < 45_000) assert.ok(first * 92 <= top && end * 92 >= top + 900);
  }
  assert.deepEqual(windowOf({ count: 0, rowHeight: 92, top: 0, height: 900 }), { first: 0, end: 0 });
});

test("keys_move_through_the_list_and_stop_at_its_ends", () => {
  assert.deepEqual(["ArrowDown", "ArrowUp", "PageDown", "Home", "End", "Enter"].map((key) => rowAfterKey(key, 4, 10, 8)), [5, 3, 9, 0, 9, null]);
  assert.equal(rowAfterKey("ArrowDown", -1, 0, 8), null);
});

test("spark_stays_in_its_box_and_marks_the_newest_value", () => {
  const box = { width: 80, height: 30, slots: 20 };
  const path = sparkPath([0, null, 1, 5], 1, box);
  assert.ok(path && path.x <= 80 && path.y >= 0 && path.y <= 30);
  assert.equal(path?.line.match(/[ML]/g)?.length, 3);
  assert.equal(sparkPath([null], 1, box), null);
  assert.equal(newest([1, 2, null]), 2);
});

test("two_clicks_are_one_command_and_a_broken_line_sends_it_again_with_the_same_id", async () => {
  /** @type {any[]} */
  const sent = [];
  let id = 0;
  const commands = new Commands((message) => sent.push(message) > 0, () => `id${(id += 1)}`, { set: () => 0, clear: () => {} });
  const first = commands.run({ type: "pause", session_id: "s" });
  const second = commands.run({ type: "pause", session_id: "s" });
  const other = commands.run({ type: "claim", session_id: "s" });
  commands.resend();
  assert.deepEqual(sent.map((one) => one.command_id), ["id1", "id2", "id1", "id2"]);
  assert.equal(commands.heard({ type: "command.done", command_id: "id1", applies_to_turn: 4 }), true);
  assert.equal(commands.heard({ type: "command.done", command_id: "id1", applies_to_turn: 4 }), false);
  assert.deepEqual([await first, await second], Array(2).fill({ ok: true, turn: 4, preview: null }));
  assert.equal(commands.heard({ type: "error", code: "session_completed", message: "Over.", ref: "id2" }), true);
  assert.deepEqual(await other, { ok: false, code: "session_completed", message: "Over." });
  void commands.run({ type: "pause", session_id: "s" });
  assert.equal(sent.at(-1).command_id, "id3", "what is done may be done again");
});

test("a_command_that_waits_for_a_connection_can_be_taken_back_and_one_that_went_out_can_not", async () => {
  /** @type {any[]} */
  const sent = [];
  let live = false;
  const commands = new Commands((message) => live && sent.push(message) > 0, () => "id1", { set: () => 0, clear: () => {} });
  const what = { type: "inject", question: "Why?", session_id: "s" };
  const waits = commands.run(what);
  assert.equal(commands.takeBack({ ...what, question: "Who?" }), false);
  assert.equal(commands.takeBack(what), true);
  assert.deepEqual(await waits, { ok: false, code: "taken_back", message: "" });
  live = true;
  commands.resend();
  assert.deepEqual(sent, []);
  void commands.run(what);
  assert.equal(commands.takeBack(what), false);
  live = false;
  commands.resend();
  assert.equal(commands.takeBack(what), false);
});

test("a_command_nobody_answers_ends_with_a_clear_word", async () => {
  /** @type {() => void} */
  let late = () => {};
  const commands = new Commands(() => false, () => "x", { set: (then) => (late = then), clear: () => {} });
  const waiting = commands.run({ type: "note", text: "x" });
  late();
  assert.deepEqual(await waiting, { ok: false, code: "no_reply", message: "" });
});

/** A line that the test holds both ends of. */
function line() {
  /** @type {any[]} */
  const made = [];
  /** @type {string[]} */
  const told = [];
  /** @type {any[]} */
  const heard = [];
  Object.assign(globalThis, { WebSocket: { OPEN: 1 } });
  const socket = new ModeratorSocket("ws://x", {
    onMessage: (message) => heard.push(message), onStatus: (status) => told.push(status), random: () => 0,
    make: () => /** @type {any} */ (made[made.push({ readyState: 1, sent: [], send(/** @type {string} */ text) { this.sent.push(JSON.parse(text)); }, close() {} }) - 1]),
  });
  return { socket, made, told, heard };
}

test("connection_greets_and_a_refused_token_is_not_tried_again", () => {
  const { socket, made, told } = line();
  socket.start();
  made[0].onopen();
  assert.deepEqual(made[0].sent, [{ type: "hello" }]);
  made[0].onmessage({ data: '{"type":"ready","name":"Anna"}' });
  assert.deepEqual(told, ["connecting", "live"]);
  made[0].onclose({ code: 4401 });
  assert.deepEqual([told.at(-1), socket.stopped, made.length], ["refused", true, 1]);
});

test("lost_connection_comes_back_by_itself_and_nothing_is_sent_meanwhile", () => {
  const { socket, made, told, heard } = line();
  socket.start();
  made[0].onopen();
  made[0].onmessage({ data: '{"type":"ready"}' });
  made[0].onmessage({ data: "not a message" });
  made[0].onclose({ code: 1006 });
  assert.equal(told.at(-1), "waiting");
  assert.equal(socket.send({ type: "ping" }), false);
  socket.nudge();
  assert.equal(made.length, 2);
  made[1].onopen();
  made[1].onmessage({ data: '{"type":"ready"}' });
  assert.equal(socket.send({ type: "ping" }), true);
  assert.equal(heard.length, 2);
  socket.stop();
});

test("every_text_named_in_the_moderators_page_and_modules_exists", () => {
  const t = textsOf({ ...english, ...moderator });
  const root = new URL("../", import.meta.url);
  const files = ["moderator.html", ...readdirSync(new URL("static/moderator", root)).filter((name) => name.endsWith(".js")).map((name) => `static/moderator/${name}`)];
  let found = 0;
  for (const file of files) {
    for (const [, key] of readFileSync(new URL(file, root), "utf8").matchAll(/(?:data-t(?:-label|-placeholder)?=|\bt\()"([\w.]+)"/g)) {
      assert.ok(t(/** @type {string} */ (key)), `${file}: ${key}`);
      found += 1;
    }
  }
  assert.ok(found > 120, String(found));
});

test("nothing_is_ever_written_as_markup", () => {
  const folder = new URL("../static/moderator/", import.meta.url);
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".js"))) {
    assert.doesNotMatch(readFileSync(new URL(name, folder), "utf8"), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser/, name);
  }
});

test("server_that_keeps_nothing_is_told_before_one_whose_database_is_behind", () => {
  const well = { redis: "ok", database: "ok", writer: "ok" };
  assert.equal(troubleOf(well), null);
  assert.equal(troubleOf(undefined), null, "the server does not say");
  assert.deepEqual(troubleOf({ ...well, writer: "degraded: the store is 40 s behind" }), { key: "mod.health.store", reason: "the store is 40 s behind" });
  assert.deepEqual(troubleOf({ ...well, database: "unreachable", writer: "degraded: x" }), { key: "mod.health.store", reason: "unreachable" });
  assert.deepEqual(troubleOf({ redis: "the disk is full", database: "unreachable" }), { key: "mod.health.answers", reason: "the disk is full" });
});

test("health_is_told_until_stopped_and_not_while_the_server_is_away", async () => {
  const told = /** @type {(import("../static/moderator/health.js").Trouble | null)[]} */ ([]);
  const stop = watchHealth(async () => ({ checks: { redis: "unreachable" } }), (trouble) => told.push(trouble));
  await Promise.resolve();
  await Promise.resolve();
  stop();
  assert.deepEqual(told, [{ key: "mod.health.answers", reason: "unreachable" }]);
  const away = watchHealth(async () => null, (trouble) => told.push(trouble));
  await Promise.resolve();
  await Promise.resolve();
  away();
  assert.equal(told.length, 1);
});
