"""What is compiled once per process is compiled before anybody is asked or heard."""

from __future__ import annotations

from pipeline.language.acts.rules import rules_for
from server.pipelines import _prepare_rules


def test_rules_prepared_at_the_start_are_not_compiled_by_a_turn() -> None:
    rules_for.cache_clear()
    _prepare_rules({"en", "de-AT", "xx"})
    compiled = rules_for.cache_info().misses
    assert compiled == 3
    assert rules_for("en") is not None
    assert rules_for("de-AT") is not None
    assert rules_for("xx") is None
    assert rules_for.cache_info().misses == compiled
