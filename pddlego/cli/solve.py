"""`pddlego solve`: finds a valid plan, by search, by Graphplan with models, or by a program or heuristic of a model."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pddlego.cli import exits
from pddlego.cli.options import with_options
from pddlego.errors import EngineError, UsageError
from pddlego.evaluation.config import FLAG, Config, Resolved, resolve
from pddlego.methods.graphplan.options import PassOptions
from pddlego.methods.shared_options import PlannerOptions, SandboxOptions
from pddlego.models.endpoint import Access, Endpoint, make_endpoint, prepare_cache
from pddlego.util.files import write_whole
from pddlego.util.options import names_of
from pddlego.util.text import clean, count, one_line

if TYPE_CHECKING:
    from pddlego.episode.events import Event
    from pddlego.pddl import Domain, Problem
    from pddlego.planning import PlanResult
    from pddlego.planning.graphplan.values import AdviceQuestion, Advise, SearchMoment, SearchWatcher
    from pddlego.tools import SolveResult

PROGRAM = "program:"
GRAPHPLAN = "graphplan"

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain file.")]
ProblemFile = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file of that domain.")]
PlannerName = Annotated[
    str | None,
    typer.Option(
        "--planner",
        help="auto, pyperplan, fast-downward, mimir, graphplan or program:FILE. [default: auto]",
    ),
]
SearchName = Annotated[
    str | None,
    typer.Option("--search", help="gbf(hff), astar(lmcut), bfs, … [default: gbf(hff)]"),
]
HeuristicFile = Annotated[
    Path | None,
    typer.Option(help="A heuristic for greedy search: a Python file, or a run (docs/heuristics.md)."),
]
Prune = Annotated[
    str | None,
    typer.Option(help="graphplan: model that prunes; also relaxed, oracle, keep-all, random:P."),
]
Sort = Annotated[str | None, typer.Option(help="graphplan: model that sorts the actions.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File for the plan. Default: standard output.")]


_GROUPS = (PlannerOptions, PassOptions, Endpoint, SandboxOptions)
NAMES = names_of(*_GROUPS) - {"stream", "eval_timeout", "parity"}


@with_options(_GROUPS, only=NAMES - {"planner"})
def command(
    flags: dict[str, Any],
    domain: DomainFile,
    problem: ProblemFile,
    planner: PlannerName = None,
    search: SearchName = None,
    heuristic: HeuristicFile = None,
    prune: Prune = None,
    sort: Sort = None,
    output: Output = None,
) -> None:
    """Find a plan and print it, one action a line. Every plan is validated before it is printed.

    The planner auto tries pyperplan for a moment, and then the best compiled planner that is installed.
    If the program or heuristic fails, this is reported, and a search replaces it.
    Exit code: 0 a plan, 1 no plan exists or none was found in time, 2 wrong usage, 3 the planner failed.
    """
    from pddlego import tools
    from pddlego.pddl.costs import counts_cost
    from pddlego.planning.result import LEAST_COST

    program = (planner or "").startswith(PROGRAM)
    _check_heuristic(heuristic, planner, search)
    flags |= {"planner": planner} if planner is not None and not program else {}
    resolved = resolve(flags, os.environ, names=NAMES)
    options = resolved.config.planner
    _check_graphplan(options.engine, resolved, prune, sort, search)
    parsed = tools.read_domain_file(domain)
    task = tools.read_problem_file(parsed, problem)
    place, kind = (Path(planner[len(PROGRAM) :]), "program") if planner and program else (heuristic, "heuristic")
    plan = _by_model(kind, place, parsed, task, resolved.config) if place is not None else None
    if plan is None:
        if options.engine == GRAPHPLAN:
            result = _by_graphplan(parsed, task, resolved.config, prune, sort)
        else:
            result = tools.solve(
                parsed,
                task,
                planner=options.engine or "auto",
                search=search or "gbf(hff)",
                seconds=options.timeout,
                memory=options.memory,
            )
        plan = _plan_of(result)
        if plan and not result.optimal and counts_cost(task):
            other = " --planner auto" if options.engine in (GRAPHPLAN, "mimir") else ""
            _say(f"The cost is not proved to be minimal. To minimize it: --search '{LEAST_COST}'{other}.")
    if plan is None:
        raise typer.Exit(exits.NOT_WON)
    text = "".join(f"{step}\n" for step in plan)
    if output is not None:
        write_whole(output, text)
        _say(f"{count(len(plan), 'action')}, written to {output}")
    else:
        typer.echo(text, nl=False)


def _by_model(kind: str, place: Path, domain: Domain, problem: Problem, config: Config) -> tuple[str, ...] | None:
    """Return the plan of a program, or of a greedy search with a heuristic. If it fails, report it and return None."""
    from pddlego.methods.programs.guided import GroundedTask, GuidedTrial, guided
    from pddlego.methods.programs.trial import Trial, attempt, program_in
    from pddlego.sandbox import Sandbox, SandboxLimits
    from pddlego.tasks import Task

    text, planner, task = program_in(place), config.planner, Task(problem.name, problem)
    limits = SandboxLimits(seconds=planner.timeout or 1e5, memory=planner.memory or 4096)
    trial: Trial | GuidedTrial
    with Sandbox(getattr(config.methods["programs"], "isolation", "required")) as sandbox:
        if kind == "heuristic":
            with planner.make() as grounder:
                trial = guided(sandbox, text, GroundedTask.of(grounder, domain, task, limits.seconds), limits)
        else:
            trial = attempt(sandbox, text, domain, task, limits, whole=False)
    if trial.solved:
        done, after = "made", ""
        if isinstance(trial, GuidedTrial):
            done, after = "led to", f", after {count(trial.expanded, 'expanded state')}"
        _say(f"The {kind} of {place} {done} a plan of {count(trial.length, 'action')} in {trial.seconds:.2f} s{after}.")
        return tuple(map(str, trial.plan.steps)) if trial.plan else ()
    reason = one_line(f"{trial.kind.value}: {trial.message}", 200)
    _say(f"The {kind} of {place} fails ({reason}). Searching with {planner.engine or 'auto'} instead.")
    return None


def _check_heuristic(heuristic: Path | None, planner: str | None, search: str | None) -> None:
    """Raise `UsageError` if another planner or search is named beside a heuristic."""
    if heuristic is not None and (search is not None or (planner or "").startswith((PROGRAM, GRAPHPLAN))):
        other = "--search" if search is not None else f"--planner {planner}"
        reason = "A heuristic guides greedy best-first search."
        raise UsageError(f"--heuristic and {other} exclude each other", reason, "Leave one of them out.")


def _plan_of(result: SolveResult) -> tuple[str, ...] | None:
    """Report how the plan was found, or why there is no plan. Returns the plan, or None.

    Raises `EngineError` if the planner failed.
    """
    from pddlego.planning import PlanStatus

    if result.status == PlanStatus.ALREADY_TRUE:
        _say("The goal is already true: the plan has no actions.")
    elif result.plan is not None:
        size = f"{count(len(result.plan), 'action')}, cost {result.cost}"
        _say(f"Plan of {size}, found by {result.engine} in {result.seconds:.2f} s.")
    elif result.status in (PlanStatus.CRASHED, PlanStatus.INVALID):
        what = f"{result.engine or 'The planner'} cannot plan for it"
        raise EngineError(what, f"{result.message}.", "See 'pddlego check', or choose another --planner.")
    else:
        _say(f"No plan: {result.status} ({result.message}).")
    return result.plan


def _check_graphplan(
    engine: str | None, resolved: Resolved, prune: str | None, sort: str | None, search: str | None
) -> None:
    """Raise `UsageError` for options that the planner does not have, and for options that would have no effect."""
    typed = {"prune": prune, "sort": sort} | {name: resolved.origin(name) == FLAG for name in ("levels", "kappa")}
    if engine == GRAPHPLAN and search is not None:
        raise UsageError("--search is not possible", "graphplan searches its planning graph.", "Leave it out.")
    if engine != GRAPHPLAN and any(value not in (None, False) for value in typed.values()):
        reason = f"The planner is {engine or 'auto'}, and only graphplan has levels to prune and to sort."
        raise UsageError("--prune, --sort, --kappa and --levels are not possible", reason, "Add --planner graphplan.")
    if "" in (prune, sort):
        raise UsageError("--prune and --sort name a model", "They are empty.", "Example: --prune relaxed.")
    if typed["kappa"] and prune is None:
        raise UsageError("--kappa has no effect", "It needs a model that prunes.", "Add --prune, or remove it.")


def _by_graphplan(domain: Domain, problem: Problem, config: Config, prune: str | None, sort: str | None) -> SolveResult:
    """Plan by Graphplan with the advice of models, and report the numbers of levels, actions and calls."""
    from pddlego import tools
    from pddlego.episode.budget import Budget
    from pddlego.episode.events import Limits
    from pddlego.methods.graphplan.advisers import Advisers, make_adviser, planning
    from pddlego.pddl.costs import counts_cost
    from pddlego.planning.graphplan.values import AdviceQuestion, Graphplan, GraphSearch

    options = config.methods[GRAPHPLAN]
    assert isinstance(options, PassOptions)
    graph = GraphSearch(prune is not None, sort is not None, options.kappa, levels=options.levels)
    prepare_cache(config.endpoint.cache)
    key = os.environ.get("OPENAI_API_KEY")
    models = {
        name: make_adviser(name, "solve/0") or make_endpoint(name, config.endpoint, Access(key))
        for name in (prune, sort)
        if name is not None
    }
    budget = Budget(Limits(None))
    moments: list[SearchMoment] = []
    advisers = Advisers(budget, models.get(prune or ""), models.get(sort or ""))

    def react(moment: AdviceQuestion | SearchMoment) -> Generator[Event, None, tuple[str, ...]]:
        if isinstance(moment, AdviceQuestion):
            return (yield from advisers.ask(moment))
        moments.append(moment)
        return ()

    with config.planner.make() as planner:

        def solve(advise: Advise, watch: SearchWatcher) -> PlanResult:
            return planner.solve(domain, problem, Graphplan(graph=graph, advise=advise, watch=watch))

        result = _result_of(planning(solve, react))
    if counts_cost(problem):
        _say("graphplan ignores action costs: its plans have the fewest levels.")
    if moments:
        _say(_summary(moments, budget.usage.calls))
    return tools.solve_result(result)


def _result_of(planning: Generator[Event, None, PlanResult]) -> PlanResult:
    """Run the planning to its end, report failed attempts to call the endpoint, and return the result."""
    from pddlego.episode.events import Retrying

    with closing(planning):
        while True:
            try:
                event = next(planning)
            except StopIteration as ended:
                result: PlanResult = ended.value
                return result
            if isinstance(event, Retrying):
                trouble = event.trouble
                tried = f"try {trouble.tries} of {trouble.most}"
                _say(f"{one_line(trouble.reason, 200)}: {tried}, the next in {trouble.seconds:.0f} s")


def _summary(moments: Sequence[SearchMoment], calls: int) -> str:
    """The numbers of levels, passes, actions, mutex pairs, search nodes and calls, on one line."""
    from pddlego.planning.graphplan.values import LevelAdded, Passed, Searched

    added = [moment for moment in moments if isinstance(moment, LevelAdded)]
    searched = [moment for moment in moments if isinstance(moment, Searched)]
    passes = sum(isinstance(moment, Passed) for moment in moments)
    steps = [moment.steps for moment in moments if isinstance(moment, Passed) and moment.ending == "found"]
    levels = len(steps[-1]) if steps else max((moment.level for moment in added), default=0)
    parts = [count(levels, "level"), *([f"{passes} passes"] if passes > 1 else [])]
    parts += [f"{sum(moment.actions for moment in added):,} actions expanded"]
    parts += [f"{sum(moment.mutexes for moment in added):,} mutex pairs"]
    parts += [f"{sum(moment.nodes for moment in searched):,} search nodes", *([count(calls, "call")] if calls else [])]
    return f"graphplan: {', '.join(parts)}"


def _say(text: str) -> None:
    """Print a message on standard error, because standard output contains the plan."""
    typer.echo(clean(text), err=True)
