"""Graphplan with a model that prunes its levels and sorts its actions (LLMs4Plan)."""

from pddlego.methods.base import LazyMethod
from pddlego.methods.graphplan.options import MODES

METHOD = LazyMethod("graphplan", MODES, __name__)
