"""Thought of Search (Cao et al., 2024): a model writes a search space, unit tests correct it, a search solves all."""

from pddlego.methods.base import lazy_method
from pddlego.methods.thought_of_search.options import MODES

METHOD = lazy_method("thought_of_search", MODES, __name__)
