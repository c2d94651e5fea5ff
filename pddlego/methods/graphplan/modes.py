"""The modes of Graphplan: with a model that prunes and sorts, with one of both, and with none."""

from __future__ import annotations

from pddlego.methods.base import Mode
from pddlego.methods.planning_settings import PLANNING

NO_PRUNE, NO_SORT = "prune", "sort"

PARTS = {
    NO_PRUNE: "every level keeps all of its actions: the paper's 'unpruned'",
    NO_SORT: "actions are tried in the order of the domain: the paper's 'unsorted'",
}

GRAPHPLAN = "graphplan"

ABOUT = "Graphplan asks the model which actions to keep, and which to try first"

MODES = (Mode(GRAPHPLAN, ABOUT, PLANNING, PARTS, advises=True),)
