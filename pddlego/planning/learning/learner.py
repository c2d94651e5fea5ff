"""Learns the actions of a domain from transitions (Juba, Le and Stern: Safe Learning of Lifted Action Models, 2021).

What was true before every success may be a condition, and is one of the *safe* domain: an action that it calls possible
is possible, if the true conditions are conjunctions of those in `language`. What each failure needs is a condition of
the *optimistic* domain: an action that it calls impossible is impossible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import And, Exists, Formula, Not, Or, TypedName
from pddlego.pddl.domain import Action
from pddlego.planning.learning.effects import EffectLesson
from pddlego.planning.learning.language import atoms_over, conditions_of, names_over, strongest, weakest
from pddlego.planning.learning.transitions import Transition, TransitionError, transition_fault
from pddlego.planning.learning.tried import TriedState
from pddlego.planning.state import State
from pddlego.planning.world import World
from pddlego.util.limits import Work

_DOUBT = "the same facts change in some transitions and not in others"

_MOST_REASONS = 100
"""The maximum number of failures that the optimistic domain explains, those with the fewest possible reasons first."""


@dataclass(frozen=True)
class Experiment:
    """What decides a condition: the action in a state in which all other conditions are true, and this one is false.

    `goal` is true in such states. If the action succeeds there, it does not need the `condition`.
    """

    action: str
    condition: Formula
    goal: Formula


@dataclass(frozen=True)
class LearnedAction:
    """What is known of an action.

    It needs the `sure` conditions and may need the `open` ones; it does not need the `excluded` ones. `reasons` has for
    each failure the conditions of which at least one is needed. `safe` needs all that is sure or open, and is None if
    the action never succeeded or if there is a `fault`: why no conditions and effects of this language explain the
    transitions. `optimistic` needs what the failures need.
    """

    name: str
    safe: Action | None
    optimistic: Action
    sure: tuple[Formula, ...]
    open: tuple[Formula, ...]
    excluded: tuple[Formula, ...]
    reasons: tuple[tuple[Formula, ...], ...]
    successes: int
    failures: int
    fault: str = ""

    def experiments(self) -> tuple[Experiment, ...]:
        """The experiments that decide the open conditions, those that explain most failures first."""
        conditions = (*self.sure, *self.open)
        uses = {condition: sum(condition in reason for reason in self.reasons) for condition in self.open}
        goals = (
            (tested, Exists(self.optimistic.parameters, And((*(c for c in conditions if c != tested), Not(tested)))))
            for tested in sorted(self.open, key=lambda condition: -uses[condition])
        )
        return tuple(Experiment(self.name, tested, goal) for tested, goal in goals) if self.successes else ()


@dataclass(frozen=True)
class LearnedDomain:
    """The learned actions over the types, constants and predicates of `given`, in its order."""

    given: Domain
    actions: tuple[LearnedAction, ...]

    @property
    def safe(self) -> Domain:
        """The domain that allows an action where it is known to be possible."""
        return _with_actions(self.given, [action.safe for action in self.actions if action.safe])

    @property
    def optimistic(self) -> Domain:
        """The domain that allows an action unless it is known to be impossible. Effects are those seen."""
        return _with_actions(self.given, [action.optimistic for action in self.actions])

    @property
    def unknown(self) -> tuple[str, ...]:
        """The actions that the safe domain does not have."""
        return tuple(action.name for action in self.actions if action.safe is None)


def _with_actions(domain: Domain, actions: Sequence[Action]) -> Domain:
    others = (requirement for requirement in domain.requirements if requirement not in (":strips", ":adl"))
    return replace(domain, requirements=(":adl", *others), actions=tuple(actions), text="")


def learn_domain(domain: Domain, transitions: Iterable[Transition]) -> LearnedDomain:
    """Learn the actions of a domain, whose own conditions and effects are not read.

    It takes time in the number of transitions. Raises `TransitionError` for the first one that names other things than
    the domain, or has another outcome than an earlier one with the same state and action.
    """
    lessons = {action.name: _Lesson(domain, action) for action in domain.actions}
    seen: dict[tuple[object, ...], tuple[int, frozenset[Atom] | None]] = {}
    worlds: dict[frozenset[TypedName], World] = {}
    checked: dict[frozenset[TypedName], set[Atom]] = defaultdict(set)
    for number, transition in enumerate(transitions, start=1):
        if fault := transition_fault(domain, transition, checked[transition.objects]):
            raise TransitionError(number, *fault)
        key = transition.objects, transition.before, transition.action
        earlier, after = seen.setdefault(key, (number, transition.after))
        if after != transition.after:
            reason = f"{transition.action} had another outcome in the same state, in transition {earlier}"
            raise TransitionError(number, reason, "Remove the wrong one, or add the facts that differ.")
        if transition.objects not in worlds:
            worlds[transition.objects] = World(domain, Problem("p", domain.name, transition.objects), Work())
        lessons[transition.action.action].add(number, transition, worlds[transition.objects])
    return LearnedDomain(domain, tuple(lesson.learned() for lesson in lessons.values()))


class _Lesson:
    """What the transitions of one action teach."""

    def __init__(self, domain: Domain, action: Action) -> None:
        self._domain, self._action = domain, action
        self._conditions = self._kept = conditions_of(domain, action)
        self._atoms = list(atoms_over(domain, names_over(domain, action)))
        self._basic = [atom for atom in self._atoms if atom.predicate not in domain.rules]
        self._effects = EffectLesson(self._atoms)
        self._types: list[set[str]] = [set() for _ in action.parameters]
        self._failed: list[tuple[int, Transition, World]] = []
        self._successes, self._fault = 0, ""

    def add(self, number: int, transition: Transition, world: World) -> None:
        if transition.after is None:
            self._failed.append((number, transition, world))
            return
        self._successes += 1
        situation = self._situation(transition, world)
        self._kept = [condition for condition in self._kept if situation.holds(condition)]
        for types, arg in zip(self._types, transition.action.args, strict=True):
            types.add(world.types[arg])
        if other := self._effects.add(situation.facts, transition.before, transition.after):
            self._fault = self._fault or f"transition {number} changes {other}, which is not only about its arguments"

    def _situation(self, transition: Transition, world: World) -> TriedState:
        return TriedState(self._action, self._atoms, transition.action, State(transition.before), world)

    def learned(self) -> LearnedAction:
        head = replace(self._action, parameters=self._narrow())
        effects = self._effects.learned(self._kept)
        reasons = self._reasons(head) if self._successes else []
        sure = tuple(reason[0] for reason in reasons if len(reason) == 1)
        kept = strongest([*self._kept, *effects.guards])
        fault = self._fault or _DOUBT * effects.doubt
        needs = And(tuple(reason[0] if len(reason) == 1 else Or(reason) for reason in reasons))
        safe = replace(head, precondition=And(tuple(kept)), effect=effects.formula)
        known = {*self._kept}
        return LearnedAction(
            self._action.name,
            safe if self._successes and not fault else None,
            replace(self._action, precondition=needs, effect=effects.formula if self._successes else And()),
            sure=sure,
            open=tuple(condition for condition in kept if condition not in sure),
            excluded=tuple(condition for condition in self._conditions if condition not in known),
            reasons=tuple(reasons),
            successes=self._successes,
            failures=len(self._failed),
            fault=fault,
        )

    def _narrow(self) -> tuple[TypedName, ...]:
        """The parameters, each with the narrowest type of all arguments that were seen."""
        types = self._domain.types
        narrow = []
        for parameter, seen in zip(self._action.parameters, self._types, strict=True):
            common = set.intersection(*(set(types.get(kind, ())) for kind in seen)) if seen else set()
            fitting = [kind for kind in common if self._domain.is_a(kind, parameter.type)]
            kind = max(fitting, key=lambda kind: (len(types[kind]), kind), default=parameter.type)
            narrow.append(replace(parameter, type=kind))
        return tuple(narrow)

    def _reasons(self, head: Action) -> list[tuple[Formula, ...]]:
        """For each failure the conditions of which one is needed, without those that another failure explains."""
        reasons: dict[frozenset[Formula], tuple[Formula, ...]] = {}
        for number, transition, world in self._failed:
            pairs = zip(transition.action.args, head.parameters, strict=True)
            if not all(self._domain.is_a(world.types[arg], parameter.type) for arg, parameter in pairs):
                continue  # perhaps because of its type
            situation = self._situation(transition, world)
            reason = weakest([condition for condition in self._kept if not situation.holds(condition)])
            if not reason:
                self._fault = self._fault or f"transition {number} was refused, and every condition was true"
            reasons[frozenset(reason)] = tuple(reason)
        shortest = sorted(reasons, key=len)[:_MOST_REASONS]
        explained = (any(shorter <= key for shorter in shortest[:index]) for index, key in enumerate(shortest))
        return [reasons[key] for key, is_explained in zip(shortest, explained, strict=True) if not is_explained]
