"""Compares the facts of a model's problem with a reference, as far as the player can know them."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from pddlego.methods.textgames.events import FactError, FactsChecked, Verdict
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import ClaimRule
from pddlego.pddl import Atom, Problem, TypedName
from pddlego.planning.world import World

Renamed = Sequence[tuple[str, str]]
"""Old and new names of objects."""


@dataclass(frozen=True)
class _Error:
    """A wrong, stale or missing fact with the names of the reference."""

    verdict: Verdict
    fact: Atom


class Judge:
    """Compares the problems of one episode, in their order, with the problem of a reference.

    Not compared are facts of predicates that are not in the reference's domain, opinions, and facts that the player
    cannot know yet (the table `[claims]` of a setting). An object has the same name in both, unless each of the two
    names `may_differ`.
    """

    def __init__(
        self,
        claims: Mapping[str, ClaimRule],
        placeholder: str,
        may_differ: Callable[[str], bool] = lambda name: True,
    ) -> None:
        self._claims, self._placeholder, self._may_differ = claims, placeholder, may_differ
        self._mapping: dict[str, str] = {}
        self._past: frozenset[Atom] = frozenset()
        self._since: dict[_Error, int] = {}

    def reference_changed(self, true: Problem, renamed: Renamed) -> None:
        """Take over the reference's new problem and its renamed objects."""
        names = dict(renamed)
        self._past = frozenset(image(fact, names) for fact in self._past) | true.facts
        self._mapping = {name: names.get(other, other) for name, other in self._mapping.items()}
        self._rename(names)

    def _rename(self, names: Mapping[str, str]) -> None:
        self._since = {replace(error, fact=image(error.fact, names)): n for error, n in self._since.items()}

    def judge(
        self, claimed: Problem, knowledge: Knowledge, renamed: Renamed, step: int, *, rejected: bool = False
    ) -> FactsChecked:
        """Compare a problem of the model, in which objects were `renamed`, with the reference's knowledge.

        The comparison of a `rejected` problem has no effect on later ones, because the next answer replaces it.
        """
        new_names = dict(renamed)
        before = {new_names.get(name, name): other for name, other in self._mapping.items()}
        self._rename({_alone(old): _alone(new) for old, new in new_names.items()})
        complete = _with_used(claimed, knowledge)
        aligned = align(
            self._both_ways(complete),
            self._both_ways(knowledge.problem),
            [constant.name for constant in knowledge.domain.constants],
            made_up=knowledge.is_placeholder,
            may_differ=self._may_differ,
            before=before,
        )
        comparison = _Comparison(self._claims, knowledge, self._past)
        alone = {obj.name: _alone(obj.name) for obj in complete.objects}
        mapping = alone | comparison.with_doubles(complete, aligned, self._may_differ)
        own_names = self._own_names(complete, knowledge.problem, mapping)
        right, unknown, texts = comparison.claims_of(complete, mapping, own_names)
        since = {error: self._since.get(error, step) for error in texts}
        errors = [FactError(error.verdict, text, since[error]) for error, text in texts.items()]
        if not rejected:
            self._mapping, self._since = aligned, since
        declared = {obj.name for obj in claimed.objects}
        objects = ((own_names[obj.name], obj.type) for obj in knowledge.problem.sorted_objects())
        return FactsChecked(
            right,
            tuple(sorted(errors, key=lambda error: (error.since, error.fact))),
            unknown,
            new=tuple(f"{name} - {kind}" for name, kind in objects if name not in declared),
            rejected=rejected,
        )

    def _both_ways(self, problem: Problem) -> Problem:
        """The problem with every symmetric fact in both directions."""
        symmetric = {name for name, rule in self._claims.items() if rule.symmetric}
        reversed_facts = (replace(f, args=f.args[::-1]) for f in problem.facts if f.predicate in symmetric)
        return replace(problem, facts=problem.facts.union(reversed_facts))

    def _own_names(self, claimed: Problem, true: Problem, mapping: Mapping[str, str]) -> dict[str, str]:
        """The model's names of the reference's objects. An object that the model lacks gets an unused name."""
        names = {other: name for name, other in mapping.items()}
        taken = {obj.name for obj in claimed.objects}
        free = (f"{self._placeholder or 'new'}{number}" for number in itertools.count(1))
        for obj in true.sorted_objects():
            if obj.name not in names:
                names[obj.name] = obj.name if obj.name not in taken else next(n for n in free if n not in taken)
                taken.add(names[obj.name])
        return names


