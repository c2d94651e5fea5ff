"""What PDDL means: when a condition is true in a state, and what an effect makes of it (closed world, full ADL)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from pddlego.pddl import Atom, Domain, Problem, Sexpr
from pddlego.pddl.problem import TypedName, read_typed_list
from pddlego.planning.result import PlanStep

State = frozenset[Atom]


class World:
    """The semantics of conditions and effects over the objects of one problem."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.objects = sorted({*domain.constants, *problem.objects}, key=lambda each: each.name)
        self.types = {each.name: each.type for each in self.objects}
        self._rules = domain.rules
        self._open: set[Atom] = set()
        self._of_type: dict[str, list[str]] = {}

    def of_type(self, kind: str) -> list[str]:
        """The names of all objects of a type."""
        if kind not in self._of_type:
            self._of_type[kind] = [each.name for each in self.objects if self.domain.is_a(each.type, kind)]
        return self._of_type[kind]

    def cases(self, condition: Sexpr) -> int:
        """How many ways there are to bind the variables of a condition, nested ones multiplied."""
        if isinstance(condition, str) or not condition:
            return 1
        if condition[0] in ("exists", "forall") and len(condition) == 3 and isinstance(condition[1], tuple):
            number = math.prod(len(self.of_type(variable.type)) for variable in read_typed_list(condition[1], []))
            return max(1, number) * self.cases(condition[2])
        return sum(self.cases(part) for part in condition[1:])

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
            cases = (self.holds(parts[1], state, each) for each in self.bindings(parts[0], binding))
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
            return all(self.is_vacuous(parts[1], state, each) for each in self.bindings(parts[0], binding))
        return False

    def binding(self, step: PlanStep) -> dict[str, str]:
        """What each parameter of the action is in a step."""
        parameters = self.domain.actions_by_name[step.action].parameters
        return {each.name: arg for each, arg in zip(parameters, step.args, strict=True)}

    def after(self, step: PlanStep, state: State) -> State:
        """The state after an action that is applicable."""
        adds, deletes = self.changes(step, state)
        return (state - deletes) | adds

    def changes(self, step: PlanStep, state: AbstractSet[Atom]) -> tuple[set[Atom], set[Atom]]:
        """What a step adds and deletes in `state`; what is in both is true afterwards."""
        adds: set[Atom] = set()
        deletes: set[Atom] = set()
        effect = self.domain.actions_by_name[step.action].effect
        self._collect(effect, state, self.binding(step), adds, deletes)
        return adds, deletes

    def _collect(
        self, effect: Sexpr, state: AbstractSet[Atom], binding: Mapping[str, str], adds: set[Atom], deletes: set[Atom]
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
            for each in self.bindings(parts[0], binding):
                self._collect(parts[1], state, each, adds, deletes)
        else:
            negated = head == "not"
            literal = parts[0] if negated else effect
            names = [binding.get(str(part), str(part)) for part in literal[1:]]
            (deletes if negated else adds).add(Atom(str(literal[0]), tuple(names)))

    def bindings(self, variables: Sexpr, binding: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
        """Every way to give objects to quantified variables, each with `binding`."""
        typed = list(read_typed_list(variables if isinstance(variables, tuple) else (variables,), []))
        for chosen in itertools.product(*(self.of_type(variable.type) for variable in typed)):
            yield {**binding, **{variable.name: name for variable, name in zip(typed, chosen, strict=True)}}

    def _atom_holds(self, atom: Atom, state: AbstractSet[Atom]) -> bool:
        rules = self._rules.get(atom.predicate)
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
        if not all(self.domain.is_a(self.types.get(arg, parameter.type), parameter.type) for parameter, arg in pairs):
            return False
        return self.holds(condition, state, {parameter.name: arg for parameter, arg in pairs})
