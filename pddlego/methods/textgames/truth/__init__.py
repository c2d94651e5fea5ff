"""Checks the facts of a model's problems against a reference, which reads the same observations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from pddlego.episode.events import Accepted, Event, Rejected
from pddlego.episode.trace import Trace
from pddlego.errors import ModelError
from pddlego.methods.textgames.events import FactsChecked, GameRead, Observed, Resumed
from pddlego.methods.textgames.formalize import Exchange, Formalizer, Observations, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.problems import PddlEdit
from pddlego.methods.textgames.games import Closes, ReportsFacts
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.memory import Placeholders
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import ClaimRule, FactRule, GameSetting
from pddlego.methods.textgames.truth.judge import Judge, Renamed
from pddlego.models import Model
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, Domain, Formula, PddlSyntaxError, Problem, TypedName, parse_problem, to_name
from pddlego.planning.world import World

_TRIES = 3
"""Maximum number of answers of a reference to the same question."""


class Follows(Protocol):
    """A reference that follows an episode. `knowledge` is its knowledge after the last observation."""

    knowledge: Knowledge

    def read(self, observed: Observed) -> Renamed:
        """Update the knowledge with an observation. Returns the renamed objects as pairs of old and new names."""

    def close(self) -> None:
        """Close the reference at the end of the episode."""


class Reference:
    """A reference whose problem is edited by `model`, which is the built-in reader by default.

    The model has up to `_TRIES` attempts at a usable answer.
    """

    def __init__(self, setting: GameSetting, model: Model | None = None) -> None:
        self._rules, self._observing = setting.reader, setting.observing
        self.knowledge = setting.reader.reference or setting.start
        self._method = PddlEdit(Prompts(setting.asking.prompts))
        self._model = model or ReaderModel()
        self._placeholders = Placeholders(self.knowledge.placeholder)
        self._history: list[Exchange] = []
        self._task = ""
        self._score = 0.0

    def close(self) -> None:
        """Do nothing: this reference has no resources."""

    def read(self, observed: Observed) -> Renamed:
        """Update the problem with an observation, and return the renamed objects. Raises `ModelError`."""
        exchange = Exchange(observed.command, observed.read)
        if self._observing.score and observed.command is not None:
            exchange = Exchange(observed.command, observed.read, observed.score, observed.score - self._score)
        self._score = observed.score
        self._task = observed.task or self._task
        self._history.append(exchange)
        seen = Observations((exchange,), tuple(self._history))
        rules = replace(self._rules, reference=None)
        situation = PromptContext(self.knowledge, self._task, seen, placeholder=self._placeholders.next, reader=rules)
        for _ in range(_TRIES):
            completion = self._model.complete(self._method.request(situation))
            proposal = self._method.read(completion.text, situation)
            if proposal.feedback is None:
                self.knowledge = self.knowledge.with_problem(proposal.problem)
                self._placeholders.used(proposal.problem)
                return proposal.renamed
        reason = " ".join((proposal.feedback.message if proposal.feedback else "", *proposal.faults[:1]))
        raise ModelError("The reference has no usable answer", reason, "Compare with another model, or the reader.")


class Checker:
    """Compares every problem of an episode with a reference, event by event."""

    def __init__(self, setting: GameSetting, method: Formalizer, reference: Follows) -> None:
        self._setting, self._method, self._reference = setting, method, reference
        self._judge = Judge(setting.claims, reference.knowledge.placeholder)
        self._known, self._step, self._trace = setting.start, 0, Trace()

    def close(self) -> None:
        """Close the reference."""
        self._reference.close()

    def after(self, event: Event) -> Iterator[FactsChecked]:
        """Check the problem of an event, if it has one. Raises `ModelError` if the reference cannot answer."""
        self._trace.add(event, 0.0)
        if isinstance(event, Observed) and not event.repeated:
            self._step = event.step
            renamed = self._reference.read(event)
            self._judge.reference_changed(self._reference.knowledge.problem, renamed)
        judged = self._trace.calls if isinstance(event, Rejected) else ()
        if answers := [call.completion.text for call in judged if call.verdict is event]:
            situation = PromptContext(self._known, answers=tuple(answers[:-1]), reader=self._setting.reader)
            proposal = self._method.read(answers[-1], situation)
            if isinstance(proposal, ProblemProposal):
                checked = self._checked(proposal.problem, proposal.renamed, rejected=True)
                yield replace(checked, unread=proposal.knowledge is situation.knowledge)
        problem = _claimed(event)
        if problem is not None:
            self._known = self._known.with_problem(problem)
            yield self._checked(problem, event.renamed if isinstance(event, Accepted) else ())

    def _checked(self, problem: Problem, renamed: Renamed, *, rejected: bool = False) -> FactsChecked:
        return self._judge.judge(problem, self._reference.knowledge, renamed, self._step, rejected=rejected)


class GameReader:
    """Adds the reference's problem to episodes in which the model writes no problem."""

    def __init__(self, reference: Follows) -> None:
        self._reference = reference

    def close(self) -> None:
        """Close the reference."""
        self._reference.close()

    def after(self, event: Event) -> Iterator[GameRead]:
        """The reference's problem after an observation; nothing if the reference cannot read the observation."""
        if isinstance(event, Observed) and not event.repeated:
            with suppress(ModelError):  # the episode does not need it
                self._reference.read(event)
                yield GameRead(str(self._reference.knowledge.problem))


