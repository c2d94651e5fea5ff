"""The policy of mode `edit+learn-actions`: it plans with actions that play taught, and tries unknown ones.

No action is known at first. After each command the new problem, which a model wrote as in mode `edit`, is compared with
the one before: that is what the command taught. `ExploringPolicy._climb` has the order of plans and experiments.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pddlego.episode.budget import EpisodeOver
from pddlego.episode.events import Accepted, Event
from pddlego.episode.loop import Retry
from pddlego.errors import ModelError
from pddlego.methods.textgames.agent import Intentions, PlanningPolicy
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep
from pddlego.methods.textgames.formalize import ProblemProposal
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.lessons import Lessons, transition_between
from pddlego.methods.textgames.options import TRANSITIONS
from pddlego.methods.textgames.world import Intention, intended, mismatch
from pddlego.pddl import Atom, Domain, Problem, from_name, same_name
from pddlego.planning import PlanStatus, PlanStep
from pddlego.planning.ladder import Rung, TriedRung, climb
from pddlego.planning.learning.transitions import write_transitions
from pddlego.planning.world import World
from pddlego.util.limits import Work
from pddlego.util.text import names_in

TRY = "try an unknown action"
"""The name of the goal of an experiment."""

_ELSEWHERE = "try unknown actions elsewhere"

_MOST_STEPS = 20_000
"""The maximum number of steps of an action that are considered for an experiment."""


class ExploringPolicy(PlanningPolicy):
    """Plans with learned actions, one step at a time, and experiments where no plan is found."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        text = self.setting.sources.get(TRANSITIONS.option, "")
        self._lessons = self._next = Lessons.begin(self.setting, text)
        self._sent: tuple[Problem, PlanStep, int] | None = None
        self._vain = set[tuple[PlanStep | str, frozenset[Atom]]]()

    def _climb(self, proposal: ProblemProposal) -> tuple[Intentions, Planned]:
        self._next = self._taught(proposal)
        knowledge, tried = proposal.knowledge, list[TriedRung]()
        safe, likely, possible = self._next.domains
        ends, explores = (tuple(rung for rung in knowledge.ladder if rung.explores is one) for one in (False, True))

        def climbed(domain: Domain, ladder: tuple[Rung, ...]) -> tuple[Intentions, Planned]:
            return super(ExploringPolicy, self)._climb(
                replace(proposal, knowledge=replace(knowledge, domain=domain, ladder=ladder))
            )

        for way in (
            partial(climbed, safe, ends),
            partial(self._experiment, knowledge, connected=True),
            partial(climbed, safe, explores),
            partial(climbed, likely, knowledge.ladder),
            partial(self._experiment, knowledge, connected=False),
            partial(self._elsewhere, knowledge, safe),
            partial(climbed, possible, knowledge.ladder),
        ):
            intentions, planned = way()
            if intentions:
                break
            tried += planned.tried
        # What the plan expects is not certain: no answer is compared with it, and only its first command is sent.
        first = tuple(Intention(one.command, one.step) for one in intentions[:1])
        if first and first[0].step is not None:
            self._sent = proposal.problem, first[0].step, len(self._memory.history)
        return first, planned if intentions else replace(planned, tried=tuple(tried))

    def _taught(self, proposal: ProblemProposal) -> Lessons:
        """The lessons of the last command, after which the problem is that of the proposal."""
        if self._sent is None:
            return self._lessons
        before, step, number = self._sent
        exchanges = [one for one in self._memory.history[number:] if one.command is not None and one.undone is None]
        if len(exchanges) != 1:
            return self._lessons
        exchange, after = exchanges[0], proposal.problem if not exchanges[0].refused else None
        if not same_name(exchange.command or "", self.knowledge.command(step)):  # the user's command, or the game's
            return self._lessons
        if exchange.refused:
            self._vain |= {(step, _around(before, step)), (exchange.command or "", before.facts)}
        elif mismatch(self.knowledge, step, exchange.text, [one.text for one in self._memory.history[:number]]):
            return self._lessons
        taught = transition_between(self.setting, before, step, after, proposal.renamed)
        return self._lessons if taught is None else self._lessons.with_transition(taught)

    def _events_of(self, proposal: ProblemProposal, source: Any) -> tuple[Accepted, ...]:
        return *super()._events_of(proposal, source), *self._lesson_events()

    def _lesson_events(self) -> tuple[Accepted, ...]:
        if self._next is self._lessons:
            return ()
        old, new = self._lessons.transitions, self._next.transitions
        added, removed = (
            tuple(f"{one.action}{'' if one.after is not None else ' refused'}" for one in ours if one not in theirs)
            for ours, theirs in ((new, old), (old, new))
        )
        return (Accepted(TRANSITIONS.kind, write_transitions(new), added, removed),)

    def _accept(self, proposal: ProblemProposal, source: Any) -> Iterator[Accepted]:
        yield from super()._accept(proposal, source)
        self._lessons = self._next

    def over(self, observed: Observed) -> Generator[Event, None, None]:
        """Learn from the last command: the model reads its answer; what lost the game counts as refused."""
        if self._sent is None:
            return
        if observed.lost:
            taught = transition_between(self.setting, *self._sent[:2], None)
            self._next = self._lessons if taught is None else self._lessons.with_transition(taught)
            yield from self._lesson_events()
            return
        try:
            completion, situation = yield from self._ask(self._situation(Retry()))
        except (EpisodeOver, ModelError):  # no answer: the game is over anyway
            return
        proposal = self._read(completion, situation)
        if isinstance(proposal, ProblemProposal) and proposal.feedback is None:
            self._next = self._taught(proposal)
            yield from self._accept(proposal, "model")

    def _experiment(self, knowledge: Knowledge, connected: bool) -> tuple[Intentions, Planned]:
        """The most promising step of an action that never succeeded. `connected`: facts connect its arguments."""
        failures = {one.name: one.failures for one in self._next.actions.values() if not one.successes}
        constants = {one.name for one in knowledge.domain.constants}
        refused = {_pattern(one.before, one.action, constants) for one in self._next.transitions if one.after is None}
        facts = Counter(fact.args for fact in knowledge.problem.facts)
        known = {arg for args in facts for arg in args}
        world = World(knowledge.domain, knowledge.problem, Work())
        best: tuple[tuple[object, ...], PlanStep] | None = None
        for name in failures:
            kinds = [world.of_type(one.type) for one in knowledge.domain.actions_by_name[name].parameters]
            kinds = [[name for name in names if name in known] for names in kinds]
            lines = self._beginning_with(from_name(name).split(" ")[0])
            for args in itertools.islice(itertools.product(*kinds), _MOST_STEPS):
                step = PlanStep(name, args)
                inside = [group for group in _groups(args) if facts[group]]
                loose, is_named = _parts(args, inside), bool(lines) and _names_all(knowledge, step, lines)
                if connected and (loose or not args or failures[name]) and not is_named:
                    continue
                alone = tuple(-facts[arg,] for arg in args)  # the agent's place has most facts
                score = -sum(facts[group] for group in inside)
                rank = not is_named, False, loose, failures[name], score, alone, str(step)
                if best is not None and rank >= best[0]:
                    continue
                again = _pattern(knowledge.problem.facts, step, constants) in refused
                rank = not is_named, again, *rank[2:]
                if not (connected and again) and (best is None or rank < best[0]) and self._is_new(knowledge, step):
                    best = rank, step
        return _to_try(knowledge, best[1] if best else None)

    def _beginning_with(self, verb: str) -> list[str]:
        """The lines of the game that begin with a word."""
        lines = (line.strip() for exchange in self._memory.history for line in exchange.text.splitlines())
        return [line for line in lines if line.lower().startswith(f"{verb} ")]

    def _is_new(self, knowledge: Knowledge, step: PlanStep) -> bool:
        """Whether a step has a command that was not refused in the same situation."""
        command = knowledge.command(step)
        tried = (step, _around(knowledge.problem, step)), (command, knowledge.problem.facts)
        return bool(command) and self._vain.isdisjoint(tried)

    def _elsewhere(self, knowledge: Knowledge, domain: Domain) -> tuple[Intentions, Planned]:
        """A plan to be at another place."""
        where = self.setting.map
        if where is None:
            return (), Planned((), None, ())
        there = replace(knowledge, domain=domain)
        rooms = World(domain, knowledge.problem, Work()).of_type(where.room)
        goals = (Atom(where.here, (room,)) for room in rooms)
        rungs = [Rung(_ELSEWHERE, goal) for goal in goals if goal not in knowledge.problem.facts]
        return (
            intended(there, climb(self._planner, domain, knowledge.problem, rungs)) if rungs else _to_try(there, None)
        )


