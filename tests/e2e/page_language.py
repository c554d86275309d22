"""Whether a page is in one language, and the right way round."""

from __future__ import annotations

import re

from playwright.async_api import Page

DIRECTIONS = {"de": "ltr", "ar": "rtl", "en": "ltr"}
ENGLISH = re.compile(
    r"\b(the|your|you|and|please|answer|question|interview is|begin|send|finish|withdraw|connection|thank)\b",
    re.I,
)
VISIBLE = """() => {
  const words = [];
  const own = at => at.checkVisibility() && at.closest('[lang]').lang === document.documentElement.lang;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.parentElement;
    if (own(at) && !at.closest('noscript')) words.push(node.textContent);
  }
  for (const at of document.querySelectorAll('[aria-label], [placeholder]')) {
    if (own(at)) words.push(at.getAttribute('aria-label') ?? '', at.getAttribute('placeholder') ?? '');
  }
  return words.join(' \\n ');
}"""


async def in_language(page: Page, language: str, what: str) -> None:
    """In the language and its direction; outside English no English words among those that are the page's own."""
    root = page.locator("html")
    assert (await root.get_attribute("lang"), await root.get_attribute("dir")) == (language, DIRECTIONS[language]), what
    if language != "en":
        found = ENGLISH.search(await page.evaluate(VISIBLE))
        assert found is None, f"{what}: {found}"
