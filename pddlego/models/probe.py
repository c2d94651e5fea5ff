"""Asks a model the smallest question, to see whether it answers at all."""

from __future__ import annotations

from pddlego.models.base import Message, Model, Request
from pddlego.pddl import Domain, Problem
from pddlego.situation import Situation


def probe(model: Model) -> float:
    """Seconds that an answer took. Raises `ModelError` like any call."""
    nothing = Situation("", "", Domain("none", (), (), (), (), (), (), ""), Problem("none", "none"))
    request = Request("probe", (Message("user", "Answer with the word ok."),), nothing)
    return model.complete(request).seconds