def _to_try(knowledge: Knowledge, step: PlanStep | None) -> tuple[Intentions, Planned]:
    """The command of an experiment, and its event; no command without a step."""
    status = PlanStatus.UNSOLVABLE if step is None else PlanStatus.SOLVED
    tried = TriedRung(TRY, status, "" if step else "each was refused here", 0.0, 0 if step is None else 1)
    if step is None:
        return (), Planned((tried,), None, ())
    command = knowledge.command(step)
    return (Intention(command, step),), Planned((tried,), TRY, (PlannedStep(str(step), command),))


def _around(problem: Problem, step: PlanStep) -> frozenset[Atom]:
    """The facts on which a step may depend: those about its arguments, or about no other objects; all without any."""
    objects = {one.name for one in problem.objects} - {*step.args}
    return frozenset(
        fact for fact in problem.facts if not step.args or objects.isdisjoint(fact.args) or {*step.args} & {*fact.args}
    )


def _names_all(knowledge: Knowledge, step: PlanStep, lines: Iterable[str]) -> bool:
    """Whether a line names all things of a step's command."""
    wanted = names_in(knowledge.actions[step.action].command)
    words = [from_name(arg) for name, arg in knowledge.arguments(step).items() if name.lstrip("?") in wanted]
    return any(all(word in line for word in words) for line in lines)


def _pattern(facts: Iterable[Atom], step: PlanStep, constants: Collection[str]) -> object:
    """What is true of the arguments of a step, whatever their names; without arguments, of the constants."""
    places: Mapping[str, object] = {arg: n for n, arg in enumerate(step.args)} or {name: name for name in constants}
    about = (fact for fact in facts if places.keys() >= {*fact.args})
    return step.action, frozenset((fact.predicate, *(places[arg] for arg in fact.args)) for fact in about)


def _groups(args: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The arguments of facts that are about arguments of a step, in the same order."""
    for size in range(1, len(args) + 1):
        yield from itertools.combinations(args, size)


def _parts(args: tuple[str, ...], groups: Iterable[tuple[str, ...]]) -> int:
    """The number of parts, beyond the first, into which the arguments fall if groups of them are connected."""
    parts = [{arg} for arg in dict.fromkeys(args)]
    for group in groups:
        touched = [part for part in parts if part.intersection(group)]
        parts = [part for part in parts if part.isdisjoint(group)] + [set().union(*touched)]
    return max(0, len(parts) - 1)
