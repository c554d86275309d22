"""Reads and checks concepts, methodologies, prompts and interface texts, and makes the configuration of a session.

A `Library` looks at the packaged files and at a directory of the operator's own; a file of the same name there
replaces the packaged one. Changed files are read again on the next access; a file that became invalid keeps its last
good version and is reported by `problems`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

from config.asked import question_cautions
from config.cautions import cautions, repeated_synonyms
from config.conduct import ConductFiles, replaced_wrongly
from config.elements import stimulus_cautions
from config.enginefiles import EngineFiles, rushed, unlent, unread
from config.files import (
    Folder,
    Texts,
    read_concept,
    read_methodology,
    read_texts,
)
from config.fitting import engine_refused, engines_unknown, ungriddable
from config.images import ImageFiles, ImageUnusable
from config.personas import RESPONDENTS, Persona, Respondents, read_persona, read_respondents, unfit
from config.promptfiles import PromptFiles
from config.roles import Models
from config.settings import PREFIX, ROLES
from config.singlefile import SingleFile
from config.speech import unannounced_recording
from config.topicname import reads_badly
from config.yamlfile import ConfigProblem, suggest
from pipeline.calls import Role
from pipeline.concept import DEFAULT_MAX_TURNS, Concept, ModelOverrides, PipelineSettings, SessionConfiguration
from pipeline.engines.registry import ENGINES
from pipeline.language.support import OFFLINE, speaks_offline
from pipeline.methodology import Methodology
from pipeline.stimulus import ShownImage


class UnknownName(Exception):
    """There is no concept, methodology, engine or language of that name here; nothing was written."""

    code = "invalid_input"
    retryable = False

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> Self:
        """The usual sentence, with the name that was probably meant."""
        words = f"There is no {kind} `{name}`{suggest(name, list(known))}"
        return cls(words if words.endswith("?") else words + ".")


class LanguageUnsupported(UnknownName):
    """The concept is not available in that language, or no provider supports it."""

    code = "language_unsupported"


class ModelsUnusable(UnknownName):
    """The concept asks a language model that is not set up here; the message names the setting."""

    code = "llm_unavailable"


class Library:
    """The concepts, methodologies and texts that new sessions may begin with."""

    prompt_files: PromptFiles
    """The prompts, with what is wrong with them."""
    conduct_files: ConductFiles
    """What interviewers do about acts, with what is wrong with it."""
    engine_files: EngineFiles
    """What decision engines go by, with what is wrong with it."""

    def __init__(
        self,
        settings: PipelineSettings,
        *,
        config_dir: Path | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        models: Models | None = None,
        packaged: Traversable | None = None,
        speaks: Callable[[Role, str], bool] = speaks_offline,
    ) -> None:
        """Read all files once, prompts when they are needed.

        Args:
            settings: of the pipeline, pinned into each session's configuration.
            config_dir: the operator's own files, if any.
            max_turns: turns of an interview where neither session nor concept says.
            models: the language models there are; without them what concepts say is taken as it stands.
            packaged: where the files that come along are; found by itself.
            speaks: whether the offline provider supports a role in a language.
        """
        roots: list[Traversable] = [packaged if packaged is not None else files("config")]
        if config_dir is not None:
            roots.append(config_dir)
        self._settings = settings
        self._max_turns = max_turns
        self._models = models
        self._speaks = speaks
        self._methodologies = Folder("methodologies", roots, read_methodology)
        self._concepts = Folder("concepts", roots, read_concept)
        self._images = ImageFiles(roots)
        self.engine_files = EngineFiles(roots)
        self._texts = Folder("texts", roots, read_texts)
        self.prompt_files = PromptFiles(roots)
        self._personas = Folder("personas", roots, read_persona)
        self.conduct_files = ConductFiles(roots)
        self._respondents = SingleFile(roots, RESPONDENTS, read_respondents)
        self.refresh()

    def refresh(self) -> None:
        """Look at the files again."""
        for folder in (self._methodologies, self._concepts, self._texts, self._personas):
            folder.refresh()
        self.engine_files.refresh()

    def methodologies(self) -> dict[str, Methodology]:
        """All usable methodologies, by name."""
        self._methodologies.refresh()
        return self._methodologies.values()

    def concepts(self) -> dict[str, Concept]:
        """All concepts that a session can begin with, by id."""
        self._concepts.refresh()
        methodologies = self.methodologies()
        return {
            name: concept
            for name, concept in self._concepts.values().items()
            if concept.methodology in methodologies and not self._mismatches(concept, methodologies)
        }

    def concept(self, concept_id: str) -> Concept:
        """The concept of that id. Raises UnknownName."""
        concepts = self.concepts()
        if concept_id not in concepts:
            raise UnknownName.of("concept", concept_id, concepts)
        return concepts[concept_id]

    def personas(self) -> dict[str, Persona]:
        """All simulated respondents that can be interviewed, by id."""
        self._personas.refresh()
        concepts = self.concepts()
        return {
            name: persona
            for name, persona in self._personas.values().items()
            if persona.concept in concepts and not self._unfit(persona)
        }

    def persona(self, persona_id: str) -> Persona:
        """The simulated respondent of that id. Raises UnknownName."""
        personas = self.personas()
        if persona_id not in personas:
            raise UnknownName.of("persona", persona_id, personas)
        return personas[persona_id]

    def respondents(self) -> Respondents:
        """How simulated respondents understand and answer questions. Raises UnknownName."""
        found = self._respondents.value()
        if found is None:
            raise UnknownName(f"There is no `{RESPONDENTS}` that could be used.")
        return found

    def texts(self, language: str) -> Texts:
        """Interface texts in that language, else in English. Raises UnknownName."""
        self._texts.refresh()
        return self.known_texts(language)

    def known_texts(self, language: str) -> Texts:
        """As `texts`, from the files as they were when they were last looked at. Raises UnknownName."""
        found = self._texts.values()
        if language not in found and "en" not in found:
            raise UnknownName("There are no interface texts at all.")
        return found.get(language) or found["en"]

    def languages(self) -> tuple[str, ...]:
        """Languages that there are interface texts in."""
        self._texts.refresh()
        return tuple(self._texts.values())

    def configuration(
        self,
        concept_id: str,
        methodology: str | None = None,
        language: str | None = None,
        engine: str | None = None,
        max_turns: int | None = None,
    ) -> SessionConfiguration:
        """What a new session is pinned to. Precedence: session, concept, methodology, settings.

        Who does which language task is pinned with it, and the prompts where a language model is asked; a session
        without prompts stays offline, whatever the settings become.

        Args:
            concept_id: which concept.
            methodology: another methodology than the concept's.
            language: one of the concept's languages; the first if not given.
            engine: another decision engine than the concept's.
            max_turns: another limit than the concept's.
        Returns:
            A configuration whose concept says everything that was resolved: its methodology, engine, turn limit and
            languages (the session's first).
        Raises:
            UnknownName: there is no such concept, methodology or engine.
            LanguageUnsupported: the concept is not available in that language, or a role's provider lacks it.
            ModelsUnusable: a language model of the concept is not set up here, or a prompt is missing.
        """
        concept = self.concept(concept_id)
        chosen = self._methodology(methodology or concept.methodology)
        language = language or concept.languages[0]
        if language not in concept.languages:
            known = ", ".join(concept.languages)
            raise LanguageUnsupported(
                f"The concept `{concept_id}` is not available in `{language}`; it is in: {known}."
            )
        lacking = self.lacking(concept, language) if self._models is not None else ()
        if lacking:
            raise LanguageUnsupported(
                f"Interviews in `{language}` can't be held here: it takes a language model for "
                f"{' and '.join(lacking)}, and none is set up. Without one askwell understands "
                f"{_names(frozenset.intersection(*(OFFLINE[role] for role in lacking)))}."
            )
        engine = _usable_engine(self.engine_files, engine or concept.engine)
        if refused := engine_refused(chosen, engine):
            raise UnknownName(refused[0].upper() + refused[1:] + ".")
        if unfit_for_grid := ungriddable(concept, chosen):
            raise UnknownName(f"The concept `{concept_id}` can't be used with `{chosen.name}`: {unfit_for_grid[1]}.")
        if concept.phases is not None:
            unknown = _unknown_strategies(concept, chosen)
            if unknown:
                raise UnknownName(
                    f"The phases of `{concept_id}` name strategies that `{chosen.name}` does not have: "
                    f"{', '.join(unknown)}."
                )
            chosen = chosen.model_copy(update={"phases": concept.phases})
        others = tuple(name for name in concept.languages if name != language)
        told = concept.in_language(language)
        resolved = told.model_copy(
            update={
                "translations": {},
                "methodology": chosen.name,
                "engine": engine,
                "languages": (language, *others),
                "max_turns": max_turns or concept.max_turns or self._max_turns,
                "llm": self._pinned_models(concept),
            }
        )
        texts = self.texts(language)
        return SessionConfiguration(
            concept=resolved,
            methodology=chosen,
            settings=self._settings,
            closing_text=_closing_in(concept, language) or texts.text("closing_text"),
            withdrawn_text=texts.text("withdrawn_text"),
            conduct=self.conduct_files.policy(concept, language),
            stimulus_image=_shown_image(self._images, told),
            engine_file=self.engine_files.pinned(engine),
            prompts=self.prompts() if self._is_remote(concept) else {},
        )

    def lacking(self, concept: Concept, language: str) -> tuple[Role, ...]:
        """The roles that are done without a language model in this concept's interviews, and not in that language."""
        return tuple(role for role in ROLES if self._is_offline(role, concept.llm) and not self._speaks(role, language))

    def _is_offline(self, role: Role, overrides: ModelOverrides) -> bool:
        if self._models is not None:
            return not self._models.is_remote(role, overrides)
        over = getattr(overrides, role)
        return over is None or over.provider in (None, "offline")

    def _is_remote(self, concept: Concept) -> bool:
        if self._models is not None:
            return self._models.remote(concept.llm)
        roles = (concept.llm.extraction, concept.llm.scoring, concept.llm.generation)
        return any(role is not None and role.provider not in (None, "offline") for role in roles)

    def _pinned_models(self, concept: Concept) -> ModelOverrides:
        if self._models is None or not self._is_remote(concept):
            return concept.llm
        problems = self._models.problems(concept.llm)
        if problems:
            raise ModelsUnusable(
                f"The concept `{concept.id}` can't be used here as it is set up: "
                f"{'; '.join(f'{problem.role}: {problem.reason}' for problem in problems)}."
            )
        return self._models.pinned(concept.llm)

    def prompts(self) -> dict[str, str]:
        """The prompts as they are now, by file name without `.md`. Raises ModelsUnusable: they can't be used."""
        return _usable(self.prompt_files.texts())

    def known_prompts(self) -> dict[str, str]:
        """The prompts as they were when they were last looked at. Raises ModelsUnusable."""
        return _usable(self.prompt_files.known())

    def _methodology(self, name: str) -> Methodology:
        methodologies = self.methodologies()
        if name not in methodologies:
            raise UnknownName.of("methodology", name, methodologies)
        return methodologies[name]

    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything that is wrong with the files as they are now, in file order."""
        self.refresh()
        methodologies = self._methodologies.values()
        crossing = [
            problem
            for concept in self._concepts.values().values()
            for problem in self._mismatches(concept, methodologies)
        ]
        found = [*self._methodologies.problems(), *self._concepts.problems(), *self.engine_files.problems()]
        found += [*self._texts.problems(), *crossing]
        if any(self._is_remote(concept) for concept in self._concepts.values().values()):
            found += self.prompt_files.problems()
        found += self.conduct_files.problems()
        for methodology in methodologies.values():
            document = self._methodologies.document(methodology.name)
            if document is not None:
                found += [document.problem(("engines", at), reason) for at, reason in engines_unknown(methodology)]
        found += [*self._personas.problems(), *self._respondents.problems()]
        found += [problem for persona in self._personas.values().values() for problem in self._unfit(persona)]
        found += [problem for concept in self._concepts.values().values() for problem in self._model_problems(concept)]
        return tuple(sorted(found))

    def cautions(self) -> tuple[ConfigProblem, ...]:
        """What can be used and is probably not meant so, in file order."""
        found = []
        for concept in self._concepts.values().values():
            document = self._concepts.document(concept.id)
            if document is not None:
                reasons = {unannounced_recording(concept.in_language(language)) for language in concept.languages}
                found += [document.problem(("record_audio",), reason) for reason in reasons if reason is not None]
                found += [document.problem(("languages",), reason) for reason in self._unspoken(concept)]
                found += [document.problem(("consent",), reason) for reason in _untranslated(concept)]
                found += [document.problem(path, reason) for path, reason in repeated_synonyms(concept.synonyms)]
                found += [document.problem(path, reason) for path, reason in stimulus_cautions(concept)]
                found += [document.problem(path, reason) for path, reason in question_cautions(concept)]
                if reason := reads_badly(concept.name, concept.languages[0]):
                    found.append(document.problem(("name",), reason))
        for methodology in self._methodologies.values().values():
            document = self._methodologies.document(methodology.name)
            if document is not None:
                found += [document.problem(path, reason) for path, reason in cautions(methodology)]
        documents = [(concept, self._concepts.document(name)) for name, concept in self._concepts.values().items()]
        found += [*self.engine_files.cautions(), *unread(documents)]
        found += unlent(self.engine_files, self._methodologies.values().values())
        found += rushed(self.engine_files, documents, self._max_turns)
        return tuple(sorted(found))

    def _unspoken(self, concept: Concept) -> Iterator[str]:
        """Languages of a concept in which no interview can be held."""
        for language in concept.languages:
            lacking = self.lacking(concept, language)
            if lacking:
                settings = " and ".join(f"{PREFIX}{role.upper()}_PROVIDER" for role in lacking)
                yield f"interviews in `{language}` are refused unless {settings} name a language model"

    def _model_problems(self, concept: Concept) -> list[ConfigProblem]:
        document = self._concepts.document(concept.id)
        if document is None or self._models is None:
            return []
        return [
            document.problem(("llm", problem.role, problem.field), problem.reason)
            for problem in self._models.problems(concept.llm)
            if getattr(concept.llm, problem.role) is not None
        ]

    def _unfit(self, persona: Persona) -> list[ConfigProblem]:
        document = self._personas.document(persona.id)
        if document is None:
            return []
        concept = self._concepts.values().get(persona.concept)
        methodology = self._methodologies.values().get(concept.methodology) if concept is not None else None
        found = unfit(persona, list(self._concepts.values()), self._respondents.value(), methodology)
        return [document.problem(path, reason) for path, reason in found]

    def _mismatches(self, concept: Concept, methodologies: Mapping[str, Methodology]) -> list[ConfigProblem]:
        document = self._concepts.document(concept.id)
        if document is None:
            return []
        methodology = methodologies.get(concept.methodology)
        if methodology is None:
            hint = suggest(concept.methodology, list(methodologies))
            return [document.problem(("methodology",), f"there is no methodology `{concept.methodology}`{hint}")]
        problems = [document.problem(path, reason) for path, reason in replaced_wrongly(concept)]
        problems += [document.problem(path, reason) for path, reason in self._images.problems(concept)]
        return problems + [document.problem(path, reason) for path, reason in _misfits(concept, methodology)]


def _shown_image(images: ImageFiles, told: Concept) -> ShownImage | None:
    """The image of a concept. Raises UnknownName: it can't be shown any more."""
    try:
        return images.shown(told.stimulus_image) if told.stimulus_image is not None else None
    except ImageUnusable as exc:
        raise UnknownName(f"The image of the concept `{told.id}` can't be shown: {exc}.") from exc


def _misfits(concept: Concept, methodology: Methodology) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What of a concept its methodology can't serve."""
    yield from _left_out_wrongly(concept, methodology)
    if refused := engine_refused(methodology, concept.engine):
        yield ("engine",), refused
    if lacks := ungriddable(concept, methodology):
        yield (lacks[0],), lacks[1]
    strategies = [strategy.name for strategy in methodology.strategies]
    for phase, part, name in _phase_strategies(concept):
        if name not in strategies:
            yield ("phases", phase, part, name), f"unknown strategy{suggest(name, strategies)}"


def _left_out_wrongly(concept: Concept, methodology: Methodology) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Topics that a concept leaves out and the guide does not have."""
    topics = [topic.id for topic in methodology.guide]
    for i, name in enumerate(concept.leave_out):
        if name not in topics:
            yield ("leave_out", i), f"the guide has no topic `{name}`{suggest(name, topics)}"


def _usable_engine(engines: EngineFiles, name: str) -> str:
    """The name of a decision engine. Raises UnknownName: there is none, or its file can't be used."""
    if name not in ENGINES:
        raise UnknownName.of("decision engine", name, ENGINES)
    if name not in engines.usable():
        raise UnknownName(
            f"The decision engine `{name}` can't be used: its file is missing or wrong; `askwell check-config` "
            "says what is wrong with it."
        )
    return name


def _usable(prompts: dict[str, str]) -> dict[str, str]:
    if not prompts:
        raise ModelsUnusable("The prompts can't be used; `askwell check-config` says what is wrong with them.")
    return prompts


def _closing_in(concept: Concept, language: str) -> str | None:
    """The concept's own thank-you in that language; one in another language is none."""
    if language == concept.languages[0]:
        return concept.closing_text
    found = concept.translations.get(language)
    return found.closing_text if found is not None else None


def _untranslated(concept: Concept) -> Iterator[str]:
    """Languages of a concept whose respondents would agree to a text in another language."""
    if concept.consent is None:
        return
    for language in concept.languages[1:]:
        found = concept.translations.get(language)
        if found is None or found.consent_text is None:
            yield f"there is no consent text in `{language}`: `translations.{language}.consent_text`"


def _names(languages: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(languages))


def _phase_strategies(concept: Concept) -> Iterator[tuple[str, str, str]]:
    if concept.phases is not None:
        for phase in ("early", "mid", "late"):
            profile = getattr(concept.phases, phase)
            for part in ("signal_weights", "phase_bonuses"):
                for name in getattr(profile, part):
                    yield phase, part, name


def _unknown_strategies(concept: Concept, methodology: Methodology) -> list[str]:
    known = {strategy.name for strategy in methodology.strategies}
    return sorted({name for _, _, name in _phase_strategies(concept)} - known)


def content_hash(configuration: SessionConfiguration) -> str:
    """The name of a pinned configuration: SHA-256 of its canonical JSON, 64 hexadecimal digits."""
    return _hash(configuration.model_dump(mode="json"))


def content_hash_of(content: str) -> str:
    """The same for a configuration as it was stored, whatever this version would add to it. Raises ValueError."""
    return _hash(json.loads(content))


def _hash(data: object) -> str:
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