@dataclass(frozen=True)
class _Comparison:
    """A comparison of claims with the facts of the reference now, and with those that were ever true."""

    claims: Mapping[str, ClaimRule]
    knowledge: Knowledge
    past: frozenset[Atom]

    def canonical(self, fact: Atom) -> Atom:
        """The fact; the arguments of a symmetric one are sorted, so that both directions are equal."""
        rule = self.claims.get(fact.predicate)
        return replace(fact, args=tuple(sorted(fact.args))) if rule and rule.symmetric else fact

    def claims_of(
        self, claimed: Problem, mapping: Mapping[str, str], names: Mapping[str, str]
    ) -> tuple[dict[str, int], tuple[str, ...], dict[_Error, str]]:
        """The number of right facts by predicate, the facts that cannot be known, and the text of each error's fact.

        `mapping` maps the model's names to the reference's, and `names` the reference's names to the model's.
        """
        right: Counter[str] = Counter()
        unknown: list[str] = []
        errors: dict[_Error, str] = {}
        claims = set()
        for fact in claimed.sorted_facts():
            claim = self.canonical(image(fact, mapping))
            if claim in claims:  # the other direction of a symmetric fact
                continue
            claims.add(claim)
            if self.is_right(claim):
                right[fact.predicate] += 1
            elif (verdict := self.verdict(claim)) is None:
                unknown.append(str(fact))
            else:
                errors[_Error(verdict, claim)] = str(fact)
        errors |= {_Error("missing", fact): str(image(fact, names)) for fact in self.missing(claims)}
        return dict(right), tuple(unknown), errors

    def is_right(self, claim: Atom) -> bool:
        """Whether a fact, with the reference's names, is true and not an opinion."""
        return claim in self._true and not self._is_opinion(claim)

    def verdict(self, claim: Atom) -> Verdict | None:
        """The verdict on a fact that is not right; None if the player cannot know it."""
        if len(claim.args) != len(self.knowledge.domain.predicates_by_name[claim.predicate].parameters):
            return "wrong"
        if self._is_opinion(claim) or not self._can_be_known(claim):
            return None
        return "stale" if claim in self._ever_true else "wrong"

    def _is_opinion(self, fact: Atom) -> bool:
        rule = self.claims.get(fact.predicate)
        return rule is not None and (rule.opinion or (rule.guess and not self._can_be_known(fact)))

    @cached_property
    def _true(self) -> set[Atom]:
        return {self.canonical(fact) for fact in self.knowledge.problem.facts}

    @cached_property
    def _ever_true(self) -> set[Atom]:
        return {self.canonical(fact) for fact in self.past}

    @cached_property
    def _world(self) -> World:
        return World(self.knowledge.domain, self.knowledge.problem)

    def _can_be_known(self, claim: Atom) -> bool:
        rule = self.claims.get(claim.predicate)
        if rule is None or rule.known is None:
            return True
        parameters = self.knowledge.domain.predicates_by_name[claim.predicate].parameters
        binding = {parameter.name: arg for parameter, arg in zip(parameters, claim.args, strict=True)}
        return self._world.holds(rule.known, self._world.initial, binding)

    def missing(self, claims: set[Atom]) -> list[Atom]:
        """The facts of the reference that are not among the claims, except opinions."""
        missing = (fact for fact in self._true - claims if not self._is_opinion(fact))
        return sorted(missing, key=lambda fact: fact.sort_key)

    def with_doubles(
        self, claimed: Problem, mapping: Mapping[str, str], may_differ: Callable[[str], bool]
    ) -> dict[str, str]:
        """The mapping, extended by objects of the model that are a second name of an object.

        For example, a model may have a new name for the room behind a closed door, which the reference has identified
        as a known room. All facts about such an object are true of its counterpart, and the player cannot know at least
        one of them yet. The name `may_differ`, and so may that of its counterpart unless the model also has this one.
        """
        extended, matched = dict(mapping), set(mapping.values())
        names = sorted(obj.name for obj in (*self.knowledge.problem.objects, *self.knowledge.domain.constants))
        names = [name for name in names if name in matched or may_differ(name)]
        for name in (obj.name for obj in claimed.sorted_objects() if obj.name not in mapping and may_differ(obj.name)):
            facts = [fact for fact in claimed.facts if name in fact.args]
            for place in names if facts else ():
                images = [self.canonical(image(fact, {**mapping, name: place})) for fact in facts]
                if self._true.issuperset(images) and not all(map(self._can_be_known, images)):
                    extended[name] = place
                    break
        return extended


