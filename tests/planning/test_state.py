"""The state of a task, and its execution in place."""

from fractions import Fraction

import pytest

from pddlego.pddl import Atom
from pddlego.pddl.conditions import Term
from pddlego.planning.state import Execution, State

FACT, OTHER = Atom("p"), Atom("q", ("a",))
FUEL = Term("fuel", ())


def test_states_with_other_numbers_are_other_states() -> None:
    states = [State(frozenset({FACT}), {FUEL: Fraction(value)} if value else {}) for value in (0, 8, 8, 9)]
    assert states[1] == states[2] != states[3]
    assert hash(states[1]) == hash(states[2])
    assert len({*states}) == 3
    assert State(frozenset({FACT})) in {*states}


def test_an_execution_leaves_its_first_state_as_it_is() -> None:
    start = State(frozenset({FACT}), {FUEL: Fraction(1)})
    execution = Execution(start)
    execution.change({OTHER}, {FACT, OTHER})
    assert execution.state.facts == {OTHER}
    assert start.facts == {FACT}
    with pytest.raises(TypeError):
        hash(execution.state)
