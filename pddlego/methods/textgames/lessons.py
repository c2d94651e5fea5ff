"""What play teaches about a game's actions: transitions between problems, and the domains learned from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pddlego.errors import UsageError
from pddlego.methods.textgames.settings import ClaimRule, GameSetting
from pddlego.pddl import Atom, Domain, Problem, Renaming
from pddlego.pddl.conditions import And, Equal, Forall, Formula, Imply, Not, TypedName, changed_atoms, conjuncts
from pddlego.pddl.domain import Action
from pddlego.pddl.problem import rename
from pddlego.planning import PlanStep
from pddlego.planning.learning.certificate import Certificate, certify
from pddlego.planning.learning.learner import LearnedAction, LearnedDomain, learn_domain
from pddlego.planning.learning.transitions import Transition, TransitionError, read_transitions, transition_fault
from pddlego.planning.state import State
from pddlego.planning.world import World
from pddlego.util.limits import Work

_MOST_FAILURES = 30
"""The maximum number of refused transitions of an action that never succeeded."""


@dataclass(frozen=True)
class Lessons:
    """What was learned about the actions of a setting.

    The setting gives the heads of the actions, the predicates that they may change, and the effects with `only_planned`
    predicates, which no observation states; conditions and other effects are learned. A transition that teaches nothing
    is left out, unless `keeps_all`; one that contradicts others is always left out.
    """

    setting: GameSetting = field(repr=False)
    actions: Mapping[str, LearnedAction]
    transitions: tuple[Transition, ...] = ()
    keeps_all: bool = False

    @classmethod
    def begin(cls, setting: GameSetting, text: str = "", keeps_all: bool = False) -> Lessons:
        """The lessons of a text of transitions. Raises `UsageError` for an invalid one."""
        what, advice, heads = "The transitions to begin with are invalid", "Choose another --from.", _heads(setting)
        try:
            transitions = list(read_transitions(text)) if text.strip() else []
        except TransitionError as error:
            raise UsageError(what, f"Line {error.number}: {error.reason}.", advice) from error
        for number, transition in enumerate(transitions, start=1):
            if fault := transition_fault(heads, transition, set()):
                raise UsageError(what, f"Transition {number}: {fault[0]}.", advice)
        untaught = {action.name: action for action in learn_domain(heads, ()).actions}
        return cls(setting, untaught, (), keeps_all).with_all(transitions)

    def with_all(self, transitions: Iterable[Transition]) -> Lessons:
        """The lessons of more transitions."""
        lessons, by_action = self, dict[str, list[Transition]]()
        for transition in transitions:
            by_action.setdefault(transition.action.action, []).append(transition)
        for name, new in by_action.items():
            known = lessons._transitions_of(name)
            action = lessons._learn(name, [*known, *new]) if self.keeps_all and name in self.actions else None
            if action is not None:  # all at once: one after another takes quadratic time
                actions = {**lessons.actions, name: action}
                lessons = replace(lessons, actions=actions, transitions=(*lessons.transitions, *new))
                continue
            for transition in new:
                lessons = lessons.with_transition(transition)
        return lessons

    def with_transition(self, transition: Transition) -> Lessons:
        """The lessons of one more transition."""
        name, refused = transition.action.action, transition.after is None
        known, before = self._transitions_of(name), self.actions.get(name)
        if before is None or (transition in known and not self.keeps_all):
            return self
        if refused and not before.successes and before.failures >= _MOST_FAILURES:
            return self
        kept, after = known, self._learn(name, [*known, transition])
        if after is None:
            # A refusal may have a reason that was not read: those that agree with the new transition are kept.
            certain = [*(old for old in known if old.after is not None), transition]
            kept = [old for old in known if old.after is not None or self._learn(name, [*certain, old]) is not None]
            after = self._learn(name, [*kept, transition])
        if after is None:
            return self
        is_new = _without_counts(after) != _without_counts(before) or (refused and not after.successes)
        if not is_new and not self.keeps_all:
            return self
        others = tuple(old for old in self.transitions if old.action.action != name or old in kept)
        return replace(self, actions={**self.actions, name: after}, transitions=(*others, transition))

    def _transitions_of(self, action: str) -> list[Transition]:
        return [transition for transition in self.transitions if transition.action.action == action]

    def _learn(self, name: str, transitions: Iterable[Transition]) -> LearnedAction | None:
        """What transitions of one action teach; None if they contradict each other."""
        heads = _heads(self.setting)
        try:
            action = learn_domain(replace(heads, actions=(heads.actions_by_name[name],)), transitions).actions[0]
        except TransitionError:
            return None
        return None if action.fault else action

    @property
    def learned(self) -> LearnedDomain:
        """What is known about all actions."""
        return LearnedDomain(_heads(self.setting), tuple(self.actions.values()))

    def certificates(self) -> tuple[Certificate, ...]:
        """The safe actions, compared with those of the setting where its invariants hold."""
        start = self.setting.start
        patterns = (rule.once for rule in start.invariants if rule.once and not (rule.names or rule.unless))
        assumed = tuple(_at_most_one(start.domain, pattern) for pattern in patterns)
        safe = self._domain(action.safe for action in self.actions.values() if action.safe is not None)
        return certify(start.domain, safe, assumed=assumed)

    @property
    def domains(self) -> Iterable[Domain]:
        """The domains to plan with, the safest first: without disjunctions, which make planning slow.

        The first one needs the literals of the safe domain; the second one only its facts over the parameters, and what
        may explain failures; the third one only what surely explains them.
        """
        known = [action for action in self.actions.values() if action.safe is not None]
        yield self._domain(_needing(action, _open_literals(action)) for action in known)
        yield self._domain(_needing(action, _open_over_parameters(action)) for action in known)
        yield self._domain(_needing(action, ()) for action in known)

    def _domain(self, actions: Iterable[Action]) -> Domain:
        """The setting's domain with other actions, to which the effects that only plans have are added."""
        own, marks = self.setting.start.domain, _only_planned_effects(self.setting)
        marked = (replace(action, effect=And((*conjuncts(action.effect), *marks[action.name]))) for action in actions)
        others = (requirement for requirement in own.requirements if requirement not in (":strips", ":adl"))
        return replace(own, requirements=(":adl", *others), actions=tuple(marked), text="")


