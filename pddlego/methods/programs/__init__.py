"""Generalized planning (Silver et al., 2024): a model writes a program that plans for every task of a domain."""

from pddlego.methods.base import lazy_method
from pddlego.methods.programs.options import MODES

METHOD = lazy_method("programs", MODES, __name__)
