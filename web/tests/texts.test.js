/** The pages' words: the same keys and placeholders in each language, and none outside the files of words. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { formatsOf } from "../static/texts/formats.js";
import { closest, firstKnown, isolated, languageName, textsOf } from "../static/texts/index.js";

/** @typedef {import("../static/texts/index.js").Table} Table */

const folder = new URL("../static/texts/", import.meta.url);
const names = readdirSync(folder).filter((name) => /^(?:[a-z_]+\.)?[a-z]{2,3}(?:-[a-z0-9]+)*\.js$/.test(name));
/** @type {Map<string, Table>} */
const tables = new Map(await Promise.all(names.map(async (name) => /** @type {[string, Table]} */ ([name, (await import(new URL(name, folder).href)).default]))));
const foreign = names.filter((name) => !/(?:^|\.)en\.js$/.test(name));

/** @param {string} name @returns {Table} */
const englishOf = (name) => /** @type {Table} */ (tables.get(name.replace(/(?:^|(?<=\.))[a-z-]+\.js$/, "en.js")));
/** @param {import("../static/texts/index.js").Wording} wording */
const forms = (wording) => typeof wording === "string" ? [wording] : Object.values(wording);
/** @param {string} text */
const places = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
/** @param {string} name */
const tagOf = (name) => /** @type {string} */ (name.split(".").at(-2));

test("every_language_has_the_keys_of_english_and_no_others", () => {
  assert.ok(foreign.length >= 4);
  for (const name of foreign) {
    assert.deepEqual(Object.keys(tables.get(name) ?? {}).sort(), Object.keys(englishOf(name)).sort(), name);
  }
});

test("every_wording_has_the_placeholders_of_english", () => {
  for (const name of names) {
    const english = englishOf(name);
    for (const [key, wording] of Object.entries(tables.get(name) ?? {})) {
      const allowed = places(forms(english[key] ?? "").join(" "));
      const other = typeof wording === "string" ? wording : wording.other ?? "";
      assert.deepEqual(places(other), allowed, `${name}: ${key}`);
      for (const form of forms(wording)) assert.ok(places(form).every((place) => allowed.includes(place)), `${name}: ${key}`);
      assert.equal(other === "", english[key] === "", `${name}: ${key} is empty`);
    }
  }
});

test("every_counting_wording_has_each_plural_category_of_its_language", () => {
  for (const name of names) {
    const wanted = new Intl.PluralRules(tagOf(name)).resolvedOptions().pluralCategories.slice().sort();
    for (const [key, wording] of Object.entries(tables.get(name) ?? {})) {
      if (typeof wording !== "string") assert.deepEqual(Object.keys(wording).sort(), wanted, `${name}: ${key}`);
      assert.equal(typeof wording, typeof englishOf(name)[key], `${name}: ${key}`);
    }
  }
});

test("no_sentence_was_left_in_english", () => {
  for (const name of foreign) {
    for (const [key, wording] of Object.entries(tables.get(name) ?? {})) {
      const [first] = forms(wording);
      if ((first?.replace(/\{\w+\}/g, "").match(/\p{L}+/gu)?.length ?? 0) > 2) assert.notEqual(first, forms(englishOf(name)[key] ?? "")[0], `${name}: ${key}`);
    }
  }
});

