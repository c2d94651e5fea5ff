"""Which actions can be done in a state, without grounding the whole task: a join over what is true.

States change little from step to step, so facts are indexed, and the index is changed with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from pddlego.pddl import Atom
from pddlego.pddl.conditions import required_atoms
from pddlego.pddl.domain import Action
from pddlego.planning.result import PlanStep
from pddlego.planning.world import World

Key = tuple[str, int, str]
"""A predicate, the place of an argument, and what stands there."""


class Simulator:
    """A task as it is carried out: the state, and what can be done in it."""

    def __init__(self, world: World, facts: Iterable[Atom]) -> None:
        self.world = world
        self.state: set[Atom] = set()
        self._by_predicate: dict[str, set[Atom]] = defaultdict(set)
        self._by_argument: dict[Key, set[Atom]] = defaultdict(set)
        rules = world.domain.rules
        self._conjuncts = {
            action.name: [atom for atom in required_atoms(action.precondition) if atom.predicate not in rules]
            for action in world.domain.actions
        }
        self._change(facts, ())

    def applicable(self) -> Iterator[PlanStep]:
        """Every action whose precondition holds, each once, in an order that depends on nothing but the state."""
        for action in self.world.domain.actions:
            found = {
                tuple(binding[parameter.name] for parameter in action.parameters)
                for binding in self._bindings(action)
                if self.world.holds(action.precondition, self.state, binding)
            }
            yield from (PlanStep(action.name, args) for args in sorted(found))

    def do(self, step: PlanStep) -> None:
        """Carry out an action that is applicable."""
        adds, deletes = self.world.changes(step, self.state)
        self._change(adds - self.state, (deletes - adds) & self.state)

    def _change(self, adds: Iterable[Atom], deletes: Iterable[Atom]) -> None:
        for atom in deletes:
            self.state.discard(atom)
            self._by_predicate[atom.predicate].discard(atom)
            for place, arg in enumerate(atom.args):
                self._by_argument[atom.predicate, place, arg].discard(atom)
        for atom in adds:
            self.state.add(atom)
            self._by_predicate[atom.predicate].add(atom)
            for place, arg in enumerate(atom.args):
                self._by_argument[atom.predicate, place, arg].add(atom)

    def _bindings(self, action: Action) -> Iterator[Mapping[str, str]]:
        """Every way to give objects to the parameters under which the atoms of the precondition are true."""
        kinds = {each.name: each.type for each in action.parameters}
        for binding in self._joined(self._conjuncts[action.name], {}, kinds):
            free = [name for name in kinds if name not in binding]
            for chosen in product(*(self.world.of_type(kinds[name]) for name in free)):
                yield {**binding, **dict(zip(free, chosen, strict=True))}

    def _joined(self, atoms: list[Atom], binding: dict[str, str], kinds: Mapping[str, str]) -> Iterator[dict[str, str]]:
        if not atoms:
            yield binding
            return
        found = {atom: self._facts(atom, binding) for atom in atoms}
        first = min(atoms, key=lambda atom: len(found[atom]))
        rest = [atom for atom in atoms if atom is not first]
        for fact in found[first]:
            extended = self._matched(first, fact, binding, kinds)
            if extended is not None:
                yield from self._joined(rest, extended, kinds)

    def _facts(self, atom: Atom, binding: Mapping[str, str]) -> set[Atom]:
        """The fewest facts among which all that match the atom are."""
        best = self._by_predicate.get(atom.predicate, set())
        for place, arg in enumerate(atom.args):
            name = binding.get(arg, arg)
            if not name.startswith("?"):
                own = self._by_argument.get((atom.predicate, place, name), set())
                best = own if len(own) < len(best) else best
        return best

    def _matched(
        self, atom: Atom, fact: Atom, binding: dict[str, str], kinds: Mapping[str, str]
    ) -> dict[str, str] | None:
        found = dict(binding)
        for arg, value in zip(atom.args, fact.args, strict=True):
            if found.setdefault(arg, value) != value if arg.startswith("?") else arg != value:
                return None
            if arg.startswith("?") and not self.world.domain.is_a(self.world.types.get(value, "object"), kinds[arg]):
                return None
        return found