def with_checks(events: Iterable[Event], checker: Checker | GameReader) -> Generator[Event, None, None]:
    """The events of an episode, each followed by the checker's events about it."""
    for event in events:
        yield event
        yield from checker.after(event)


def _claimed(event: Event) -> Problem | None:
    """The problem of an event; None if the event has none or a damaged journal has an invalid one."""
    text = event.corrected or event.before if isinstance(event, Resumed) else ""
    if isinstance(event, Accepted) and event.kind == "problem":
        text = event.text
    try:
        return parse_problem(text) if text else None
    except PddlSyntaxError:
        return None


Words = tuple[str, ...]
"""A fact of a game, as its predicate and the names of its things, or a pattern of such facts."""


class GameFacts:
    """A reference with the facts of a second game, in which it repeats the commands of the episode.

    The rules `[facts]` of the setting translate the game's facts. Only facts that the player can know are kept: the
    conditions are in these rules or in the table `[claims]`.
    """

    def __init__(self, setting: GameSetting, game: ReportsFacts) -> None:
        self.knowledge = setting.reader.reference or setting.start
        self._setting, self._game = setting, game
        self._ever: dict[Atom, Formula | None] = {}

    def read(self, observed: Observed) -> Renamed:
        """Repeat the command of an observation. Objects are never renamed. Raises `EngineError`."""
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
        self.knowledge = self.knowledge.with_problem(self._knowable(now | self._ever))
        return ()

    def close(self) -> None:
        """Close the game."""
        if isinstance(self._game, Closes):
            self._game.close()

    def _knowable(self, conditions: Mapping[Atom, Formula | None]) -> Problem:
        """The problem with those facts that the player can know, and with their objects."""
        domain, facts = self.knowledge.domain, frozenset(conditions)
        world = World(domain, replace(self.knowledge.problem, objects=_objects(domain, facts), facts=facts))

        def is_known(fact: Atom, condition: Formula | None) -> bool:
            claim = self._setting.claims.get(fact.predicate, ClaimRule())
            needed = condition or claim.known
            if needed is None:
                return not claim.opinion
            names = (parameter.name for parameter in domain.predicates_by_name[fact.predicate].parameters)
            return world.holds(needed, world.initial, dict(zip(names, fact.args, strict=True)))

        known = frozenset(fact for fact, condition in conditions.items() if is_known(fact, condition))
        return replace(self.knowledge.problem, objects=_objects(domain, known), facts=known)


def _objects(domain: Domain, facts: frozenset[Atom]) -> frozenset[TypedName]:
    """The objects of facts. The type of an object is the most specific one that a predicate requires."""
    kinds: dict[str, str] = {constant.name: constant.type for constant in domain.constants}
    own: dict[str, str] = {}
    for fact in facts:
        for name, parameter in zip(fact.args, domain.predicates_by_name[fact.predicate].parameters, strict=True):
            if name not in kinds and domain.is_a(parameter.type, own.get(name, parameter.type)):
                own[name] = parameter.type
    return frozenset(TypedName(name, kind) for name, kind in own.items())


def _derived(rule: FactRule, facts: Mapping[str, Sequence[Words]], text: str, task: str) -> Iterator[Atom]:
    """The facts of the setting's domain that a rule derives from the game's facts."""
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
    """All bindings of the variables of the patterns (`?x`) with which every pattern is a fact."""
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
