"""The modes of Thought of Search: the search space by a model, with and without its tests."""

from __future__ import annotations

from pddlego.methods.base import Mode
from pddlego.methods.planning_settings import PLANNING

SEARCH = "search"
"""The kind of a setting that says what a search problem is."""

NO_CHECK, NO_SOUNDNESS, NO_COMPLETENESS, NO_GOAL_TESTS = "check", "soundness", "completeness", "goal-tests"

PARTS = {
    NO_CHECK: "no transition is looked at while searching: the paper's 'noval'",
    NO_SOUNDNESS: "no search is made to find faults",
    NO_COMPLETENESS: "nobody looks whether known successors are missing",
    NO_GOAL_TESTS: "the goal test is not tried on states that are known to be goals, or none",
}

TOS = "tos"

ABOUT = "the model writes the search space, unit tests correct it, and a search solves every instance"

MODES = (Mode(TOS, ABOUT, SEARCH, PARTS), Mode(TOS, ABOUT, PLANNING, PARTS))
