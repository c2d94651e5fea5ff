"""Executes a plan on a problem, step by step, independently of the engine that found it.

A fault names the step and what it needs, in the wording of repair advice. Steps at the same time must not interfere, as
PDDL 2.1 defines it (Fox and Long 2003, definition 12): two actions interfere if one adds or deletes an atom that a
condition of the other mentions, or deletes an atom that the other adds; or if one changes a number that the other reads
or changes, unless both only increase or decrease it. Without interference every order of the actions has the same
result.
"""

from __future__ import annotations

import itertools
import operator
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from operator import itemgetter

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import (
    ANY_TYPE,
    And,
    Change,
    Compare,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    Scope,
    Term,
    When,
    changed_atoms,
    scope_of,
    walk,
)
from pddlego.pddl.costs import needs_time
from pddlego.pddl.domain import Action, at_time
from pddlego.pddl.numbers import TOTAL_TIME, duration_bounds, read_fluents
from pddlego.pddl.problem import Metric
from pddlego.planning.moments import Happening, moments, with_events
from pddlego.planning.numbers import COMPARISONS, HugeNumberError, ImpossibleChangeError, shown
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.state import Execution, State
from pddlego.planning.world import World
from pddlego.util.limits import Work
from pddlego.util.text import nearest

_MOST_PIECES = 20
"""The maximum number of pieces of advice in a list: a condition over all objects may have thousands."""

Binding = Mapping[str, str]


def _set(part: Formula, wanted: bool) -> str:
    return f"(Set {part} to {'true' if wanted else 'false'})"


def advice(
    world: World,
    condition: Formula,
    state: State,
    binding: Binding,
    wanted: bool = True,
    change: Callable[[Formula, bool], str] = _set,
) -> str:
    """Return the changes that make `condition` as `wanted` in `state`; empty if it already is.

    `change` words the change of one fact; the default is the wording of VAL.
    """

    def inner(part: Formula, wanted: bool, binding: Binding = binding) -> str:
        return advice(world, part, state, binding, wanted, change)

    if world.holds(condition, state, binding, wanted):
        return ""
    match condition:
        case Not():
            return inner(condition.part, not wanted)
        case And() | Or():
            pieces = (inner(part, wanted) for part in condition.parts)
            return _joined(pieces, all_of=isinstance(condition, And) is wanted)
        case Imply():
            first = inner(condition.condition, not wanted)
            return _joined((first, inner(condition.consequence, wanted)), all_of=not wanted)
        case Exists() | Forall():
            cases = world.bindings(condition.variables, binding)
            pieces = (inner(condition.part, wanted, case) for case in cases)
            return _joined(pieces, all_of=isinstance(condition, Forall) is wanted)
    return change(Renaming(binding).formula(condition), wanted)


_MOST_FACTS = 3
"""The maximum number of true facts that advice names."""


def _possible_change(world: World, part: Formula, wanted: bool, state: State) -> str:
    """Word the change of one fact; if no action can make it, name similar facts that are true."""
    if isinstance(part, Compare):
        return _possible_numbers(world, part, wanted, state)
    if not isinstance(part, Atom):
        return f"(Use {'one object' if wanted else 'different objects'} for the two arguments of {part})"
    if part.predicate in world.domain.rules or _is_possible(world, part, wanted):
        return _set(part, wanted)
    never = f"(No action makes {part} {'true' if wanted else 'false'}"
    alike = [fact for fact in state.facts if fact.predicate == part.predicate]
    alike.sort(key=lambda fact: (sum(map(operator.ne, fact.args, part.args)), fact.sort_key))
    if not wanted or not alike:
        return f"{never}: use other objects)" if not wanted else f"{never}, and no fact of {part.predicate} is true)"
    return f"{never}: use objects for which it is true, as in {', '.join(map(str, alike[:_MOST_FACTS]))})"


def _possible_numbers(world: World, part: Compare, wanted: bool, state: State) -> str:
    """Word the change of a comparison with the current values; name a number that has none, or divides by zero."""
    values = {fluent: world.value(fluent, state, {}) for fluent in read_fluents(part)}
    lacking = [fluent for fluent, value in values.items() if value is None]
    if lacking:
        return f"(Give {lacking[0]} a value first, in :init or with assign)"
    known = ", ".join(f"{fluent} is {shown(value)}" for fluent, value in values.items() if value is not None)
    if any(fluent.head in world.changing for fluent in values):
        return f"(Make {part} {'true' if wanted else 'false'}: {known})"
    return f"(No action makes {part} {'true' if wanted else 'false'}: {known})"


