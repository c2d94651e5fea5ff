"""`pddlego doctor`: checks the installation, and explains how to fix failures."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pddlego.cli import exits
from pddlego.errors import EngineError, ModelError, PddlegoError, UsageError
from pddlego.runs.cells import Cell
from pddlego.runs.folders import runs_folder
from pddlego.util.text import clean, count, hours, suggestion

if TYPE_CHECKING:
    from pddlego.models.base import Model


def command(
    model: Annotated[str | None, typer.Option(envvar="PDDLEGO_MODEL", help="The model to check.")] = None,
    base_url: Annotated[str | None, typer.Option(envvar="OPENAI_BASE_URL", help="The URL of its server.")] = None,
) -> None:
    """Check Java, the engine, the planner, the endpoint and the folder for runs, and explain how to fix what fails.

    Exit code: 0 everything works, 3 something fails.
    """
    from pddlego.methods.registry import methods

    console = Console()
    checks: list[tuple[str, Callable[[], str]]] = [
        *(check for method in methods() for check in method.checks(os.environ.get("PDDLEGO_JAVA")).items()),
        ("planner", _planner),
        ("sandbox", _sandbox),
        ("model", lambda: _model(model, base_url)),
        ("methods", _methods),
        ("runs folder", lambda: _runs(str(runs_folder()))),
    ]
    good = True
    for name, check in checks:
        mark, style, advice = "ok", "green", ""
        try:
            text = check()
        except PddlegoError as error:
            text, advice = " ".join(clean(f"{error.what}: {error.reason}").split()), clean(error.next_step)
            good, mark, style = False, "!!", "bold red"
        console.print(f"[{style}]{mark}[/] {name:<12} ", end="", highlight=False)
        console.print(text.replace("\n", f"\n{'':<16}"), markup=False, highlight=False, soft_wrap=True)
        if advice:
            console.print(f"   {'':<12} {advice}", markup=False, highlight=False, style="yellow", soft_wrap=True)
    raise typer.Exit(exits.WON if good else exits.BROKEN)


_TOY_DOMAIN = """(define (domain toy) (:predicates (here ?x) (way ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (here ?x) (way ?x ?y)) :effect (and (here ?y) (not (here ?x)))))"""
_TOY = "(define (problem toy) (:domain toy) (:objects a b) (:init (here a) (way a b)) (:goal (here b)))"


def _planner() -> str:
    from pddlego.pddl import parse_domain, parse_problem
    from pddlego.planners import planner_names, spec_of
    from pddlego.planning import PlanStatus, ProcessPlanner, Search
    from pddlego.planning.engines import installable, missing

    with ProcessPlanner() as planner:
        result = planner.solve(parse_domain(_TOY_DOMAIN), parse_problem(_TOY), Search())
    if result.status is not PlanStatus.SOLVED:
        raise EngineError(f"The planner answered '{result.status.value}'", result.message, "Reinstall pddlego.")
    more = f"; for larger tasks: {command}" if (command := installable(Search.parse("gbf(hff)"))) else ""
    names = [name for name in planner_names() if spec_of(name) and not missing(name)]
    return f"{', '.join(names)}: a plan in {result.seconds * 1000:.0f} ms{more}"


def _sandbox() -> str:
    from pddlego.sandbox import Sandbox
    from pddlego.sandbox.probes import try_all

    with Sandbox() as sandbox:
        layers = ", ".join(sandbox.layers())
    probes = list(try_all())
    not_stopped = [f"{probe.name} ({probe.how})" for probe in probes if not probe.stopped]
    if not_stopped:
        reason = f"Layers: {layers}. What was not stopped: {'; '.join(not_stopped)}."
        raise EngineError("The sandbox does not hold", reason, "Do not run programs of models here; report it.")
    return f"{layers}: all {len(probes)} attacks were stopped"


def _model(model: str | None, base_url: str | None) -> str:
    from pddlego.evaluation.models import TRANSCRIPT, transcript
    from pddlego.methods.base import BUILT_IN_MODEL
    from pddlego.methods.registry import methods
    from pddlego.models.base import Message, Request
    from pddlego.models.endpoint import Access, Endpoint, make_endpoint
    from pddlego.models.openai import OpenAIModel
    from pddlego.models.transcript import is_conversations, parse_place, read_conversations

    if model is not None and model.startswith(f"{BUILT_IN_MODEL}+"):
        method = next(methods())
        method.builtin_model(model, Cell("", method.modes[0].name, model, 0), None)  # raises an error for a wrong name
        return f"{model}: the built-in reader, erring on purpose (a simulation)"
    if model is None or model == BUILT_IN_MODEL:
        return "none configured: the built-in reader plays (set PDDLEGO_MODEL or --model for a language model)"
    if model.startswith(TRANSCRIPT):
        place = parse_place(model.removeprefix(TRANSCRIPT)).place
        if is_conversations(Path(place)):
            return f"{model}: {count(len(read_conversations(Path(place))), 'conversation')}"
        transcript(place)
        return f"{model} can be read"
    access = Access(os.environ.get("OPENAI_API_KEY"))
    endpoint_model = make_endpoint(model, Endpoint(base_url=base_url, timeout=120.0), access, attempts=1)
    answer = endpoint_model.complete(Request("probe", (Message("user", "Answer with the word ok."),), longest=50))
    if isinstance(endpoint_model, OpenAIModel):
        _check_listed(model, endpoint_model.listed())
    advice = filter(None, (method.suiting_mode(endpoint_model) for method in methods()))
    return "\n".join((f"{model} answers in {answer.seconds:.1f} s", _speed(endpoint_model), *advice))


_ANSWERS, _TYPICAL = 20, 150
"""Answers in a typical episode, and tokens of a typical answer."""


def _speed(model: Model) -> str:
    """The speed and context window of a model, and the hours for an episode of the game with the longest first request.

    Later requests mostly repeat the first, so the estimate is reading it once and writing the answers.
    """
    from pddlego.methods.registry import methods
    from pddlego.models.base import window_of
    from pddlego.models.speed import measure_speed

    requests = {name: request for method in methods() for name, request in method.first_requests().items()}
    if not requests:
        return "no game to estimate its speed with"
    speed = measure_speed(model, next(iter(requests.values())))
    longest = max(requests, key=lambda name: requests[name].characters)
    seconds = speed.seconds(requests[longest].characters / speed.per_token, _ANSWERS * _TYPICAL)
    window = window_of(model)
    context = f"window: {count(window, 'token') if window else 'unknown'}"
    return f"{speed}\n{context}\nhours for {_ANSWERS} answers in a game: up to {hours(seconds)} ({longest})"


def _check_listed(model: str, listed: Collection[str]) -> None:
    """Raise `ModelError` if the endpoint lists only other models: some endpoints accept unknown names.

    A model may be listed with a tag (Ollama) or a folder (Gemini), or without its variant (OpenRouter).
    """
    if not listed or {model, f"{model}:latest", f"models/{model}", model.rpartition(":")[0]} & set(listed):
        return
    names = sorted(listed)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    reason = f"It answers, perhaps with another model. It lists {', '.join(names[:5])}{more}."
    advice = "Name one of them, unless yours is an alias that the provider documents."
    raise ModelError(f"The endpoint does not list {model}", reason, suggestion(model, names, advice))


def _methods() -> str:
    from pddlego.methods.registry import broken_methods, methods

    for error in broken_methods():
        raise error
    return ", ".join(method.name for method in methods())


def _runs(runs: str) -> str:
    place = Path(runs).absolute()
    try:
        there = next(folder for folder in (place, *place.parents) if folder.exists())
        with tempfile.NamedTemporaryFile(dir=there):
            pass
    except OSError as error:
        raise UsageError(f"{runs} cannot be written", f"{error.strerror}.", "Set PDDLEGO_RUNS.") from error
    return f"{place} can be {'written' if there == place else 'made'}"