def _alone(name: str) -> str:
    """The name of an object without a counterpart, which cannot be the name of an object of the reference."""
    return f"?{name}"


def _with_used(claimed: Problem, knowledge: Knowledge) -> Problem:
    """The problem with those facts that can be compared, and with declarations of all their objects."""
    predicates = knowledge.domain.predicates_by_name
    left_out = {*knowledge.domain.rules, *knowledge.only_planned}
    facts = frozenset(fact for fact in claimed.facts if fact.predicate in predicates.keys() - left_out)
    declared = {obj.name for obj in (*claimed.objects, *knowledge.domain.constants)}
    kinds = {obj.name: obj.type for obj in knowledge.problem.objects}
    used = {
        TypedName(arg, kinds.get(arg, parameter.type))
        for fact in facts
        for arg, parameter in zip(fact.args, predicates[fact.predicate].parameters, strict=False)
        if arg not in declared
    }
    return replace(claimed, objects=claimed.objects | used, facts=facts)


def image(fact: Atom, mapping: Mapping[str, str]) -> Atom:
    """The fact with every object replaced by its counterpart; an object without one keeps its name."""
    return Atom(fact.predicate, tuple([mapping.get(arg, arg) for arg in fact.args]))


def align(
    claimed: Problem,
    true: Problem,
    constants: Collection[str],
    *,
    made_up: Callable[[str], bool],
    before: Mapping[str, str],
    may_differ: Callable[[str], bool] = lambda name: True,
) -> dict[str, str]:
    """Match the objects of `claimed` to objects of `true`, one to one, by the facts that they have in common.

    `constants` are in both problems and are matched to themselves. Equal names are matched unless they are `made_up`.
    `before` is the previous matching, which decides between equally good counterparts. An object without a counterpart
    is not in the result. Two different names are matched only if each `may_differ`.
    """
    matching = _Matching(claimed, true, constants, before, may_differ)
    matching.grow({name: name for name in matching.kinds if name in matching.true_kinds and not made_up(name)})
    return matching.mapping


