"""The language tasks (extraction, rating, slots, questions, elements of a stimulus) by prompts for language models."""

from pipeline.language.prompted.elements import PromptedConceptParser
from pipeline.language.prompted.extraction import PromptedExtractor
from pipeline.language.prompted.prompts import PROMPT_NAMES, PromptInvalid, PromptProblem, Prompts, Rendered
from pipeline.language.prompted.questions import PromptedQuestionWriter
from pipeline.language.prompted.rating import PromptedRater
from pipeline.language.prompted.samples import render_samples
from pipeline.language.prompted.slots import PromptedSlotProposer

__all__ = [
    "PROMPT_NAMES",
    "PromptInvalid",
    "PromptProblem",
    "PromptedConceptParser",
    "PromptedExtractor",
    "PromptedQuestionWriter",
    "PromptedRater",
    "PromptedSlotProposer",
    "Prompts",
    "Rendered",
    "render_samples",
]
