"""The modes of generalized planning: a program by a model, and what it is compared with."""

from __future__ import annotations

from pddlego.methods.base import Mode
from pddlego.methods.planning_settings import PLANNING

NO_COT, NO_DEBUG, NO_NAMES = "cot", "debug", "names"

PARTS = {
    NO_COT: "the model is asked for the program at once, without a summary and a strategy before",
    NO_DEBUG: "the first program is the last: nothing goes back to the model",
    NO_NAMES: "all names in domain and tasks say nothing: predicate0, operator1, object2",
}

PROGRAM, PLAN, RANDOM = "program", "plan", "random"

MODES = (
    Mode(PROGRAM, "the model writes a program that plans for every task", PLANNING, PARTS),
    Mode(PLAN, "a classical planner plans for each task", PLANNING, asks_model=False),
    Mode(RANDOM, "any applicable action", PLANNING, asks_model=False),
)
