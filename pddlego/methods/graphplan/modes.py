"""The modes of LLMs4Plan: Graphplan with a model that prunes and sorts, and the baseline, a model that plans."""

from __future__ import annotations

from pddlego.methods.base import Mode
from pddlego.methods.planning_settings import PLANNING

NO_PRUNE, NO_SORT, NO_FEEDBACK = "prune", "sort", "feedback"

PARTS = {
    NO_PRUNE: "every level keeps all of its actions: the paper's 'unpruned'",
    NO_SORT: "actions are tried in the order of the domain: the paper's 'unsorted'",
}

GRAPHPLAN, BY_MODEL = "graphplan", "plan-by-model"

WRITTEN = {NO_FEEDBACK: "the first plan is the last: nothing goes back to the model (LLM as planner)"}

ABOUT = "Graphplan asks the model which actions to keep, and which to try first"

MODES = (
    Mode(GRAPHPLAN, ABOUT, PLANNING, PARTS, advises=True),
    Mode(BY_MODEL, "the model writes the plan, and corrects what the validator finds", PLANNING, WRITTEN),
)
