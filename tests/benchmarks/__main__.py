"""`python -m tests.benchmarks [turns|decisions|latency|models|watchers|attacks|workers|…-short]`.

Besides `connections …`, `costs …` and `crowds …`.

Without an argument all but the short ones and those that take options of their own (`connections --help`,
`costs --help`, `crowds --help`).
"""

from __future__ import annotations

import asyncio
import platform
import sys
from concurrent.futures import ThreadPoolExecutor

from config.loader import Library
from config.settings import Settings
from server.language import load_providers
from tests.benchmarks import (
    attacks,
    connections,
    costs,
    crowds,
    decisions,
    language_models,
    latency,
    turns,
    watchers,
    workers,
)


async def main(wanted: list[str]) -> None:
    """Run what is asked for, in one process after the other."""
    print(f"# askwell benchmarks: Python {platform.python_version()}, {platform.machine()}")
    if wanted[:1] == ["connections"]:
        await connections.run(wanted[1:])
        return
    if wanted[:1] == ["costs"]:
        await costs.run(wanted[1:])
        return
    if wanted[:1] == ["crowds"]:
        await crowds.run(wanted[1:])
        return
    settings = Settings()
    if not wanted or "turns" in wanted:
        with ThreadPoolExecutor(2) as executor:
            library = Library(settings.pipeline)
            known = tuple(library.methodologies().values())
            rules = settings.model_copy(update={"language": settings.language.model_copy(update={"reader": "rules"})})
            offline = {
                "offline, rules alone": await load_providers(rules, executor, known),
                "offline, rules and reader": await load_providers(settings, executor, known),
            }
            await turns.run(library, offline)
    if not wanted or "decisions" in wanted:
        decisions.run(Library(settings.pipeline).methodologies()["means_end_chain"])
    if not wanted or "latency" in wanted:
        await latency.run()
    if not wanted or "models" in wanted:
        await language_models.run()
    if not wanted or "watchers" in wanted:
        await watchers.run()
    if not wanted or "attacks" in wanted:
        await attacks.run()
    if not wanted or "workers" in wanted:
        await workers.run()
    if "watchers-short" in wanted:
        await watchers.run(short=True)
    if "models-short" in wanted:
        await language_models.run(short=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
