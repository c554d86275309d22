"""The methodologies, concepts and texts that come with askwell."""

from __future__ import annotations

import re

import pytest

from config.loader import Library
from pipeline.concept import PipelineSettings
from pipeline.methodology import Methodology, Strategy
from pipeline.ports import Rendering
from pipeline.question.checker import check
from pipeline.question.phrases import phrase
from pipeline.question.templates import WAYS, fill, placeholders
from pipeline.question.text import word_count, words

LIBRARY = Library(PipelineSettings())
PLACEHOLDERS = {"topic", "focus", "mention", "does", "is", "was"} | WAYS
TOLD = Rendering(
    clause="your gums don't bleed any more",
    gerund="keeping your own teeth",
    act="keep your own teeth",
    deed="call the landlord",
    feeling="helpless",
    other="the manager",
    other_act="keep your card",
    thing="that silence",
)
NAMES = (
    "means_end_chain",
    "jobs_to_be_done",
    "critical_incident",
    "customer_journey_mapping",
    "repertory_grid",
)
CONCEPTS = {
    "headphones_mec": "means_end_chain",
    "coffee_mec": "means_end_chain",
    "meal_planning_jtbd": "jobs_to_be_done",
    "commute_jtbd": "jobs_to_be_done",
    "restaurant_ci": "critical_incident",
    "customer_support_ci": "critical_incident",
    "phone_contract_cjm": "customer_journey_mapping",
    "getting_repaired_cjm": "customer_journey_mapping",
    "food_shops_rg": "repertory_grid",
    "ways_of_learning_rg": "repertory_grid",
}
EXPECTED = {
    "means_end_chain": {"deepen", "clarify", "explore", "follow_guide", "reflect", "revitalize", "wrap_up"},
    "jobs_to_be_done": {
        "explore_situation", "probe_alternatives", "dig_motivation", "uncover_obstacles", "clarify_assumption",
        "follow_guide", "revitalize", "validate_outcome",
    },
    "critical_incident": {
        "elicit_incident", "deepen_narrative", "explore_emotions", "probe_attributions", "extract_insights",
        "follow_guide", "revitalize", "validate",
    },
    "customer_journey_mapping": {
        "walk_through", "explore_expectation", "explore_feelings", "uncover_pains", "probe_moment",
        "follow_guide", "revitalize", "wrap_up",
    },
    "repertory_grid": {
        "name_elements", "compare_three", "compare_two", "ask_likeness", "ask_opposite", "ask_ratings", "ladder",
        "wrap_up",
    },
}  # fmt: skip
TOPICS = [LIBRARY.configuration(concept).concept.name for concept in CONCEPTS]


def methodology(name: str) -> Methodology:
    return next(LIBRARY.configuration(c).methodology for c, of in CONCEPTS.items() if of == name)


METHODS = {name: methodology(name) for name in NAMES}
STRATEGIES = [(name, strategy) for name in NAMES for strategy in METHODS[name].strategies]
IDS = [f"{name}-{strategy.name}" for name, strategy in STRATEGIES]


def test_files_have_no_problems() -> None:
    assert LIBRARY.problems() == ()


@pytest.mark.parametrize("name", NAMES)
def test_methodology_has_its_strategies_and_one_that_closes(name: str) -> None:
    found = METHODS[name]
    assert {strategy.name for strategy in found.strategies} == EXPECTED[name]
    assert found.closing_strategy is not None
    assert found.closing_strategy.node_binding == "none"
    assert all(found.openings[language] for language in ("en", "de"))


FIXED = [(name, strategy) for name, strategy in STRATEGIES if strategy.focus_mode == "grid"]
FIXED_IDS = [f"{name}-{strategy.name}" for name, strategy in FIXED]
ASKING = [(name, strategy) for name, strategy in STRATEGIES if strategy.focus_mode not in ("guide", "grid")]
ASKING_IDS = [f"{name}-{strategy.name}" for name, strategy in ASKING]


@pytest.mark.parametrize(("name", "strategy"), ASKING, ids=ASKING_IDS)
def test_strategy_has_enough_forms_of_different_wording(name: str, strategy: Strategy) -> None:
    english, german = strategy.templates["en"], strategy.templates["de"]
    assert len(english) >= 3
    assert len(german) >= 5
    for forms in (english, german):
        asked = [" ".join(words(re.sub(r"\{(\w+)\}", r" \1 ", form.ask))) for form in forms]
        assert len(set(asked)) == len(asked)
        for form in forms:
            assert placeholders(form.ask) <= PLACEHOLDERS, form.ask
            if strategy.node_binding == "none":
                assert not placeholders(form.ask) & ({"focus", "mention"} | WAYS), form.ask


@pytest.mark.parametrize(("name", "strategy"), ASKING, ids=ASKING_IDS)
def test_everything_a_strategy_may_be_about_can_be_asked_in_several_ways(name: str, strategy: Strategy) -> None:
    if strategy.node_binding == "none":
        return
    for kind in strategy.focus_types:
        for stance in ("wanted", "suffered", "neutral"):
            fit = [
                form
                for form in strategy.templates["en"]
                if (not form.types or kind in form.types) and (not form.stance or stance in form.stance)
            ]
            assert len({form.ask for form in fit}) >= 2, (kind, stance)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(("name", "strategy"), ASKING, ids=ASKING_IDS)