/** Modules and pages, without what was fetched from elsewhere. */
function sources() {
  const root = new URL("../", import.meta.url);
  const found = readdirSync(new URL("static/", root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js") && !/^(?:vendor|texts)\b/.test(name)).map((name) => `static/${name}`);
  return [...found, ...readdirSync(root).filter((name) => name.endsWith(".html"))]
    .map((name) => /** @type {const} */ ([name, readFileSync(new URL(name, root), "utf8")]));
}

test("no_module_and_no_page_holds_a_sentence", () => {
  const files = sources();
  assert.ok(files.length > 30);
  for (const [name, source] of files) {
    if (name.endsWith(".html")) assert.deepEqual(htmlTexts(source).filter((text) => /\p{L}/u.test(text) && text !== "askwell"), [], name);
    else assert.deepEqual(stringsOf(source).filter(isSentence), [], name);
  }
});

/** What a reader would see of a page without its words; without scripts there is nobody to choose a language. @param {string} source */
function htmlTexts(source) {
  const body = source.slice(source.indexOf("<body")).replace(/<noscript>.*?<\/noscript>/gs, "");
  return [...body.replace(/<[^>]*>/g, "\n").split("\n").map((text) => text.trim()), ...[...body.matchAll(/\s(?:aria-label|placeholder|title|alt)="([^"]+)"/g)].map(([, text]) => text ?? "")];
}

/** String literals of a module that are not for programmers: no comments, no thrown errors, no logs. @param {string} source */
function stringsOf(source) {
  const plain = source.replace(/\/\*.*?\*\//gs, "").replace(/(^|\s)\/\/.*$/gm, "").replace(/new \w*Error\([^;]*;/g, "").replace(/console\.\w+\([^;]*;/g, "");
  return [...plain.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)].map(([, double, back]) => double ?? (back ?? "").replace(/\$\{[^}]*\}/g, "x"));
}

/** @param {string} text */
function isSentence(text) {
  return text !== "Bearer x" && /^\s*[A-Z][a-z]+ (?:[a-z’']+ )*[a-z’']+[.?!…:]?\s*$|[a-z] [a-z]+[.?!…]\s*$/.test(text);
}

test("style_sheets_know_start_and_end_instead_of_left_and_right", () => {
  const root = new URL("../static/", import.meta.url);
  const sheets = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".css") && !name.startsWith("vendor"));
  assert.ok(sheets.length >= 6);
  for (const name of sheets) {
    const physical = readFileSync(new URL(name, root), "utf8").replaceAll(/env\([^)]*\)/g, "0").match(/^.*(?:(?:margin|padding|border|inset)-(?:left|right)|(?<![-\w])(?:left|right)\s*:|text-align:\s*(?:left|right)|float:).*$/gm) ?? [];
    assert.deepEqual(physical, [], name);
  }
});

test("count_chooses_the_plural_of_the_language", () => {
  const german = textsOf({ n: { one: "{count} Ort", other: "{count} Orte" } }, "de");
  assert.deepEqual([1, 2, 1000].map((count) => german("n", { count })), ["1 Ort", "2 Orte", "1.000 Orte"]);
  const arabic = textsOf(tables.get("ar.js") ?? {}, "ar");
  assert.equal(arabic("answer.left", { count: 2 }), "بقي حرفان");
  assert.match(arabic("answer.left", { count: 3 }), /أحرف/);
  assert.match(arabic("answer.left", { count: 11 }), /حرفًا/);
  assert.match(arabic("answer.left", { count: 100 }), /حرف$/);
});

test("name_that_runs_the_other_way_is_isolated", () => {
  const rtl = textsOf({ "language.direction": "rtl", a: "قال {name}" }, "ar");
  assert.equal(rtl("a", { name: "Ann (2)" }), "قال \u2068Ann (2)\u2069");
  assert.equal(rtl("a", { name: "سلمى" }), "قال سلمى");
  assert.equal(isolated("سلمى", "ltr"), "\u2068سلمى\u2069");
  assert.deepEqual([rtl.language, rtl.direction], ["ar", "rtl"]);
});

test("closest_language_is_found_by_its_first_parts", () => {
  assert.equal(closest("de-AT", ["de", "en"]), "de");
  assert.equal(closest("pt-BR", ["pt", "pt-br"]), "pt-br");
  assert.equal(closest("fr", ["de"]), null);
  assert.equal(firstKnown([null, "fr", "ar-EG", "de"], ["ar", "de", "en"]), "ar");
  assert.equal(firstKnown(["xx"], ["de"]), "en");
  assert.deepEqual(["de", "ar", "zz"].map(languageName), ["Deutsch", "العربية", "Zz"]);
});

test("formats_follow_the_language", () => {
  const german = formatsOf({ language: "de" });
  assert.equal(german.number(1234.5), "1.234,5");
  assert.equal(german.percent(0.256), "26\u00a0%");
  assert.equal(german.ago(150), "vor 2 Minuten");
  assert.equal(german.ago(0), "jetzt");
  assert.equal(german.bytes(1_500_000), "1,5 MB");
  assert.equal(german.bytes(0), "0 Byte");
  assert.equal(german.seconds(1.25), "1,3 Sek.");
  assert.equal(german.list(["a", "b", "c"]), "a, b und c");
  assert.equal(formatsOf({ language: "en" }).money(0.0123), "$0.0123");
  assert.match(formatsOf({ language: "de" }).date("2026-03-01T12:00:00Z", { dateStyle: "long", timeZone: "UTC" }), /1\. März 2026/);
});
