"""The engines: which ones a planning call tries, in which order and for how long, and how each one is run."""

from __future__ import annotations

import contextlib
import io
import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.pddl import Atom, Domain, Problem, conjuncts
from pddlego.pddl.conditions import (
    ANY_TYPE,
    ARITHMETIC,
    And,
    AtTime,
    Compare,
    Not,
    Term,
    changed_atoms,
)
from pddlego.pddl.costs import counts_cost, needs_numbers, needs_time
from pddlego.pddl.domain import Action, DurativeAction, Predicate, Rule
from pddlego.pddl.numbers import DURATION, TOTAL_COST, TOTAL_TIME, duration_bounds, fluents_in
from pddlego.pddl.plain import in_plain_pddl
from pddlego.pddl.problem import Metric, without
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show
from pddlego.planners import OWN, Feature, PlannerSpec, one_of, spec_of, usable
from pddlego.planning.defined import unset_numbers, with_known_numbers
from pddlego.planning.disjunctions import has_several_disjunctions
from pddlego.planning.exact import engine_task
from pddlego.planning.ground import PlanningError, ground, slices_of, translating, translator_task
from pddlego.planning.kairos import NO_PROOF, solve_texts
from pddlego.planning.result import EAGER, GROUND, NO_VALID_PLAN, Plan, PlanStatus, PlanStep, Search
from pddlego.util.children import in_a_fork
from pddlego.util.unexpected import located

Slices = tuple[str, ...]
"""The texts of a ground task."""

Solver = Callable[[Domain, Problem, Search, float], "Plan | Slices | None"]
"""Returns a plan, or None if no plan exists. Raises `PlanningError`, or `MemoryError`.

Its last argument is the time limit in seconds, which may be infinite. `GROUND` returns texts in place of a plan.
"""

_HEAD_START = 0.3
"""CPU seconds for which `auto` tries pyperplan: enough for small problems, where compiled engines start slower.

CPU time, so that a busy machine does not change which engine finds the plan.
"""


_FIRST_SHARE = 0.7
"""The share of the time that Fast Downward has, if mimir is installed, too.

Of 74 competition tasks it solves 65 with 5 CPU seconds for each of its two searches, mimir's additive heuristic three
others within 2 seconds of an idle machine, and no task needs more than 3.5 seconds of its first search.
"""


@dataclass(frozen=True)
class EngineTurn:
    """One engine's turn, and how many seconds it may take. `is_parser` is that of its `PlannerSpec`."""

    engine: str
    solver: Solver
    seconds: float = math.inf
    is_parser: bool = False


def attempts(search: Search, seconds: float) -> list[EngineTurn]:
    """Return the attempts of a planning call that may take `seconds`.

    The first attempt that finds a plan, or proves that none exists, ends the call. `auto` begins with pyperplan, goes
    on with the compiled engines that are installed, and ends with pyperplan, because a compiled engine may be unable to
    read the problem. Beside Fast Downward, which searches with FF, mimir has a part of the time for another heuristic.
    """
    if search.algorithm == GROUND.algorithm:
        return [EngineTurn("translator", _grounded)]
    compiled = [name for name in _compiled(search) if not missing(name)]
    if search.engine != "auto" or not compiled:
        engine = "pyperplan" if search.engine == "auto" else search.engine
        # The process ends a search in Python, which would slow it down to look at the clock itself.
        limit = math.inf if engine == "pyperplan" else seconds
        return [_turn(engine, limit)]
    head = [EngineTurn("pyperplan", solve_strips, _HEAD_START)] if hasattr(signal, "setitimer") else []
    left = max(0.1, seconds - _HEAD_START * len(head))
    turns = [_turn(name, left) for name in compiled]
    if len(turns) > 1:
        first, *others = turns
        share = (1 - _FIRST_SHARE) * left / len(others)
        others = [replace(turn, solver=_LATER.get(turn.engine, turn.solver), seconds=share) for turn in others]
        turns = [replace(first, seconds=_FIRST_SHARE * left), *others]
    return [*head, *turns, EngineTurn("pyperplan", solve_strips)]