def test_every_form_is_an_acceptable_question(name: str, strategy: Strategy, language: str) -> None:
    topics = [LIBRARY.configuration(c).concept.name for c, of in CONCEPTS.items() if of == name]
    labels = ["quiet motor", "wide tyres", "look after my family"] if strategy.node_binding == "required" else [None]
    for form in strategy.templates[language]:
        for topic in topics:
            for label in labels:
                about = phrase(label, node_type="attribute", language=language, rendering=TOLD) if label else None
                if "focus" in placeholders(form.ask) and not (about and about.inline):
                    continue
                text = fill(form.ask, topic=topic, phrase=about)
                assert check(text, language=language, allowed_words=[topic]) == [], text
                assert word_count(text) <= 25


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(("name", "strategy"), FIXED, ids=FIXED_IDS)
def test_question_of_a_grid_is_acceptable_with_what_is_compared(name: str, strategy: Strategy, language: str) -> None:
    topics = [LIBRARY.configuration(c).concept.name for c, of in CONCEPTS.items() if of == name]
    compared = {"en": "Aldi, Lidl and your uncle", "de": "Aldi, Lidl und Ihr Onkel"}[language]
    forms = strategy.templates[language]
    assert forms
    assert len({form.ask for form in forms}) == len(forms)
    assert any(form.said != "earlier" for form in forms)
    for form in forms:
        assert placeholders(form.ask) <= {"topic", "element"}, form.ask
        for topic in topics:
            text = fill(form.ask, topic=topic).replace("{element}", compared)
            if strategy.grid_step == "rate":
                assert "?" not in text  # The page shows what is to be done.
            else:
                assert check(text, language=language, allowed_words=[topic, compared]) == [], text
            assert word_count(text) <= 25, text


@pytest.mark.parametrize("name", NAMES)
def test_prompts_for_elements_are_acceptable_questions(name: str) -> None:
    grid = METHODS[name].grid
    topics = [LIBRARY.configuration(c).concept for c, of in CONCEPTS.items() if of == name]
    for role in (*(grid.roles if grid is not None else ()), *(role for c in topics for role in c.roles)):
        for language, forms in role.questions.items():
            for form in forms:
                for concept in topics:
                    text = fill(form.ask, topic=concept.name)
                    assert check(text, language=language, allowed_words=[concept.name]) == [], text


@pytest.mark.parametrize("name", NAMES)
def test_guide_asks_acceptable_questions_for_each_of_its_topics(name: str) -> None:
    topics = [LIBRARY.configuration(c).concept.name for c, of in CONCEPTS.items() if of == name]
    guide = METHODS[name].guide
    assert len(guide) >= 4
    for topic in guide:
        assert topic.asked_by or {"en", "de"} <= topic.questions.keys(), topic.id
        for language, forms in topic.questions.items():
            for form in forms:
                for subject in topics:
                    text = fill(form.ask, topic=subject)
                    assert check(text, language=language, allowed_words=[subject]) == [], text


@pytest.mark.parametrize("name", NAMES)
def test_openings_are_acceptable_for_every_concept(name: str) -> None:
    for language, openings in METHODS[name].openings.items():
        for template in openings:
            for topic in TOPICS:
                text = fill(template, topic=topic)
                assert check(text, language=language, allowed_words=[topic]) == [], text


@pytest.mark.parametrize("concept_id", list(CONCEPTS))
def test_concept_is_a_whole_brief(concept_id: str) -> None:
    configuration = LIBRARY.configuration(concept_id)
    concept = configuration.concept
    assert concept.methodology == CONCEPTS[concept_id]
    assert concept.title
    assert len(concept.goal) > 100
    assert concept.consent is not None and concept.consent.required
    consent = concept.consent.text
    for said in ("computer program", "stored", "stop", "skip", "erased"):
        assert said in consent, said
    assert configuration.closing_text.startswith("Thank you")
    assert len(configuration.synonyms) >= 8
    assert concept.languages == ("en",)
    assert 12 <= (concept.max_turns or 0) <= 20
    opening = concept.opening_in("en")
    assert opening is None or check(opening) == []


def test_synonym_sets_of_a_concept_do_not_overlap() -> None:
    for concept_id in CONCEPTS:
        sets = LIBRARY.configuration(concept_id).synonyms
        for at, one in enumerate(sets):
            for other in sets[at + 1 :]:
                assert not set(one) & set(other), (concept_id, set(one) & set(other))


def test_texts_have_the_same_keys_and_placeholders_in_every_language() -> None:
    english = LIBRARY.texts("en")
    for language in ("de", "ar"):
        other = LIBRARY.texts(language)
        assert other.language == language
        assert other.entries.keys() == english.entries.keys()
        for key, text in english.entries.items():
            assert placeholders(" ".join([text] if isinstance(text, str) else text)) == placeholders(
                " ".join([entry] if isinstance(entry := other.entries[key], str) else entry)
            ), key


def test_texts_cover_the_error_and_notice_codes() -> None:
    entries = LIBRARY.texts("en").entries
    codes = (
        "invalid_message unauthorised forbidden not_found invalid_input answer_too_long consent_required "
        "turn_in_progress session_completed session_paused audio_format audio_gap audio_too_long rate_limited "
        "llm_unavailable transcriber_unavailable storage_unavailable too_many_sessions language_unsupported internal"
    )
    assert {f"errors.{code}" for code in codes.split()} <= entries.keys()
    notices = "didnt_catch still_thinking answer_kept moderator_here time_almost_up"
    assert {f"notices.{code}" for code in notices.split()} <= entries.keys()