def _is_possible(world: World, fact: Atom, wanted: bool) -> bool:
    """Whether some action has an effect that makes the fact as `wanted`."""

    def fits(arg: str, name: str, kinds: Scope) -> bool:
        return world.domain.is_a(world.types[name], kinds[arg]) if arg in kinds else arg[0] == "?" or arg == name

    return any(
        value is wanted
        and (atom.predicate, len(atom.args)) == (fact.predicate, len(fact.args))
        and all(fits(arg, name, scope_of(action.parameters)) for arg, name in zip(atom.args, fact.args, strict=True))
        for action in world.domain.actions
        for atom, value in changed_atoms(action.effect)
    )


def _joined(advice: Iterable[str], all_of: bool) -> str:
    """Join pieces of advice, of which the user follows each one (`all_of`) or only one."""
    pieces = list(dict.fromkeys(itertools.islice(filter(None, advice), _MOST_PIECES + 1)))
    if len(pieces) < 2:
        return "".join(pieces)
    more = ["…"] if len(pieces) > _MOST_PIECES else []
    indent = "    "
    lines = [piece.replace("\n", f"\n{indent}") for piece in (*pieces[:_MOST_PIECES], *more)]
    text = f"\n{indent}{'and' if all_of else 'or'} ".join(lines)
    return f"(Follow {'each' if all_of else 'one'} of:\n{indent}{text}\n)"


class FaultKind(str, Enum):
    """The kinds of faults of a plan."""

    ACTION = "unknown action"
    ARITY = "wrong number of arguments"
    OBJECT = "unknown object"
    TYPE = "wrong argument type"
    PRECONDITION = "unsatisfied precondition"
    COST = "unknown cost"
    CHANGE = "impossible change"
    INTERFERENCE = "interfering actions"
    TIME = "wrong time"
    GOAL = "goal not reached"
    TOO_LARGE = "too large"


@dataclass(frozen=True)
class PlanFault:
    """A fault of a plan, and `advice` to fix it, which may have several lines or be empty.

    `val_advice` is the advice in the wording of VAL, whether an action can follow it or not.
    `time` is the index of the `step`; both are None if the goal is not reached.
    """

    kind: FaultKind
    what: str
    advice: str = ""
    val_advice: str = ""
    time: int | None = None
    step: PlanStep | None = None

    def __str__(self) -> str:
        return f"{self.what}\n{self.advice}" if self.advice else self.what


def validate(domain: Domain, problem: Problem, plan: Plan, work: Work | None = None) -> PlanFault | None:
    """Execute a plan and return its first fault; None if it works and reaches the goal.

    Total for problems without blocking defects (see `check`). A plan that takes more than `work` to execute has a fault
    of the kind `TOO_LARGE`.
    """
    timed = needs_time(domain, problem) is not None
    world = World(with_events(domain, problem) if timed else domain, problem, work)
    execution = Execution(world.initial)
    if timed:
        run = _TimedExecution(world, domain, plan, execution)
        fault = run.unexecutable() or next(run.faults(moments(domain, problem, plan)), None)
    else:
        fault = _executed_plan(world, plan, execution)
    if fault is not None:
        return fault
    try:
        world.work.renew()
        if world.holds(problem.goal, execution.state, {}):
            return None
    except TooManyCasesError as error:
        return PlanFault(FaultKind.TOO_LARGE, f"{error.part or 'the goal'} {error.excess}")
    return PlanFault(FaultKind.GOAL, "The goal is not satisfied", *_advice(world, problem.goal, execution.state, {}))


def _executed_plan(world: World, plan: Plan, execution: Execution) -> PlanFault | None:
    """Execute a plan up to its first fault, which is returned."""
    first = 0
    for steps in _moments(plan):
        fault = _executed(world, steps, first, execution)
        if fault is not None:
            return fault
        first += len(steps)
    return None


