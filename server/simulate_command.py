"""The command `askwell simulate`: interviews with simulated respondents, counted."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from config.loader import Library, UnknownName
from config.personas import Persona
from config.settings import Settings
from server.simulation.engines import ALL, engines_named
from server.simulation.errors import ReportNotWritable
from server.simulation.report import page, table
from server.simulation.running import Job, Result, hold_all, library_of

FOLDER = "simulations"
"""In the data directory: results, a folder per concept."""


def simulate(settings: Settings, options: argparse.Namespace) -> int:
    """Hold the interviews, tell how far they are, print the figures.

    Raises:
        ReportNotWritable: the report can't be written where it is wanted.
        UnknownName: there is no such concept, persona, manner or engine, or nobody to interview.
        ProviderError, NoModel: an interview failed; those that were held are kept.
    """
    if options.html is not None and not options.html.parent.is_dir():
        raise ReportNotWritable(f"{options.html} can't be written: there is no directory {options.html.parent}")
    if options.html is not None and options.html.is_dir():
        raise ReportNotWritable(f"{options.html} can't be written: it is a directory")
    library = library_of(settings)
    jobs = _jobs(library, options)
    folder = options.to or settings.storage.data / FOLDER / options.concept
    processes = options.jobs or max((os.cpu_count() or 2) // 2, 1)
    results: list[Result] = []
    try:
        for result in hold_all(
            jobs, settings, folder, processes=processes, fresh=options.fresh, scheduler=options.scheduler
        ):
            results.append(result)
            score = result.score
            _tell(
                f"{len(results)} of {len(jobs)}: {result.job.name}, {score.told} of {score.ideas} ideas told in "
                f"{score.turns} answers ({result.seconds:.1f} s)"
            )
    finally:
        if len(results) < len(jobs):
            _tell(f"{len(results)} of {len(jobs)} interviews were held; the same command goes on from there")
    sys.stdout.write(table(results))
    if options.html is not None:
        options.html.write_text(page(results, f"Simulated interviews: {options.concept}"), encoding="utf-8")
        _tell(f"the report is in {options.html}")
    return 0


def _jobs(library: Library, options: argparse.Namespace) -> Sequence[Job]:
    personas = _personas(library, options)
    manners = library.respondents().manners
    if options.manner is not None and options.manner not in manners:
        raise UnknownName.of("manner", options.manner, manners)
    named = engines_named(options.engine) if options.engine else (None,)
    pairs = [(one, name) for one in personas for name in named if _serves(library, one, name, options)]
    return [
        Job(persona.id, seed, options.manner, engine, options.max_turns, options.by_model)
        for seed in range(1, options.seeds + 1)
        for persona, engine in pairs
    ]


def _serves(library: Library, persona: Persona, engine: str | None, options: argparse.Namespace) -> bool:
    """Whether an engine can interview a persona. Raises UnknownName, unless it is only one of all there are."""
    try:
        # Refuses what no interview can begin with, before models are loaded.
        library.configuration(persona.concept, engine=engine, max_turns=options.max_turns)
    except UnknownName as error:
        if options.engine != [ALL]:
            raise
        _tell(f"left out: {engine} with {persona.id}. {error}")
        return False
    return True


def _personas(library: Library, options: argparse.Namespace) -> Sequence[Persona]:
    if options.concept != "all":
        library.concept(options.concept)
    there = [each for each in library.personas().values() if options.concept in ("all", each.concept)]
    chosen = options.persona or [each.id for each in there]
    by_id = {each.id: each for each in there}
    for name in chosen:
        if name not in by_id:
            raise UnknownName.of("persona of this concept", name, by_id)
    if not chosen:
        raise UnknownName(
            f"There is no persona for the concept `{options.concept}`; write one into personas/ of your configuration "
            "directory (docs/interviewing.md)."
        )
    return [by_id[name] for name in dict.fromkeys(chosen)]


def _tell(line: str) -> None:
    sys.stderr.write(f"askwell: {line}\n")
    sys.stderr.flush()
