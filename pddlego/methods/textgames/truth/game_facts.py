"""A problem that is built from the true facts of a game, where its engine reports them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.games import Closes, ReportsFacts
from pddlego.methods.textgames.settings import ClaimRule, FactRule, GameSetting
from pddlego.methods.textgames.truth.judge import Renamed
from pddlego.pddl import Atom, Domain, Formula, Problem, TypedName, to_name
from pddlego.planning.world import World

Words = tuple[str, ...]
"""A fact of a game: a predicate and the names of things."""


class GameFacts:
    """Follows an episode in a game of its own, and keeps those true facts that the player can know.

    The rules of the setting (`[[facts]]`) translate the game's facts; they or the table `[claims]` say when
    a fact can be known.
    """

    def __init__(self, setting: GameSetting, game: ReportsFacts) -> None:
        self.known = setting.reader.reference or setting.start
        self._setting, self._game = setting, game
        self._ever: dict[Atom, Formula | None] = {}

    def read(self, observed: Observed) -> Renamed:
        """Take in an answer of the episode's game. Objects have the game's names. Raises `EngineError`."""
        if observed.command is None:
            self._game.start()
        elif not observed.free:
            self._game.step(observed.command)
        facts: dict[str, list[Words]] = defaultdict(list)
        now: dict[Atom, Formula | None] = {}
        for fact in self._game.facts():
            facts[fact[0]].append(fact)
        for reading in self._setting.facts:
            derived = dict.fromkeys(_derived(reading.rule, facts, observed.text, self._game.task), reading.known)
            now |= derived
            self._ever |= derived if reading.rule.stays else {}
        self.known = self.known.with_problem(self._knowable(now | self._ever))
        return ()

    def close(self) -> None:
        """Close the game."""
        if isinstance(self._game, Closes):
            self._game.close()

    def _knowable(self, conditions: Mapping[Atom, Formula | None]) -> Problem:
        """The problem with the facts that can be known, and their objects."""
        domain, facts = self.known.domain, frozenset(conditions)
        world = World(domain, replace(self.known.problem, objects=_objects(domain, facts), facts=facts))

        def is_known(fact: Atom, condition: Formula | None) -> bool:
            claim = self._setting.claims.get(fact.predicate, ClaimRule())
            needed = condition or claim.known
            if needed is None:
                return not claim.opinion
            names = (parameter.name for parameter in domain.predicates_by_name[fact.predicate].parameters)
            return world.holds(needed, facts, dict(zip(names, fact.args, strict=True)))

        known = frozenset(fact for fact, condition in conditions.items() if is_known(fact, condition))
        return replace(self.known.problem, objects=_objects(domain, known), facts=known)


def _objects(domain: Domain, facts: frozenset[Atom]) -> frozenset[TypedName]:
    """The objects of facts, each with the most special type that a predicate has for it."""
    kinds: dict[str, str] = {constant.name: constant.type for constant in domain.constants}
    own: dict[str, str] = {}
    for fact in facts:
        for name, parameter in zip(fact.args, domain.predicates_by_name[fact.predicate].parameters, strict=True):
            if name not in kinds and domain.is_a(parameter.type, own.get(name, parameter.type)):
                own[name] = parameter.type
    return frozenset(TypedName(name, kind) for name, kind in own.items())


def _derived(rule: FactRule, facts: Mapping[str, Sequence[Words]], text: str, task: str) -> Iterator[Atom]:
    """The facts that a rule gives."""
    matches = (re.search(rule.text, text), re.search(rule.task, task))
    if not all(matches):
        return
    groups = {f"?{name}": value for match in matches if match for name, value in match.groupdict().items()}
    for binding in _bindings([tuple(pattern.split()) for pattern in rule.when], facts, groups):
        for template in rule.add:
            words = (binding.get(word, word) for word in template.strip("()").split())
            predicate, *names = words
            yield Atom(predicate, tuple(map(to_name, names)))


def _bindings(
    patterns: Sequence[Words], facts: Mapping[str, Sequence[Words]], bound: Mapping[str, str]
) -> Iterator[Mapping[str, str]]:
    """Every way to give the variables of the patterns (`?x`) names, so that each pattern is a fact."""
    if not patterns:
        yield bound
        return
    first, *others = patterns
    for fact in facts.get(first[0], ()):
        names = dict(bound)
        pairs = zip(first, fact, strict=False)
        if len(fact) == len(first) and all(
            names.setdefault(word, name if word.startswith("?") else word) == name for word, name in pairs
        ):
            yield from _bindings(others, facts, names)
