"""What counts as a copy of a secret text."""

from __future__ import annotations

from pipeline.question.leaks import secrets_of

PROMPT = (
    'Say that the end is near ("We\'re nearly at the end. What would you like to add to that?"). '
    '{{ "Behind it comes the very last question of all." if last }}'
)


def test_what_a_prompt_gives_as_an_example_may_be_said() -> None:
    secrets = secrets_of((PROMPT,))
    assert not secrets.copy_in("We're nearly at the end. What would you like to say?")


def test_what_a_template_puts_into_a_prompt_may_not() -> None:
    secrets = secrets_of((PROMPT,))
    assert secrets.copy_in("Behind it comes the very last question of all.")


def test_sentence_that_a_prompt_gives_to_be_said_may_be_said_whole() -> None:
    secrets = secrets_of(('Say where it stands ("It stands here now for whoever reads it later."), and nothing else.',))
    assert not secrets.copy_in("It stands here now for whoever reads it later.")