def _executed(world: World, steps: Sequence[PlanStep], first: int, execution: Execution) -> PlanFault | None:
    """Execute steps that have the same time, unless one of them has a fault, which is returned."""
    time, step, state = first, steps[0], execution.state
    try:
        world.work.renew()
        for time, step in enumerate(steps, start=first):
            fault = _wrong_call(world, world.domain.actions_by_name, step, time)
            fault = fault or _wrong_state(world, step, state, step, time, f" at time {time}")
            if fault is not None:
                return fault
        pair = interference(world, steps, state) if len(steps) > 1 else None
        if pair is not None:
            one, other, atom = pair
            step, time = steps[other], first + other
            what = f"{step} at time {time} interferes with {steps[one]}, which has the same time: both concern {atom}"
            return PlanFault(FaultKind.INTERFERENCE, what, "(Give them different times)", time=time, step=step)
        advance(world, steps, execution)
    except TooManyCasesError as error:
        what = f"{error.part or f'{step} at time {time}'} {error.excess}"
        return PlanFault(FaultKind.TOO_LARGE, what, time=time, step=step)
    return None


def advance(world: World, steps: Sequence[PlanStep], execution: Execution) -> None:
    """Execute applicable steps that do not interfere, in any order. Raises `ImpossibleChangeError`."""
    changes = [world.changes(step, execution.state) for step in steps]
    execution.assign(world.new_numbers(steps, execution.state))
    for adds, deletes in changes:
        execution.change(adds, deletes)


def _moments(plan: Plan) -> Iterator[list[PlanStep]]:
    """Yield the steps of a plan, those at the same time together."""
    times = plan.times or range(len(plan))
    for _, group in itertools.groupby(zip(times, plan.steps, strict=True), key=itemgetter(0)):
        yield [step for _, step in group]


def _advice(world: World, condition: Formula, state: State, binding: Binding) -> tuple[str, str]:
    """Return the changes that make a condition true, also in the wording of VAL; empty if there are too many cases."""

    def change(part: Formula, wanted: bool) -> str:
        return _possible_change(world, part, wanted, state)

    try:
        return advice(world, condition, state, binding, change=change), advice(world, condition, state, binding)
    except TooManyCasesError:
        return "", ""


def _wrong_call(world: World, schemas: Mapping[str, Action], step: PlanStep, time: int) -> PlanFault | None:
    """Return the fault of a step that is one in every state: its action, its objects or their types."""

    def fault(kind: FaultKind, what: str) -> PlanFault:
        return PlanFault(kind, what, time=time, step=step)

    action = schemas.get(step.action)
    if action is None:
        close = nearest(step.action, schemas)
        hint = f"did you mean {close}?" if close else f"the actions are {', '.join(sorted(schemas))}"
        return fault(FaultKind.ACTION, f"{step} at time {time} is not an action of the domain; {hint}")
    if len(action.parameters) != len(step.args):
        form = " ".join((action.name, *(parameter.name for parameter in action.parameters)))
        what = f"{step} at time {time} has {len(step.args)} argument(s), and its form is ({form})"
        return fault(FaultKind.ARITY, what)
    for parameter, arg in zip(action.parameters, step.args, strict=True):
        if arg not in world.types:
            return fault(FaultKind.OBJECT, f"{step} at time {time}: unknown object {arg}")
        if not world.domain.is_a(world.types[arg], parameter.type):
            what = f"{step} at time {time}: {arg} is a {world.types[arg]}, but {parameter.name} is a {parameter.type}"
            return fault(FaultKind.TYPE, what)
    return None


def _wrong_state(
    world: World, step: PlanStep, state: State, named: PlanStep, time: int | None, when: str
) -> PlanFault | None:
    """Return the fault of a step in a state: its precondition, its cost, or a number.

    Messages say `named` and `when`.
    """

    def fault(kind: FaultKind, what: str, remedy: tuple[str, str]) -> PlanFault:
        return PlanFault(kind, what, *remedy, time, named)

    condition, binding = world.domain.actions_by_name[step.action].precondition, world.binding(step)
    if not world.holds(condition, state, binding):
        missing = _advice(world, condition, state, binding)
        return fault(FaultKind.PRECONDITION, f"{named} has an unsatisfied precondition{when}", missing)
    try:
        world.cost(step)
        world.new_numbers((step,), state)
    except KeyError as error:
        what = f"{named}{when} costs {error.args[0]}, which has no number in :init"
        return fault(FaultKind.COST, what, (f"(Add (= {error.args[0]} NUMBER) to :init)",) * 2)
    except ImpossibleChangeError as error:
        return fault(FaultKind.CHANGE, f"{named}{when}: {error.what}", (error.advice,) * 2)
    return None


