"""`pddlego solve`: a validated plan, by search or by a program that a model wrote."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import typer

from pddlego.cli import exits
from pddlego.errors import EngineError, UsageError
from pddlego.evaluation.models import make_adviser_model
from pddlego.events import Event, Limits, Retrying
from pddlego.methods.programs.learned import program_in
from pddlego.methods.programs.trial import attempt
from pddlego.models.endpoint import ModelOptions
from pddlego.pddl import Domain, PddlSyntaxError, Problem, parse_domain
from pddlego.pddl.check import check_reading
from pddlego.pddl.problem import read_problem
from pddlego.planning import Plan, PlanResult, PlanStatus, Search
from pddlego.planning.graphplan.values import Expanded, Moment, Passed, Searched
from pddlego.planning.make import PlannerOptions
from pddlego.refine.advice import advised
from pddlego.refine.asked import Advisers
from pddlego.refine.usage import Meter
from pddlego.runs.cells import Cell
from pddlego.sandbox import Isolation, Sandbox, SandboxLimits
from pddlego.tasks import Task
from pddlego.util.files import read_text, write_whole
from pddlego.util.text import clean, count, one_line

PROGRAM = "program:"
FALLBACK = "pyperplan"
"""What searches where a program fails."""

MOST_SECONDS, LEAST_MEMORY = 1e5, 128

MOST_TOLD = 3
"""Defects of a problem that are told."""


@dataclass(frozen=True)
class SolveOptions:
    """Who plans and how; `timeout` in seconds, `memory` in MiB. What follows is of graphplan, `base_url` of its models.

    Many fields, because it is one for each option.
    """

    planner: str
    search: str
    timeout: float
    memory: int
    isolation: str
    output: Path | None
    prune: str | None = None
    sort: str | None = None
    kappa: str = "1"
    levels: int | None = None
    base_url: str | None = None


def run_solve(domain_file: Path, problem_file: Path, options: SolveOptions) -> int:
    """Print a plan. Returns the exit code; raises `UsageError` and `EngineError`."""
    if not 0 <= options.timeout <= MOST_SECONDS:  # NaN is neither
        raise UsageError(
            f"--planner-timeout {options.timeout:g} is not possible", "It is in seconds; 0: no limit.", "Give another."
        )
    if options.memory and not options.memory >= LEAST_MEMORY:
        why = f"At least {LEAST_MEMORY} MiB are needed; 0: no limit."
        raise UsageError(f"--planner-memory {options.memory} is not possible", why, "Give more.")
    domain, problem = _read(domain_file, problem_file)
    plan: Plan | None = None
    engine = options.planner
    if engine.startswith(PROGRAM):
        plan, engine = _by_program(engine.removeprefix(PROGRAM), domain, problem, options), FALLBACK
    if plan is None:
        plan = _by_search(engine, domain, problem, options)
    if plan is None:
        return exits.NOT_WON
    text = "".join(f"{step}\n" for step in plan.steps)
    if options.output is not None:
        write_whole(options.output, text)
        _say(f"{count(len(plan), 'action')}, written to {options.output}")
    else:
        typer.echo(text, nl=False)
        if not plan.steps:
            _say("The goal is already true: the plan has no actions.")
    return 0


def _by_program(place: str, domain: Domain, problem: Problem, options: SolveOptions) -> Plan | None:
    """The plan of a program; None, with a word, where it fails."""
    program = program_in(Path(place))
    memory = options.memory or 4096
    limits = SandboxLimits(seconds=options.timeout or 1e5, memory=memory)
    with Sandbox(cast(Isolation, options.isolation)) as sandbox:
        trial = attempt(sandbox, program, domain, Task(problem.name, problem), limits, whole=False)
    if trial.solved:
        _say(f"The program of {place} made a plan of {count(trial.length, 'action')} in {trial.seconds:.2f} s.")
        return trial.plan
    why = one_line(f"{trial.kind.value}: {trial.message}", 200)
    _say(f"The program of {place} fails ({why}). Searching with {FALLBACK} instead.")
    return None


def _by_search(engine: str, domain: Domain, problem: Problem, options: SolveOptions) -> Plan | None:
    try:
        search = Search.parse(options.search)
    except ValueError as error:
        what = f"--search {options.search} is not possible"
        raise UsageError(what, f"{error}.", "See 'pddlego solve --help'.") from error
    chosen = _graphplan(engine, options)
    advisers = _advisers(chosen, options)
    meter = Meter(Limits(None))
    took: list[Moment] = []

    def told(moment: Moment) -> Iterator[Event]:
        took.append(moment)
        return iter(())

    with chosen.make() as planner:
        result = _last(advised(planner.planning(domain, problem, search), advisers, meter, told))
    if took:
        _say(_summary(took, meter.tally.calls))
    if result.status is PlanStatus.SOLVED:
        return result.plan
    if result.status is PlanStatus.ALREADY_TRUE:
        return Plan(())
    if result.status in (PlanStatus.CRASHED, PlanStatus.INVALID):
        what = f"{engine} cannot plan for it"
        raise EngineError(what, f"{result.message}.", "See 'pddlego check', or choose another --planner.")
    _say(f"No plan: {result.status.value} ({result.message}).")
    return None


def _last(planning: Generator[Event, None, PlanResult]) -> PlanResult:
    """The end. Who is asked what on the way is nothing that a plan needs."""
    with closing(planning):
        while True:
            try:
                event = next(planning)
            except StopIteration as ended:
                found: PlanResult = ended.value
                return found
            if isinstance(event, Retrying):
                trouble = event.trouble
                tried = f"try {trouble.tries} of {trouble.most}"
                _say(f"{one_line(trouble.why, 200)}: {tried}, the next in {trouble.seconds:.0f} s")


def _graphplan(engine: str, options: SolveOptions) -> PlannerOptions:
    """The planner. Raises `UsageError` for what only graphplan has."""
    if engine != "graphplan" and (options.prune, options.sort, options.levels) != (None, None, None):
        why = f"The planner is {engine}, and only graphplan has levels to prune and to sort."
        raise UsageError("--prune, --sort and --levels are not possible", why, "Add --planner graphplan.")
    if options.levels is not None and options.levels < 1:
        raise UsageError(f"--levels {options.levels} is not possible", "A graph has one at least.", "Give more.")
    if "" in (options.prune, options.sort):
        raise UsageError("--prune and --sort name a model", "They are empty.", "Example: --prune relaxed.")
    try:
        kappas = tuple(float(part) for part in options.kappa.split(","))
    except ValueError:
        kappas = (-1.0,)
    if not all(0 <= kappa <= 1 for kappa in kappas):
        raise UsageError(f"--kappa {options.kappa} is not possible", "It holds probabilities.", "Example: 1,0.5.")
    if options.kappa != "1" and options.prune is None:
        raise UsageError("--kappa changes nothing", "Nobody is asked what to prune.", "Add --prune, or leave it out.")
    return PlannerOptions(
        engine,
        options.timeout,
        options.memory,
        prune=options.prune,
        sort=options.sort,
        kappas=kappas,
        levels=options.levels,
    )


def _advisers(planner: PlannerOptions, options: SolveOptions) -> Advisers:
    """Who is asked. Raises `UsageError` for a model that cannot be."""
    model = ModelOptions(base_url=options.base_url, api_key=os.environ.get("OPENAI_API_KEY"))
    cell = Cell("solve", "graphplan", "", 0)
    made = {name: make_adviser_model(name, cell, model) for name in planner.advisers}
    return Advisers(*(made[name] if name else None for name in (planner.prune, planner.sort)))


def _summary(took: Sequence[Moment], calls: int) -> str:
    """What graphplan did, on a line."""
    grown = [moment for moment in took if isinstance(moment, Expanded)]
    looked = [moment for moment in took if isinstance(moment, Searched)]
    passes = sum(isinstance(moment, Passed) for moment in took)
    found = [moment.steps for moment in took if isinstance(moment, Passed) and moment.ending == "found"]
    levels = len(found[-1]) if found else max((moment.level for moment in grown), default=0)
    parts = [count(levels, "level"), *([f"{passes} passes"] if passes > 1 else [])]
    parts += [f"{sum(moment.actions for moment in grown):,} actions expanded"]
    parts += [f"{sum(moment.mutexes for moment in grown):,} mutex pairs"]
    parts += [f"{sum(moment.nodes for moment in looked):,} search nodes", *([count(calls, "call")] if calls else [])]
    return f"graphplan: {', '.join(parts)}"


def _read(domain_file: Path, problem_file: Path) -> tuple[Domain, Problem]:
    try:
        domain = parse_domain(read_text(domain_file))
    except PddlSyntaxError as error:
        why = f"{'; '.join(error.faults[:MOST_TOLD])}."
        raise UsageError(f"{domain_file} is no domain", why, f"See: pddlego check {domain_file}") from error
    reading = read_problem(read_text(problem_file))
    blocking = [str(each) for each in check_reading(domain, reading) if each.blocking]
    if blocking:
        why = f"{'; '.join(blocking[:MOST_TOLD])}."
        raise UsageError(f"{problem_file} is wrong", why, f"See: pddlego check {domain_file} {problem_file}")
    return domain, reading.problem


def _say(text: str) -> None:
    """Something that is no part of the plan."""
    typer.echo(clean(text), err=True)
