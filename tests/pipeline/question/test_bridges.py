from __future__ import annotations

from pipeline.question.bridges import bridge_for, has_bridge

NEAR = ("Earlier you mentioned {x}.", "Let me come back to {x}.")
FAR = ("A while ago you mentioned {x}.",)


def test_bridge_says_how_long_ago_it_was() -> None:
    assert bridge_for(1, NEAR, FAR, (), 0) in NEAR
    assert bridge_for(6, NEAR, FAR, (), 0) in FAR
    assert bridge_for(6, NEAR, (), (), 0) in NEAR


def test_bridge_is_not_the_one_just_used() -> None:
    asked = ["Earlier you mentioned the aroma. Why does that matter to you?"]
    assert {bridge_for(1, NEAR, FAR, asked, pick) for pick in range(6)} == {NEAR[1]}


def test_bridges_are_recognised() -> None:
    assert has_bridge("Earlier you mentioned the aroma. Why?")
    assert has_bridge("Coming back to something from earlier: why?")
    assert has_bridge("Vorhin haben Sie „Aroma“ erwähnt. Warum?")
    assert not has_bridge("You mentioned the aroma. Why?")