def plan_cost(domain: Domain, problem: Problem, plan: Plan) -> float | None:
    """Return the cost of a plan that works: the value of the metric at its end, else its makespan or its length.

    None if the metric has no value. In a classical task only action costs count, and only if they are minimized.
    """
    timed = needs_time(domain, problem) is not None
    # The plan was executed before, within its limits.
    world = World(with_events(domain, problem) if timed else domain, problem, Work())
    if world.is_numeric and problem.metric is not None:
        happening = ([event.step for event in events] for _, events in moments(domain, problem, plan))
        duration = plan.makespan if timed else Fraction(len(set(plan.times)) if plan.times else len(plan))
        cost = _metric(world, problem.metric, happening if timed else _moments(plan), duration)
    elif timed:
        cost = plan.makespan
    else:
        cost = sum((world.cost(step) for step in plan.steps), Fraction(0))
    return None if cost is None else as_number(cost)


def as_number(cost: Fraction) -> float:
    """A cost as a whole number, or as a rounded one."""
    if cost.denominator == 1:
        return int(cost)
    return float(cost) if abs(cost) < sys.float_info.max else round(cost)


def _metric(
    world: World, metric: Metric, happening: Iterable[Sequence[PlanStep]], duration: Fraction
) -> Fraction | None:
    """Return the value of a metric after a plan that works and takes `duration`."""
    execution = Execution(world.initial)
    for steps in happening:
        advance(world, steps, execution)
    execution.assign({TOTAL_TIME: duration})
    try:
        return world.value(metric.term, execution.state, {})
    except HugeNumberError:
        return None


def goal_holds(domain: Domain, problem: Problem, work: Work | None = None) -> bool:
    """Whether the goal is true in the initial state. Raises `TooManyCasesError` if that takes more than `work`."""
    world = World(domain, problem, work)
    return world.holds(problem.goal, world.initial, {})


def speaks_of_nothing(domain: Domain, problem: Problem, work: Work | None = None) -> bool:
    """Whether the goal is true only because no object is of a type that it quantifies over.

    Raises `TooManyCasesError` if that takes more than `work`.
    """
    world = World(domain, problem, work)
    return world.is_vacuous(problem.goal, world.initial, {})


# time

_TOLERANCE = Fraction(1, 1000)
"""How far a duration may be from its bounds: planners print rounded durations."""

_BOUNDS = {"=": "", "<=": "at most ", ">=": "at least "}


