"""Executes a plan on a problem, step by step, independently of the engine that found it.

Says at which step what was missing, in the wording of repair advice, and what is true after each step.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from pddlego.errors import TooLargeError
from pddlego.pddl import Atom, Domain, PddlSyntaxError, Problem
from pddlego.pddl.conditions import And, Exists, Forall, Formula, Imply, Not, Or, Renaming
from pddlego.pddl.rules import Defect, syntax_defect
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.world import World
from pddlego.util.answers import spoken
from pddlego.util.text import nearest
from pddlego.util.work import Work

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
    for time, step in enumerate(plan.steps):
        try:
            fault = _wrong_step(world, step, time, state)
            adds, deletes = world.changes(step, state) if fault is None else (set(), set())
        except TooLargeError as error:
            what = f"{error.part or f'{step} at time {time}'} has too many cases to look at"
            return PlanFault(FaultKind.TOO_LARGE, what, time=time, step=step)
        if fault is not None:
            return fault
        state -= deletes
        state |= adds
    try:
        if world.holds(problem.goal, state, {}):
            return None
    except TooLargeError as error:
        return PlanFault(FaultKind.TOO_LARGE, f"{error.part or 'the goal'} has too many cases to look at")
    return PlanFault(FaultKind.GOAL, "The goal is not satisfied", _advice(world, problem.goal, state, {}))


def _advice(world: World, condition: Formula, state: AbstractSet[Atom], binding: Binding) -> str:
    """What to change so that a condition is true; empty if there are too many cases to say."""
    try:
        return advice(world, condition, state, binding)
    except TooLargeError:
        return ""


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
    """Whether the goal is true in the initial state. Raises `TooLargeError` if that takes more than `work`."""
    return World(domain, problem, work).holds(problem.goal, problem.facts, {})


def speaks_of_nothing(domain: Domain, problem: Problem, work: Work | None = None) -> bool:
    """Whether the goal is true only because nothing that it speaks of is there: `(forall (?i - item) …)` of no item.

    Raises `TooLargeError` if that takes more than `work`.
    """
    return World(domain, problem, work).is_vacuous(problem.goal, problem.facts, {})


_LINE = re.compile(r"(?:\d+(?:\.\d+)?\s*:)?\s*\(\s*([^\s()]+)((?:\s+[^\s()]+)*)\s*\)\s*(?:\[[\d.]+\])?\Z")

_MARK = re.compile(r"\A\s*(?:[-*+\u2022]|\d[\d.]*[.):])\s*")
"""The bullet or number before a line of a list."""

_MOST_FAULTS = 20


def parse_plan(text: str) -> Plan:
    """The plan that a text holds: `(action object …)` a line, in any case, with comments behind `;`.

    A number and a colon before an action are its time, and are not needed. Raises `PddlSyntaxError` with every line
    that is not an action.
    """
    steps: list[PlanStep] = []
    defects: list[Defect] = []
    for number, line in enumerate(text.splitlines(), start=1):
        action = line.partition(";")[0].strip().lower()
        if not action:
            continue
        match = _LINE.match(action)
        if match is None:
            message = f"line {number}, '{line.strip()[:60]}', is not an action: write (action object …)"
            column = len(line) - len(line.lstrip()) + 1
            defects.append(syntax_defect(message, (number, column)))
        else:
            steps.append(PlanStep(match.group(1), tuple(match.group(2).split())))
    if defects:
        raise PddlSyntaxError(defects[:_MOST_FAULTS])
    return Plan(tuple(steps))


def plan_in(answer: str) -> Plan:
    """Read the plan in a model's answer: its last block of code, or the whole answer if it has no block.

    Bullets and numbers of lists are skipped, and so are lines that do not begin with a parenthesis. Raises
    `PddlSyntaxError` as `parse_plan` does.
    """
    parts = spoken(answer).split("```")
    lines = (_MARK.sub("", line, count=1).strip() for line in parts[-2 if len(parts) > 2 else -1].splitlines())
    return parse_plan("\n".join(line for line in lines if line.startswith("(")))
