"""Creates the model with a name: a built-in model, a transcript, or a language model behind an endpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL, WITHOUT, Method, Setting
from pddlego.methods.registry import method_of
from pddlego.models.base import TEMPERATURE, Model, ScriptedModel
from pddlego.models.endpoint import Access, Endpoint, make_endpoint
from pddlego.models.function import PREFIX
from pddlego.models.limiter import RequestLimiter
from pddlego.models.transcript import (
    ConversationModel,
    TranscriptModel,
    choose,
    is_conversations,
    parse_place,
    read_conversations,
)
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.folders import find_journal
from pddlego.runs.journal import Codec, read_journal

TRANSCRIPT = "transcript:"


def is_free(cell: Cell) -> bool:
    """Whether the model of a cell sends no requests. A name that begins like the built-in model's is free, too."""
    if cell.model == NO_MODEL or cell.model.startswith(TRANSCRIPT):
        return True
    try:
        return method_of(cell.setting, cell.mode).builtin_model(cell.model, cell, None) is not None
    except UsageError:
        return cell.model.partition("+")[0] == BUILT_IN_MODEL


def answered_by(name: str) -> str:
    """The model whose answers a model name stands for; empty for recordings with a chosen variant or domain."""
    if not name.startswith(TRANSCRIPT):
        return name
    place = parse_place(name.removeprefix(TRANSCRIPT))
    return "" if place.variant or place.domains else place.model


def temperature_of(method: Method, endpoint: Endpoint) -> float:
    """The sampling temperature of a method's requests: the user's, or else the method's, or else the usual one."""
    known = (temperature for temperature in (endpoint.temperature, method.temperature) if temperature is not None)
    return next(known, TEMPERATURE)


def make_model(
    cell: Cell, setting: Setting, endpoint: Endpoint, access: Access, limiter: RequestLimiter | None = None
) -> Model:
    """The model of a cell, whose requests pass the `limiter`.

    Raises `UsageError` for a key, address or transcript that cannot be used, and for a model that cannot play the cell.
    """
    if cell.model == NO_MODEL:
        return ScriptedModel(("",), NO_MODEL)
    if cell.model.startswith(TRANSCRIPT):
        return _recorded_model(cell, setting)
    if cell.model.startswith(PREFIX):
        reason = "It was a function or an object of a Python program."
        raise UsageError(f"There is no model {cell.model} here", reason, "Continue in Python, with the same function.")
    method = method_of(cell.setting, cell.mode)
    own = method.builtin_model(cell.model, cell, setting)
    if own is not None:
        return own
    if cell.model.partition("+")[0] == BUILT_IN_MODEL:
        reason = f"Mode {cell.mode} has no built-in model of that name."
        raise UsageError(f"Unknown model {cell.model}", reason, "Name a language model with --model.")
    endpoint = endpoint.model_copy(update={"temperature": temperature_of(method, endpoint)})
    return make_endpoint(cell.model, endpoint, access, limiter, seed=cell.model_seed, repeat=cell.repeat)


def _recorded_model(cell: Cell, setting: Setting) -> Model:
    """A model with recorded answers: of a journal, or of a conversation about the cell from another project.

    Raises `UsageError` and `JournalError`.
    """
    wanted = parse_place(cell.model.removeprefix(TRANSCRIPT))
    path = Path(wanted.place)
    recordings = setting.recordings(wanted.place)
    if recordings is None and not is_conversations(path):
        return transcript(wanted.place)
    domains = wanted.domains or (setting.name, *setting.also_called)
    parts = tuple(cell.mode.split(WITHOUT)[1:])
    conversation = choose(
        read_conversations(path) if recordings is None else recordings,
        replace(
            wanted,
            domains=domains,
            seed=cell.seed,
            parts=parts,
            variants=(cell.mode, *setting.recorded_variants(parts)),
        ),
    )
    return ConversationModel(conversation, wanted.place, cell.model)


def transcript(place: str) -> TranscriptModel:
    """A model with the answers of a journal. Raises `UsageError` and `JournalError`."""
    path = find_journal(Path(place))
    return TranscriptModel([(call.request, call.completion) for call in read_journal(path, Codec()).calls], str(path))
