from __future__ import annotations

from pddlego.models.base import RULES, SIMULATION, label, notes


def test_a_simulation_is_called_one() -> None:
    assert notes({"reader", "m"}) == [RULES]
    assert notes(("m", "reader+noise:0.1")) == [SIMULATION]
    assert notes(("m",)) == []
    assert label("reader+noise:0.1") == "reader+noise:0.1 (simulation)"
    assert label("m") == "m"
