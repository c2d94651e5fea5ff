"""`pddlego solve`: finds a valid plan, by search, by Graphplan with models, or by a program or heuristic of a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from pddlego.cli import exits
from pddlego.cli.options import options_typed, refuse_unread, with_options
from pddlego.cli.parts import load
from pddlego.cli.printing import Format, Line, check_target, end, print_result, say, show_lines
from pddlego.cli.simulate import PAGE
from pddlego.cli.validate import DomainFile, ProblemFile
from pddlego.errors import EngineError, UsageError
from pddlego.evaluation.config import resolve
from pddlego.methods.setting_files import parse_overrides
from pddlego.methods.shared_options import PassOptions, PlannerOptions, SandboxOptions
from pddlego.models.endpoint import Endpoint
from pddlego.planners import Feature, one_of, planner_names, spec_of
from pddlego.util.files import write_whole
from pddlego.util.options import names_of
from pddlego.util.text import count

if TYPE_CHECKING:
    from pddlego.display.gantt import Bar
    from pddlego.pddl import Domain, Problem
    from pddlego.tools import SolveResult

PROGRAM = "program:"
GRAPHPLAN = "graphplan"

PlannerName = Annotated[
    str | None,
    typer.Option("--planner", help=f"{one_of(('auto', *planner_names(), f'{PROGRAM}FILE'))}. [default: auto]"),
]
Planners = Annotated[
    bool, typer.Option("--planners", help="List the planners: what each can do, and why it cannot solve this problem.")
]
SearchName = Annotated[
    str | None,
    typer.Option("--search", help="gbf(hff), astar(lmcut), bfs, … [default: gbf(hff)]"),
]
HeuristicFile = Annotated[
    Path | None,
    typer.Option(help="A heuristic for greedy search: a Python file, or a run (docs/heuristics.md)."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="graphplan: prune or sort = a model, relaxed, oracle, …; kappa, levels. Repeatable.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File for the plan; .svg: a chart; .html: a page. Default: standard output."),
]


Plans = Annotated[
    int,
    typer.Option(
        "--plans",
        min=1,
        max=1000,
        help="Maximum number of plans; each lacks an action of each earlier one. [default: 1]",
        show_default=False,
    ),
]


_GROUPS = (PlannerOptions, PassOptions, Endpoint, SandboxOptions)
_OPTION_NAMES = names_of(*_GROUPS) - {"eval_timeout", "parity", "prompts"}

_USED_BY = {
    "--isolation": (f"--planner {PROGRAM}FILE", "--heuristic"),
    "--base-url": (f"--planner {GRAPHPLAN}",),
    "--set": (f"--planner {GRAPHPLAN}",),
    "--search": ("planners that search",),
    "--plans": ("planners that search",),
}
"""The planners and files that use an option."""


@with_options(_GROUPS, only=("timeout", "memory", "isolation", "base_url"))
def command(
    flags: dict[str, Any],
    context: typer.Context,
    domain: DomainFile,
    problem: ProblemFile,
    planner: PlannerName = None,
    planners: Planners = False,
    search: SearchName = None,
    heuristic: HeuristicFile = None,
    settings: Set = None,
    output: Output = None,
    plans: Plans = 1,
    form: Format = "text",
) -> None:
    """Find a plan and print it, one action a line. Every plan is validated before it is printed.

    With durative actions a line is TIME: (action object …) [DURATION], and a terminal shows the steps as a chart.

    The planner auto tries pyperplan for a moment, and then the compiled planners that are installed.
    If the program or heuristic fails, this is reported, and a search replaces it.
    Exit code: 0 a plan, 1 no plan exists or none was found in time, 2 wrong usage, 3 the planner failed.
    """
    from pddlego import tools

    if planners:
        _list_planners(domain, problem, search, form, options_typed(context, _USED_BY_LIST))
    program = Path(planner[len(PROGRAM) :]) if planner and planner.startswith(PROGRAM) else None
    _check_heuristic(heuristic, planner, search)
    model_file, kind = (program, "program") if program is not None else (heuristic, "heuristic")
    check_target(output, (".plan", ".svg", *PAGE), (domain, problem, model_file))
    overrides = _settings(settings or ())
    prune, sort = overrides.pop("prune", None), overrides.pop("sort", None)
    flags |= {**overrides, **({"planner": planner} if planner and program is None else {})}
    resolved = resolve(flags, os.environ, names=_OPTION_NAMES)
    options = resolved.config.planner
    used = f"--planner {PROGRAM}FILE" if program is not None else "--heuristic" if heuristic is not None else ""
    used = used or (f"--planner {GRAPHPLAN}" if options.engine == GRAPHPLAN else "planners that search")
    _check_unused_options(options_typed(context), used, overrides, prune)
    level = "CLASSICAL" if heuristic or options.engine == GRAPHPLAN else "NUMBERS" if program is not None else "TIME"
    parsed, task = _read(domain, problem, level)
    page = _page(output, plans, parsed, task)
    plan = load(f"solve.{kind}")(kind, model_file, parsed, task, resolved.config) if model_file is not None else None
    if plan is not None:
        result = tools.SolveResult("solved", plan, tools.validate(parsed, task, plan).cost, kind, "", 0.0)
    else:
        if options.engine == GRAPHPLAN:
            result = load("solve.graphplan")(parsed, task, resolved.config, prune, sort)
        else:
            # Findings have the positions of the files, which can be read again unless they are pipes.
            files = (domain, problem) if domain.is_file() and problem.is_file() else (parsed, task)
            call = partial(tools.solve, *files, planner=options.engine or "auto", search=search or "gbf(hff)")
            result = _solved(partial(call, memory=options.memory, plans=plans, keep_states=bool(page)), options.timeout)
        _report(result, parsed, task, options.engine, search, form)
    print_result(result, form, ())
    if result.plan is None:
        raise typer.Exit(exits.NOT_WON)
    if page is not None:
        page(tools.simulate(parsed, task, result.plan), tree=result.tree)
    if form == "text" or (output is not None and page is None):
        _show_plans(result, parsed, task, None if page is not None else output)


def _check_unused_options(typed: list[str], used: str, overrides: Mapping[str, str], prune: str | None) -> None:
    """Raise `UsageError` for an option that the planner or heuristic does not use, and for `kappa` without `prune`."""
    refuse_unread(typed, used, _USED_BY)
    if "kappa" in overrides and prune is None:
        raise UsageError("--set kappa has no effect here", "It needs a model that prunes.", "Add --set prune=MODEL.")


def _page(output: Path | None, plans: int, domain: Domain, problem: Problem) -> Callable[..., None] | None:
    """Return a function that writes the states of a plan as a page; None without a page, and for a task with time.

    Raises `UsageError`.
    """
    from pddlego.pddl.conditions import TRUE
    from pddlego.pddl.costs import needs_time

    is_page = output is not None and output.suffix.lower() in PAGE
    page = output if is_page and needs_time(domain, problem) is None else None  # `_show_plans` writes the chart
    if page is not None and not {domain.constraints, problem.constraints} <= {TRUE}:
        reason = "The page shows the states of a plan, and does not judge the constraints of this task."
        raise UsageError(f"{page} is not possible here", reason, "Write the plan instead: -o plan.txt.")
    if plans > 1 and output is not None:
        raise UsageError("--plans and -o exclude each other", "A file has one plan.", "Leave one of them out.")
    if page is None:
        return None
    from pddlego.cli.plan_page import write_plan_page

    return partial(write_plan_page, domain=domain, problem=problem, file=page, title=problem.name)


_USED_BY_LIST = ("--planners", "--search", "--format")


def _list_planners(
    domain: Path, problem: Path, search: str | None, form: Literal["text", "json"], others: list[str]
) -> NoReturn:
    """List what each planner can do, and whether it can do this. Raises `UsageError` for other options."""
    from pddlego.planning.abilities import planners_for
    from pddlego.tools import read_search

    if others:
        what = f"--planners and {others[0]} exclude each other"
        raise UsageError(what, "--planners lists the planners, and finds no plan.", "Leave one of them out.")
    answers = planners_for(*_read(domain, problem, "TIME"), read_search(search or "gbf(hff)"))
    lines: list[Line] = []
    for answer in answers.planners:
        limits = f", but {'; '.join(answer.limits)}" if answer.limits else ""
        lines.append((f"{answer.planner}: {f'no: {answer.reason}' if answer.reason else f'yes{limits}'}", "bold"))
        lines += [(f"  has {'; '.join(answer.can)}", "")] if answer.can else []
    print_result(answers, form, lines)
    end(True)


def _read(domain: Path, problem: Path, level: str) -> tuple[Domain, Problem]:
    """Read both files. Raises `UsageError`, also for what the `Level` does not have."""
    from pddlego import tools
    from pddlego.pddl.rules import Level

    parsed = tools.read_domain_file(domain, Level[level])
    return parsed, tools.read_problem_file(parsed, problem, Level[level], domain)


_WHY_SECONDS = 5.0
"""Seconds to look for reasons if there is no time limit. With a limit, a sixth of it."""


def _solved(call: Callable[..., SolveResult], limit: float) -> SolveResult:
    """Call the solver. Ctrl-C during the search for reasons returns the result without them.

    The search for reasons is announced if it may exceed `limit`.
    """
    why_seconds = limit / 6 or _WHY_SECONDS
    verdicts: list[SolveResult] = []

    def announce(verdict: SolveResult) -> None:
        verdicts.append(verdict)
        if limit and verdict.seconds + why_seconds > limit:
            say(f"No plan so far. Looking for the reasons for up to {why_seconds:.2g} s (--timeout).")

    try:
        return call(seconds=limit, why_seconds=why_seconds, before_reasons=announce)
    except KeyboardInterrupt:
        if not verdicts:
            raise
        say("Interrupted: the search for reasons is incomplete.")
        return verdicts[0]


def _show_plans(result: SolveResult, domain: Domain, problem: Problem, output: Path | None) -> None:
    """Print or write the plan, and print further ones.

    An `.svg` file or a page gets a chart. With durative actions, a terminal also shows one.
    """
    from pddlego.display.gantt import chart_svg
    from pddlego.pddl.costs import needs_time

    plan, title = result.plan or (), f"{problem.name}: a plan"
    text = "".join(f"{step}\n" for step in plan)
    if output is not None:
        match output.suffix.lower():
            case ".svg":
                shown = chart_svg(_bars(text, domain, problem), title)
            case suffix if suffix in PAGE:
                from pddlego.cli.plan_page import chart_page

                shown = chart_page(title, _bars(text, domain, problem), plan)
            case _:
                shown = text
        write_whole(output, shown)
        say(f"{count(len(plan), 'action')}, written to {output}")
    else:
        typer.echo(text, nl=False)
    if needs_time(domain, problem) is not None:
        _show_chart(text, domain, problem)
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
        option = "--search" if search is not None else f"--planner {planner}"
        reason = "A heuristic guides greedy best-first search."
        raise UsageError(f"--heuristic and {option} exclude each other", reason, "Leave one of them out.")


def _report(
    result: SolveResult, domain: Domain, problem: Problem, engine: str | None, search: str | None, form: str
) -> None:
    """Report how the plan was found, or why there is no plan. Raises `EngineError` if the planner failed."""
    from pddlego.pddl.costs import needs_time, penalties
    from pddlego.planning import PlanStatus
    from pddlego.planning.result import LEAST_COST, NOT_SEARCHED

    note = result.note[:1].upper() + result.note[1:]
    if result.status == PlanStatus.ALREADY_TRUE:
        say("The goal is already true: the plan has no actions.")
    elif result.plan is not None:
        cost = "the metric has no value" if result.cost is None else f"cost {result.cost}"
        size = f"{count(len(result.plan), 'action')}, {cost}"
        say(f"Plan of {size}, found by {result.engine} in {result.seconds:.2f} s.")
    elif result.status in (PlanStatus.CRASHED, PlanStatus.INVALID):
        what = f"{result.engine or 'The planner'} cannot plan for it"
        advice = f"{note}." if note else "See 'pddlego check', or choose another --planner."
        raise EngineError(what, f"{result.message}.", advice)
    else:
        say(f"No plan: {result.status} ({result.message}).")
        if note:
            say(f"{note}.")
        show_lines(_reasons(result, needs_time(domain, problem) is not None) if form == "text" else (), errors=True)
    for verdict in result.preferences:
        say(f"{str(verdict).capitalize()}.")
    if result.plan is not None and not result.optimal and (metric := problem.metric) is not None:
        can_minimize = engine in (None, "auto") or spec_of(engine).has_whole(Feature.OPTIMAL)
        planner = "" if can_minimize else " --planner auto"
        advice = f". To look for a better one: --search '{LEAST_COST}'{planner}" if search != str(LEAST_COST) else ""
        reason = f": {NOT_SEARCHED}" if metric.direction == "maximize" and not penalties(problem) else advice
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
        same_verdict = [sibling.goal for sibling in result.why.goals if sibling.reachable is part.reachable]
        is_one_line = len(same_verdict) > (1 if part.reachable is None else _MOST_PARTS)
        if not is_one_line or part.goal == same_verdict[0]:
            others = f" and {count(len(same_verdict) - 1, 'other part')}" if is_one_line else ""
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
        yield f"why: {ended}: a longer search (--timeout) may find more", ""
    elif not is_known:
        yield "why: not known: the search for the reasons ended without one", ""


def _settings(pairs: Iterable[str]) -> dict[str, str]:
    """The settings of `--set`. Raises `UsageError` for an unknown or an empty one."""
    overrides = parse_overrides(tuple(pairs))
    known = ("prune", "sort", "kappa", "levels")
    for name, value in overrides.items():
        if name not in known or not value:
            reason = f"The planner {GRAPHPLAN} has: {', '.join(known)}."
            raise UsageError(f"--set {name}={value} is not possible", reason, "Example: --set prune=relaxed.")
    return overrides
