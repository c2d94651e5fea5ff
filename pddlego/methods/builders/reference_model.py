"""From a model's name to a stand-in that needs no endpoint."""

from __future__ import annotations

from pddlego.errors import UsageError
from pddlego.methods.builders.noise import PREFIX, parse_noise
from pddlego.methods.builders.reference import ReferenceModel
from pddlego.runs.cells import Cell


def stand_in(name: str, cell: Cell, setting: object) -> ReferenceModel | None:
    """The model of that name; None for one that is none of ours. Raises `UsageError` for one that there is not."""
    if name == "reader":
        return ReferenceModel()
    if not name.startswith("reader+"):
        return None
    if not name.startswith(PREFIX):
        why = "The built-in ones are reader, and reader+noise:P, which errs on purpose."
        raise UsageError(f"There is no model {name}", why, "Example: reader+noise:0.1,seed=3.")
    return parse_noise(name, cell.model_seed)
