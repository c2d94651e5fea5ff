"""Generalized planning (Silver et al., 2024): a model writes a program that plans for every task of a domain."""

from pddlego.methods.lazy import LazyMethod
from pddlego.methods.programs.modes import MODES

METHOD = LazyMethod("programs", MODES, __name__)
