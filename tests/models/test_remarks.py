from __future__ import annotations

from pddlego.models.base import RULES, SIMULATION, label, remarks


def test_a_simulation_is_called_one() -> None:
    assert remarks({"reader", "m"}) == [RULES]
    assert remarks(("m", "reader+noise:0.1")) == [SIMULATION]
    assert remarks(("m",)) == []
    assert label("reader+noise:0.1") == "reader+noise:0.1 (simulation)"
    assert label("m") == "m"
