"""The semantics of PDDL: when a condition is true in a state, and how an effect changes it (closed world, full ADL)."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import (
    ARITHMETIC,
    And,
    Change,
    Compare,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    Term,
    TypedName,
    When,
    number,
    parts_of,
    required_atoms,
    scope_of,
)
from pddlego.pddl.costs import action_cost, counts_cost, needs_numbers, values_of
from pddlego.pddl.domain import Action, Rule
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.planning.numbers import COMPARISONS, ImpossibleChangeError, calculated, changed_values
from pddlego.planning.result import PlanStep
from pddlego.planning.state import Execution, State
from pddlego.util.limits import Work

_MOST_CASES = 1_000_000
"""The default limit of a `World`, in evaluated conditions and bindings of variables: about a second."""

SECONDS = 15.0
"""The time limit for the execution of a plan, each step of which may take `_MOST_CASES`."""


def default_work() -> Work:
    """The limits of the execution of one plan."""
    return Work(_MOST_CASES, SECONDS)


class World:
    """The semantics of conditions and effects over the objects of one problem.

    An evaluation raises `TooManyCasesError` if it takes more than `work`: by default `_MOST_CASES`, and as many again
    after each `work.renew()`, which the execution of a plan calls for each step.
    """

    def __init__(self, domain: Domain, problem: Problem, work: Work | None = None) -> None:
        self.work = work or default_work()
        self.domain = domain
        self.objects = sorted({*domain.constants, *problem.objects}, key=lambda obj: obj.name)
        self.types = {obj.name: obj.type for obj in self.objects}
        self._rules = domain.rules
        self._proof: _Proof | None = None
        self.values = values_of(problem)
        self._counts_cost = counts_cost(problem)
        self.is_numeric = needs_numbers(domain, problem) is not None
        self.changing = domain.changed_functions if self.is_numeric else frozenset[str]()
        self.changing |= {literal.part.left.head for literal in problem.later if isinstance(literal.part, Compare)}
        self.initial = State(problem.facts, self._initial_numbers())
        self._kinds = {obj.type for obj in self.objects}
        self._of_type: dict[str, list[str]] = {}

    def of_type(self, kind: str) -> list[str]:
        """The names of all objects of a type."""
        if kind not in self._of_type:
            own = {one for one in self._kinds if self.domain.is_a(one, kind)}
            self._of_type[kind] = [obj.name for obj in self.objects if obj.type in own]
        return self._of_type[kind]

    def _initial_numbers(self) -> dict[Term, Fraction]:
        numbers = {term: value for term, value in self.values.items() if term.head in self.changing}
        return {TOTAL_COST: Fraction(0), **numbers} if TOTAL_COST.head in self.changing else numbers

    def cases(self, condition: Formula) -> int:
        """The number of ways to bind the variables of a condition; those of nested quantifiers are multiplied."""
        inner = [self.cases(part) for part in parts_of(condition)]
        if isinstance(condition, Exists | Forall):
            number = math.prod(len(self.of_type(variable.type)) for variable in condition.variables)
            return max(1, number) * sum(inner)
        return sum(inner) if inner else 1

    def holds(self, condition: Formula, state: State, binding: Mapping[str, str], wanted: bool = True) -> bool:
        """Whether `condition` is true in `state` under `binding` (closed world), or false if false is `wanted`.

        A comparison of a number without a value is neither, and so is what depends on it.
        """
        self.work.spend()
        match condition:
            case Atom():
                args = tuple([binding.get(arg, arg) for arg in condition.args])
                return self._atom_holds(Atom(condition.predicate, args), state) is wanted
            case And() | Or():
                some = any if isinstance(condition, Or) is wanted else all
                return some(self.holds(part, state, binding, wanted) for part in condition.parts)
            case Not():
                return self.holds(condition.part, state, binding, not wanted)
            case Imply():
                some = any if wanted else all
                parts = ((condition.condition, not wanted), (condition.consequence, wanted))
                return some(self.holds(part, state, binding, value) for part, value in parts)
            case Exists() | Forall():
                some = any if isinstance(condition, Exists) is wanted else all
                cases = self.bindings(condition.variables, binding)
                return some(self.holds(condition.part, state, case, wanted) for case in cases)
            case Equal():
                return (
                    binding.get(condition.left, condition.left) == binding.get(condition.right, condition.right)
                ) is wanted
            case Compare():
                left, right = (self.value(term, state, binding) for term in (condition.left, condition.right))
                return left is not None and right is not None and COMPARISONS[condition.operator](left, right) is wanted
        return False

    def value(self, term: Term, state: State, binding: Mapping[str, str]) -> Fraction | None:
        """The value of a numeric expression; None without one. Raises `HugeNumberError`."""
        self.work.spend()
        if term.parts is None:
            return _constant(binding.get(term.head, term.head))
        if term.head in ARITHMETIC:
            return calculated(term, (self.value(part, state, binding) for part in term.parts))
        fluent = ground_term(term, binding)
        constant = None if term.head in self.changing else self.values.get(fluent)
        return state.numbers.get(fluent, constant)

    def is_vacuous(self, condition: Formula, state: State, binding: Mapping[str, str]) -> bool:
        """Whether a true condition is true only because types are empty, or premises of implications are false."""
        match condition:
            case And():
                return bool(condition.parts) and all(self.is_vacuous(part, state, binding) for part in condition.parts)
            case Imply():
                return not self.holds(condition.condition, state, binding)
            case Forall():
                cases = self.bindings(condition.variables, binding)
                return all(self.is_vacuous(condition.part, state, case) for case in cases)
        return False

    def binding(self, step: PlanStep) -> dict[str, str]:
        """The argument of each parameter of the action in a step."""
        parameters = self.domain.actions_by_name[step.action].parameters
        return {parameter.name: arg for parameter, arg in zip(parameters, step.args, strict=True)}

    def after(self, step: PlanStep, state: State) -> State:
        """The state after an action that is applicable."""
        adds, deletes = self.changes(step, state)
        numbers = {**state.numbers, **self.new_numbers((step,), state)} if self.changing else state.numbers
        return State((state.facts - deletes) | adds, numbers)

    def changes(self, step: PlanStep, state: State) -> tuple[set[Atom], set[Atom]]:
        """The atoms that a step adds and deletes in `state`; an atom in both sets is true afterwards."""
        return self.effects(self.domain.actions_by_name[step.action].effect, state, self.binding(step))

    def effects(self, effect: Formula, state: State, binding: Mapping[str, str]) -> tuple[set[Atom], set[Atom]]:
        """The atoms that an effect adds and deletes in `state`."""
        adds: set[Atom] = set()
        deletes: set[Atom] = set()
        self._collect(effect, state, binding, adds, deletes)
        return adds, deletes

    def cost(self, step: PlanStep) -> Fraction:
        """The cost of a step; 1 in a problem that does not minimize costs.

        Raises `KeyError` if the cost depends on a number that the problem does not assign: then the step is not
        applicable. In a numeric task, costs are changes of numbers like others.
        """
        if self.is_numeric or not self.domain.functions:
            return Fraction(1)
        cost = action_cost(self.domain.actions_by_name[step.action], self.binding(step), self.values)
        return cost if self._counts_cost else Fraction(1)

    def has_numbers(self, step: PlanStep, state: State) -> bool:
        """Whether every number that the cost and the effect of the step depend on has a value."""
        try:
            self.cost(step)
            self.new_numbers((step,), state)
        except (KeyError, ImpossibleChangeError):
            return False
        return True

    def new_numbers(self, steps: Iterable[PlanStep], state: State) -> dict[Term, Fraction]:
        """The numbers that steps change together in `state`, with their new values. Raises `ImpossibleChangeError`."""
        if not self.changing:
            return {}
        return changed_values((change for step in steps for change in self.number_changes(step, state)), state.numbers)

    def number_changes(self, step: PlanStep, state: State) -> Iterator[tuple[Change, Fraction | None]]:
        """The changes of numbers by a step, ground, each with the value of its expression in `state`, if it has one."""
        effect = self.domain.actions_by_name[step.action].effect if self.changing else And()
        waiting: list[tuple[Formula, Mapping[str, str]]] = [(effect, self.binding(step))]
        while waiting:
            part, binding = waiting.pop()
            match part:
                case Change():
                    value = Renaming(binding).term(part.value)
                    change = replace(part, fluent=ground_term(part.fluent, binding), value=value)
                    yield change, self.value(value, state, {})
                case And():
                    waiting += [(inner, binding) for inner in reversed(part.parts)]
                case When() if self.holds(part.condition, state, binding):
                    waiting.append((part.effect, binding))
                case Forall():
                    waiting += reversed([(part.part, case) for case in self.bindings(part.variables, binding)])

    def _collect(
        self, effect: Formula, state: State, binding: Mapping[str, str], adds: set[Atom], deletes: set[Atom]
    ) -> None:
        match effect:
            case Atom():
                adds.add(Atom(effect.predicate, tuple([binding.get(arg, arg) for arg in effect.args])))
            case Not(part=Atom() as atom):
                deletes.add(Atom(atom.predicate, tuple([binding.get(arg, arg) for arg in atom.args])))
            case And():
                for part in effect.parts:
                    self._collect(part, state, binding, adds, deletes)
            case When():
                if self.holds(effect.condition, state, binding):
                    self._collect(effect.effect, state, binding, adds, deletes)
            case Forall():
                for case in self.bindings(effect.variables, binding):
                    self._collect(effect.part, state, case, adds, deletes)

    def bindings(self, variables: tuple[TypedName, ...], binding: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
        """All bindings of quantified variables to objects, each in addition to `binding`."""
        for chosen in itertools.product(*(self.of_type(variable.type) for variable in variables)):
            self.work.spend()
            yield {**binding, **{variable.name: name for variable, name in zip(variables, chosen, strict=True)}}

    def _atom_holds(self, atom: Atom, state: State) -> bool:
        rules = self._rules.get(atom.predicate)
        if rules is None:
            return atom in state.facts
        circle = self.domain.circles.get(atom.predicate)
        if circle is None:
            return any(self._follows(atom, rule, state) for rule in rules)
        if self._proof is not None and atom.predicate in self._proof.circle:
            return self._proof.holds(atom, lambda: any(self._follows(atom, rule, state) for rule in rules))
        outer, self._proof = self._proof, _Proof(circle)
        try:
            while self._proof.next_round():
                if self._atom_holds(atom, state):
                    return True
            return False
        finally:
            self._proof = outer

    def _follows(self, atom: Atom, rule: Rule, state: State) -> bool:
        """Whether one rule makes the atom true: its arguments are of the rule's types, and its condition holds."""
        pairs = list(zip(rule.predicate.parameters, atom.args, strict=True))
        if not all(self.domain.is_a(self.types.get(arg, parameter.type), parameter.type) for parameter, arg in pairs):
            return False
        try:
            return self.holds(rule.condition, state, {parameter.name: arg for parameter, arg in pairs})
        except TooManyCasesError as error:
            raise error if error.part else TooManyCasesError(f"derived predicate {atom.predicate}") from None
        except RecursionError:  # a long chain of rules, or a deep recursion of one rule
            raise TooManyCasesError(f"derived predicate {atom.predicate}") from None


