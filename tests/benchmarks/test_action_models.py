"""At most 100 transitions of each planning setting: nothing wrong in larger tasks, and what is missed is known."""

from __future__ import annotations

import random

import pytest

from benchmarks.action_models import SETTINGS, STEPS, TRANSITIONS, Score, random_transitions
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.setting import load
from pddlego.planning.learning.learner import learn_domain


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_safe_domain_is_never_wrong_in_larger_tasks(name: str) -> None:
    setting, rng = load(name, ProgramOptions()), random.Random(name)
    tasks = setting.tasks(1)
    transitions = list(random_transitions(setting.domain, tasks.training, TRANSITIONS, rng))
    assert len(transitions) <= TRANSITIONS
    learned = learn_domain(setting.domain, transitions)
    assert not any(action.fault for action in learned.actions)
    score = Score()
    larger = min(tasks.evaluation, key=lambda task: task.size)
    score.add(setting.domain, learned.safe, larger.problem, STEPS, rng)
    assert (score.wrong, score.wrong_states) == (0, 0)
    assert score.missed < score.possible
