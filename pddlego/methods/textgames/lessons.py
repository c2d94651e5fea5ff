"""What play teaches of a game's actions: transitions between problems, and the domains that are learned from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pddlego.errors import UsageError
from pddlego.methods.textgames.settings import ClaimRule, GameSetting
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import And, Equal, Forall, Formula, Imply, Not, TypedName, changed_atoms, conjuncts
from pddlego.pddl.domain import Action
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
    """What was learned of the actions of a setting.

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
        none = cls(setting, {one.name: one for one in learn_domain(_heads(setting), ()).actions}, (), keeps_all)
        what, advice, heads = "The transitions to begin with are invalid", "Choose another --from.", _heads(setting)
        try:
            transitions = list(read_transitions(text)) if text.strip() else []
        except TransitionError as error:
            raise UsageError(what, f"Line {error.number}: {error.reason}.", advice) from error
        for number, transition in enumerate(transitions, start=1):
            if fault := transition_fault(heads, transition, set()):
                raise UsageError(what, f"Transition {number}: {fault[0]}.", advice)
        return none.with_all(transitions)

    def with_all(self, transitions: Iterable[Transition]) -> Lessons:
        """The lessons of more transitions."""
        lessons, by_action = self, dict[str, list[Transition]]()
        for transition in transitions:
            by_action.setdefault(transition.action.action, []).append(transition)
        for name, those in by_action.items():
            own = [one for one in lessons.transitions if one.action.action == name]
            after = lessons._learned(name, [*own, *those]) if self.keeps_all and name in self.actions else None
            if after is not None and not after.fault:  # at once: one after another takes quadratic time
                actions = {**lessons.actions, name: after}
                lessons = replace(lessons, actions=actions, transitions=(*lessons.transitions, *those))
                continue
            for transition in those:
                lessons = lessons.with_transition(transition)
        return lessons

    def with_transition(self, transition: Transition) -> Lessons:
        """The lessons of one more transition."""
        name, before = transition.action.action, self.actions.get(transition.action.action)
        own = [one for one in self.transitions if one.action.action == name]
        if before is None or (transition in own and not self.keeps_all):
            return self
        if transition.after is None and not before.successes and before.failures >= _MOST_FAILURES:
            return self
        kept, after = own, self._learned(name, [*own, transition])
        if after is None or after.fault:  # a failure may have a reason that was not read
            sure = [*(one for one in own if one.after is not None), transition]
            kept = [one for one in own if one.after is not None or self._agrees(name, [*sure, one])]
            after = self._learned(name, [*kept, transition])
        if after is None or after.fault:
            return self
        is_new = _content(after) != _content(before) or (transition.after is None and not after.successes)
        if not is_new and not self.keeps_all:
            return self
        others = tuple(one for one in self.transitions if one not in own or one in kept)
        return replace(self, actions={**self.actions, name: after}, transitions=(*others, transition))

    def _agrees(self, name: str, transitions: Iterable[Transition]) -> bool:
        learned = self._learned(name, transitions)
        return learned is not None and not learned.fault

    def _learned(self, name: str, transitions: Iterable[Transition]) -> LearnedAction | None:
        heads = _heads(self.setting)
        try:
            return learn_domain(replace(heads, actions=(heads.actions_by_name[name],)), transitions).actions[0]
        except TransitionError:
            return None

    @property
    def learned(self) -> LearnedDomain:
        """What is known of all actions."""
        return LearnedDomain(_heads(self.setting), tuple(self.actions.values()))

    @property
    def safe(self) -> Domain:
        """The setting's domain with the safe actions that were learned."""
        return self._domain(one.safe for one in self.actions.values() if one.safe is not None)

    def certificates(self) -> tuple[Certificate, ...]:
        """The safe actions, compared with those of the setting where its invariants hold."""
        start = self.setting.start
        facts = (one.once for one in start.invariants if one.once and not (one.names or one.unless))
        assumed = tuple(_at_most_one(start.domain, fact) for fact in facts)
        return certify(start.domain, self.safe, assumed=assumed)

    @property
    def domains(self) -> Iterable[Domain]:
        """The domains to plan with, the safest first: without disjunctions, which make planning slow.

        The first one needs the literals of the safe domain; the second one only its facts over the parameters, and what
        may explain failures; the third one only what surely explains them.
        """
        known = [one for one in self.actions.values() if one.safe is not None]
        yield self._domain(_with_open(one, _is_literal) for one in known)
        yield self._domain(_with_open(one, _over_parameters(one)) for one in known)
        yield self._domain(_with_open(one, lambda condition: False) for one in known)

    def _domain(self, actions: Iterable[Action]) -> Domain:
        """The setting's domain with other actions."""
        given, marks = self.setting.start.domain, _marks(self.setting)
        marked = (replace(one, effect=And((*conjuncts(one.effect), *marks[one.name]))) for one in actions)
        needs = ":adl", *(one for one in given.requirements if one not in (":strips", ":adl"))
        return replace(given, requirements=needs, actions=tuple(marked), text="")


