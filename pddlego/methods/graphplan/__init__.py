"""Graphplan with a model that prunes its levels and sorts its actions (LLMs4Plan)."""

from pddlego.methods.graphplan.modes import MODES
from pddlego.methods.lazy import LazyMethod

METHOD = LazyMethod("graphplan", MODES, __name__, stand_ins="stand_ins")