class _TimedExecution:
    """Executes a plan of a task with time, moment by moment. `world` has the events of the plan as actions."""

    def __init__(self, world: World, domain: Domain, plan: Plan, execution: Execution) -> None:
        self.world, self.plan, self.execution, self.state = world, plan, execution, execution.state
        self.timed = plan.timed
        self.schemas = {action.name: action for action in domain.schemas}
        self.durative = {action.name: action for action in domain.durative}

    def faults(self, happening: Iterable[tuple[Fraction, list[Happening]]]) -> Iterator[PlanFault]:
        """The faults of the first moment that has any, the first one first."""
        running: dict[int, PlanStep] = {}
        for time, events in happening:
            try:
                self.world.work.renew()
                for event in events:
                    yield from self._before(event, time)
                yield from self._clash(events, time)
                advance(self.world, [event.step for event in events], self.execution)
                running |= {event.number: event.step for event in events if event.time == "start"}
                for event in events:
                    if event.time == "end":
                        del running[event.number]
                for number, start in running.items():
                    self.world.work.renew()
                    yield from self._after(number, start, time)
            except TooManyCasesError as error:
                what = f"{error.part or f'what happens at {shown(time)}'} {error.excess}"
                yield PlanFault(FaultKind.TOO_LARGE, what, time=events[-1].number, step=events[-1].of)

    def unexecutable(self) -> PlanFault | None:
        """The first fault of a step that is one in every state: its words, its time or its duration."""
        advice = "(Write TIME: (action object …) [DURATION])"
        plan = self.plan
        for number, step in enumerate(plan.steps):
            if fault := _wrong_call(self.world, self.schemas, step, number):
                return fault
            if not plan.times or not plan.durations:
                what = f"{step} has no time"
            elif plan.durations[number] is None and step.action in self.durative:
                what = f"{step} has no duration"
            elif min(plan.times[number], plan.durations[number] or 0) < 0:
                what = f"{step} has a negative time or duration"
            else:
                continue
            return PlanFault(FaultKind.TIME, what, advice, advice, number, step)
        return None

    def _before(self, event: Happening, time: Fraction) -> Iterator[PlanFault]:
        """The fault of a start, an end or an instantaneous step in the state before it."""
        if event.of is None:
            return
        when = f" at its {event.time}, at {shown(time)}" if event.time else f" at {shown(time)}"
        fault = _wrong_state(self.world, event.step, self.state, event.of, event.number, when)
        if fault is not None:
            yield fault
        elif event.time == "start":
            yield from self._durations(event, event.of)

    def _durations(self, event: Happening, step: PlanStep) -> Iterator[PlanFault]:
        """The faults of the duration of a step that starts."""
        lasts, binding = Fraction(event.step.args[-1]), self.world.binding(event.step)
        for sign, bound in duration_bounds(self.durative[step.action].duration):
            term = Renaming(binding).term(bound)
            value = self.world.value(term, self.state, {})
            if value is None:
                what, remedy = f"{step} has no duration: {term} has no value", f"(Give {term} a value first)"
            elif COMPARISONS[sign](lasts, value) or abs(lasts - value) <= _TOLERANCE:
                continue
            else:
                amount = f"{_BOUNDS[sign]}{'' if term.parts is None else f'{term} = '}{shown(value)}"
                what = f"{step} lasts {shown(lasts)}, and its duration is {amount}"
                remedy = f"(Write [{shown(Fraction(round(value * 1000), 1000))}])"
            yield PlanFault(FaultKind.TIME, what, remedy, remedy, event.number, step)

    def _clash(self, events: Sequence[Happening], time: Fraction) -> Iterator[PlanFault]:
        """The fault of two events of a moment that interfere."""
        pair = interference(self.world, [event.step for event in events], self.state) if len(events) > 1 else None
        if pair is not None:
            one, other = (events[number] for number in pair[:2])
            what = f"{other.of} interferes with {one.of or 'a timed literal'}, also at {shown(time)}"
            advice = ("(Give them different times)",) * 2
            yield PlanFault(FaultKind.INTERFERENCE, f"{what}: both concern {pair[2]}", *advice, other.number, other.of)

    def _after(self, number: int, start: PlanStep, time: Fraction) -> Iterator[PlanFault]:
        """The fault of a condition over all of a step that is false after a moment."""
        timed, binding = self.timed[number], self.world.binding(start)
        condition = at_time(self.durative[timed.step.action].precondition, "all")
        if not self.world.holds(condition, self.state, binding):
            period = f"from {shown(Fraction(timed.start))} to {shown(timed.end)}"
            what = f"{timed.step} needs a condition {period} that is false after {shown(time)}"
            missing = _advice(self.world, condition, self.state, binding)
            yield PlanFault(FaultKind.PRECONDITION, what, *missing, number, timed.step)


# steps at the same time


@dataclass(frozen=True)
class _Mention:
    """An atom in a condition of an action, with the types of the variables that quantifiers bind in it."""

    predicate: str
    args: tuple[str, ...]
    types: tuple[tuple[str, str], ...]

    def key(self, binding: Mapping[str, str]) -> tuple[str, ...]:
        """Return the arguments that no quantifier binds."""
        quantified = dict(self.types)
        return tuple(binding.get(arg, arg) for arg in self.args if arg not in quantified)


_Changers = dict[int, Atom]
"""Up to two steps by index, each with an atom that it changes: enough to find one besides a given step."""


