"""The checks of `askwell check-config`: files by themselves and together, and prompts rendered with sample values."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from config.loader import Library, UnknownName
from config.prices import load_prices
from config.yamlfile import ConfigError, ConfigProblem, suggest
from pipeline.concept import PipelineSettings
from pipeline.methodology import Methodology

if TYPE_CHECKING:
    from pipeline.language.prompted.prompts import Prompts, Rendered

TOPIC, OBJECTIVE = "running shoes", "Which features of running shoes matter to people, and what for."
"""Topic and objective for a methodology that no concept uses."""
CHARACTERS_PER_TOKEN = 4.2
"""Of English prose with the tokenizers of today's models, within a tenth."""
TOKENS_PER_WORD = 1.35


@dataclass(frozen=True)
class CheckReport:
    """What `check_config` found."""

    concepts: tuple[str, ...]
    methodologies: tuple[str, ...]
    engines: tuple[str, ...]
    languages: tuple[str, ...]
    prompts: tuple[str, ...]
    problems: tuple[ConfigProblem, ...]
    cautions: tuple[ConfigProblem, ...] = ()
    """Warnings: what can be used, but is probably a mistake."""

    @property
    def ok(self) -> bool:
        """Whether everything can be used."""
        return not self.problems


@dataclass(frozen=True)
class PromptSample:
    """A prompt as it would be sent for a turn of some methodology."""

    name: str
    methodology: str
    topic: str
    system: str
    user: str


def check_config(config_dir: Path | None = None) -> CheckReport:
    """Read and check all files, the packaged ones and those of a directory over them, and render every prompt."""
    library = Library(PipelineSettings(), config_dir=config_dir)
    problems = [*library.problems(), *library.prompt_files.problems()]
    samples: list[PromptSample] = []
    if not library.prompt_files.problems():
        for found in _samples(library):
            if isinstance(found, PromptSample):
                samples.append(found)
            else:
                problems.append(found)
    try:
        load_prices(config_dir)
    except ConfigError as exc:
        problems += exc.problems
    return CheckReport(
        concepts=tuple(library.concepts()),
        methodologies=tuple(library.methodologies()),
        engines=library.engine_files.usable(),
        languages=library.languages(),
        prompts=tuple(dict.fromkeys(sample.name for sample in samples)),
        problems=tuple(sorted(set(problems))),
        cautions=tuple(sorted((*library.cautions(), *(_unread(config_dir) if config_dir is not None else ())))),
    )


READ = frozenset({"concepts", "engines", "methodologies", "personas", "prompts", "texts"})
"""Folders of a configuration directory whose files are read."""
READ_AT_THE_TOP = frozenset({"conduct", "prices", "respondents"})
"""Files of a configuration directory that are read where they lie, without what stands behind the point."""


def _unread(config_dir: Path) -> Iterator[ConfigProblem]:
    """Files that look like configuration and lie where nothing reads them."""
    for path in sorted(config_dir.rglob("*.y*ml")):
        folders = path.relative_to(config_dir).parts[:-1]
        if any(part.startswith(".") for part in folders) or path.name.startswith("."):
            continue
        if (len(folders) == 1 and folders[0] in READ) or (not folders and path.stem in READ_AT_THE_TOP):
            continue
        meant = suggest(folders[0], sorted(READ)) if len(folders) == 1 and folders[0] not in READ else ""
        if not folders and config_dir.name in READ:
            meant = f"; name the folder above it: {config_dir.resolve().parent}"
        hint = (
            meant
            or "; concepts lie in `concepts/`, methodologies in `methodologies/`, and so on, without folders in them"
        )
        yield ConfigProblem(str(path), 1, f"this file is not read{hint}")


def prompt_samples(config_dir: Path | None = None) -> list[PromptSample]:
    """Every prompt as it would be sent, for every methodology.

    Raises:
        ConfigError: one can't be rendered.
    """
    library = Library(PipelineSettings(), config_dir=config_dir)
    problems = [*library.prompt_files.problems()]
    found = [] if problems else list(_samples(library))
    problems += [problem for problem in found if isinstance(problem, ConfigProblem)]
    if problems:
        raise ConfigError(sorted(problems))
    return [sample for sample in found if isinstance(sample, PromptSample)]


def prompts_shown(samples: Sequence[PromptSample], name: str, methodology: str | None) -> str:
    """The prompts for people to read.

    Args:
        samples: all there are.
        name: of the one that is wanted; empty for all.
        methodology: only for this one, if given.
    Raises:
        UnknownName: there is none of that name.
    """
    for kind, wanted, known in (
        ("prompt", name or None, [sample.name for sample in samples]),
        ("methodology", methodology, [sample.methodology for sample in samples]),
    ):
        if wanted is not None and wanted not in known:
            raise UnknownName(f"there is no {kind} `{wanted}`; there are: {', '.join(dict.fromkeys(known))}")
    shown = [s for s in samples if name in ("", s.name) and methodology in (None, s.methodology)]
    return "\n".join(
        f"===== {sample.name}: {sample.methodology}, {sample.topic} =====\n\n"
        f"----- system -----\n\n{sample.system}\n\n----- user -----\n\n{sample.user}\n"
        for sample in shown
    ) + _budget(shown)


def _budget(samples: Sequence[PromptSample]) -> str:
    """About how many tokens each prompt takes, and what a conversation at its longest adds."""
    lines = ["About how many tokens (system part, which providers can keep, + user part of this sample):", ""]
    for sample in samples:
        lines.append(f"{sample.name}, {sample.methodology}: {_tokens(sample.system)} + {_tokens(sample.user)}")
    if any(sample.name == "question" for sample in samples):
        words = PipelineSettings().conversation_words
        lines.append(
            f"A question late in a long interview: up to {round(words * TOKENS_PER_WORD)} more, for {words} words of "
            "conversation (unless ASKWELL_CONVERSATION_WORDS says otherwise)."
        )
    return "\n" + "\n".join(lines)


def _tokens(text: str) -> int:
    return round(len(text) / CHARACTERS_PER_TOKEN)


def _samples(library: Library) -> Iterator[PromptSample | ConfigProblem]:
    from pipeline.language.prompted.prompts import Prompts

    prompts = Prompts(library.prompts())
    for methodology in library.methodologies().values():
        topic, objective = _subject(library, methodology)
        rendered = _rendered(prompts, methodology, topic, objective, library)
        if isinstance(rendered, ConfigProblem):
            yield rendered
            continue
        for name, parts in rendered.items():
            yield PromptSample(name, methodology.name, topic, parts.system, parts.user)


def _rendered(
    prompts: Prompts, methodology: Methodology, topic: str, objective: str, library: Library
) -> dict[str, Rendered] | ConfigProblem:
    """All prompts for one methodology, or what goes wrong first."""
    from jinja2 import TemplateError

    from pipeline.language.prompted.samples import render_samples

    try:
        return render_samples(prompts, methodology, topic, objective)
    except (TemplateError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as exc:
        frames = [f for f in traceback.extract_tb(exc.__traceback__) if f.filename.endswith(".md")]
        name, line = (Path(frames[-1].filename).stem, frames[-1].lineno or 1) if frames else ("", 1)
        reason = f"can't be rendered for the methodology `{methodology.name}`: {exc}"
        return ConfigProblem(library.prompt_files.file(name) if name else "prompts", line, reason)


def _subject(library: Library, methodology: Methodology) -> tuple[str, str]:
    """What a concept of that methodology is about."""
    for concept in library.concepts().values():
        if concept.methodology == methodology.name:
            return concept.name, concept.goal
    return TOPIC, OBJECTIVE
