"""Thought of Search (Cao et al., 2024): a model writes a search space, unit tests correct it, a search solves all."""

from pddlego.methods.base import LazyMethod
from pddlego.methods.thought_of_search.options import MODES

METHOD = LazyMethod("thought_of_search", MODES, __name__)