def _turn(name: str, seconds: float) -> EngineTurn:
    """The turn of a planner. Raises `PddlegoError` if its package cannot be loaded."""
    spec = spec_of(name)
    module, _, function = spec.solve.partition(":")
    is_own = name in OWN
    solver = getattr(import_module(f"{__package__}.{module}"), function) if is_own else partial(_elsewhere, name, spec)
    return EngineTurn(name, solver, seconds, spec.is_parser)


def _compiled(search: Search) -> list[str]:
    """The compiled engines that `auto` uses for a search if they are installed, in their order."""
    return [name for name, spec in usable().items() if spec.in_auto and not refusal(name, search)]


def installable(search: Search) -> str:
    """The command that installs the engines that `auto` lacks for a search; empty if it lacks none."""
    extras = ",".join(name for name in _compiled(search) if name in OWN and missing(name))
    return f"pip install '.[{extras}]'" if extras else ""


def numeric_attempts(search: Search, seconds: float, needed: Mapping[Feature, str]) -> list[EngineTurn]:
    """The attempt of a planning call for a task with numbers, by the engine that is installed and can most.

    `needed` are the features that the task needs. Raises `PlanningError` without such an engine.
    """
    names = _with(needed)
    if search.engine not in ("auto", *names):
        raise PlanningError(unable(search.engine, needed))
    names = names if search.engine == "auto" else [search.engine]
    for name in names:
        if not missing(name) and not refusal(name, search):
            return [_turn(name, seconds)]
    absent = ((name, missing(name)) for name in names)
    reasons = (refusal(name, search) or f"{name} is not installed ({need[1] if need else ''})" for name, need in absent)
    raise PlanningError(f"no planner for {next(iter(needed)).value} can do this: {'; '.join(reasons)}")


def _with(needed: Collection[Feature]) -> list[str]:
    """The engines with these features. Those that can most come first."""
    specs = {name: spec for name, spec in usable().items() if spec.solve and spec.can.issuperset(needed)}
    return sorted(specs, key=lambda name: -len(specs[name].can))


def unable(engine: str, needed: Mapping[Feature, str]) -> str:
    """The reason why an engine cannot plan for a task, and those that can."""
    return f"{engine} has {lacking(spec_of(engine), needed)}; use the planner {one_of(('auto', *_with(needed)))}"


def lacking(spec: PlannerSpec, needed: Mapping[Feature, str]) -> str:
    """The first feature that a task needs and a planner lacks, as in `no numbers`; empty if it lacks none.

    `needed` are the features that the task needs, each with a part that needs it.
    """
    feature = next((feature for feature in needed if feature not in spec.can), None)
    if feature is None:
        return ""
    return f"no {feature.value}{f', as in {needed[feature]}' if needed[feature] else ''}"


def missing(engine: str) -> tuple[str, str] | None:
    """The package that an engine needs and the command that installs it; None if nothing has to be installed."""
    if engine == "auto" or not (spec := spec_of(engine)).package or find_spec(spec.package) is not None:
        return None
    return spec.package, spec.install


def refusal(engine: str | None, search: Search) -> str:
    """The reason why an engine cannot run a search, and another engine that can; empty if the engine can.

    The planning graph of Graphplan needs no search, but it does not replace a search without a heuristic.
    """
    if search.algorithm == GROUND.algorithm:
        return ""
    if search.algorithm == EAGER:
        return "" if engine == "fast-downward" else f"{engine or 'auto'} has no {search}; use fast-downward"
    if engine in (None, "auto"):
        return ""
    spec = spec_of(engine)
    if search.is_optimal:
        is_able = Feature.OPTIMAL in spec.can
        return "" if is_able else f"{engine} has no optimal search, and {search} is one; try fast-downward"
    return "" if search.heuristic in (None, *spec.greedy) else f"{engine} has no {search}; use pyperplan"


def check_search(engine: str | None, search: Search, what: str) -> None:
    """Raise `UsageError` if an engine cannot run a search that `what` needs."""
    if reason := refusal(engine, search):
        raise UsageError(f"{what} cannot use the planner {engine or 'auto'}", f"{reason}.", "Choose another --planner.")


def _refuse(search: Search, engine: str) -> None:
    """Raise `PlanningError` for a search that the engine does not have."""
    if reason := refusal(engine, search):
        raise PlanningError(reason)