class _Matching:
    """A matching of objects that starts with certain pairs, and is extended pair by pair."""

    def __init__(
        self,
        claimed: Problem,
        true: Problem,
        constants: Collection[str],
        before: Mapping[str, str],
        may_differ: Callable[[str], bool],
    ) -> None:
        self.kinds = {obj.name: obj.type for obj in claimed.sorted_objects() if obj.name not in constants}
        self.true_kinds = {obj.name: obj.type for obj in true.sorted_objects() if obj.name not in constants}
        self.mapping = {name: name for name in constants}
        self._true_types = set(self.true_kinds.values())
        self._before, self._may_differ = before, may_differ
        self._facts: dict[str, list[Atom]] = defaultdict(list)
        for fact in claimed.sorted_facts():
            for name in dict.fromkeys(fact.args):
                self._facts[name].append(fact)
        self._like: dict[tuple[str, int], list[Atom]] = defaultdict(list)
        for fact in true.sorted_facts():
            self._like[fact.predicate, len(fact.args)].append(fact)
        self._surroundings = _surroundings(self.kinds, claimed.facts)
        self._true_surroundings = _surroundings(self.true_kinds, true.facts)

    def grow(self, certain: Mapping[str, str]) -> None:
        """Match the certain pairs, and then repeatedly the pair with the greatest lead, until no pair has support.

        If no fact connects unmatched objects with matched ones, the most similar pair is next.
        """
        self.mapping |= certain
        ballots = {name: self._ballot(name) for name in self.kinds if name not in self.mapping}
        while ballots:
            if not any(ballots.values()):
                ballots = {name: self._likeness(name) for name in ballots}
            name = max(ballots, key=lambda name: _lead(ballots[name]))
            if not ballots[name]:
                return
            choice = self._choice(name, ballots.pop(name))
            self.mapping[name] = choice
            touched = {other for fact in self._facts[name] for other in fact.args}
            for other, ballot in ballots.items():
                if other in touched or choice in ballot:
                    ballots[other] = self._ballot(other)

    def _same_kind(self, name: str, other: str) -> bool:
        """Whether names may differ and types are equal. A type that only a model's own domain has equals any type."""
        if not (self._may_differ(name) and self._may_differ(other)):
            return False
        return self.kinds[name] == self.true_kinds[other] or self.kinds[name] not in self._true_types

    def _ballot(self, name: str) -> dict[str, float]:
        """The support for each counterpart of an object: each fact has one vote, shared among all that fit."""
        ballot: dict[str, float] = defaultdict(float)
        taken = set(self.mapping.values())
        for fact in self._facts[name]:
            if fact.args.count(name) == 1 and all(arg == name or arg in self.mapping for arg in fact.args):
                place, wanted = fact.args.index(name), image(fact, self.mapping).args
                fitting = [
                    other.args[place]
                    for other in self._like[fact.predicate, len(fact.args)]
                    if other.args[place] in self.true_kinds
                    and other.args[place] not in taken
                    and self._same_kind(name, other.args[place])
                    and all(n == place or arg == wanted[n] for n, arg in enumerate(other.args))
                ]
                for candidate in fitting:
                    ballot[candidate] += 1 / len(fitting)
        return {candidate: votes + self._resemblance(name, candidate) for candidate, votes in ballot.items()}

    def _likeness(self, name: str) -> dict[str, float]:
        """The unmatched counterparts with similar facts, and their similarity."""
        taken = set(self.mapping.values())
        free = (other for other in self.true_kinds if other not in taken and self._same_kind(name, other))
        alike = {other: self._resemblance(name, other) for other in free} if self._facts[name] else {}
        return {other: likeness for other, likeness in alike.items() if likeness}

    def _resemblance(self, name: str, other: str) -> float:
        """The distance up to which all facts around both objects are alike, scaled to less than one vote."""
        pairs = zip(self._surroundings[name], self._true_surroundings[other], strict=True)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) / (10 * _ROUNDS)

    def _choice(self, name: str, ballot: Mapping[str, float]) -> str:
        """The counterpart with most votes; among equal ones the previous counterpart, or the one with the same name."""
        best = max(ballot.values())
        choices = sorted(candidate for candidate, votes in ballot.items() if votes > best - 1e-9)
        return next((choice for choice in (self._before.get(name), name) if choice in choices), choices[0])


_ROUNDS = 4
"""Maximum distance, in facts, at which the surroundings of two objects are compared."""


def _surroundings(kinds: Mapping[str, str], facts: Collection[Atom]) -> dict[str, tuple[int, ...]]:
    """Digests of each object's surroundings at the distances 1 to `_ROUNDS` (colour refinement)."""
    colours: dict[str, list[int]] = {name: [hash(kind)] for name, kind in kinds.items()}
    for _ in range(_ROUNDS):
        views: dict[str, list[int]] = {name: [] for name in kinds}
        for fact in facts:
            seen = tuple([colours[arg][-1] if arg in colours else hash(arg) for arg in fact.args])
            for place, arg in enumerate(fact.args):
                if arg in views:
                    views[arg].append(hash((fact.predicate, place, seen)))
        for name, view in views.items():
            colours[name].append(hash(tuple(sorted(view))))
    return {name: tuple(rounds[1:]) for name, rounds in colours.items()}


def _lead(ballot: Mapping[str, float]) -> tuple[float, float]:
    """The lead of the best candidate over the second, and its votes."""
    first, second = (*sorted(ballot.values(), reverse=True)[:2], 0.0, 0.0)[:2]
    return first - second, first
