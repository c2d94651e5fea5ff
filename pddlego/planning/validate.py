"""Executes a plan on a problem, step by step, independently of the engine that found it.

Says at which step what was missing, in the wording of repair advice, and what is true after each step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pddlego.pddl import Atom, Domain, Problem, Sexpr
from pddlego.pddl.problem import TypedName, read_typed_list
from pddlego.pddl.sexpr import show
from pddlego.planning.result import Plan

State = frozenset[Atom]


@dataclass(frozen=True)
class Validation:
    """`states[k]` is what is true before step k; the last one is the state after the last step that worked.

    `message` is empty if the whole plan works and reaches the goal; otherwise it says what was missing and when.
    """

    states: tuple[State, ...]
    message: str = ""

    @property
    def valid(self) -> bool:
        return not self.message


def validate(domain: Domain, problem: Problem, plan: Plan) -> Validation:
    """Execute `plan`. Total for problems without blocking defects (see `check`)."""
    world = World(domain, problem)
    states = [problem.facts]
    for time, step in enumerate(plan.steps):
        action = domain.actions_by_name.get(step.action)
        if action is None or len(action.parameters) != len(step.args):
            return Validation(tuple(states), f"{step} at time {time} is no action of the domain")
        binding = {each.name: arg for each, arg in zip(action.parameters, step.args, strict=True)}
        missing = world.missing(action.precondition, states[-1], binding)
        if missing:
            advice = f"{step} has an unsatisfied precondition at time {time}: {missing}"
            return Validation(tuple(states), advice)
        states.append(world.apply(action.effect, states[-1], binding))
    unmet = world.missing(problem.goal, states[-1], {})
    return Validation(tuple(states), f"the goal is not satisfied at the end of the plan: {unmet}" if unmet else "")


def goal_holds(domain: Domain, problem: Problem) -> bool:
    """Whether the goal is true in the initial state."""
    return World(domain, problem).holds(problem.goal, problem.facts, {})


def speaks_of_nothing(domain: Domain, problem: Problem) -> bool:
    """Whether the goal is true only because nothing that it speaks of is there: `(forall (?i - item) …)` of no item."""
    return World(domain, problem).is_vacuous(problem.goal, problem.facts, {})


class World:
    """The semantics of conditions and effects over the objects of one problem."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.objects = sorted({*domain.constants, *problem.objects}, key=lambda each: each.name)
        self._types = {each.name: each.type for each in self.objects}
        self._derived: dict[str, list[tuple[tuple[TypedName, ...], Sexpr]]] = {}
        for predicate, condition in domain.derived:
            self._derived.setdefault(predicate.name, []).append((predicate.parameters, condition))
        self._open: set[Atom] = set()

    def holds(self, condition: Sexpr, state: AbstractSet[Atom], binding: Mapping[str, str]) -> bool:
        """Whether `condition` is true in `state` under `binding` (closed world)."""
        if isinstance(condition, str) or not condition:
            return not condition
        head, parts = condition[0], condition[1:]
        if head == "and":
            return all(self.holds(part, state, binding) for part in parts)
        if head == "or":
            return any(self.holds(part, state, binding) for part in parts)
        if head == "not":
            return not self.holds(parts[0], state, binding)
        if head == "imply":
            return not self.holds(parts[0], state, binding) or self.holds(parts[1], state, binding)
        if head in ("exists", "forall"):
            cases = (self.holds(parts[1], state, each) for each in self._bindings(parts[0], binding))
            return any(cases) if head == "exists" else all(cases)
        names = [binding.get(str(part), str(part)) for part in parts]
        if head == "=":
            return names[0] == names[1]
        return self._atom_holds(Atom(str(head), tuple(names)), state)

    def is_vacuous(self, condition: Sexpr, state: AbstractSet[Atom], binding: Mapping[str, str]) -> bool:
        """Whether a true condition speaks of everything of a kind, of which there is nothing."""
        if isinstance(condition, str) or not condition:
            return False
        head, parts = condition[0], condition[1:]
        if head == "and":
            return bool(parts) and all(self.is_vacuous(part, state, binding) for part in parts)
        if head == "imply":
            return not self.holds(parts[0], state, binding)
        if head == "forall":
            return all(self.is_vacuous(parts[1], state, each) for each in self._bindings(parts[0], binding))
        return False

    def missing(self, condition: Sexpr, state: AbstractSet[Atom], binding: Mapping[str, str]) -> str:
        """What would have to change for `condition` to hold, as advice; empty if it holds."""
        if self.holds(condition, state, binding):
            return ""
        if isinstance(condition, tuple) and condition and condition[0] == "and":
            return " and ".join(filter(None, (self.missing(part, state, binding) for part in condition[1:])))
        if isinstance(condition, tuple) and condition and condition[0] == "not" and _is_literal(condition[1]):
            return f"set {_bound(condition[1], binding)} to false"
        verb = "set" if _is_literal(condition) else "make"
        return f"{verb} {_bound(condition, binding)}{' to' if verb == 'set' else ''} true"

    def apply(self, effect: Sexpr, state: State, binding: Mapping[str, str]) -> State:
        """The state after `effect`; what is both deleted and added is true."""
        adds: set[Atom] = set()
        deletes: set[Atom] = set()
        self._collect(effect, state, binding, adds, deletes)
        return (state - deletes) | adds

    def _collect(
        self, effect: Sexpr, state: State, binding: Mapping[str, str], adds: set[Atom], deletes: set[Atom]
    ) -> None:
        if isinstance(effect, str) or not effect:
            return
        head, parts = effect[0], effect[1:]
        if head == "and":
            for part in parts:
                self._collect(part, state, binding, adds, deletes)
        elif head == "when":
            if self.holds(parts[0], state, binding):
                self._collect(parts[1], state, binding, adds, deletes)
        elif head == "forall":
            for each in self._bindings(parts[0], binding):
                self._collect(parts[1], state, each, adds, deletes)
        else:
            negated = head == "not"
            literal = parts[0] if negated else effect
            names = [binding.get(str(part), str(part)) for part in literal[1:]]
            (deletes if negated else adds).add(Atom(str(literal[0]), tuple(names)))

    def _bindings(self, variables: Sexpr, binding: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
        typed = list(read_typed_list(variables if isinstance(variables, tuple) else (variables,), []))
        choices = [[each.name for each in self._of_type(variable)] for variable in typed]
        for chosen in itertools.product(*choices):
            yield {**binding, **{variable.name: name for variable, name in zip(typed, chosen, strict=True)}}

    def _of_type(self, variable: TypedName) -> Iterator[TypedName]:
        return (each for each in self.objects if self.domain.is_a(each.type, variable.type))

    def _atom_holds(self, atom: Atom, state: AbstractSet[Atom]) -> bool:
        rules = self._derived.get(atom.predicate)
        if rules is None:
            return atom in state
        if atom in self._open:
            return False
        self._open.add(atom)
        try:
            return any(self._follows(atom, *rule, state) for rule in rules)
        finally:
            self._open.discard(atom)

    def _follows(
        self, atom: Atom, parameters: tuple[TypedName, ...], condition: Sexpr, state: AbstractSet[Atom]
    ) -> bool:
        """Whether one rule makes the atom true: its arguments are of the rule's types, and its condition holds."""
        pairs = list(zip(parameters, atom.args, strict=True))
        if not all(self.domain.is_a(self._types.get(arg, parameter.type), parameter.type) for parameter, arg in pairs):
            return False
        return self.holds(condition, state, {parameter.name: arg for parameter, arg in pairs})


def _is_literal(condition: Sexpr) -> bool:
    return isinstance(condition, tuple) and bool(condition) and all(isinstance(part, str) for part in condition)


def _bound(condition: Sexpr, binding: Mapping[str, str]) -> str:
    if isinstance(condition, str):
        return binding.get(condition, condition)
    return "(" + " ".join(_bound(part, binding) for part in condition) + ")" if condition else show(condition)
