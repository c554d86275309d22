"""The variables that a prompt file may use in its system and user part, with values for trying it.

The system part has only what stays the same from turn to turn, so that providers can cache it. Values that
are JSON strings or blocks are respondents' words, prepared by `delimiting`; templates insert them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TEMPLATES = ("extraction", "rating", "slots", "opening", "question", "rephrase", "ending", "repair", "elements")
RUBRICS = "signals"
PROMPT_NAMES = (*TEMPLATES, RUBRICS)
"""Names of all prompt files, without `.md`: the templates, and the rubrics that `rating` includes."""

LATER = frozenset({"elements", "ending"})
"""Those that not every version had: a session may have been begun with prompts from before them."""

Values = Mapping[str, Any]

_TYPES = [
    {
        "name": "attribute",
        "label": "attribute",
        "level": 1,
        "terminal": False,
        "description": "Feature of the product.",
        "examples": ["creamy texture"],
    },
    {
        "name": "terminal_value",
        "label": "terminal value",
        "level": 5,
        "terminal": True,
        "description": "A goal of life.",
        "examples": [],
    },
]
_BLOCK = "<answer-0f1e2d3c4b5a>\nIt is quick.\n</answer-0f1e2d3c4b5a>"
_STIMULUS = "<stimulus-0f1e2d3c4b5a>\nA cup that keeps its warmth.\n</stimulus-0f1e2d3c4b5a>"
_METHOD: dict[str, Any] = {
    "method": "means end chain",
    "goal": "Explore chains from features to values.",
    "method_description": "Laddering.",
}
_ASKING: dict[str, Any] = {"topic": "coffee", "language": "English", "max_words": 25}
_CONVERSATION: dict[str, Any] = {
    "lines": [{"speaker": "interviewer", "text": '"Why?"'}, {"speaker": "respondent", "text": '"It is quick."'}],
    "recent_questions": ['"Why?"'],
    "variant": 0,
}
_EXAMPLES = ["Why does … matter to you?"]


@dataclass(frozen=True)
class PromptVariables:
    """Variables of one file. `rich` and `bare` values together reach every branch a file may have."""

    system: Values
    user: Values
    bare: Values
    """Values of both parts where they are absent: empty, zero or None."""


VARIABLES: Mapping[str, PromptVariables] = {
    "extraction": PromptVariables(
        system={
            **_METHOD,
            "node_types": _TYPES,
            "edge_types": [
                {
                    "name": "leads_to",
                    "description": "The source brings the target about.",
                    "connections": ["attribute → attribute, terminal_value"],
                }
            ],
            "levelled": True,
            "revises": True,
            "guidelines": ["Never add a concept that was not said."],
            "relationship_examples": [
                {"utterance": "It is creamy, so …", "source": "creamy", "target": "filling", "type": "leads_to"}
            ],
            "extract": ["Features"],
            "skip": ["Small talk"],
            "naming": "Short phrase in the respondent's words.",
            "max_concepts": 40,
        },
        user={
            "topic": "coffee",
            "language": "English",
            "question": '"Why?"',
            "focus": '"creamy texture"',
            "focus_type": "attribute",
            "existing": [{"label": '"creamy texture"', "type": "attribute"}],
            "discourse": [{"kind": "cause", "marker": '"so"', "antecedent": '"quick"', "consequent": '"more time"'}],
            "purpose": "Find out what it does for the person.",
            "answer": _BLOCK,
        },
        bare={
            "method_description": "",
            "levelled": False,
            "revises": False,
            "guidelines": [],
            "relationship_examples": [],
            "extract": [],
            "skip": [],
            "naming": "",
            "focus": None,
            "focus_type": None,
            "existing": [],
            "discourse": [],
            "purpose": None,
            "edge_types": [{"name": "leads_to", "description": "", "connections": ["any → any"]}],
        },
    ),
    "rating": PromptVariables(
        system={"rubrics": "response_depth: How much elaboration?\n    1 = …"},
        user={
            "language": "English",
            "lines": _CONVERSATION["lines"],
            "question": '"Why?"',
            "answer": _BLOCK,
        },
        bare={"lines": []},
    ),
    "slots": PromptVariables(
        system={**_METHOD, "node_types": _TYPES},
        user={
            "language": "English",
            "nodes": [{"number": 1, "label": '"quick"', "type": "attribute", "quote": '"It is quick."'}],
            "slots": [{"name": "speed", "type": "attribute", "description": '"how fast it is"'}],
        },
        bare={"method_description": "", "slots": []},
    ),
    "opening": PromptVariables(
        system={**_METHOD, **_ASKING, "opening_bias": "Invite an experience."},
        user={
            **_ASKING,
            "objective": "Understand why people drink coffee.",
            "stimulus": _STIMULUS,
            "recent_questions": ['"Why?"'],
            "examples": _EXAMPLES,
            "variant": 1,
            "refused": [{"text": '"Is it quick?"', "reasons": ["closed: it can be answered by yes or no"]}],
        },
        bare={
            "method_description": "",
            "opening_bias": "",
            "objective": "",
            "stimulus": None,
            "recent_questions": [],
            "examples": [],
            "variant": 0,
            "refused": [],
        },
    ),
    "question": PromptVariables(
        system={**_METHOD, **_ASKING},
        user={
            **_ASKING,
            "recent_questions": _CONVERSATION["recent_questions"],
            "variant": 0,
            "strategy": "Ask why a concept matters.",
            "examples": _EXAMPLES,
            "closing": True,
            "focus": '"creamy texture"',
            "focus_type": "attribute",
            "focus_quote": '"it is so creamy"',
            "jump": True,
            "turns_ago": 3,
            "avoid_similar": True,
            "offers": [
                {
                    "purpose": "Ask why it matters.",
                    "number": 1,
                    "weak": False,
                    "label": '"quick"',
                    "sentence": '"It is quick, and that is what I like."',
                    "node_type": "attribute",
                    "quote": '"it is quick"',
                    "turns_ago": 2,
                    "closes": False,
                    "own": "",
                }
            ],
            "signals": [{"name": "response depth", "value": "surface", "description": "How much elaboration."}],
            "questions_left": 4,
            "objective": "What coffee does for people.",
            "consent": "A program asks you about coffee.",
            "stimulus": _STIMULUS,
            "conversation": _CONVERSATION["lines"],
            "earlier": ['"creamy texture"'],
            "threads": [{"label": '"quick"', "quote": '"it is quick"', "left_turn": 3}],
            "guide": [{"label": "What is disliked", "status": "open", "question": '"What do you dislike?"'}],
            "did": ["was put out by a question"],
            "untaken": ['"My wife thinks I have lost my mind."'],
            "reply": '"Sorry, I put that badly."',
            "refused": [{"text": '"Is it quick?"', "reasons": ["closed: it can be answered by yes or no"]}],
        },
        bare={
            "method_description": "",
            "objective": "",
            "consent": "",
            "stimulus": None,
            "conversation": [],
            "earlier": [],
            "threads": [],
            "guide": [],
            "did": [],
            "untaken": [],
            "reply": None,
            "refused": [],
            "recent_questions": [],
            "strategy": "",
            "examples": [],
            "closing": False,
            "focus": None,
            "focus_type": None,
            "focus_quote": None,
            "jump": False,
            "turns_ago": 0,
            "avoid_similar": False,
            "offers": [],
            "signals": [],
            "questions_left": None,
            "variant": 1,
        },
    ),
    "rephrase": PromptVariables(
        system=_ASKING,
        user={
            **_ASKING,
            **_CONVERSATION,
            "original": '"Why does that matter to you?"',
            "reply": '"Sorry, that was not clear."',
            "refused": [{"text": '"Is it quick?"', "reasons": ["closed: it can be answered by yes or no"]}],
        },
        bare={"lines": [], "recent_questions": [], "variant": 1, "reply": None, "refused": []},
    ),
    "ending": PromptVariables(
        system={**_ASKING, "ends_with": "Thank you. That was my last question."},
        user={
            **_ASKING,
            "objective": "What coffee does for people.",
            "consent": "A program asks you about coffee.",
            "stimulus": _STIMULUS,
            "conversation": _CONVERSATION["lines"],
            "earlier": ['"creamy texture"'],
            "reply": '"Sorry, I put that badly."',
            "may_ask": True,
            "refused": [{"text": '"Great answer."', "reasons": ["it praises"]}],
        },
        bare={
            "objective": "",
            "consent": "",
            "stimulus": None,
            "earlier": [],
            "reply": None,
            "may_ask": False,
            "refused": [],
        },
    ),
    "elements": PromptVariables(
        system={"most": 12, "label_words": 6},
        user={"topic": "coffee", "language": "English", "stimulus": _STIMULUS},
        bare={},
    ),
    "repair": PromptVariables(
        system={"system": "You are a researcher."},
        user={"user": "Read the answer.", "output": _BLOCK, "errors": ['"concepts: missing"'], "truncated": True},
        bare={"output": None, "truncated": False},
    ),
}
