"""What of concept, methodology and engine does not fit together, and how it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.fitting import engine_refused, engines_unknown, ungriddable
from config.loader import Library, UnknownName
from pipeline.concept import Element, PipelineSettings

LIBRARY = Library(PipelineSettings())
GRID = LIBRARY.configuration("ways_of_learning_rg")


def with_elements(count: int) -> str | None:
    elements = tuple(Element(id=f"e{n}", label=f"way {n}") for n in range(count))
    found = ungriddable(GRID.concept.model_copy(update={"elements": elements}), GRID.methodology)
    return found[1] if found is not None else None


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "there is 1"), (2, "there are 2"), (13, "104 ratings"), (40, "320 ratings")],
)
def test_elements_that_make_no_grid_are_refused_with_the_reason(count: int, said: str) -> None:
    assert said in (with_elements(count) or "")


@pytest.mark.parametrize("count", [0, 3, 12])
def test_elements_that_make_a_grid_are_taken(count: int) -> None:
    assert with_elements(count) is None


def test_same_element_twice_and_ids_that_no_message_can_carry_are_refused() -> None:
    twice = GRID.concept.model_copy(update={"elements": (*GRID.concept.elements, GRID.concept.elements[0])})
    assert "twice" in (ungriddable(twice, GRID.methodology) or ("", ""))[1]
    odd = (*GRID.concept.elements, Element(id="a b", label="a b"))
    assert "`a b`" in (ungriddable(GRID.concept.model_copy(update={"elements": odd}), GRID.methodology) or ("", ""))[1]


def test_roles_without_a_grid_are_refused() -> None:
    other = LIBRARY.configuration("coffee_mec")
    concept = other.concept.model_copy(update={"roles": GRID.methodology.grid.roles if GRID.methodology.grid else ()})
    assert (ungriddable(concept, other.methodology) or ("",))[0] == "roles"


@pytest.mark.parametrize("engine", ["two_tier", "arbitration"])
def test_engine_that_can_not_hold_a_grid_is_refused_when_a_session_begins(engine: str) -> None:
    with pytest.raises(UnknownName, match=f"`{engine}` can't hold interviews by `repertory_grid`; take `signal_pools`"):
        LIBRARY.configuration("food_shops_rg", engine=engine)
    assert engine_refused(GRID.methodology, "signal_pools") is None
    for concept in ("phone_contract_cjm", "coffee_mec"):
        assert LIBRARY.configuration(concept, engine=engine).concept.engine == engine


def test_mistakes_of_a_folder_are_told_with_file_and_line(tmp_path: Path, root: Path) -> None:
    (tmp_path / "concepts").mkdir()
    text = (root / "config/concepts/ways_of_learning_rg.yaml").read_text(encoding="utf-8")
    changed = text.replace("id: ways_of_learning_rg\n", "id: mine\nengine: arbitration\n")
    (tmp_path / "concepts" / "mine.yaml").write_text(changed, encoding="utf-8")
    library = Library(PipelineSettings(), config_dir=tmp_path)
    assert any("mine.yaml:2" in str(p) and "can't hold interviews" in str(p) for p in library.problems())
    with pytest.raises(UnknownName):
        library.configuration("mine")


def test_engine_of_a_methodology_that_is_none_is_told() -> None:
    methodology = GRID.methodology.model_copy(update={"engines": ("signal_pools", "signal_pool")})
    assert [position for position, _ in engines_unknown(methodology)] == [1]
