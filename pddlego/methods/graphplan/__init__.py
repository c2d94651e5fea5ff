"""Graphplan with a model that prunes its levels and sorts its actions (LLMs4Plan)."""

from pddlego.methods.base import lazy_method
from pddlego.methods.graphplan.options import MODES

METHOD = lazy_method("graphplan", MODES, __name__)
