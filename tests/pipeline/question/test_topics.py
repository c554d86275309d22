"""Topics and the questions that they fit into."""

from __future__ import annotations

import pytest

from pipeline.question.topics import fits_topic, kind_of_topic


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("wireless headphones", "thing"),
        ("frying pans", "thing"),
        ("a wedding", "thing"),
        ("the repair plan", "thing"),
        ("places to stay on holiday", "thing"),
        ("a day at an office counter", "event"),
        ("a first day at work", "event"),
        ("a visit to the dentist", "event"),
        ("cooking", "doing"),
        ("planning meals", "doing"),
        ("buying a used car", "doing"),
        ("what people eat between meals", "clause"),
        ("how you get to work", "clause"),
        ("", "thing"),
        ("?", "thing"),
        ("what", "thing"),
    ],
)
def test_kind_of_a_topic_is_known_by_its_name(topic: str, kind: str) -> None:
    assert kind_of_topic(topic) == kind


@pytest.mark.parametrize(
    ("template", "topic", "fits"),
    [
        ("Think of the last time you chose {topic}. What mattered to you then?", "headphones", True),
        ("Think of the last time you chose {topic}. What mattered to you then?", "what people eat", False),
        ("Think of the last time you chose {topic}. What mattered to you then?", "kettles", False),
        ("Think of the last time you chose {topic}. What mattered to you then?", "walking boots", True),
        ("Think of the last time you chose {topic}. What mattered to you then?", "a kettle", True),
        ("Think of the last time you chose {topic}. What mattered to you then?", "buying a bed", False),
        ("What is the experience with {topic} that comes to mind first?", "trains", True),
        ("What is the experience with {topic} that comes to mind first?", "a day at an office counter", False),
        ("When you think about {topic}, what comes to mind first?", "what people eat", True),
        ("What was different about the one you had before?", "what people eat", False),
        ("What was different about the one you had before?", "phones", True),
        ("What would you add?", "what people eat", True),
        ("", "", True),
    ],
)
def test_question_fits_a_topic_or_not(template: str, topic: str, fits: bool) -> None:
    assert fits_topic(template, topic) is fits
