"""Builders: domains and problems from text, component by component, checked, reviewed and corrected (L2P)."""

from pddlego.methods.builders.modes import MODES
from pddlego.methods.lazy import LazyMethod

METHOD = LazyMethod("builders", MODES, __name__, stand_ins="stand_ins")
