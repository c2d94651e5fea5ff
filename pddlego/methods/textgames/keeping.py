"""What the plans of an episode must keep: verdicts on what has happened, and the constraints of the next plan."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product

from pddlego.episode.budget import EpisodeOver
from pddlego.episode.events import Accepted, Event, Outcome
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.events import (
    BROKEN,
    BROKEN_UNKNOWN,
    KEPT,
    PREVENTS,
    UNSEEN,
    ConstraintJudged,
    Observed,
    Planned,
    PlannedStep,
)
from pddlego.methods.textgames.formalize.constraint import CONSTRAINT, named_in, read_kept
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.world import Intention, printed_names
from pddlego.pddl import TRUE, Atom, Formula, TypedName, parse_problem, same_name
from pddlego.pddl.conditions import And, Equal, Forall, Not, Or, Renaming, Trajectory, with_parts
from pddlego.planning import PlanStatus, PlanStep, Rung
from pddlego.planning.state import State
from pddlego.planning.trajectories import AT_END, Monitor, instances
from pddlego.planning.unconstrained import quantified
from pddlego.planning.world import World

Facts = frozenset[Atom]


class Keeper:
    """Follows the states of an episode: after each command, what the agent knew when it sent the next one.

    A room without a name may be any room that the constraint names. `unknown` says whether plans `avoid` such rooms as
    long as there is another plan, `allow` them, or `never` enter them.
    """

    def __init__(self, unknown: str, start: Knowledge) -> None:
        self.constraint: Formula = TRUE
        self._unknown, self._knowledge = unknown, start
        self._states: list[Facts] = []
        self._plan = deque[PlannedStep]()
        self._named: Mapping[str, str] = {}
        self._entered = ""
        self._broken, self._seen, self._prevents = set[str](), set[str](), False

    def follow(self, events: Iterable[Event]) -> Generator[Event, None, None]:
        """The events of an episode, each followed by the verdicts on the constraint; at the end, the last verdict."""
        try:
            for event in events:
                yield event
                yield from self._take(event)
        except EpisodeOver:
            unsatisfied = [own for own in self._monitor(self._states).unsatisfied() if str(own) not in self._broken]
            yield from (self._last_verdict(own, BROKEN) for own in unsatisfied)
            if self._prevents:
                yield self._last_verdict(self.constraint, PREVENTS)
            if self._states and not (unsatisfied or self._broken):
                yield self._last_verdict(self.constraint, KEPT)
            raise

    def _last_verdict(self, constraint: Formula, verdict: str) -> ConstraintJudged:
        """A verdict at the end, with the names that never appeared: what is about them may be kept by chance."""
        names = (one.name for one in named_in(self._knowledge.domain, constraint))
        unseen = tuple(name for name in names if name not in self._seen)
        verdict = UNSEEN if unseen and verdict == KEPT else verdict
        return replace(self._verdict(str(constraint), verdict), unseen=unseen)

    def prevents(self, planned: Planned) -> str:
        """Blame the constraint that no goal has a plan, and return the reason; the verdict follows at the end."""
        self._prevents = True
        when = " in time" if any(rung.status is PlanStatus.TIMEOUT for rung in planned.tried) else ""
        return f"no plan was found{when} that keeps {self.constraint}, and without it there is a plan"

    def _take(self, event: Event) -> Iterator[ConstraintJudged]:
        """Take the next event. Raises `EpisodeOver` if the first state breaks the constraint."""
        match event:
            case ConstraintJudged() if not self._states:  # before the episode was resumed
                self._broken.add(event.constraint)
            case Accepted() if event.kind == CONSTRAINT:
                self.constraint = read_kept(event.text)[0]
            case Accepted(kind="problem") if self.constraint != TRUE:
                self._knowledge = self._knowledge.with_problem(parse_problem(event.text))
                self._states[-1:] = [self._knowledge.problem.facts]
                self._named = {}
                self._seen |= {one.name for one in self._knowledge.problem.objects}
                broken = [*self._judged(is_known=True)]
                yield from broken
                if broken and len(self._states) == 1:
                    raise EpisodeOver(Outcome.NO_PLAN, f"{broken[0].constraint} is broken at the start")
            case Planned():
                self._plan = deque(event.plan)
            case Observed() if event.command is not None and self._states and not (event.free or event.repeated):
                is_planned = bool(self._plan) and same_name(self._plan[0].command, event.command) and not event.refused
                yield from self._moved(self._plan.popleft() if is_planned else PlannedStep("", ""), event.text)

    def _moved(self, step: PlannedStep, text: str) -> Iterator[ConstraintJudged]:
        """Add the state after a step: as the plan predicts it, with the names that the game prints."""
        before, names = self._states[-1], dict[str, str]()
        added, removed = (frozenset(map(_atom, facts)) for facts in (step.added, step.removed))
        if added or removed:
            names = printed_names(self._knowledge, PlanStep.read(step.action), text)
            after = (before - removed) | _renamed(added, self._named)
            self._entered = self._risk(before, after) or self._entered
        self._named = {**self._named, **names}
        self._seen |= {*names.values()}
        self._states.append((before - removed) | _renamed(added, names))
        yield from self._judged(is_known=bool(names))

    def _judged(self, is_known: bool) -> Iterator[ConstraintJudged]:
        """The verdicts on the last state, and on a room that was entered without its name, if that `is_known` now."""
        room, broken = self._entered, [*self._newly_broken(self._states)]
        self._broken.update(broken)
        yield from (self._verdict(own, BROKEN_UNKNOWN if room else BROKEN, room) for own in broken)
        if room and is_known and not broken:
            yield self._verdict(str(self.constraint), KEPT, room)
        self._entered = "" if is_known else room

    def _verdict(self, constraint: str, verdict: str, room: str = "") -> ConstraintJudged:
        forced = bool(room) and self._unknown == "avoid"
        return ConstraintJudged(len(self._states) - 1, constraint, verdict, room, forced)

    def _monitor(self, states: Iterable[Facts]) -> Monitor:
        """The constraint about the things that are known now, after these states."""
        problem, named = self._knowledge.problem, self._named
        objects = frozenset(replace(one, name=named.get(one.name, one.name)) for one in problem.objects)
        world = World(self._knowledge.domain, replace(problem, objects=objects))
        monitor = Monitor(world, instances(world, self.constraint))
        for number, facts in enumerate(states):
            monitor.observe(State(facts), Fraction(number))
        return monitor

    def _newly_broken(self, states: Sequence[Facts]) -> Iterator[str]:
        unsatisfied = self._monitor(states).unsatisfied()
        return (str(own) for own in unsatisfied if own.operator not in AT_END and str(own) not in self._broken)

    def ladders(self, knowledge: Knowledge, rungs: tuple[Rung, ...]) -> Iterator[tuple[Rung, ...]]:
        """The goals with what their plans must keep; first without rooms that have no name, then with them.

        What only the end can break is kept for the last goal of the game, because plans for others are not its end.
        All engines may plan: conditional effects, with which facts look back, multiply the operators of pyperplan.
        """
        self._knowledge = knowledge
        rest = [*self._monitor([*self._states[:-1], knowledge.problem.facts]).rest()]
        names = {one.name for one in (*knowledge.domain.constants, *knowledge.problem.objects)}
        careful = [] if self._unknown == "allow" else [*_about_rooms(rest, knowledge)]
        if not rest:
            yield rungs
            return
        for every in ([*rest, *careful], rest) if careful else (rest,):
            safe = [own for own in every if own.operator not in AT_END]
            last = knowledge.ladder[0].goal if safe != every else None
            yield tuple(
                replace(
                    rung,
                    constraints=And(tuple(_about_known(own, names) for own in (every if rung.goal == last else safe))),
                    ends=rung.goal == last,
                    search=replace(rung.search, engine="auto"),
                )
                for rung in rungs
            )

    def forbids(self, step: PlanStep) -> str:
        """The room without a name for which no plan may begin with a step; empty without one."""
        world = World(self._knowledge.domain, self._knowledge.problem)
        after = frozenset(world.after(step, world.initial).facts) if self._unknown == "never" else frozenset()
        return self._risk(self._knowledge.problem.facts, after)

    def stops(self, intention: Intention, unread: bool) -> bool:
        """Whether a plan ends before a step, because the game has named what it would break.

        It also ends before a room without a name if something `unread` may name it, or if none is ever entered.
        """
        if intention.after is None or not self._states:
            return False
        after, may_enter = _renamed(intention.after, self._named), not unread and self._unknown != "never"
        is_broken = next(self._newly_broken([*self._states, after]), None) is not None
        return is_broken or not (may_enter or not self._risk(self._states[-1], after))

    def _risk(self, before: Facts, after: Facts) -> str:
        """A room without a name that breaks the constraint after a step if it has a name of it; empty without one."""
        rooms = {arg for fact in after - before for arg in fact.args if self._knowledge.is_placeholder(arg)}
        known = {one.name for one in self._knowledge.problem.objects}
        named = [one for one in named_in(self._knowledge.domain, self.constraint) if one.name not in known]
        for room, one in product(sorted(rooms), named):
            states = [*self._states[:-1], before, _renamed(after, {room: one.name})]
            if next(self._newly_broken(states), None) is not None:
                return room
        return ""


def kept(trace: Trace) -> str:
    """Whether the constraint was kept: yes, no, broken by an unknown room, or untested; empty without one."""
    verdicts = {event.verdict for event in trace.all(ConstraintJudged)}
    found = next((verdict for verdict in (BROKEN, BROKEN_UNKNOWN, UNSEEN) if verdict in verdicts), KEPT)
    return {BROKEN: "no", KEPT: "yes"}.get(found, found) if verdicts else ""


TESTED = ("yes", "no", BROKEN_UNKNOWN)
"""Whether a constraint was kept, if anything that it is about appeared."""


def prevents_plans(trace: Trace) -> str:
    """The constraint because of which an episode ended; empty without one."""
    return next((event.constraint for event in trace.all(ConstraintJudged) if event.verdict == PREVENTS), "")


def constraint_text(recorded: Trace) -> str:
    """The constraint of a recorded episode in PDDL; empty without one."""
    accepted = recorded.last(Accepted, where=lambda event: event.kind == CONSTRAINT)
    return accepted.text if accepted else ""


def constraint_after(part: Trace, start: Knowledge) -> tuple[str, tuple[ConstraintJudged, ...]]:
    """What must be kept after a part of an episode, empty without a constraint; and what was broken in it.

    What holds `forall` things also holds for those that are named later, and is stated without those for which nothing
    is left.
    """
    keeper = Keeper("allow", start)
    judged = list[Event]()
    with suppress(EpisodeOver):  # which ends an episode whose start breaks the constraint
        judged.extend(keeper.follow(part.events))
    if not constraint_text(part):
        return "", ()
    monitor = keeper._monitor(keeper._states)
    finished = frozenset(monitor.finished())
    every = quantified(keeper.constraint, ())
    later = (_for_others(own, variables, monitor.world, finished) for own, variables in every if variables)
    verdicts = {event.constraint: event for event in judged if isinstance(event, ConstraintJudged)}
    broken = tuple(event for text, event in verdicts.items() if text in keeper._broken)
    return str(And((*monitor.rest(), *later))), broken


def _for_others(
    own: Trajectory, variables: tuple[TypedName, ...], world: World, finished: Collection[Trajectory]
) -> Formula:
    """A constraint `forall` things without those for which it is `finished`."""
    cases = (
        tuple(Equal(name, value) for name, value in binding.items())
        for binding in world.bindings(variables, {})
        if replace(own, parts=tuple(map(Renaming(binding).formula, own.parts))) in finished
    )
    if done := tuple(map(And, cases)):
        first, *rest = own.parts
        first = Or((first, *done)) if own.operator in ("always", "sometime") else And((first, Not(Or(done))))
        own = replace(own, parts=(first, *rest))
    return Forall(variables, own)


def _about_rooms(rest: Iterable[Trajectory], knowledge: Knowledge) -> Iterator[Trajectory]:
    """The constraints as they are if a room without a name is a room that they name."""
    rooms = [one for one in knowledge.problem.sorted_objects() if knowledge.is_placeholder(one.name)]
    known = {one.name for one in knowledge.problem.objects}
    for own in rest:
        named = named_in(knowledge.domain, own.parts[0]) if own.operator in ("always", "sometime-before") else ()
        for one in (one for one in named if one.name not in known):
            fitting = (room.name for room in rooms if knowledge.domain.is_a(room.type, one.type))
            yield from (
                replace(own, parts=(Renaming({one.name: room}).formula(own.parts[0]), *own.parts[1:]))
                for room in fitting
            )


def _about_known(formula: Formula, names: set[str]) -> Formula:
    """The constraint without facts about things that are not known yet, which are false."""
    if isinstance(formula, Equal):
        return And(()) if formula.left == formula.right else Or(())
    if isinstance(formula, Atom):
        return formula if all(arg.startswith("?") or arg in names for arg in formula.args) else Or(())
    return with_parts(formula, lambda part: _about_known(part, names))


def _atom(text: str) -> Atom:
    step = PlanStep.read(text)
    return Atom(step.action, step.args)


def _renamed(facts: Facts, names: Mapping[str, str]) -> Facts:
    return frozenset(map(Renaming(names).atom, facts)) if names else facts