class _Proof:
    """Proves atoms of recursive derived predicates in rounds, until a round proves nothing new.

    A round evaluates every atom at most once. An atom counts as false while it is being evaluated.
    """

    def __init__(self, circle: frozenset[str]) -> None:
        self.circle = circle
        self._proved: set[Atom] = set()
        self._seen: set[Atom] = set()
        self._grew = True

    def next_round(self) -> bool:
        """Begin a round; False if the last one proved nothing new."""
        more, self._grew = self._grew, False
        self._seen.clear()
        return more

    def holds(self, atom: Atom, follows: Callable[[], bool]) -> bool:
        if atom in self._proved or atom in self._seen:
            return atom in self._proved
        self._seen.add(atom)
        if not follows():
            return False
        self._proved.add(atom)
        self._grew = True
        return True


_constant = lru_cache(maxsize=1000)(number)


def ground_term(term: Term, binding: Mapping[str, str]) -> Term:
    """A function whose arguments have the values of `binding`."""
    return Term(term.head, tuple([Term(binding.get(part.head, part.head)) for part in term.parts or ()]))


_JoinKey = tuple[str, int, str]
"""A predicate, the index of an argument, and its value."""


class Simulator(Execution):
    """An execution that knows the applicable actions. Matching counts as work of the world."""

    def __init__(self, world: World, start: State) -> None:
        super().__init__(State(numbers=start.numbers))
        self.world = world
        self._by_predicate: dict[str, set[Atom]] = defaultdict(set)
        self._by_argument: dict[_JoinKey, set[Atom]] = defaultdict(set)
        rules = world.domain.rules
        self.required = {
            action.name: [
                *dict.fromkeys(one for one in required_atoms(action.precondition) if one.predicate not in rules)
            ]
            for action in world.domain.actions
        }
        self.change(start.facts, ())

    def applicable(self) -> Iterator[PlanStep]:
        """All applicable actions, each once, in an order that depends on the state only."""
        for action in self.world.domain.actions:
            actions = {
                tuple(binding[parameter.name] for parameter in action.parameters)
                for binding in self._bindings(action, self.required[action.name], {})
                if self.world.holds(action.precondition, self.state, binding)
            }
            steps = (PlanStep(action.name, args) for args in sorted(actions))
            yield from (step for step in steps if self.world.has_numbers(step, self.state))

    def is_possible(self, condition: Formula, variables: Sequence[TypedName]) -> bool:
        """Whether a condition is true for some values of its variables."""
        asked = Action("asked", tuple(variables), condition, And())
        atoms = [atom for atom in required_atoms(condition) if atom.predicate not in self.world.domain.rules]
        return any(self.world.holds(condition, self.state, case) for case in self._bindings(asked, atoms, {}))

    def do(self, step: PlanStep) -> None:
        """Execute an action that is applicable."""
        adds, deletes = self.world.changes(step, self.state)
        self.assign(self.world.new_numbers((step,), self.state))
        self.change(adds - self._facts, (deletes - adds) & self._facts)

    def change(self, adds: Iterable[Atom], deletes: Iterable[Atom]) -> None:
        for atom in deletes:
            self._facts.discard(atom)
            self._by_predicate[atom.predicate].discard(atom)
            for place, arg in enumerate(atom.args):
                self._by_argument[atom.predicate, place, arg].discard(atom)
        for atom in adds:
            self._facts.add(atom)
            self._by_predicate[atom.predicate].add(atom)
            for place, arg in enumerate(atom.args):
                self._by_argument[atom.predicate, place, arg].add(atom)

    def _bindings(self, action: Action, atoms: Sequence[Atom], bound: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
        """All extensions of `bound` to every parameter of the action under which the atoms are true."""
        kinds = scope_of(action.parameters)
        for binding in self._joined(atoms, bound, kinds):
            free = [name for name in kinds if name not in binding]
            for chosen in product(*(self.world.of_type(kinds[name]) for name in free)):
                self.world.work.spend()
                yield {**binding, **dict(zip(free, chosen, strict=True))}

    def _joined(
        self, atoms: Sequence[Atom], binding: Mapping[str, str], kinds: Mapping[str, str]
    ) -> Iterator[Mapping[str, str]]:
        self.world.work.spend(max(0, len(atoms) - _FEW))
        facts: dict[Atom, set[Atom]] = {}
        for atom in atoms:
            args = tuple([binding.get(arg, arg) for arg in atom.args])
            if any(arg[0] == "?" for arg in args):
                facts[atom] = self._matches(atom, binding)
                if not facts[atom]:
                    return
            elif Atom(atom.predicate, args) not in self._facts:
                return
        if not facts:
            yield binding
            return
        first = min(facts, key=lambda atom: len(facts[atom]))
        rest = [atom for atom in facts if atom is not first]
        for fact in facts[first]:
            self.world.work.spend()
            extended = self._matched(first, fact, binding, kinds)
            if extended is not None:
                yield from self._joined(rest, extended, kinds)

    def _matches(self, atom: Atom, binding: Mapping[str, str]) -> set[Atom]:
        """The smallest indexed set of facts that contains all matches of the atom."""
        best = self._by_predicate.get(atom.predicate, set())
        for place, arg in enumerate(atom.args):
            name = binding.get(arg, arg)
            if not name.startswith("?"):
                own = self._by_argument.get((atom.predicate, place, name), set())
                best = own if len(own) < len(best) else best
        return best

    def _matched(
        self, atom: Atom, fact: Atom, binding: Mapping[str, str], kinds: Mapping[str, str]
    ) -> dict[str, str] | None:
        extended = dict(binding)
        for arg, value in zip(atom.args, fact.args, strict=True):
            if extended.setdefault(arg, value) != value if arg.startswith("?") else arg != value:
                return None
            if arg.startswith("?") and not self.world.domain.is_a(self.world.types.get(value, "object"), kinds[arg]):
                return None
        return extended


_FEW = 10
"""The required facts that each match looks up for free; further ones count as work."""

_MOST_STATES = 2_000
"""The default limit of explored states."""

_EXPLORATION_SECONDS = 5.0
"""The default time limit of an exploration."""


@dataclass(frozen=True)
class Transitions:
    """The states that can be reached from the first one, breadth-first, numbered from 0.

    `edges` are (from, step, to), including steps that change nothing; `goals` are the numbers of states in which the
    goal is true. If the exploration is not `complete`, more states exist, and the last states have no edges.
    """

    states: tuple[State, ...]
    edges: tuple[tuple[int, PlanStep, int], ...]
    goals: frozenset[int]
    complete: bool


def transitions(
    domain: Domain,
    problem: Problem,
    most: int = _MOST_STATES,
    work: Work | None = None,
    facts: float = math.inf,
    *,
    key: Callable[[State], State] = lambda state: state,
) -> Transitions:
    """Explore up to `most` states of a sound domain and problem, which together have up to `facts` facts.

    The exploration also ends, incomplete, when it takes more than `work`. States with equal keys are
    merged.
    """
    world = World(domain, problem, work or Work(_MOST_CASES, _EXPLORATION_SECONDS))
    start = world.initial
    numbers, states, waiting = {key(start): 0}, [start], deque([start])
    edges: list[tuple[int, PlanStep, int]] = []
    goals: frozenset[int] = frozenset()
    size = len(start.facts)
    with contextlib.suppress(TooManyCasesError):
        while waiting and len(numbers) <= most and size <= facts:
            state = waiting.popleft()
            own = numbers[key(state)]
            world.work.renew()
            for step in Simulator(world, state).applicable():
                after = world.after(step, state)
                new = len(numbers)
                number = numbers.setdefault(key(after), new)
                if number == new:
                    states.append(after)
                    waiting.append(after)
                    size += len(after.facts)
                edges.append((own, step, number))
        world.work.renew()
        goals = frozenset(number for number, state in enumerate(states) if world.holds(problem.goal, state, {}))
        return Transitions(tuple(states), tuple(edges), goals, not waiting)
    return Transitions(tuple(states), tuple(edges), frozenset(), complete=False)
