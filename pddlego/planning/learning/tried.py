"""What is true of the arguments of an action before and after a transition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from pddlego.pddl import Atom
from pddlego.pddl.conditions import Equal, Forall, Formula, Imply, Not, Or
from pddlego.pddl.domain import Action
from pddlego.planning.result import PlanStep
from pddlego.planning.state import State
from pddlego.planning.world import World


class TriedState:
    """A state with the arguments of an action, in which conditions of the `language` are evaluated.

    `facts` are the facts that atoms over the parameters mean here, in the order of the `atoms`.
    """

    def __init__(self, action: Action, atoms: Sequence[Atom], step: PlanStep, state: State, world: World) -> None:
        self._state, self._world = state, world
        self._binding = dict(zip((one.name for one in action.parameters), step.args, strict=True))
        name = self._binding.get
        self.facts = [Atom(one.predicate, tuple([name(arg, arg) for arg in one.args])) for one in atoms]
        true, rules = state.facts, world.domain.rules
        self._true = {
            atom
            for atom, fact in zip(atoms, self.facts, strict=True)
            if (world.holds(fact, state, {}) if fact.predicate in rules else fact in true)
        }

    @cached_property
    def _by_argument(self) -> Mapping[tuple[str, int, str], list[Atom]]:
        facts = defaultdict(list)
        for fact in self._state.facts:
            for place, arg in enumerate(fact.args):
                facts[fact.predicate, place, arg].append(fact)
        return facts

    def holds(self, condition: Formula) -> bool:
        """Whether a condition is true."""
        match condition:
            case Atom():
                return condition in self._true
            case Not():
                return not self.holds(condition.part)
            case Or():
                return any(map(self.holds, condition.parts))
            case Equal(left, right):
                return self._binding[left] == self._binding.get(right, right)
            case Forall(variables=(variable,), part=Imply(condition=Atom() as premise, consequence=consequence)) if (
                len(premise.args) > 1
            ):
                free = premise.args.index(variable.name)
                fixed = [(place, self._binding[arg]) for place, arg in enumerate(premise.args) if place != free]
                return all(
                    self._world.holds(consequence, self._state, {**self._binding, variable.name: fact.args[free]})
                    for fact in self._by_argument.get((premise.predicate, *fixed[0]), ())
                    if all(fact.args[place] == arg for place, arg in fixed)
                )
            case Forall():
                return self._world.holds(condition, self._state, {})
        raise ValueError(f"{condition} is not a condition of the language")
