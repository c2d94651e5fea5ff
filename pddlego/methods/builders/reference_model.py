"""From a model's name to the built-in model."""

from __future__ import annotations

from pddlego.methods.base import BuiltIn
from pddlego.methods.builders.noise import NoisyReference
from pddlego.methods.builders.reference import BuilderReference
from pddlego.runs.cells import Cell


def builtin_model(name: str, cell: Cell, setting: object) -> BuilderReference | None:
    """The built-in model of that name; None for another. Raises `UsageError` for a built-in name that is wrong."""
    built_in = BuiltIn.parse(name)
    if built_in is None or built_in.rate is None:
        return None if built_in is None else BuilderReference()
    return NoisyReference(built_in.rate, built_in.seed, cell.model_seed)
