"""Finds states in which two domains differ, one for each action, or proves that no state exists."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import z3

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import (
    ANY_TYPE,
    And,
    Compare,
    Formula,
    Renaming,
    Term,
    TypedName,
    When,
    changed_atoms,
    conjuncts,
    walk,
)
from pddlego.pddl.domain import Action, DurativeAction, Predicate, times_of
from pddlego.pddl.numbers import DURATION, changed_fluents, read_fluents
from pddlego.planning.compare import Comparison, ComparisonVerdict, Witness
from pddlego.planning.domains.formulas import Expression, Formulas, NotExpressibleError, solver
from pddlego.planning.domains.invariants import proved_invariants
from pddlego.planning.domains.witness import Situation, is_true, step_changes, tried_in
from pddlego.planning.numbers import shown
from pddlego.planning.result import PlanStep
from pddlego.planning.state import State
from pddlego.planning.world import Simulator, World
from pddlego.util.limits import Clock, Work

_MOST_FACTS = 20_000
"""The maximum number of facts that a state of a witness may have."""

_MOST_STATES = 2_000
"""The maximum number of reachable states that are tried."""

_STEPS = 3_000_000
"""The limit of one question to Z3, in its own steps: a hard one leaves time for the others."""

_TIMES = (DURATION.head, "#t")
"""The duration of an action, and the time since it began, in its parts."""


@dataclass(frozen=True)
class Part:
    """What is compared: an action, a moment of a durative one, or a derived predicate as an action without effect."""

    name: str
    left: Action
    right: Action
    moment: str = ""

    def __str__(self) -> str:
        return f"{self.moment} of {self.name}" if self.moment else self.name


def decide_domains(
    left: Domain,
    right: Domain,
    problem: Problem | None,
    assumed: Sequence[Formula],
    seconds: float,
    clock: Clock = time.monotonic,
) -> Comparison:
    """Compare two domains in which the same things have the same names.

    Each witness was executed by both domains. With a `problem`, a state that it reaches is tried first.
    """
    ends = clock() + seconds
    if problem is not None and (reached := reachable_difference(left, right, problem, seconds / 4)):
        reason = f"they differ in {reached.action}, in a state that the problem reaches"
        return Comparison(ComparisonVerdict.DIFFERENT, reason, witnesses=(reached,))
    known: tuple[Formula, ...] = tuple(assumed)
    if problem is not None:
        known += proved_invariants(left, problem, seconds=seconds / 4, clock=clock)
    decider = _Decider(left, right, known, ends, clock)
    witnesses, undecided = [], []
    for part in paired_parts(left, right):
        found = decider.decide(part)
        if isinstance(found, Witness):
            witnesses.append(found)
        elif found:
            undecided.append(f"{part}: {found}")
    if witnesses:
        actions = ", ".join(dict.fromkeys(witness.action.strip("()").split()[0] for witness in witnesses))
        reason = f"they differ in {actions}; both were executed in a state that shows it"
        return Comparison(ComparisonVerdict.DIFFERENT, reason, witnesses=tuple(witnesses), note="; ".join(undecided))
    if undecided:
        return Comparison(ComparisonVerdict.UNDECIDED, "; ".join(undecided))
    if decider.used:
        reason = "the same actions are possible, with the same effects, in all states in which the invariants are true"
        return Comparison(ComparisonVerdict.SAME, reason, invariants=tuple(map(str, decider.used)))
    return Comparison(ComparisonVerdict.SAME, "the same actions are possible, with the same effects, in all states")


def reachable_difference(left: Domain, right: Domain, problem: Problem, seconds: float) -> Witness | None:
    """A witness in one of the states that a problem of the left domain reaches, if it is found in some seconds.

    Without time, and only where both domains read the problem.
    """
    if left.durative or right.durative or problem.later:
        return None
    worlds = [World(domain, problem, Work(seconds=seconds)) for domain in (left, right)]
    plans: dict[State, tuple[PlanStep, ...]] = {worlds[0].initial: ()}
    waiting = deque(plans)
    with contextlib.suppress(TooManyCasesError):
        while waiting:
            state = waiting.popleft()
            left_steps, right_steps = (
                {step: step_changes(world, step, state) for step in Simulator(world, state).applicable()}
                for world in worlds
            )
            for step in {**left_steps, **right_steps}:
                sides = left_steps.get(step), right_steps.get(step)
                if sides[0] != sides[1]:
                    objects = tuple(map(str, problem.sorted_objects()))
                    facts = tuple(sorted(map(str, state.facts)))
                    return Witness(str(step), "", objects, facts, *sides, tuple(map(str, plans[state])))
                following = worlds[0].after(step, state)
                if following not in plans and len(plans) < _MOST_STATES:
                    plans[following] = (*plans[state], step)
                    waiting.append(following)
    return None


NEVER = Action("never", (), Compare("<", Term("1"), Term("0")), And())
"""An action that is never possible, in place of one that a domain does not have."""


def paired_parts(left: Domain, right: Domain) -> Iterator[Part]:
    """The parts of two domains, paired by their names."""
    for name in dict.fromkeys((*left.actions_by_name, *right.actions_by_name)):
        first, second = left.actions_by_name.get(name), right.actions_by_name.get(name)
        yield Part(name, *_paired(first, second))
    timed = [{action.name: action for action in domain.durative} for domain in (left, right)]
    static = {*left.functions_by_name} - left.changed_functions - right.changed_functions
    for name in dict.fromkeys((*timed[0], *timed[1])):
        pair = [one.get(name) for one in timed]
        for moment in ("start", "all", "end"):
            at = [None if action is None else _at(action, moment, static) for action in pair]
            yield Part(name, *_paired(*at), moment)
    for name in dict.fromkeys((*left.rules, *right.rules)):
        predicates = left.predicates_by_name.get(name), right.predicates_by_name.get(name)
        if predicates[0] and predicates[1]:
            yield Part(name, *_paired(*map(_asked, predicates)))


def _asked(predicate: Predicate | None) -> Action | None:
    """An action without effect that is possible where a fact is true."""
    if predicate is None:
        return None
    names = tuple(parameter.name for parameter in predicate.parameters)
    return Action(predicate.name, predicate.parameters, Atom(predicate.name, names), And())


def _paired(left: Action | None, right: Action | None) -> tuple[Action, Action]:
    """Two actions with the same names of parameters; one that is missing is never possible."""
    if left is None or right is None:
        known = left or right
        assert known is not None
        missing = replace(NEVER, name=known.name, parameters=known.parameters)
        return left or missing, right or missing
    names = {own.name: other.name for own, other in zip(right.parameters, left.parameters, strict=True)}
    renaming = Renaming(names)
    condition, effect = renaming.formula(right.precondition), renaming.formula(right.effect)
    return left, replace(right, parameters=renaming.typed(right.parameters), precondition=condition, effect=effect)


def _at(action: DurativeAction, moment: str, static: set[str]) -> Action:
    """One moment of a durative action. Its duration is tested at its start; later only by what does not change."""
    own = action.at(moment)
    durations = conjuncts(action.duration)
    if moment != "start":
        durations = tuple(one for one in durations if {fluent.head for fluent in read_fluents(one)} <= static)
    return replace(own, precondition=And((*conjuncts(own.precondition), *durations)))


def _mixed(left: Domain, right: Domain) -> set[str]:
    """The durative actions with other effects, one of which depends on a condition at another time.

    No moment of such an action shows this dependence.
    """
    timed = [{action.name: action for action in domain.durative} for domain in (left, right)]
    found = set()
    for name in timed[0].keys() | timed[1].keys():
        pair = _paired(timed[0].get(name), timed[1].get(name))
        nodes = [node for action in pair for node, _ in walk(action.effect)]
        mixes = any(isinstance(one, When) and times_of(one.condition) - times_of(one.effect) for one in nodes)
        if mixes and pair[0].effect != pair[1].effect:
            found.add(name)
    return found


class _Decider:
    """Two domains, with the formulas of their states."""

    def __init__(self, left: Domain, right: Domain, invariants: Sequence[Formula], ends: float, clock: Clock) -> None:
        self.domains = (left, right)
        self._invariants, self._ends, self._clock = invariants, ends, clock
        self.used: dict[Formula, None] = {}
        numeric = bool(left.functions or right.functions or left.durative or right.durative)
        self._formulas = [Formulas(left, right, True)] * numeric + [Formulas(left, right)]
        changed = self._formulas[-1]
        self._alike = left.types == right.types and {*left.rules, *right.rules} == changed.shared
        self._mixed = _mixed(left, right)

    def decide(self, part: Part) -> Witness | str:
        """A witness that a part differs; an empty text if it does not, and otherwise why this is not known."""
        if part.moment and part.name in self._mixed:
            return "an effect depends on a condition at another time"
        if self._alike and part.left == part.right:
            return ""
        why = ""
        for formulas in self._formulas:
            seconds = self._ends - self._clock()
            if seconds <= 0:
                return "the time is up"
            question = _Question(formulas, part, self._invariants, self._alike)
            try:
                answer = question.ask(seconds)
            except NotExpressibleError as error:
                return f"{error} cannot be decided"
            if isinstance(answer, Situation):
                found = self._witness(part, answer)
                if found is not None:
                    return found
                why = "no state was found that shows a difference"
            elif answer is None:
                why = "the question is too hard"
            elif formulas is self._formulas[-1]:
                self.used.update(dict.fromkeys(question.used))
                return ""
        return why

    def _witness(self, part: Part, situation: Situation) -> Witness | None:
        """The witness that a situation gives, with as few facts, numbers and objects as possible."""
        left, right = self.domains

        def differs(situation: Situation) -> bool:
            if tried_in(left, part.left, situation) == tried_in(right, part.right, situation):
                return False
            return all(is_true(invariant, left, situation) for invariant in self._invariants)

        if not differs(situation):
            return None
        situation = _reduced(situation, differs, {*left.constants, *right.constants})
        values = (*situation.values, *(f"(= {name} {shown(value)})" for name, value in situation.times))
        return Witness(
            str(situation.step),
            part.moment,
            tuple(sorted(map(str, situation.objects))),
            (*sorted(map(str, situation.facts)), *sorted(map(str, values))),
            tried_in(left, part.left, situation),
            tried_in(right, part.right, situation),
        )


def _reduced(situation: Situation, differs: Callable[[Situation], bool], constants: set[TypedName]) -> Situation:
    """The situation without facts, numbers and objects that the difference does not need."""
    for fact in sorted(situation.facts, key=lambda fact: fact.sort_key):
        if differs(smaller := replace(situation, facts=situation.facts - {fact})):
            situation = smaller
    for value in sorted(situation.values, key=str):
        if differs(smaller := replace(situation, values=situation.values - {value})):
            situation = smaller
    used = {*situation.step.args, *(arg for fact in situation.facts for arg in fact.args)}
    used |= {str(part) for value in situation.values for part in value.left.parts or ()}
    for one in sorted(situation.objects - constants, key=lambda one: one.name):
        if one.name not in used and differs(smaller := replace(situation, objects=situation.objects - {one})):
            situation = smaller
    return situation


class _Question:
    """Whether there is a state in which one part differs."""

    def __init__(self, formulas: Formulas, part: Part, invariants: Sequence[Formula], alike: bool) -> None:
        self._formulas, self._part, self._alike = formulas, part, alike
        self._things = formulas.variables(len(part.left.parameters))
        self._names: dict[str, Expression] = {
            parameter.name: thing for parameter, thing in zip(part.left.parameters, self._things, strict=True)
        }
        self._times = {name: z3.Real(name) for name in _TIMES if part.moment}
        self._names.update(self._times)
        self._invariants = invariants
        self.used: list[Formula] = []
        actions = (part.left, part.right)
        self._depends = [*invariants, *(f for action in actions for f in (action.precondition, action.effect))]

    def ask(self, seconds: float) -> Situation | bool | None:
        """A situation that shows a difference, if Z3 is right; False if no state does; None if this is open."""
        asked = solver(seconds)
        asked.set("rlimit", _STEPS)
        asked.add(*self._formulas.axioms(self._depends), self._differs())
        flags = {f"invariant {number}": one for number, one in enumerate(self._invariants)}
        for flag, invariant in flags.items():
            asked.assert_and_track(self._formulas.holds(invariant, {}, 0), flag)
        asked.add(*(value >= 0 for value in self._times.values()))
        answer = asked.check()
        if answer == z3.unsat:
            self.used = [flags[str(flag)] for flag in asked.unsat_core()]
            return False
        return self._situation(asked.model()) if answer == z3.sat else None

    def _differs(self) -> Expression:
        left, right = self._part.left, self._part.right
        make, names = self._formulas, self._names
        if self._alike and left.effect == right.effect:
            conditions = [
                z3.And(
                    *(make.is_a(names[one.name], one.type, side) for one in action.parameters),
                    make.holds(action.precondition, names, side),
                )
                for side, action in enumerate((left, right))
            ]
            return z3.And(z3.Xor(*conditions), *self._effect_is_possible())
        possible = [make.is_possible(action, names, side) for side, action in enumerate((left, right))]
        return z3.Or(z3.Xor(*possible), z3.And(*possible, z3.Or(*self._effects_differ())))

    def _effect_is_possible(self) -> Iterator[Expression]:
        """That the changes of numbers are possible, if this can be said; what cannot be is the same in both."""
        with contextlib.suppress(NotExpressibleError):
            yield self._formulas.is_possible(replace(self._part.left, precondition=And()), self._names, 0)

    def _effects_differ(self) -> Iterator[Expression]:
        make, names = self._formulas, self._names
        actions = (self._part.left, self._part.right)
        changed = {(atom.predicate, len(atom.args)) for action in actions for atom, _ in changed_atoms(action.effect)}
        for predicate, arity in sorted(changed):
            fact = predicate, make.variables(arity)
            yield z3.Xor(*(make.becomes(action, names, side, fact) for side, action in enumerate(actions)))
        fluents = {change.fluent for action in actions for change in changed_fluents(action.effect)}
        for function, arity in sorted({(fluent.head, len(fluent.parts or ())) for fluent in fluents}):
            arguments = make.variables(arity)
            (one, has), (other, has_other) = (
                make.counts(action, names, side, function, arguments) for side, action in enumerate(actions)
            )
            yield z3.Or(z3.Xor(has, has_other), z3.And(has, has_other, one != other))

    # from a model to a situation

    def _situation(self, model: z3.ModelRef) -> Situation | None:
        make = self._formulas
        universe = [*(model.get_universe(make.objects) or ())]
        names: dict[Expression, str] = {}
        for name, thing in make.relevant(self._depends).items():
            names.setdefault(model.eval(thing, model_completion=True), name)
        for parameter, thing in zip(self._part.left.parameters, self._things, strict=True):
            own, taken = parameter.name.lstrip("?"), {*names.values()}
            choices = itertools.chain([own], (f"{own}{number}" for number in itertools.count(2)))
            own = next(name for name in choices if name not in taken)
            names.setdefault(model.eval(thing, model_completion=True), own)
        for number, thing in enumerate(universe):
            names.setdefault(thing, f"o{number}")
        kinds = {
            name: next(
                (kind for kind in make.types if z3.is_true(model.eval(make.is_declared(thing, kind), True))), "object"
            )
            for thing, name in names.items()
        }
        args = tuple(names[model.eval(thing, model_completion=True)] for thing in self._things)
        times = tuple((name, _fraction(model.eval(value, True))) for name, value in self._times.items())
        return Situation(
            frozenset(TypedName(name, kind) for name, kind in kinds.items()),
            frozenset(self._facts(model, names)),
            frozenset(self._values(model, names)),
            PlanStep(self._part.name, args),
            times,
        )

    def _kind(self, model: z3.ModelRef, thing: Expression) -> str:
        """The declared type of an object."""
        declared = ((kind, self._formulas.is_declared(thing, kind)) for kind in self._formulas.types)
        return next((kind for kind, formula in declared if z3.is_true(model.eval(formula, True))), ANY_TYPE)

    def _facts(self, model: z3.ModelRef, names: dict[Expression, str]) -> Iterator[Atom]:
        _, basic = self._formulas.used(self._depends)
        for side, domain in enumerate(self._formulas.domains):
            for predicate in domain.predicates:
                if predicate.name in basic and predicate.name not in domain.rules:
                    for things in _tuples(names, len(predicate.parameters)):
                        fact = self._formulas.relation(predicate.name, things, side)
                        if z3.is_true(model.eval(fact, model_completion=True)):
                            yield Atom(predicate.name, tuple(names[thing] for thing in things))

    def _values(self, model: z3.ModelRef, names: dict[Expression, str]) -> Iterator[Compare]:
        make = self._formulas
        for function in {one.name: one for domain in make.domains for one in domain.functions}.values():
            for things in _tuples(names, len(function.parameters)):
                if z3.is_true(model.eval(make.has_amount(function.name, things), True)):
                    value = _fraction(model.eval(make.amount(function.name, things), True))
                    term = Term(function.name, tuple(Term(names[thing]) for thing in things))
                    yield Compare("=", term, Term(shown(value)))


def _tuples(names: Iterable[Expression], arity: int) -> Iterator[tuple[Expression, ...]]:
    """The arguments that a fact may have. Raises `NotExpressibleError` if there are too many."""
    names = list(names)
    if len(names) ** arity > _MOST_FACTS:
        raise NotExpressibleError(f"a state of {len(names)} objects")
    return itertools.product(names, repeat=arity)


def _fraction(value: Expression) -> Fraction:
    """The value of a number in a model; an irrational one is rounded."""
    if z3.is_algebraic_value(value):
        value = value.approx(10)
    return Fraction(value.numerator_as_long(), value.denominator_as_long())
