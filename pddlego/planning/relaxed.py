"""What can happen in a problem if nothing ever becomes false: the relaxed reachability of planning graphs.

An action that is not possible even then is never possible. Conditions other than conjunctions of facts are looked at
only where no action changes them, so that nothing is called impossible that is possible.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Defect, DefectKind, Domain, Problem
from pddlego.pddl.conditions import And, Formula, Not, Term, When, atoms_of, changed_atoms, conjuncts, with_parts
from pddlego.pddl.domain import Action
from pddlego.pddl.lint import named
from pddlego.pddl.rules import warning
from pddlego.planning.result import PlanStep
from pddlego.planning.world import Simulator, World
from pddlego.util.limits import Work
from pddlego.util.text import count

_MOST_WORK = 300_000
"""Facts and bindings that are looked at: some tenths of a second. Larger tasks are not judged."""


def relaxed_warnings(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """What can never happen in a sound problem: facts of the goal, actions, and actions whose cost lacks a number.

    Preconditions that no action makes true at all are left to `problem_warnings`. Large problems are not judged.
    """
    explorer = _Explorer(domain, problem)
    try:
        explorer.explore()
    except TooManyCasesError:
        return
    yield from explorer.lacking()
    goals = [goal for goal in conjuncts(problem.goal) if explorer.is_out_of_reach(goal)]
    if goals:
        more = f" (as {count(len(goals) - 1, 'other part')} of the goal)" if len(goals) > 1 else ""
        message = f"the goal {goals[0]} can never be true{more}: no action that can be applied makes it true"
        message += "; correct the goal, :init or an effect"
        yield warning(DefectKind.UNREACHABLE_GOAL, str(goals[0]), message, getattr(goals[0], "place", None))
    there = {atom.predicate for atom in explorer.state}
    never = [
        action
        for action in domain.actions
        if action.name not in explorer.possible
        and all(atom.predicate in there | explorer.added for atom in explorer.required(action))
    ]
    if never:
        message = f"{named([action.name for action in never])} can never be applied in this problem"
        message += "; ignore this if that is meant, else correct the preconditions or :init"
        yield warning(DefectKind.NEVER_APPLICABLE, never[0].name, message)


class _Explorer(Simulator):
    """Adds facts one by one, and does each action once that its facts make possible."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        super().__init__(World(domain, problem, Work(_MOST_WORK)), ())
        self.possible: set[str] = set()
        self._missing: dict[str, dict[Term, PlanStep]] = defaultdict(dict)
        changes = [change for action in domain.actions for change in changed_atoms(action.effect)]
        self.added = {atom.predicate for atom, value in changes if value}
        self.deleted = {atom.predicate for atom, value in changes if not value}
        self._waiting = deque(problem.sorted_facts())
        self._known = set(self._waiting)
        self._initial = problem.facts
        self._done: set[PlanStep] = set()
        self._uses: dict[str, list[tuple[Action, int]]] = defaultdict(list)
        for action in domain.actions:
            for index, atom in enumerate(self._conjuncts[action.name]):
                self._uses[atom.predicate].append((action, index))
        fluent = self.added | self.deleted | {*domain.rules}
        self._static = {action.name: _static(action, fluent) for action in domain.actions}
        self._effects = {action.name: _unconditional(action.effect) for action in domain.actions}

    def required(self, action: Action) -> Sequence[Atom]:
        """The facts that an action requires, apart from derived ones."""
        return self._conjuncts[action.name]

    def is_out_of_reach(self, goal: Formula) -> bool:
        """Whether a part of the goal is a fact, or its negation, that is never true."""
        match goal:
            case Atom():
                return goal.predicate not in self.world.domain.rules and goal not in self.state
            case Not(part=Atom() as atom):
                return atom in self._initial and atom.predicate not in self.deleted
        return False

    def lacking(self) -> Iterator[Defect]:
        """The numbers that costs lack: without them an action is not applicable."""
        for terms in self._missing.values():
            term, step = min(terms.items(), key=lambda item: str(item[0]))
            more = f" and {count(len(terms) - 1, 'other number')}" if len(terms) > 1 else ""
            message = f"{term}{more} has no number in :init, so {step} can never be applied"
            message = message.replace(" has ", " have ") if more else message
            yield warning(DefectKind.MISSING_COST, str(term), f"{message}; add (= {term} NUMBER) to :init")

    def explore(self) -> None:
        """Do everything that is possible. Raises `TooManyCasesError` if that is too much."""
        for action in self.world.domain.actions:
            if not self._conjuncts[action.name]:
                self._try(action, [], {})
        while self._waiting:
            fact = self._waiting.popleft()
            self._change((fact,), ())
            for action, index in self._uses[fact.predicate]:
                atoms = self._conjuncts[action.name]
                kinds = {parameter.name: parameter.type for parameter in action.parameters}
                binding = self._matched(atoms[index], fact, {}, kinds)
                if binding is not None:
                    self._try(action, [*atoms[:index], *atoms[index + 1 :]], binding)

    def _try(self, action: Action, atoms: Sequence[Atom], binding: Mapping[str, str]) -> None:
        for values in self._bindings(action, atoms, binding):
            step = PlanStep(action.name, tuple(values[parameter.name] for parameter in action.parameters))
            if step in self._done:
                continue
            self._done.add(step)
            if not self.world.holds(self._static[action.name], self._initial, values):
                continue
            self.possible.add(action.name)
            try:
                self.world.cost(step)
            except KeyError as error:
                term = error.args[0]
                self._missing[term.head].setdefault(term, step)
                continue
            adds, _ = self.world.effects(self._effects[action.name], self.state, values)
            self._waiting.extend(sorted(adds - self._known, key=str))
            self._known |= adds


def _static(action: Action, changed: AbstractSet[str]) -> Formula:
    """The part of a precondition that is true in every state or in none, beside its facts."""
    return And(
        tuple(
            part
            for part in conjuncts(action.precondition)
            if not isinstance(part, Atom) and changed.isdisjoint(atom.predicate for atom in atoms_of(part))
        )
    )


def _unconditional(effect: Formula) -> Formula:
    """An effect as if all its conditions were true."""
    return _unconditional(effect.effect) if isinstance(effect, When) else with_parts(effect, _unconditional)