def _at_most_one(domain: Domain, pattern: Atom) -> Formula:
    """The condition that there is at most one fact of a pattern for each value of its variables."""
    parameters = domain.predicates_by_name[pattern.predicate].parameters
    variables = dict[str, TypedName]()
    facts = list[Atom]()
    for prefix in "ab":
        args = tuple(f"?{prefix}{index}" if arg == "*" else arg for index, arg in enumerate(pattern.args))
        facts.append(Atom(pattern.predicate, args))
        for arg, parameter in zip(args, parameters, strict=True):
            if arg.startswith("?"):
                variables[arg] = replace(parameter, name=arg)
    pairs = zip(facts[0].args, facts[1].args, strict=True)
    same = And(tuple(Equal(left, right) for left, right in pairs if left != right))
    return Forall(tuple(variables.values()), Imply(And(tuple(facts)), same))


def _without_counts(action: LearnedAction) -> LearnedAction:
    return replace(action, successes=0, failures=0)


_MOST_QUANTIFIED = 10
"""The maximum number of quantified conditions that an action without parameters needs."""


def _needing(action: LearnedAction, conditions: Sequence[Formula]) -> Action:
    """The action with its sure conditions and some open ones; without parameters, also quantified ones."""
    if not action.optimistic.parameters:
        explaining = _explaining(action)
        quantified = [condition for condition in action.open if isinstance(condition, Forall)]
        explained = [condition for condition in quantified if condition in explaining]
        conditions = [*conditions, *explained[:_MOST_QUANTIFIED]]
    return replace(action.optimistic, precondition=And((*action.sure, *conditions)))


def _explaining(action: LearnedAction) -> set[Formula]:
    """The conditions that may explain a failure."""
    return {condition for reason in action.reasons for condition in reason}


def _positive(literal: Formula) -> Formula:
    return literal.part if isinstance(literal, Not) else literal


def _open_literals(action: LearnedAction) -> list[Formula]:
    return [condition for condition in action.open if isinstance(_positive(condition), Atom | Equal)]


