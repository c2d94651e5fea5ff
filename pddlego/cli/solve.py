"""`pddlego solve`: finds a valid plan, by search, by Graphplan with models, or by a program or heuristic of a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pddlego.cli import exits
from pddlego.cli.options import with_options
from pddlego.cli.printing import Format, Line, check_target, print_result, say, show_lines
from pddlego.cli.simulate import PAGE, Html, write_plan_page
from pddlego.errors import EngineError, UsageError
from pddlego.evaluation.config import FLAG, Resolved, resolve
from pddlego.methods.commands import load
from pddlego.methods.shared_options import PassOptions, PlannerOptions, SandboxOptions
from pddlego.models.endpoint import Endpoint
from pddlego.util.files import write_whole
from pddlego.util.options import names_of
from pddlego.util.text import count

if TYPE_CHECKING:
    from pddlego.display.gantt import Bar
    from pddlego.pddl import Domain, Problem
    from pddlego.tools import SolveResult

PROGRAM = "program:"
GRAPHPLAN = "graphplan"

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain file.")]
ProblemFile = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file of that domain.")]
PlannerName = Annotated[
    str | None,
    typer.Option(
        "--planner",
        help="auto, pyperplan, fast-downward, mimir, kairos, graphplan or program:FILE. [default: auto]",
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
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File for the plan; .svg for a chart of it. Default: standard output."),
]


WhySeconds = Annotated[
    float,
    typer.Option(
        min=0, help="Seconds to look for the reasons if there is no plan; 0: do not. [default: 5]", show_default=False
    ),
]


Plans = Annotated[
    int,
    typer.Option(
        "--plans",
        min=1,
        max=1000,
        help="Up to so many plans, each without an action of every plan before it. [default: 1]",
        show_default=False,
    ),
]


_GROUPS = (PlannerOptions, PassOptions, Endpoint, SandboxOptions)
NAMES = names_of(*_GROUPS) - {"stream", "eval_timeout", "patience", "parity", "prompts"}


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
    why_seconds: WhySeconds = 5.0,
    plans: Plans = 1,
    html: Html = None,
    form: Format = "text",
) -> None:
    """Find a plan and print it, one action a line. Every plan is validated before it is printed.

    With durative actions a line is TIME: (action object …) [DURATION], and a terminal shows the steps as a chart.

    The planner auto tries pyperplan for a moment, and then the compiled planners that are installed.
    If the program or heuristic fails, this is reported, and a search replaces it.
    Exit code: 0 a plan, 1 no plan exists or none was found in time, 2 wrong usage, 3 the planner failed.
    """
    from pddlego import tools
    from pddlego.pddl.rules import Level

    program = (planner or "").startswith(PROGRAM)
    _check_heuristic(heuristic, planner, search)
    place, kind = (Path(planner[len(PROGRAM) :]), "program") if planner and program else (heuristic, "heuristic")
    _check_targets(output, html, (domain, problem, place))
    flags |= {"planner": planner} if planner is not None and not program else {}
    resolved = resolve(flags, os.environ, names=NAMES)
    options = resolved.config.planner
    _check_graphplan(options.engine, resolved, prune, sort, search)
    level = Level.CLASSICAL if heuristic or options.engine == GRAPHPLAN else Level.NUMBERS if program else Level.TIME
    parsed = tools.read_domain_file(domain, level)
    task = tools.read_problem_file(parsed, problem, level, domain)
    _check_page(html, parsed, task)
    _check_plans(plans, has_one_plan=bool(program or heuristic or output or html or options.engine == GRAPHPLAN))
    plan = load(f"solve.{kind}")(kind, place, parsed, task, resolved.config) if place is not None else None
    if plan is not None:
        result = tools.SolveResult("solved", plan, tools.validate(parsed, task, plan).cost, kind, "", 0.0)
    else:
        if options.engine == GRAPHPLAN:
            result = load("solve.graphplan")(parsed, task, resolved.config, prune, sort)
        else:
            # Findings have the positions of the files, which can be read again unless they are pipes.
            files = (domain, problem) if domain.is_file() and problem.is_file() else (parsed, task)
            call = partial(tools.solve, *files, planner=options.engine or "auto", search=search or "gbf(hff)")
            result = _solved(partial(call, memory=options.memory, plans=plans), options.timeout, why_seconds)
        _report(result, parsed, task, options.engine, search, form)
    if form == "json":
        print_result(result, form, ())
    if result.plan is None:
        raise typer.Exit(exits.NOT_WON)
    if form == "text" or output is not None:
        _show_plan(result.plan, parsed, task, output)
        _show_others(result)
    if html is not None:
        write_plan_page(tools.simulate(parsed, task, result.plan), html, task.name)


def _solved(call: Callable[..., SolveResult], limit: float, why_seconds: float) -> SolveResult:
    """The result of a call, also if Ctrl-C ends its search for the reasons, which is announced beyond the `limit`."""
    verdicts: list[SolveResult] = []

    def looking(verdict: SolveResult) -> None:
        verdicts.append(verdict)
        if limit and verdict.seconds + why_seconds > limit:
            say(f"No plan so far. Looking for the reasons for up to {why_seconds:g} s (--why-seconds).")

    try:
        return call(seconds=limit, why_seconds=why_seconds, before_reasons=looking)
    except KeyboardInterrupt:
        if not verdicts:
            raise
        say("Interrupted: the search for reasons is incomplete.")
        return verdicts[0]


def _check_targets(output: Path | None, html: Path | None, sources: tuple[Path | None, ...]) -> None:
    check_target("--output", output, (".plan", ".svg"), sources)
    check_target("--html", html, PAGE, (*sources, output))


def _check_page(html: Path | None, domain: Domain, problem: Problem) -> None:
    """Raise `UsageError` for a page about a plan with time."""
    from pddlego.pddl.costs import needs_time

    if html is not None and needs_time(domain, problem) is not None:
        reason = "The page shows the states of a plan without time, and this task has time."
        raise UsageError("--html is not possible here", reason, "Draw a chart of the plan instead: -o plan.svg.")


def _check_plans(plans: int, has_one_plan: bool) -> None:
    """Raise `UsageError` for several plans with what has one."""
    if plans > 1 and has_one_plan:
        reason = "Programs, heuristics and graphplan find one plan, and --output and --html write one."
        raise UsageError("--plans is not possible here", reason, "Leave one of the options out.")


def _show_plan(plan: tuple[str, ...], domain: Domain, problem: Problem, output: Path | None) -> None:
    """Print or write the plan. A file whose name ends in `.svg` gets a chart, and so does a terminal if steps last."""
    from pddlego.pddl.costs import needs_time

    text = "".join(f"{step}\n" for step in plan)
    if output is not None:
        is_chart = output.suffix.lower() == ".svg"
        write_whole(output, _chart(text, domain, problem) if is_chart else text)
        say(f"{count(len(plan), 'action')}, written to {output}")
    else:
        typer.echo(text, nl=False)
    if needs_time(domain, problem) is not None:
        _show_chart(text, domain, problem)


def _show_others(result: SolveResult) -> None:
    """Print the further plans, each after an empty line, and say whether there are no others."""
    for number, other in enumerate(result.others, start=2):
        typer.echo()
        say(f"Plan {number}: {count(len(other.plan), 'action')}, cost {other.cost}.")
        typer.echo("".join(f"{step}\n" for step in other.plan), nl=False)
    if result.status == "solved" and result.message:
        say(f"{result.message[0].upper()}{result.message[1:]}.")


def _bars(text: str, domain: Domain, problem: Problem) -> list[Bar]:
    """The bars of a chart. Steps without times follow each other, each with the length 1."""
    from pddlego.display.gantt import Bar
    from pddlego.planning.plan_text import read_plan

    plan = read_plan(text, domain, problem).plan
    if plan.timed:
        return [Bar(Fraction(step.start), step.end, str(step.step)) for step in plan.timed]
    return [Bar(Fraction(number), Fraction(number + 1), str(step)) for number, step in enumerate(plan.steps)]


def _chart(text: str, domain: Domain, problem: Problem) -> str:
    from pddlego.display.gantt import chart_svg

    return chart_svg(_bars(text, domain, problem), f"{problem.name}: a plan")


def _show_chart(text: str, domain: Domain, problem: Problem) -> None:
    """Draw the chart below the plan, in a terminal."""
    from rich.console import Console

    from pddlego.display.gantt import chart_lines

    console = Console(stderr=True)
    if console.is_terminal:
        lines = chart_lines(_bars(text, domain, problem), console.width)
        show_lines(((line, "") for line in lines), errors=True)


def _check_heuristic(heuristic: Path | None, planner: str | None, search: str | None) -> None:
    """Raise `UsageError` if another planner or search is named beside a heuristic."""
    if heuristic is not None and (search is not None or (planner or "").startswith((PROGRAM, GRAPHPLAN))):
        other = "--search" if search is not None else f"--planner {planner}"
        reason = "A heuristic guides greedy best-first search."
        raise UsageError(f"--heuristic and {other} exclude each other", reason, "Leave one of them out.")


def _report(
    result: SolveResult, domain: Domain, problem: Problem, engine: str | None, search: str | None, form: str
) -> None:
    """Report how the plan was found, or why there is no plan. Raises `EngineError` if the planner failed."""
    from pddlego.pddl.costs import needs_time
    from pddlego.planning import PlanStatus
    from pddlego.planning.result import LEAST_COST, NOT_SEARCHED

    if result.status == PlanStatus.ALREADY_TRUE:
        say("The goal is already true: the plan has no actions.")
    elif result.plan is not None:
        cost = "the metric has no value" if result.cost is None else f"cost {result.cost}"
        size = f"{count(len(result.plan), 'action')}, {cost}"
        say(f"Plan of {size}, found by {result.engine} in {result.seconds:.2f} s.")
    elif result.status in (PlanStatus.CRASHED, PlanStatus.INVALID):
        what = f"{result.engine or 'The planner'} cannot plan for it"
        raise EngineError(what, f"{result.message}.", "See 'pddlego check', or choose another --planner.")
    else:
        say(f"No plan: {result.status} ({result.message}).")
        show_lines(_reasons(result, needs_time(domain, problem) is not None) if form == "text" else (), errors=True)
    if result.plan and not result.optimal and (metric := problem.metric) is not None:
        other = " --planner auto" if engine in (GRAPHPLAN, "mimir", "kairos") else ""
        advice = f". To look for a better one: --search '{LEAST_COST}'{other}" if search != str(LEAST_COST) else ""
        reason = f": {NOT_SEARCHED}" if metric.direction == "maximize" else advice
        say(f"The cost is not proved to be {metric.best}{reason}.")


_REACHABLE = {True: "can be reached", False: "cannot be reached", None: "not decided"}

_MOST_PARTS = 8
"""The maximum number of parts of a goal with one verdict that have a line each."""


def _reasons(result: SolveResult, timed: bool) -> Iterator[Line]:
    """The lines about the reasons why there is no plan: from check, and from a search."""
    for finding in result.findings:
        yield f"{finding.severity}: {finding.rule}: {finding.message}. {finding.advice}", "yellow"
    if result.why is None:
        return
    alone = " alone" if result.why.goals[1:] else ""
    for part in result.why.goals:
        alike = [other.goal for other in result.why.goals if other.reachable is part.reachable]
        is_one_line = len(alike) > (1 if part.reachable is None else _MOST_PARTS)
        if not is_one_line or part.goal == alike[0]:
            others = f" and {count(len(alike) - 1, 'other part')}" if is_one_line else ""
            yield f"goal: {part.goal}{others}: {_REACHABLE[part.reachable]}{alone if part.reachable else ''}", ""
    if result.why.exclusive:
        yield f"goal: cannot be reached together: {', '.join(result.why.exclusive)}", ""
    yield from ((f"why: {sentence}", "") for sentence in result.why.chain)
    yield from ((f"why: {cure}, there is a plan", "") for cure in result.why.cures)
    is_known = result.findings or result.why.chain or result.why.exclusive or result.why.cures
    if timed and not is_known:
        yield "why: not known: in tasks with time, only what no action can ever make true is explained", ""
    elif not result.why.complete and not timed:
        ended = "not all was tried" if is_known else "not known"
        yield f"why: {ended}: a longer search (--why-seconds) may find more", ""
    elif not is_known:
        yield "why: not known: the search for the reasons ended without one", ""


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
