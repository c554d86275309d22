"""The reader on answers of every kind: what it says is always about the words that were said."""

from __future__ import annotations

import pytest

from pipeline.language.reader.understanding import FOCUS, Reader
from pipeline.methodology import EdgeType, NodeType, Ontology
from tests.quality.run import methodology

MEANS_END = methodology("means_end_chain").ontology
UNTRAINED = Ontology(
    nodes=(
        NodeType(name="weather", description="What the sky does: rain, sun, wind, cold."),
        NodeType(
            name="clothing", description="What people wear on their body.", exemplars=("a thick coat", "rubber boots")
        ),
    ),
    edges=(
        EdgeType(
            name="calls_for",
            description="The source makes people wear it.",
            permitted_connections=(("weather", "clothing"),),
        ),
    ),
)

ODD = {
    "one letter": "y",
    "emoji only": "😀😀👍",
    "capitals": "IT IS TOO LOUD AND I CAN'T SLEEP BECAUSE OF IT",
    "another language": "Weil es leise ist und ich besser schlafen kann",
    "code": "for (i = 0; i < 3; i++) { alert('hi'); } // it saves time",
    "markup": "<b>cheap</b> & <i>light</i> -> [link](http://x.y)",
    "no punctuation": " ".join(["so i take it on the train and it is quiet and then i read"] * 30),
    "echo": "Why is that important to you?",
    "eight thousand characters": ("It is light and I carry it everywhere because my back hurts. " * 140)[:8000],
    "one endless word": "a" * 8000,
    "surrogate": "it is \ud83d quiet",
}


@pytest.mark.parametrize("name", ODD)
def test_whatever_is_said_what_is_read_is_part_of_it(reader: Reader, name: str) -> None:
    answer = ODD[name]
    understood = reader.understand(answer, "Why is that important to you?", "quiet", "attribute", MEANS_END)
    last = 0
    for concept in understood.concepts:
        assert last <= concept.start < concept.end <= len(answer)
        assert any(char.isalnum() for char in answer[concept.start : concept.end])
        assert {kind for kind, _ in concept.types} == {node.name for node in MEANS_END.nodes}
        assert 0.0 <= concept.chance <= 1.0
        last = concept.end
    pairs = [frozenset((link.source, link.target)) for link in (*understood.links, *understood.refused)]
    assert len(pairs) == len(set(pairs))
    assert all(FOCUS <= end < len(understood.concepts) for pair in pairs for end in pair)


def test_links_are_permitted_by_the_types_that_their_ends_have(reader: Reader) -> None:
    answer = "The handle is soft, so my hands don't hurt, and that way I feel at ease when I work for others."
    understood = reader.understand(answer, "What do you like about it?", None, None, MEANS_END)
    assert len(understood.concepts) >= 2
    assert understood.links
    for link in understood.links:
        kinds = [understood.concepts[end].types[0][0] for end in (link.source, link.target)]
        edge = MEANS_END.edge_type(link.edge_type)
        assert edge is not None
        assert edge.permits(kinds[0], kinds[1], stated=link.basis == "stated")


def test_without_a_focus_nothing_is_linked_to_it(reader: Reader) -> None:
    understood = reader.understand("It saves time, so I sleep longer.", "What else?", None, None, MEANS_END)
    assert all(FOCUS not in (link.source, link.target) for link in understood.links)


def test_methodology_that_nobody_trained_for_is_read_by_its_own_words(reader: Reader) -> None:
    understood = reader.understand(
        "When it rains all day I put on my old rubber boots.", "How do you go out?", None, None, UNTRAINED
    )
    boots = [concept.types[0][0] for concept in understood.concepts if concept.end > 40]
    assert boots == ["clothing"]


def test_methodology_without_exemplars_or_relations_is_read(reader: Reader) -> None:
    bare = Ontology(
        nodes=(NodeType(name="anything", description="Whatever is said."),),
        edges=(EdgeType(name="revises", permitted_connections=(("*", "*"),)),),
    )
    understood = reader.understand("It is cheap and it is light.", "Why?", None, None, bare)
    assert understood.links == ()
    assert all(concept.types[0][0] == "anything" for concept in understood.concepts)


def test_the_same_answer_is_read_the_same_way_again(reader: Reader) -> None:
    first, again = (
        reader.understand("It is quiet because of the foam.", "Why?", "foam", "attribute", MEANS_END) for _ in range(2)
    )
    assert first == again


@pytest.mark.parametrize(
    "answer",
    [
        "Retiring? Quiet. I kept getting up at six for a fortnight, and it wasn't tragic.",
        "Cheap! Strong handles. Short queue at the till.",
        "The handles are long. They go over my shoulder. Both hands stay free.",
    ],
)
def test_no_concept_goes_on_after_its_sentence(reader: Reader, answer: str) -> None:
    read = reader.understand(answer, "What matters to you?", "bags", None, MEANS_END)
    assert read.concepts
    for concept in read.concepts:
        assert not set("?!.") & set(answer[concept.start : concept.end].rstrip("?!. "))