def _open_over_parameters(action: LearnedAction) -> list[Formula]:
    """The open facts about parameters only. A negated one counts if it may explain a failure."""
    parameters = {parameter.name for parameter in action.optimistic.parameters}
    explaining = _explaining(action)
    kept = []
    for condition in action.open:
        atom = _positive(condition) if condition in explaining else condition
        if isinstance(atom, Atom) and parameters.issuperset(atom.args):
            kept.append(condition)
    return kept


def _heads(setting: GameSetting) -> Domain:
    """The domain of a setting without conditions and effects, and without predicates that no observation states."""
    domain = setting.start.domain
    opinions = (name for name, claim in setting.claims.items() if claim.opinion)
    hidden = {*domain.rules, *setting.start.only_planned, *opinions}
    predicates = tuple(predicate for predicate in domain.predicates if predicate.name not in hidden)
    actions = tuple(replace(action, precondition=And(), effect=And()) for action in domain.actions)
    return replace(domain, predicates=predicates, derived=(), actions=actions, text="")


def _only_planned_effects(setting: GameSetting) -> Mapping[str, tuple[Formula, ...]]:
    """The effects of each action with predicates that only plans make true."""

    def is_only_planned(effect: Formula) -> bool:
        atom = _positive(effect)
        return isinstance(atom, Atom) and atom.predicate in setting.start.only_planned

    actions = setting.start.domain.actions
    return {action.name: tuple(filter(is_only_planned, conjuncts(action.effect))) for action in actions}


def transition_between(
    setting: GameSetting,
    before: Problem,
    step: PlanStep,
    after: Problem | None,
    renamed: Collection[tuple[str, str]] = (),
) -> Transition | None:
    """The transition of a step between two problems; None if it names an object that is in neither of them.

    `after` is None if the game refused the command. Only facts that conditions may be about are kept.
    """
    names, constants = dict(renamed), {constant.name for constant in setting.start.domain.constants}
    before = rename(before, Renaming(names))
    step = PlanStep(step.action, tuple(names.get(arg, arg) for arg in step.args))
    types = {obj.name: obj.type for problem in (before, after) if problem is not None for obj in problem.objects}
    arguments = set(step.args)
    nameable = arguments | constants
    if not arguments <= types.keys() | constants:
        return None
    objects = frozenset(TypedName(name, kind) for name, kind in types.items())
    old, new = before.facts, None
    if after is not None:
        old, new = _both_states(setting, replace(before, objects=objects), after.facts, nameable)
    stated = {predicate.name for predicate in _heads(setting).predicates}

    def is_relevant(fact: Atom) -> bool:
        is_near = not step.args or nameable.issuperset(fact.args) or not arguments.isdisjoint(fact.args)
        return is_near and fact.predicate in stated

    state = frozenset(filter(is_relevant, old))
    next_state = None if new is None else frozenset(filter(is_relevant, new))
    used = arguments.union(*(fact.args for fact in state | (next_state or frozenset())))
    return Transition(state, step, next_state, frozenset(obj for obj in objects if obj.name in used))


def _both_states(
    setting: GameSetting, before: Problem, new: frozenset[Atom], nameable: set[str]
) -> tuple[frozenset[Atom], frozenset[Atom]]:
    """The facts of the states before and after a step. `new` are the facts of the problem after it.

    A problem lacks facts that the agent cannot know yet: a new one was true before, unless its absence was known
    (`[claims]`). The action changes facts about the `nameable` objects, with predicates that actions change; what else
    is new or gone is not in either state.
    """
    domain, old = setting.start.domain, before.facts
    world, state = World(domain, before, Work()), State(old)

    def was_absent(fact: Atom) -> bool:
        known = setting.claims.get(fact.predicate, ClaimRule()).known
        variables = (parameter.name for parameter in domain.predicates_by_name[fact.predicate].parameters)
        return known is None or world.holds(known, state, dict(zip(variables, fact.args, strict=True)))

    old |= {fact for fact in new - old if not was_absent(fact)}
    changing = {atom.predicate for action in domain.actions for atom, _ in changed_atoms(action.effect)}
    may_change = {fact for fact in old | new if fact.predicate in changing and nameable.issuperset(fact.args)}
    return old & (new | may_change), new & (old | may_change)
