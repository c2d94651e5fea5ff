"""Executes a plan on a problem, step by step, independently of the engine that found it.

Says at which step what was missing, in the wording of repair advice, and what is true after each step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from operator import itemgetter

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import And, Exists, Forall, Formula, Imply, Not, Or, Renaming
from pddlego.planning.interference import interference
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.world import World
from pddlego.util.limits import Work
from pddlego.util.text import nearest

MOST = 20
"""Alternatives, or things to do, that are listed at most: a condition over all objects may have thousands."""

INDENT = "    "

Binding = Mapping[str, str]


def advice(world: World, condition: Formula, state: AbstractSet[Atom], binding: Binding, wanted: bool = True) -> str:
    """What to change so that `condition` is as `wanted` in `state`; empty if it is already."""
    if world.holds(condition, state, binding) is wanted:
        return ""
    match condition:
        case Not():
            return advice(world, condition.part, state, binding, not wanted)
        case And() | Or():
            pieces = (advice(world, part, state, binding, wanted) for part in condition.parts)
            return _joined(pieces, all_of=isinstance(condition, And) is wanted)
        case Imply():
            first = advice(world, condition.condition, state, binding, not wanted)
            return _joined((first, advice(world, condition.consequence, state, binding, wanted)), all_of=not wanted)
        case Exists() | Forall():
            cases = world.bindings(condition.variables, binding)
            pieces = (advice(world, condition.part, state, case, wanted) for case in cases)
            return _joined(pieces, all_of=isinstance(condition, Forall) is wanted)
    return f"(Set {Renaming(binding).formula(condition)} to {'true' if wanted else 'false'})"


def _joined(advice: Iterable[str], all_of: bool) -> str:
    """Several pieces of advice as one: each of them is to be followed, or one of them is enough."""
    pieces = list(dict.fromkeys(itertools.islice(filter(None, advice), MOST + 1)))
    if len(pieces) == 1:
        return pieces[0]
    more = ["…"] if len(pieces) > MOST else []
    word = "and" if all_of else "or"
    lines = [piece.replace("\n", f"\n{INDENT}") for piece in (*pieces[:MOST], *more)]
    text = f"\n{INDENT}{word} ".join(lines)
    return f"(Follow {'each' if all_of else 'one'} of:\n{INDENT}{text}\n)" if pieces else ""


class FaultKind(str, Enum):
    """What can be wrong with a plan."""

    ACTION = "unknown action"
    ARITY = "wrong number of arguments"
    OBJECT = "unknown object"
    TYPE = "wrong argument type"
    PRECONDITION = "unsatisfied precondition"
    COST = "unknown cost"
    INTERFERENCE = "interfering actions"
    GOAL = "goal not reached"
    TOO_LARGE = "too large"


@dataclass(frozen=True)
class PlanFault:
    """What is wrong with a plan: at which `step`, the `time`-th from 0 (None for the goal); `advice` fixes it.

    Only preconditions and goals have advice, which may have several lines.
    """

    kind: FaultKind
    what: str
    advice: str = ""
    time: int | None = None
    step: PlanStep | None = None

    def __str__(self) -> str:
        return f"{self.what}\n{self.advice}" if self.advice else self.what


def validate(domain: Domain, problem: Problem, plan: Plan, work: Work | None = None) -> PlanFault | None:
    """Execute a plan and return what is wrong with it; None if it works and reaches the goal.

    Total for problems without blocking defects (see `check`). A plan that takes more than `work` to execute has a fault
    of the kind `TOO_LARGE`.
    """
    world, state = World(domain, problem, work), set(problem.facts)
    for first, steps in _happenings(plan):
        fault = _executed(world, steps, first, state)
        if fault is not None:
            return fault
    try:
        world.work.renew()
        if world.holds(problem.goal, state, {}):
            return None
    except TooManyCasesError as error:
        return PlanFault(FaultKind.TOO_LARGE, f"{error.part or 'the goal'} has too many cases to look at")
    return PlanFault(FaultKind.GOAL, "The goal is not satisfied", _advice(world, problem.goal, state, {}))


def _executed(world: World, steps: Sequence[PlanStep], first: int, state: set[Atom]) -> PlanFault | None:
    """Execute steps that have the same time in `state`, unless one of them has a fault, which is returned."""
    time, step = first, steps[0]
    try:
        world.work.renew()
        for time, step in enumerate(steps, start=first):
            fault = _wrong_step(world, step, time, state)
            if fault is not None:
                return fault
        fault = _interfering(world, steps, first, state) if len(steps) > 1 else None
        if fault is not None:
            return fault
        changes = [world.changes(step, state) for step in steps]  # in any order, as they do not interfere
    except TooManyCasesError as error:
        what = f"{error.part or f'{step} at time {time}'} has too many cases to look at"
        return PlanFault(FaultKind.TOO_LARGE, what, time=time, step=step)
    for adds, deletes in changes:
        state -= deletes
        state |= adds
    return None


def _advice(world: World, condition: Formula, state: AbstractSet[Atom], binding: Binding) -> str:
    """What to change so that a condition is true; empty if there are too many cases to say."""
    try:
        return advice(world, condition, state, binding)
    except TooManyCasesError:
        return ""


def _happenings(plan: Plan) -> Iterator[tuple[int, tuple[PlanStep, ...]]]:
    """The steps that are executed at the same time, with the index of the first."""
    times = plan.times or range(len(plan))
    first = 0
    for _, group in itertools.groupby(zip(times, plan.steps, strict=True), key=itemgetter(0)):
        steps = tuple(step for _, step in group)
        yield first, steps
        first += len(steps)


def _interfering(world: World, steps: Sequence[PlanStep], first: int, state: AbstractSet[Atom]) -> PlanFault | None:
    """The fault of applicable steps at the same time of which two interfere."""
    pair = interference(world, steps, state)
    if pair is None:
        return None
    step, time = steps[pair.second], first + pair.second
    what = (
        f"{step} at time {time} interferes with {steps[pair.first]}, which has the same time: both concern {pair.atom}"
    )
    return PlanFault(FaultKind.INTERFERENCE, what, "(Give them different times)", time, step)


def plan_cost(domain: Domain, problem: Problem, plan: Plan) -> float:
    """The cost of a plan that works: its action costs if the problem minimizes them, else its number of steps."""
    world = World(domain, problem)
    cost = sum((world.cost(step) for step in plan.steps), Fraction(0))
    return int(cost) if cost.denominator == 1 else float(cost)


def _wrong_step(world: World, step: PlanStep, time: int, state: AbstractSet[Atom]) -> PlanFault | None:
    """What is wrong with a step: its action, its objects or their types whatever is true, or its precondition."""

    def fault(kind: FaultKind, what: str, remedy: str = "") -> PlanFault:
        return PlanFault(kind, what, remedy, time, step)

    domain = world.domain
    action = domain.actions_by_name.get(step.action)
    if action is None:
        close = nearest(step.action, domain.actions_by_name)
        hint = f"did you mean {close}?" if close else f"the actions are {', '.join(sorted(domain.actions_by_name))}"
        return fault(FaultKind.ACTION, f"{step} at time {time} is not an action of the domain; {hint}")
    if len(action.parameters) != len(step.args):
        form = " ".join((action.name, *(parameter.name for parameter in action.parameters)))
        what = f"{step} at time {time} has {len(step.args)} argument(s), and its form is ({form})"
        return fault(FaultKind.ARITY, what)
    for parameter, arg in zip(action.parameters, step.args, strict=True):
        if arg not in world.types:
            return fault(FaultKind.OBJECT, f"{step} at time {time}: unknown object {arg}")
        if not domain.is_a(world.types[arg], parameter.type):
            what = f"{step} at time {time}: {arg} is a {world.types[arg]}, but {parameter.name} is a {parameter.type}"
            return fault(FaultKind.TYPE, what)
    binding = world.binding(step)
    if not world.holds(action.precondition, state, binding):
        missing = _advice(world, action.precondition, state, binding)
        return fault(FaultKind.PRECONDITION, f"{step} has an unsatisfied precondition at time {time}", missing)
    try:
        world.cost(step)
    except KeyError as error:
        what = f"{step} at time {time} costs {error.args[0]}, which has no number in :init"
        return fault(FaultKind.COST, what, f"(Add (= {error.args[0]} NUMBER) to :init)")
    return None


def goal_holds(domain: Domain, problem: Problem, work: Work | None = None) -> bool:
    """Whether the goal is true in the initial state. Raises `TooManyCasesError` if that takes more than `work`."""
    return World(domain, problem, work).holds(problem.goal, problem.facts, {})


def speaks_of_nothing(domain: Domain, problem: Problem, work: Work | None = None) -> bool:
    """Whether the goal is true only because nothing that it speaks of is there: `(forall (?i - item) …)` of no item.

    Raises `TooManyCasesError` if that takes more than `work`.
    """
    return World(domain, problem, work).is_vacuous(problem.goal, problem.facts, {})
