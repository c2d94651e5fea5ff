"""Asks a model the smallest question, to see whether it answers at all."""

from __future__ import annotations

from pddlego.models.base import Message, Model, Request


def probe(model: Model) -> float:
    """Seconds that an answer took. Raises `ModelError` like any call."""
    return model.complete(Request("probe", (Message("user", "Answer with the word ok."),))).seconds
