"""The Python interface of builders: build PDDL from a text."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from pddlego.api.play import arguments_named, resolved
from pddlego.episode.events import Limits, Retrying, Streamed
from pddlego.episode.trace import Trace
from pddlego.errors import UsageError
from pddlego.evaluation.config import BUILDING
from pddlego.methods.builders.builder import Build, Builder, Built, LevelName, Person, PersonApprover, first_draft
from pddlego.models.base import Model
from pddlego.models.endpoint import Access, Endpoint, make_endpoint, prepare_cache
from pddlego.models.function import Answer, own_model
from pddlego.runs.journal import follow
from pddlego.util.options import names_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pddlego.api.options import BuildKeywords, EndpointOptions


def build(
    what: Literal["domain", "problem", "task"],
    description: str,
    model: str | Answer | Model,
    *,
    steps: Literal["whole", "by-component", "by-action"] = "by-component",
    feedback: Literal["none", "model", "person", "both"] = "none",
    person: Person | None = None,
    rounds: int = 3,
    domain: str = "",
    level: LevelName = "classical",
    **options: Unpack[BuildKeywords],
) -> Built:
    """Build PDDL from a description; a `problem` needs the text of its `domain`. Writes no files.

    The level `numbers` allows numeric functions and metrics, `time` durative actions and timed literals, too.
    Feedback of a person calls `person` with the name of each file and its text; it returns advice for the model, or an
    empty text to accept the file.

    Raises `PddlegoError` for errors before the first request, and `PddlSyntaxError` for an invalid domain.
    """
    if person is not None and feedback not in ("person", "both"):
        reason = f"feedback={feedback} asks no person."
        raise UsageError("person has no effect", reason, "Leave it out, or use feedback='person'.")
    with arguments_named():
        config = resolved(dict(options), BUILDING).config
        limits = Limits(None, calls=config.limits.max_calls, seconds=config.limits.max_seconds)
        asked = model_of(model, config.endpoint)
        begin = first_draft(level, domain)
        retries = config.limits.retries
        with config.planner.make() as planner:
            build = Build(
                *(what, description, asked, planner),
                steps=steps,
                feedback=feedback,
                rounds=rounds,
                retries=retries,
                limits=limits,
                approver=PersonApprover(person) if person is not None else None,
                begin=begin,
            )
            record = Trace()
            ended = follow(build.events(), [record.add])
            return replace(build.built(ended), record=record.without(Streamed, Retrying))


def builder(
    model: str | Answer | Model,
    description: str = "",
    *,
    domain: str = "",
    retries: int = 5,
    level: LevelName = "classical",
    **options: Unpack[EndpointOptions],
) -> Builder:
    """A builder, which makes a domain and a problem piece by piece with a model; see `Builder`.

    `domain` is the text of a domain to begin with, and `level` as in `build`. Raises `PddlegoError` for a model that
    cannot be used, and `PddlSyntaxError` for an invalid domain.
    """
    with arguments_named():
        endpoint = resolved(dict(options), names_of(Endpoint)).config.endpoint
        resolve = partial(model_of, endpoint=endpoint)
        return Builder(resolve(model), description, domain, retries, resolve, level)


def model_of(model: str | Answer | Model, endpoint: Endpoint) -> Model:
    """The model with this name, behind the endpoint, or the one that a program brings."""
    if not isinstance(model, str):
        return own_model(model)
    prepare_cache(endpoint.cache)
    return make_endpoint(model, endpoint, Access(os.environ.get("OPENAI_API_KEY")))
