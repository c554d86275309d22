"""The command `askwell compare`: the answers of an interview through other engines and configurations, side by side."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from config.settings import Settings
from server.comparison.errors import NotARecord
from server.comparison.moments import Comparison, compared
from server.comparison.playing import Run, held, offline, play
from server.comparison.recording import Recording, exported, is_file, read, recording
from server.comparison.report import document, page, table
from server.comparison.variants import Variants, Wanted, variants
from server.session.rules import TURN_LIMIT
from server.simulation.running import library_of

LEAST_TURNS = 3


def compare(settings: Settings, options: argparse.Namespace, export: Callable[[str], bytes]) -> int:
    """Play the answers, print the comparison, write what was asked for.

    Args:
        settings: of the process.
        options: see `server.comparison.arguments`.
        export: a stored session's complete export, by its id.
    Raises:
        ComparisonError, UnknownName: there is nothing to compare, or it can't be done.
        ApiError: there is no such interview.
        ProviderError: a model of this machine can't be loaded.
    """
    most = options.max_turns
    if most is not None and not LEAST_TURNS <= most <= TURN_LIMIT:
        raise NotARecord(f"--max-turns should be from {LEAST_TURNS} to {TURN_LIMIT}")
    for path in filter(None, (options.html, options.json)):
        if not path.parent.is_dir():
            raise NotARecord(f"{path} can't be written: there is no directory {path.parent}")
    source = _recorded(options.record, export)
    source = replace(source, max_turns=most or source.max_turns)
    wanted = Wanted(
        tuple(options.engine or ()),
        tuple(options.concept or ()),
        tuple(options.config or ()),
        options.language,
        source.max_turns,
    )
    chosen = variants(source, wanted, library_of(settings), settings)
    comparison = asyncio.run(_compared(settings, source, chosen))
    sys.stdout.write(table(comparison))
    for path, text in ((options.html, page), (options.json, _as_json)):
        if path is not None:
            path.write_text(text(comparison), encoding="utf-8")
            _tell(f"written to {path}")
    return 0


def _recorded(named: str, export: Callable[[str], bytes]) -> Recording:
    if is_file(named):
        path = Path(named)
        return recording(read(path), path.name)
    return exported(json.loads(export(named)), f"session {named}")


async def _compared(settings: Settings, source: Recording, chosen: Variants) -> Comparison:
    as_held = held(source)
    runs: list[Run] = [as_held] if as_held is not None else []
    methodologies = {one.configuration.methodology.name: one.configuration.methodology for one in chosen.listed}
    _tell("loading the language models")
    async with offline(settings, methodologies.values()) as pipeline:
        for at, variant in enumerate(chosen.listed, start=1):
            _tell(f"{at} of {len(chosen.listed)}: {variant.name}")
            runs.append(await play(pipeline, variant, source))
    return compared(source, runs, chosen.left_out)


def _as_json(comparison: Comparison) -> str:
    return json.dumps(document(comparison), ensure_ascii=False, indent=1) + "\n"


def _tell(line: str) -> None:
    sys.stderr.write(f"askwell: {line}\n")
    sys.stderr.flush()