def interference(world: World, steps: Sequence[PlanStep], state: State) -> tuple[int, int, Atom] | None:
    """Return the indices of two steps that interfere if all are executed in `state`, and an atom that both concern.

    Each step is applicable in `state`. None if no steps interfere.
    """
    added: dict[Atom, _Changers] = {}
    deleted: list[tuple[Atom, int]] = []
    changed: dict[str, list[tuple[Atom, int]]] = defaultdict(list)
    for number, step in enumerate(steps):
        adds, deletes = world.changes(step, state)
        deleted += [(atom, number) for atom in deletes - adds]
        for atom in adds:
            _note(added.setdefault(atom, {}), atom, number)
        changes = (_fluent_atom(change.fluent) for change, _ in world.number_changes(step, state))
        for atom in itertools.chain(adds | deletes, changes):
            changed[atom.predicate].append((atom, number))
    for atom, number in deleted:
        other = _other(number, added.get(atom, {}))
        if other is not None:
            return min(number, other), max(number, other), atom
    actions = {step.action: world.domain.actions_by_name[step.action] for step in steps}
    mentions = {name: _mentions(world.domain, action) for name, action in actions.items()}
    tables = {
        mention: _table(world, mention, changed[mention.predicate]) for own in mentions.values() for mention in own
    }
    for number, step in enumerate(steps):
        binding = world.binding(step)
        for mention in mentions[step.action]:
            changers = tables[mention].get(mention.key(binding), {})
            other = _other(number, changers)
            if other is not None:
                atom = changers[other]
                fluent = Atom(atom.predicate.removeprefix(_NUMBER), atom.args)
                return min(number, other), max(number, other), fluent
    return None


_NUMBER = "= "
"""Begins the predicate of the atom that stands for a number; no predicate has a blank in its name."""


def _fluent_atom(fluent: Term) -> Atom:
    return Atom(_NUMBER + fluent.head, tuple(part.head for part in fluent.parts or ()))


def _note(changers: _Changers, atom: Atom, number: int) -> None:
    if len(changers) < 2:
        changers.setdefault(number, atom)


def _other(number: int, changers: _Changers) -> int | None:
    return next((changer for changer in changers if changer != number), None)


def _table(world: World, mention: _Mention, changed: Sequence[tuple[Atom, int]]) -> dict[tuple[str, ...], _Changers]:
    """Group the steps that change atoms of a mention by the arguments that no quantifier binds."""
    table: dict[tuple[str, ...], _Changers] = defaultdict(dict)
    for atom, number in changed:
        bound = dict(zip(mention.args, atom.args, strict=True))
        consistent = tuple(bound[name] for name in mention.args) == atom.args
        if consistent and all(world.domain.is_a(world.types[bound[name]], kind) for name, kind in mention.types):
            _note(table[mention.key(bound)], atom, number)
    return table


def _mentions(domain: Domain, action: Action) -> Iterable[_Mention]:
    """Return the atoms and numbers that the precondition and the effect depend on, each once."""
    conditions: list[tuple[Formula, Scope]] = [(action.precondition, {})]
    conditions += [(node.condition, scope) for node, scope in walk(action.effect) if isinstance(node, When)]
    nodes = [pair for part, scope in conditions for pair in walk(part, scope)]
    nodes += [(node, scope) for node, scope in walk(action.effect) if isinstance(node, Change)]
    atoms = ((atom, types) for node, types in nodes for atom in _read_atoms(node))
    return dict.fromkeys(mention for atom, types in atoms for mention in _mentioned(domain, atom, types))


def _read_atoms(node: Formula) -> Iterable[Atom]:
    """Return the atom that a formula is, or the atoms of the numbers that it depends on. Its parts do not count."""
    return (node,) if isinstance(node, Atom) else map(_fluent_atom, read_fluents(node))


def _mentioned(domain: Domain, atom: Atom, types: Scope) -> Iterator[_Mention]:
    """Yield the atom; if it is derived, every atom of the predicates that its rules use, directly or indirectly."""
    if atom.predicate not in domain.rules:
        own = tuple((arg, types[arg]) for arg in dict.fromkeys(atom.args) if arg in types)
        yield _Mention(atom.predicate, atom.args, own)
        return
    waiting, seen = [atom.predicate], {atom.predicate}
    while waiting:
        for rule in domain.rules[waiting.pop()]:
            used = {atom.predicate: len(atom.args) for node, _ in walk(rule.condition) for atom in _read_atoms(node)}
            for name in sorted(used.keys() - seen):
                seen.add(name)
                if name in domain.rules:
                    waiting.append(name)
                    continue
                names = tuple(f"?{number}" for number in range(used[name]))
                yield _Mention(name, names, tuple((variable, ANY_TYPE) for variable in names))