def _at_most_one(domain: Domain, pattern: Atom) -> Formula:
    """The condition that there is at most one fact of a pattern for each value of its variables."""
    parameters, sides = domain.predicates_by_name[pattern.predicate].parameters, list[Atom]()
    variables = dict[str, TypedName]()
    for side in "ab":
        names = tuple(f"?{side}{place}" if arg == "*" else arg for place, arg in enumerate(pattern.args))
        typed = (replace(one, name=name) for name, one in zip(names, parameters, strict=True))
        variables |= {one.name: one for one in typed if one.name.startswith("?")}
        sides.append(Atom(pattern.predicate, names))
    pairs = zip(sides[0].args, sides[1].args, strict=True)
    same = And(tuple(Equal(one, other) for one, other in pairs if one != other))
    return Forall(tuple(variables.values()), Imply(And(tuple(sides)), same))


def _content(action: LearnedAction) -> LearnedAction:
    return replace(action, successes=0, failures=0)


def _with_open(action: LearnedAction, needs: Callable[[Formula], bool]) -> Action:
    """An action that needs what is sure, and some of the open conditions.

    Of the conditions of all objects, one without parameters needs those that may explain failures.
    """
    head, explaining = action.optimistic, {condition for reason in action.reasons for condition in reason}
    kept = [one for one in action.open if needs(one)]
    if not head.parameters:
        kept += [one for one in action.open if isinstance(one, Forall) and one in explaining][:_MOST_QUANTIFIED]
    return replace(head, precondition=And((*action.sure, *kept)))


_MOST_QUANTIFIED = 10


def _is_literal(condition: Formula) -> bool:
    return isinstance(condition.part if isinstance(condition, Not) else condition, Atom | Equal)


def _over_parameters(action: LearnedAction) -> Callable[[Formula], bool]:
    own = {parameter.name for parameter in action.optimistic.parameters}
    explaining = {condition for reason in action.reasons for condition in reason}

    def needs(condition: Formula) -> bool:
        atom = condition.part if isinstance(condition, Not) and condition in explaining else condition
        return isinstance(atom, Atom) and own.issuperset(atom.args)

    return needs


def _heads(setting: GameSetting) -> Domain:
    """The domain of a setting without conditions and effects, and without predicates that no observation states."""
    domain, start = setting.start.domain, setting.start
    hidden = {*domain.rules, *start.only_planned, *(name for name, claim in setting.claims.items() if claim.opinion)}
    predicates = tuple(one for one in domain.predicates if one.name not in hidden)
    actions = tuple(replace(one, precondition=And(), effect=And()) for one in domain.actions)
    return replace(domain, predicates=predicates, derived=(), actions=actions, text="")


def _marks(setting: GameSetting) -> Mapping[str, tuple[Formula, ...]]:
    """The effects of each action with predicates that only plans make true."""

    def is_mark(effect: Formula) -> bool:
        atom = effect.part if isinstance(effect, Not) else effect
        return isinstance(atom, Atom) and atom.predicate in setting.start.only_planned

    return {one.name: tuple(filter(is_mark, conjuncts(one.effect))) for one in setting.start.domain.actions}


def transition_between(
    setting: GameSetting,
    before: Problem,
    step: PlanStep,
    after: Problem | None,
    renamed: Collection[tuple[str, str]] = (),
) -> Transition | None:
    """The transition of a step between two problems; None if it names an object that is in neither of them.

    `after` is None if the game refused the command. A problem lacks facts that the agent cannot know yet: a new one was
    true before, unless its absence was known (`[claims]`). The action changes facts about its arguments and the
    constants, with predicates that actions change; what else is new or gone is not in either state. Only facts that
    conditions may be about are kept.
    """
    names, domain, heads = dict(renamed), setting.start.domain, _heads(setting)
    facts = {Atom(fact.predicate, tuple(names.get(arg, arg) for arg in fact.args)) for fact in before.facts}
    step = PlanStep(step.action, tuple(names.get(arg, arg) for arg in step.args))
    kinds = {names.get(one.name, one.name): one.type for one in before.objects}
    kinds |= {one.name: one.type for one in after.objects} if after is not None else {}
    constants = {constant.name for constant in domain.constants}
    own = {*step.args, *constants}
    if not own <= kinds.keys() | constants:
        return None
    changing = {atom.predicate for one in domain.actions for atom, _ in changed_atoms(one.effect)}
    world = World(domain, replace(before, objects=frozenset(TypedName(*one) for one in kinds.items())), Work())

    def may_change(fact: Atom) -> bool:
        return fact.predicate in changing and own.issuperset(fact.args)

    def is_known(fact: Atom) -> bool:
        known = setting.claims.get(fact.predicate, ClaimRule()).known
        variables = (parameter.name for parameter in domain.predicates_by_name[fact.predicate].parameters)
        binding = dict(zip(variables, fact.args, strict=True))
        return known is None or world.holds(known, State(frozenset(facts)), binding)

    then: set[Atom] | None = None
    if after is not None:
        known = facts | {fact for fact in after.facts - facts if not is_known(fact)}
        then = {fact for fact in after.facts if fact in known or may_change(fact)}
        facts = {fact for fact in known if fact in then or may_change(fact)}
    stated = {one.name for one in heads.predicates}

    def kept(all_facts: Iterable[Atom]) -> frozenset[Atom]:
        about = (fact for fact in all_facts if fact.predicate in stated)
        return frozenset(
            fact for fact in about if not step.args or own.issuperset(fact.args) or set(step.args) & set(fact.args)
        )

    states = kept(facts), None if then is None else kept(then)
    used = {arg for fact in (*states[0], *(states[1] or ())) for arg in fact.args} | set(step.args)
    objects = frozenset(TypedName(name, kinds[name]) for name in used if name in kinds)
    return Transition(states[0], step, states[1], objects)