def _half_of(seconds: float) -> float:
    """Return the time for one of two searches: 5 minutes if there is no limit."""
    return seconds / 2 if math.isfinite(seconds) else 300.0


def _elsewhere(
    name: str, spec: PlannerSpec, domain: Domain, problem: Problem, search: Search, seconds: float
) -> Plan | None:
    """Call the planner of another package. Raises `PlanningError`, also for its errors and for an answer of no use."""
    module, _, function = spec.solve.partition(":")
    try:
        plan = getattr(import_module(module), function)(domain, problem, search, seconds)
    except (PlanningError, MemoryError):
        raise
    except Exception as error:
        raise PlanningError(f"{name} failed: {located(error)}", PlanStatus.CRASHED) from error
    if plan is None and Feature.PROOFS not in spec.can:
        raise PlanningError(f"{name} found no plan, which is no proof that none exists", PlanStatus.BOUND)
    if plan is not None and not isinstance(plan, Plan):
        raise PlanningError(f"{name} returned {str(plan)[:80]!r}, and not a Plan", PlanStatus.CRASHED)
    return plan


def _grounded(domain: Domain, problem: Problem, search: Search, seconds: float) -> Slices | None:
    task = ground(domain, problem)
    return None if task is None else slices_of(task, problem)


# pyperplan


