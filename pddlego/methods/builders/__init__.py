"""Builders: domains and problems from text, component by component, checked, reviewed and corrected (L2P)."""

from pddlego.methods.base import LazyMethod
from pddlego.methods.builders.options import MODES

METHOD = LazyMethod("builders", MODES, __name__)
