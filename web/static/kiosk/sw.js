/**
 * Keeps the kiosk page's own files, and nothing else: what a respondent sends or gets never passes through here.
 *
 * The server puts VERSION and FILES before this text; a changed file changes it, which is how a new version is noticed.
 * All files of a version come from one cache, so that an old module never meets a new one.
 *
 * @typedef {object} Made
 * @property {string} VERSION over the contents of all files.
 * @property {string[]} FILES addresses; the page itself is PAGE.
 */

/** @type {any} the scope of a service worker, for which pages have no types. */
const worker = globalThis;
/** @type {Made} */
const { VERSION, FILES } = worker.askwell;
const PREFIX = "askwell-kiosk-";
const CACHE = PREFIX + VERSION;
const PAGE = "/kiosk/";

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(fill()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(takeOver()));
worker.addEventListener("message", (/** @type {any} */ event) => {
  if (event.data === "take over") void worker.skipWaiting();
});
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== worker.location.origin) return;
  if (request.mode === "navigate") event.respondWith(kept(PAGE, request));
  else if (FILES.includes(url.pathname)) event.respondWith(kept(url.pathname, request));
});

/** Everything or nothing: a version of which a file is missing is not installed. */
async function fill() {
  const cache = await caches.open(CACHE);
  await cache.addAll([PAGE, ...FILES].map((path) => new Request(path, { cache: "reload" })));
}

async function takeOver() {
  const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** @param {string} path @param {Request} request @returns {Promise<Response>} */
async function kept(path, request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(path)) ?? fetch(request);
}
