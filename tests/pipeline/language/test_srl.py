"""The parser: discourse relations in causal order, lemmas, odd input."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from pipeline.language.embedder import ModelUnavailable, clean
from pipeline.language.srl import CONTROLS, SpacyParser, find_model, load_model
from pipeline.ports import Parse, Parser

PARSED: list[str] = []
"""Every text that went through the model."""


@Language.component("noting")
def noting(doc: Doc) -> Doc:
    PARSED.append(doc.text)
    return doc


MODEL = load_model()
MODEL.add_pipe("noting", first=True)
PARSER = SpacyParser(nlp=MODEL)


async def test_parser_given_nothing_gives_nothing() -> None:
    port: Parser = PARSER
    assert await port.parse("") == Parse()
    assert await port.lemmas([]) == []


@pytest.mark.parametrize(
    ("text", "cause", "effect"),
    [
        ("I buy it because it is creamy", "it is creamy", "I buy it"),
        ("It is creamy, so I buy it", "It is creamy", "I buy it"),
        ("Since it is creamy, I buy it", "it is creamy", "I buy it"),
    ],
)
async def test_parse_cause_in_any_order_comes_first(text: str, cause: str, effect: str) -> None:
    (relation,) = (await PARSER.parse(text)).discourse
    assert (relation.kind, relation.antecedent, relation.consequent) == ("cause", cause, effect)


async def test_lemmas_keep_negation_and_drop_stop_words() -> None:
    assert await PARSER.lemmas(["not easy to clean", "easy to clean", "I don't have to worry", ""]) == [
        ("not", "easy", "clean"),
        ("easy", "clean"),
        ("not", "worry"),
        (),
    ]


async def test_lemmas_of_stop_words_alone_keep_them() -> None:
    assert await PARSER.lemmas(["it is what it is"]) == [("it", "be", "what", "it", "be")]


async def test_parse_same_text_is_parsed_once() -> None:
    parser = SpacyParser(nlp=MODEL)
    PARSED.clear()
    first = await parser.parse("The handle is warm.")
    assert await parser.parse("The handle is warm.") == first
    assert parser.docs.doc("The handle is warm.").text == "The handle is warm."
    assert PARSED == ["The handle is warm."]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120))
def test_parse_any_text_returns_the_same_twice(text: str) -> None:
    parser = SpacyParser(nlp=MODEL)
    assert parser.parse_sync(text) == SpacyParser(nlp=MODEL).parse_sync(text)
    assert parser.docs.doc(text).text.casefold() in (_plain(text), f"{_plain(text)}.")


def _plain(text: str) -> str:
    return clean(text).translate(CONTROLS).casefold()


def test_texts_as_they_are_typed_are_parsed_like_tidy_ones() -> None:
    parser = SpacyParser()
    tidy = "He rang on Friday. I didn't go, and I never said why."
    for text in (tidy.rstrip("."), tidy.lower(), tidy.lower().rstrip(".")):
        doc = parser.docs.doc(text)
        assert [(token.lemma_.lower(), token.dep_) for token in doc] == [
            (token.lemma_.lower(), token.dep_) for token in parser.docs.doc(tidy)
        ]
        assert all(text[token.idx : token.idx + len(token)].lower() == token.text.lower() for token in doc[:-1])


def test_find_model_unknown_name_says_so() -> None:
    with pytest.raises(ModelUnavailable, match="en_core_nowhere"):
        find_model("en_core_nowhere")
