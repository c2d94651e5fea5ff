"""The built-in functions, wrong on purpose: tests notice every fault, and the same seed makes the same faults."""

from __future__ import annotations

import pytest

from pddlego.episode.events import Answered, Rejected
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.reference_model import (
    _FAULTS,
    SearchReference,
    builtin_model,
    reference_functions,
)
from pddlego.methods.thought_of_search.space import Which
from pddlego.runs.cells import Cell
from tests.methods.thought_of_search.playing import FEW, ending, events_of, fenced, right, small

SPACES = ("24game", "blocksworld", "deduction", "sokoban", "crosswords")


@pytest.mark.parametrize("which", ["successors", "goal"])
@pytest.mark.parametrize("space", SPACES)
def test_every_fault_changes_every_function(space: str, which: Which) -> None:
    code = reference_functions(space)[which]
    wrong = [fault(code) for fault in _FAULTS[which]]
    assert len({code, *wrong}) == len(wrong) + 1


@pytest.mark.parametrize("which", ["successors", "goal"])
@pytest.mark.parametrize("number", range(5))
def test_every_fault_is_noticed(which: Which, number: int) -> None:
    setting = small("deduction")
    successors, goal = right("deduction")
    wrong = fenced(_FAULTS[which][number](reference_functions("deduction")[which]))
    answers = (wrong, successors, goal) if which == "successors" else (successors, wrong, goal)
    assert [event for event in events_of(setting, (*answers, *answers)) if isinstance(event, Rejected)]


def built(name: str, seed: int = 0) -> SearchReference:
    model = builtin_model(name, Cell("deduction", "tos", name, seed), small("deduction"))
    assert model is not None
    return model


def answers_of(model: SearchReference) -> list[str]:
    events = events_of(small("deduction"), model, options=SearchOptions(instances=1))
    return [event.completion.text for event in events if isinstance(event, Answered)]


def test_the_same_seed_errs_in_the_same_way() -> None:
    assert answers_of(built("reader+noise:0.5")) == answers_of(built("reader+noise:0.5"))
    assert len({tuple(answers_of(built("reader+noise:0.5", seed))) for seed in range(4)}) > 1
    assert built("reader+noise:0.5").description["noise"] == 0.5


def test_noise_is_the_share_of_wrong_answers() -> None:
    assert answers_of(built("reader+noise:0")) == answers_of(built("reader"))
    events = events_of(small("deduction"), built("reader+noise:1"), options=FEW)
    assert ending(events).outcome.value != "won"


def test_another_model_is_not_built_in() -> None:
    assert builtin_model("gpt-4o", Cell("deduction", "tos", "gpt-4o", 0), None) is None
