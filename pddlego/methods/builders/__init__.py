"""Builders: domains and problems from text, component by component, checked, reviewed and corrected (L2P)."""

from pddlego.methods.base import lazy_method
from pddlego.methods.builders.options import MODES

METHOD = lazy_method("builders", MODES, __name__)