def solve_strips(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
    """Ground with Fast Downward's translator and search with pyperplan."""
    from pddlego.planning.search import find_plan

    with _at_most(seconds) if math.isfinite(seconds) else contextlib.nullcontext():
        task = ground(domain, problem)
        return None if task is None else find_plan(task, search)


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Interrupt this thread, which must be the main one, after `seconds` of CPU time. Raises `PlanningError`."""

    def end(number: int, frame: object) -> None:
        raise PlanningError(status=PlanStatus.TIMEOUT)

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)  # repeatedly: Python ignores an error in a destructor
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# Fast Downward: the translator's task is piped into the compiled search of the extra `fast-downward`

_LAMA = (
    "let(l, eval_modify_costs(landmark_sum(lm_reasonable_orders_hps(lm_rhw()), pref=false), cost_type=one), "
    "let(h, eval_modify_costs(ff(), cost_type=one), "
    "lazy_greedy([h, l], preferred=[h, l], cost_type=one, reopen_closed=false)))"
)
_LAZY_FF = "let(h, eval_modify_costs(ff(), cost_type=one), lazy_greedy([h], preferred=[h], cost_type=one))"
"""Searches for any plan, whatever its cost: the first one of LAMA, and the same without landmarks."""

_EAGER = {
    "hff": "ff()",
    "hadd": "add()",
    "hgc": "goalcount()",
    "hlmc": "landmark_sum(lm_reasonable_orders_hps(lm_rhw()), pref=false)",
    "hcg": "cg()",
    "hcea": "cea()",
}
"""The heuristics of `EAGER`. The landmarks are those of LAMA."""

_PLAN = Path("sas_plan")

# Exit codes of the search
_PROVEN_UNSOLVABLE = (10, 11)
_OUT_OF_MEMORY = (20, 22, 24)
_OUT_OF_TIME = 23
_UNSUPPORTED = 34

_MAX_COST = 2**31 - 1

_MAX_ACTION_COST = _MAX_COST // 1_000
"""The search adds costs in 32 bits: sums of this many steps must not wrap around, which looks like a dead end."""

_TOO_DEAR = f"Fast Downward cannot minimize costs above {_MAX_ACTION_COST:,}; fractions are multiplied first"


def solve_downward(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
    """Find a plan, of least cost if `search` is optimal.

    A search that is neither optimal nor `EAGER` has two configurations, each with half of the time. Writes the plan to
    the working directory, so two calls must not share one.
    """
    _refuse(search, "fast-downward")
    began = time.monotonic()
    task, costs = _translated(domain, problem, search)
    seconds = max(0.1, seconds - (time.monotonic() - began))
    if search.is_optimal:
        code = _run(task, "astar(lmcut())", seconds)
        if code == _UNSUPPORTED:  # LM-cut has no conditional effects and no derived predicates
            code = _run(task, "astar(blind())", seconds)
    elif search.algorithm == EAGER:
        code = _run(task, f"eager_greedy([{_EAGER[search.heuristic or 'hff']}])", seconds)
    else:
        code = _run(task, _LAMA, _half_of(seconds))
        if code not in (0, *_PROVEN_UNSOLVABLE):
            code = _run(task, _LAZY_FF, _half_of(seconds))
    if code == 0:
        lines = _PLAN.read_text(encoding="utf-8").splitlines()
        steps = tuple(line for line in lines if not line.startswith(";"))
        # Where a sum is too large for the search, it wraps around and the plan may not be the cheapest.
        if search.is_optimal and sum(costs[step] for step in steps) + max(costs.values(), default=0) > _MAX_COST:
            raise PlanningError(_TOO_DEAR)
        return Plan(tuple(map(PlanStep.read, steps)))
    if code in _PROVEN_UNSOLVABLE:
        return None
    if code == _OUT_OF_TIME:
        raise PlanningError(status=PlanStatus.TIMEOUT)
    if code in _OUT_OF_MEMORY:
        raise MemoryError
    message = f"Fast Downward ended without a plan and without a proof (exit code {code})"
    raise PlanningError(message, PlanStatus.CRASHED)


def _translated(domain: Domain, problem: Problem, search: Search) -> tuple[bytes, Mapping[str, int]]:
    """Return the task in the format of Fast Downward's search, and the cost of each operator there.

    Costs that are too large for the search are divided by their greatest common divisor, or left out where the search
    is not optimal and ignores them.
    """
    from fast_downward.translate import main

    with translating():
        task = main.pddl_to_sas(translator_task(*in_plain_pddl(domain, problem)))
    highest = max((operator.cost for operator in task.operators), default=0)
    if highest > _MAX_ACTION_COST:
        divisor = math.gcd(*(operator.cost for operator in task.operators))
        if search.is_optimal and highest // divisor > _MAX_ACTION_COST:
            raise PlanningError(_TOO_DEAR)
        for operator in task.operators:
            operator.cost = operator.cost // divisor if search.is_optimal else 1
    text = io.StringIO()
    task.output(text)
    return text.getvalue().encode(), {operator.name: operator.cost for operator in task.operators}


def _run(task: bytes, configuration: str, seconds: float) -> int:
    """Search, and return the exit code."""
    spec = find_spec("up_fast_downward")
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0], "downward", "builds", "release", "bin", "downward") if folders else None
    command = [str(path), "--search", configuration, "--internal-plan-file", str(_PLAN)]
    _PLAN.unlink(missing_ok=True)
    limit = seconds if math.isfinite(seconds) else None
    try:
        return subprocess.run(command, input=task, stdout=subprocess.DEVNULL, timeout=limit, check=False).returncode
    except subprocess.TimeoutExpired:
        return _OUT_OF_TIME


# mimir: a compiled planner (`pymimir`) that works on the lifted task and knows derived predicates and costs

_GOAL = "the-goal-is-reached"

_REQUIREMENTS = (":typing", ":adl", ":derived-predicates", ":action-costs")
"""mimir refuses a requirement that is used and not listed, and accepts one that is listed and not used."""


_ADDITIVE = ("AddHeuristic",)
_FF_AND_ADDITIVE = ("FFHeuristic", *_ADDITIVE)
"""Heuristics of mimir, which search one after the other."""


def solve_mimir(
    domain: Domain,
    problem: Problem,
    search: Search,
    seconds: float,
    heuristics: Sequence[str] = _FF_AND_ADDITIVE,
) -> Plan | None:
    """Find a plan by lazy greedy search with preferred operators.

    The heuristics guide the search in turn, each in an equal part of the time. The grounded search of
    mimir is not used, because its plans differ from process to process, nor the A* of 0.13, because it overlooks goals.
    """
    _refuse(search, "mimir")
    has_numbers = needs_numbers(domain, problem) is not None
    if has_several_disjunctions(*in_plain_pddl(domain, problem)):
        advice = _USE_KAIROS if has_numbers else "use fast-downward"
        raise PlanningError(f"mimir 0.13 loses one of several disjunctions ('or') in a condition; {advice}")
    if has_numbers:
        return solve_numeric_with_mimir(*_plain_texts(domain, problem), seconds)
    return _forked("mimir", partial(_solved_by_mimir, _mimir_texts(domain, problem), seconds, heuristics))


_LATER: Mapping[str, Solver] = {"mimir": partial(solve_mimir, heuristics=_ADDITIVE)}
"""How `auto` runs an engine after one that has searched with FF."""


def _forked(engine: str, call: Callable[[], Plan | None]) -> Plan | None:
    """The result of a call of compiled code. Raises `PlanningError`, and `MemoryError`."""
    if not hasattr(os, "fork"):
        return call()
    try:
        return in_a_fork(call, (PlanningError,))
    except ChildProcessError as error:
        raise PlanningError(f"{engine} {error}", PlanStatus.CRASHED) from error


_USE_KAIROS = "use kairos, which has wheels for Linux only"


def solve_numeric_with_mimir(domain: str, problem: str, seconds: float) -> Plan | None:
    """Find any plan for the texts of a numeric task. Returns None for a proof that no plan exists, as Kairos does."""
    task = engine_task(domain, problem)
    if task.is_temporal:
        raise PlanningError(f"mimir has no time; {_USE_KAIROS}")
    texts = _listed(task.domain, (":requirements", *_REQUIREMENTS, ":numeric-fluents")), _listed(task.problem)
    plan = _forked("mimir", partial(_solved_by_mimir, texts, seconds, _FF_AND_ADDITIVE))
    if plan is None and not task.is_exact:
        raise PlanningError(NO_PROOF, PlanStatus.BOUND)
    return plan


def _listed(text: str, *requirements: Sexpr) -> str:
    """A domain or a problem with other requirements and without a metric, of which mimir reads only some."""
    parts = next(iter(read_sexprs(text).expressions), ())
    kept = (part for part in parts[2:] if part[:1] not in ((":requirements",), (":metric",)))
    return show((*parts[:2], *requirements, *kept))


def _solved_by_mimir(texts: tuple[str, str], seconds: float, heuristics: Sequence[str]) -> Plan | None:
    from pymimir.advanced import formalism, search

    try:
        parser = formalism.Parser(texts[0], "domain", formalism.ParserOptions())
        task = parser.parse_problem(texts[1], "problem", formalism.ParserOptions())
        grounder = search.LiftedGrounder(task)
        share = 2 * _half_of(seconds) / len(heuristics)
        for name in heuristics[:-1]:
            try:
                return _lazy_greedy(task, getattr(search, name).create(grounder), share)
            except PlanningError as error:
                if error.status is not PlanStatus.TIMEOUT:
                    raise
        return _lazy_greedy(task, getattr(search, heuristics[-1]).create(grounder), share)
    except RuntimeError as error:
        raise PlanningError(f"mimir cannot read it ({' '.join(str(error).split())})") from error


def _lazy_greedy(task: Any, heuristic: Any, seconds: float) -> Plan | None:
    from pymimir.advanced import search

    lifted = search.LiftedOptions(search.LiftedKPKCOptions(search.SymmetryPruning.OFF))
    context = search.SearchContext.create(task, search.SearchContextOptions(lifted))
    options = search.GBFSLazyOptions()
    options.max_time_in_ms = int(seconds * 1000)
    result = search.find_solution_gbfs_lazy(context, heuristic, options)
    if result.status in (search.SearchStatus.UNSOLVABLE, search.SearchStatus.EXHAUSTED):
        return None
    if result.status is search.SearchStatus.OUT_OF_TIME:
        raise PlanningError(status=PlanStatus.TIMEOUT)
    if result.status is not search.SearchStatus.SOLVED:
        message = f"mimir ended with {result.status.name.lower().replace('_', ' ')}"
        raise PlanningError(message, PlanStatus.CRASHED)
    return Plan(tuple(PlanStep.read(str(step.to_string_for_plan(task))) for step in result.plan.get_actions()))


def _mimir_texts(domain: Domain, problem: Problem) -> tuple[str, str]:
    """Write the domain and the problem as mimir reads them."""
    domain, problem = in_plain_pddl(domain, without(problem, domain.constants))
    domain, problem = _with_plain_goal(domain, problem)
    types = tuple(supertype for supertype in domain.supertypes if supertype.name != ANY_TYPE)
    domain_text = str(replace(domain, name="domain", requirements=_REQUIREMENTS, supertypes=types))
    values = frozenset(value for value in problem.values if value.left != TOTAL_COST)
    if TOTAL_COST.head in domain.functions_by_name:
        values |= {Compare("=", TOTAL_COST, Term("0"))}
    metric = problem.metric if counts_cost(problem) else None
    return domain_text, str(replace(problem, name="problem", domain="domain", values=values, metric=metric))


def _with_plain_goal(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """Return the task with a conjunction of literals as its goal: any other goal becomes a derived predicate.

    All objects become constants of the domain, because the rule of this predicate may name them.
    """
    literals = (part.part if isinstance(part, Not) else part for part in conjuncts(problem.goal))
    if all(isinstance(part, Atom) for part in literals):
        return domain, problem
    reached = Predicate(_GOAL, ())
    domain = replace(
        domain,
        constants=(*domain.constants, *problem.sorted_objects()),
        predicates=(*domain.predicates, reached),
        derived=(*domain.derived, Rule(reached, problem.goal)),
    )
    return domain, replace(problem, objects=frozenset(), goal=Atom(_GOAL))


# Kairos: see `planning.kairos`


def solve_kairos(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
    _refuse(search, "kairos")
    texts = _plain_texts(domain, problem)
    try:
        plan = _forked("kairos", partial(solve_texts, *texts, seconds, search.is_optimal))
    except PlanningError as error:
        unset = ", ".join(map(str, unset_numbers(domain, problem)))
        if error.message != NO_VALID_PLAN or not unset:
            raise
        raise PlanningError(f"{NO_VALID_PLAN}; numbers without a value in :init: {unset}", error.status) from error
    if plan is None and any(DURATION.head in str(action.precondition) for action in domain.durative):
        raise PlanningError("no plan was found, which is no proof: a condition depends on ?duration", PlanStatus.BOUND)
    return plan


def _plain_texts(domain: Domain, problem: Problem) -> tuple[str, str]:
    if problem.metric == Metric("minimize", TOTAL_TIME) and not needs_time(domain, problem):
        problem = replace(problem, metric=None)  # the number of steps, which engines minimize without a metric
    domain, problem = with_known_numbers(domain, problem)
    domain = replace(domain, durative=tuple(_within_bounds(action, domain, problem) for action in domain.durative))
    domain, problem = in_plain_pddl(_without_groups(domain, problem), without(problem, domain.constants))
    return str(domain), str(problem)


def _without_groups(domain: Domain, problem: Problem) -> Domain:
    """The domain with actions that are never possible, and add what timed literals delete.

    Of facts of which at most one is true, Kairos makes the values of one variable. A timed literal that deletes a fact
    of them that is false then deletes the true one. Actions that only add facts break such groups.
    """
    changes = (change for literal in problem.later for change in changed_atoms(literal.part))
    deleted = sorted({atom.predicate for atom, value in changes if not value})
    if not deleted:
        return domain
    never = f"never-{max(domain.predicates_by_name, key=len)}"
    actions = []
    for head in (domain.predicates_by_name[name] for name in deleted):
        atom = Atom(head.name, tuple(parameter.name for parameter in head.parameters))
        actions.append(Action(f"{never}-{head.name}", head.parameters, Atom(never), atom))
    predicates = (*domain.predicates, Predicate(never, ()))
    return replace(domain, predicates=predicates, actions=(*domain.actions, *actions))


def _within_bounds(action: DurativeAction, domain: Domain, problem: Problem) -> DurativeAction:
    """The action with a condition at its start that its duration is possible: Kairos gives up where one is not.

    Other actions stay, because a condition more may change the plan.
    """
    bounds, zero = duration_bounds(action.duration), Term("0")
    if all(term.parts is None for _, term in bounds):
        return action
    lower, upper = ([term for sign, term in bounds if sign != other] for other in ("<=", ">="))
    needed = [Compare(">=", high, low) for high in upper for low in lower if high != low]
    may_be_negative = any(str(value.right).startswith("-") for value in problem.values)
    for term in upper:
        fluents = {fluent.head for fluent in fluents_in(term)}
        if may_be_negative or term.head in ARITHMETIC or not fluents.isdisjoint(domain.changed_functions):
            needed.append(Compare(">=", term, zero))
    condition = And((action.precondition, *(AtTime("start", part) for part in needed)))
    return replace(action, precondition=condition) if needed else action
