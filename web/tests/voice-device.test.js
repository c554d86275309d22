/** The device and the hands on the panel: what goes wrong with a microphone, and how it is told. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { textsOf } from "../static/texts/index.js";
import voiceTexts from "../static/texts/voice.en.js";
import { Microphone } from "../static/voice/microphone.js";
import { Panel } from "../static/voice/panel.js";
import { TalkButton } from "../static/voice/push.js";
import { Speaker } from "./speaker.js";
import { Browser } from "./voice-browser.js";

const t = textsOf(voiceTexts);

/** A microphone and what it told. */
function ears() {
  const browser = new Browser();
  /** @type {(string | boolean)[]} */
  const told = [];
  const microphone = new Microphone({
    frame: () => told.push("frame"), asleep: (asleep) => told.push(asleep), deaf: () => undefined, lost: () => told.push("lost"),
  });
  return { browser, microphone, told };
}

test("worklet_that_cannot_be_fetched_is_not_blamed_on_another_program", async () => {
  const { browser, microphone } = ears();
  browser.fetchable = false;
  assert.equal(await microphone.open({}), "failed");
  assert.equal(microphone.stream, null);
  browser.fetchable = true;
  assert.equal(await microphone.open({}), null);
});

test("microphone_that_runs_and_gives_nothing_is_noticed_and_opened_anew", async () => {
  const { browser, microphone, told } = ears();
  await microphone.open({});
  for (let second = 0; second < 20; second += 1) {
    browser.frame();
    browser.pass(1);
  }
  assert.equal(microphone.stuck, false);
  browser.pass(5);
  assert.equal(microphone.stuck, true);
  assert.equal(told.at(-1), true);
  browser.frame();
  assert.deepEqual([microphone.stuck, ...told.slice(-2)], [false, false, "frame"]);
  browser.pass(5);
  await microphone.open({});
  assert.deepEqual([microphone.stuck, told.at(-1)], [false, false]);
});

test("microphone_that_is_off_or_asleep_is_not_expected_to_give_anything", async () => {
  const { browser, microphone } = ears();
  await microphone.open({});
  microphone.enable(false);
  browser.pass(20);
  microphone.enable(true);
  browser.track.muted = true;
  browser.pass(20);
  browser.track.muted = false;
  browser.context.become("suspended");
  browser.pass(20);
  assert.equal(microphone.stuck, false);
  microphone.wake();
  assert.equal(browser.context.state, "running");
});

/** A button, what holds it, and what it told. */
function talk() {
  const browser = new Browser();
  /** @type {string[]} */
  const told = [];
  let state = /** @type {"up" | "held" | "latched"} */ ("up");
  const button = new TalkButton(t, {
    press: (latch) => { told.push("press"); state = latch ? "latched" : "held"; },
    release: () => { told.push("release"); state = "up"; },
    state: () => state,
  });
  const pointer = (/** @type {string} */ type, /** @type {number} */ id) => button.element.dispatchEvent(Object.assign(new Event(type), { pointerId: id, button: 0 }));
  return { browser, button, told, pointer };
}

test("button_that_is_held_while_the_window_loses_its_keys_is_let_go_and_works_again", () => {
  const { browser, button, told, pointer } = talk();
  const space = Object.assign(new Event("keydown"), { key: " ", repeat: false });
  Object.defineProperty(space, "target", { value: button.element });
  browser.document.dispatchEvent(space);
  assert.deepEqual(told, ["press"]);
  browser.window.dispatchEvent(new Event("blur"));
  assert.deepEqual(told, ["press", "release"]);
  pointer("pointerdown", 7);
  assert.deepEqual(told, ["press", "release", "press"]);
});

/** A panel and what was done with it. @param {string} [language] of the interview. */
function panel(language = "de") {
  new Browser();
  /** @type {string[]} */
  const done = [];
  const act = (/** @type {string} */ what) => () => void done.push(what);
  const shown = new Panel(t, {
    act: ({ type }) => done.push(type), key: () => "k", choose: act("choose"), leave: act("leave"), wake: act("wake"),
    skip: act("skip"), rephrase: act("rephrase"), drop: act("drop"), speaks: () => true, prime: act("prime"),
  });
  const speaker = Speaker.listening().now({ language });
  const live = /** @type {import("./voice-browser.js").Piece} */ (/** @type {unknown} */ (shown.live));
  const render = () => {
    shown.render(speaker.state);
    return live;
  };
  const root = /** @type {import("./voice-browser.js").Piece} */ (/** @type {unknown} */ (shown.root));
  return { shown, speaker, render, done, live, root };
}

test("button_that_wakes_the_microphone_wakes_it_by_a_mere_click", () => {
  const { speaker, render, done, root } = panel();
  speaker.do({ type: "asleep", asleep: true, key: "k" });
  render();
  const wake = root.find("voice-wake");
  assert.equal(wake.hidden, false);
  wake.click();
  assert.deepEqual(done, ["wake"]);
});

test("microphone_at_rest_is_told_to_who_does_not_see_it", () => {
  const { speaker, render } = panel();
  render();
  speaker.do({ type: "asleep", asleep: true, key: "k" });
  assert.match(render().textContent, /microphone is resting/);
});

test("hints_come_into_a_place_that_was_there_before", () => {
  const { speaker, render, root } = panel();
  render();
  const hint = root.find("voice-hint");
  assert.deepEqual([hint.hidden, hint.textContent, hint.getAttribute("role")], [false, "", "status"]);
  speaker.do({ type: "deaf", deaf: true });
  render();
  assert.deepEqual([hint.hidden, hint.textContent], [false, t("voice.hint.deaf")]);
});

test("sentences_of_the_page_are_announced_in_its_language_and_answers_in_theirs", () => {
  const { shown, render, live } = panel("de");
  render();
  shown.tell("understood", "Der Geruch.");
  assert.equal(live.textContent, "You said: Der Geruch.");
  assert.deepEqual(live.children.map((part) => (typeof part === "string" ? "" : part.lang)), ["", "de"]);
  shown.tell("stalled", "");
  assert.equal(live.lang, "");
  assert.deepEqual(live.children.map((part) => (typeof part === "string" ? "" : part.lang)), [""]);
  shown.announce("und mehr");
  assert.deepEqual(live.children.map((part) => (typeof part === "string" ? "" : part.lang)), ["de"]);
});
