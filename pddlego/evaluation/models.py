"""From a model's name to the model: a method's own, a transcript, or a language model behind an endpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pddlego.errors import UsageError
from pddlego.methods.base import WITHOUT, Method, Setting
from pddlego.methods.registry import has_stand_in
from pddlego.models.base import Model, ScriptedModel
from pddlego.models.conversations import (
    ConversationModel,
    choose,
    is_conversations,
    parse_place,
    read_conversations,
)
from pddlego.models.endpoint import ModelOptions, make_endpoint
from pddlego.models.limiter import RequestLimiter
from pddlego.models.transcript import TranscriptModel
from pddlego.refine.advisers import make_adviser
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.codec import Codec
from pddlego.runs.folders import find_journal
from pddlego.runs.journal import read_journal, recorded_calls

TRANSCRIPT = "transcript:"


def is_free(cell: Cell) -> bool:
    """Whether the model of a cell sends nothing to an endpoint."""
    return cell.model == NO_MODEL or cell.model.startswith(TRANSCRIPT) or has_stand_in(cell)


def answered_by(name: str) -> str:
    """Return the model whose answers a name stands for. Empty for conversations of a chosen variant or domain."""
    if not name.startswith(TRANSCRIPT):
        return name
    place = parse_place(name.removeprefix(TRANSCRIPT))
    return "" if place.variant or place.domains else place.model


def make_model(
    cell: Cell, method: Method, setting: Setting, options: ModelOptions, limiter: RequestLimiter | None = None
) -> Model:
    """The model of a cell; what it sends to an endpoint passes the `limiter`. The seed is the cell's own.

    Raises `UsageError` for a key, an address or a transcript that cannot be used, and for a model that cannot play.
    """
    if cell.model == NO_MODEL:
        return ScriptedModel(("",), NO_MODEL)
    if cell.model.startswith(TRANSCRIPT):
        return recorded_model(cell, setting)
    own = method.stand_in(cell.model, cell, setting)
    if own is not None:
        return own
    if cell.model.partition("+")[0] == "reader":
        why = f"Mode {cell.mode} has no built-in model of that name."
        raise UsageError(f"There is no model {cell.model}", why, "Name a language model with --model.")
    return make_endpoint(replace(options, name=cell.model, seed=cell.model_seed, repeat=cell.repeat), limiter)


def is_free_adviser(name: str) -> bool:
    """Whether an adviser of the planner sends nothing to an endpoint."""
    return make_adviser(name, "") is not None


def make_adviser_model(name: str, cell: Cell, options: ModelOptions, limiter: RequestLimiter | None = None) -> Model:
    """Who is asked by the planner while a cell is played. Raises `UsageError` as `make_model`."""
    if name.startswith(TRANSCRIPT):
        why = "A record holds all questions of an episode in their order, whoever was asked."
        raise UsageError(f"{name} cannot advise a planner", why, "Name a model; 'pddlego replay' plays a record again.")
    own = make_adviser(name, f"{cell.setting}/{cell.model_seed}")
    if own is not None:
        return own
    return make_endpoint(replace(options, name=name, seed=cell.model_seed, repeat=cell.repeat), limiter)


def recorded_model(cell: Cell, setting: Setting) -> Model:
    """Recorded answers: of a journal of ours, or the conversation of somebody's that is about the cell.

    Raises `UsageError` and `JournalError`.
    """
    wanted = parse_place(cell.model.removeprefix(TRANSCRIPT))
    path = Path(wanted.place)
    if not is_conversations(path):
        return transcript(wanted.place)
    domains = wanted.domains or (setting.name, *setting.also_called)
    parts = tuple(cell.mode.split(WITHOUT)[1:])
    found = choose(
        read_conversations(path),
        replace(wanted, domains=domains, seed=cell.seed, parts=parts, variants=setting.recorded_variants(parts)),
    )
    return ConversationModel(found, wanted.place, cell.model)


def transcript(place: str) -> TranscriptModel:
    """The answers of a journal. Raises `UsageError` and `JournalError`."""
    path = find_journal(Path(place))
    return TranscriptModel(recorded_calls(read_journal(path, Codec()).events), str(path))
