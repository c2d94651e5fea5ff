"""The state of a text game after the events of a trace: problem, plan, map, and the changes by the last answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache

from pydantic import ValidationError

from pddlego.episode.events import Accepted, Answered, Rejected, Started, Streamed
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.events import FactsChecked, GameRead, Observed, Planned, Resumed
from pddlego.methods.textgames.options import DOMAIN
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom, PddlSyntaxError, Problem, parse_problem
from pddlego.pddl.partial import problem_so_far
from pddlego.runs.store import last_text

LOG_LENGTH = 50

_NO_CHANGE = Accepted("", "")
_NO_PLAN = Planned((), None, ())


class GameView:
    """The values that the panes of a text game show, computed from a trace when they are first used."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._details = trace.started.details if trace.started is not None else {}

    @cached_property
    def goals(self) -> tuple[str, ...]:
        """The goals of the ladder; empty in modes without plans."""
        goals = self._details.get("goals")
        return tuple(map(str, goals)) if isinstance(goals, (list, tuple)) else ()

    @cached_property
    def map_rule(self) -> MapRule | None:
        try:
            return MapRule.model_validate(self._details.get("map"))
        except ValidationError:  # a journal may hold anything
            return None

    @property
    def has_map(self) -> bool:
        """Whether a map can be drawn: the setting has a map, and the domain predicates for places and exits."""
        rule = self.map_rule
        if rule is None or not self.writes_domain:
            return rule is not None
        return all(f"({name} " in self.domain for name in (rule.here, rule.exit or rule.here))

    @property
    def writes_domain(self) -> bool:
        """Whether the model also writes the domain."""
        return bool(self._details.get("writes_domain"))

    @cached_property
    def domain(self) -> str:
        """The text of the model's own domain."""
        return last_text(self.trace, DOMAIN.kind)

    @cached_property
    def domain_change(self) -> Accepted:
        """The change of the domain by the last answer."""
        place = self.trace.place(Accepted, where=_is_domain)
        accepted = self.trace.last(Accepted, where=_is_domain) if place > self.trace.place(Answered) else None
        return accepted or _NO_CHANGE

    @cached_property
    def change(self) -> Accepted:
        """The change of the problem by the last accepted answer, or by the user's correction."""
        resumed = self.trace.last(Resumed)
        if resumed is not None and self.trace.place(Resumed) > self._accepted_at:
            return Accepted("problem", resumed.corrected or resumed.before, resumed.added, resumed.removed)
        return self.trace.last(Accepted, where=_is_problem) or _NO_CHANGE

    @cached_property
    def problem(self) -> str:
        """The text of the problem; in modes without problems, that of the built-in reader."""
        read = self.trace.last(GameRead)
        is_newer = self.trace.place(GameRead) > max(self._accepted_at, self.trace.place(Resumed))
        return read.problem if read is not None and is_newer else self.change.text

    @property
    def sketched(self) -> bool:
        """Whether the problem is the built-in reader's."""
        return self.trace.last(GameRead) is not None

    @cached_property
    def _accepted_at(self) -> int:
        return self.trace.place(Accepted, where=_is_problem)

    @cached_property
    def planned(self) -> Planned:
        """The plan for the current problem. A plan for an earlier problem may have other names."""
        planned = self.trace.last(Planned)
        return planned if planned is not None and self.trace.place(Planned) > self._accepted_at else _NO_PLAN

    @cached_property
    def _since_plan(self) -> list[Observed]:
        events = self.trace.since(max(self._accepted_at, self.trace.place(Planned)))
        return [event for event in events if isinstance(event, Observed) and not event.free]

    @property
    def executed(self) -> int:
        """The number of executed steps of the plan."""
        return sum(event.command is not None for event in self._since_plan)

    @property
    def mismatch(self) -> str:
        """The difference between the last observation and the plan."""
        return self._since_plan[-1].mismatch if self._since_plan else ""

    @cached_property
    def log(self) -> list[Observed]:
        """The last observations."""
        return self.trace.all(Observed)[-LOG_LENGTH:]

    @cached_property
    def arriving(self) -> Problem | None:
        """The problem with the complete lines of an answer that is being streamed."""
        request = self.trace.request
        is_streaming = request is not None and self.trace.place(Streamed) == len(self.trace) - 1
        text = request.text if is_streaming and request is not None else ""
        return problem_so_far(problem_of(self), text) if self.goals and text else None

    @property
    def waiting(self) -> str:
        """The activity that the agent waits for, except requests to a model; empty if there is no such activity."""
        last = len(self.trace) - 1
        if self.trace.place(Started) == last >= 0:
            return "starting the game engine"
        return "planning" if self.trace.place(Answered) == last >= 0 and self.goals else ""

    @cached_property
    def rejected(self) -> Rejected | None:
        """The last answer if it was rejected."""
        place = self.trace.place(Rejected)
        return self.trace.last(Rejected) if place > self.trace.place(Accepted) else None

    @cached_property
    def checked(self) -> FactsChecked | None:
        """The last check of the problem's facts."""
        return self.trace.last(FactsChecked, where=lambda event: not event.rejected)

    @cached_property
    def errors(self) -> Mapping[str, str]:
        """The verdict on each fact of the problem that is not right, as far as the facts were checked."""
        return {error.fact: error.verdict for error in self.checked.errors} if self.checked is not None else {}


def _is_domain(event: Accepted) -> bool:
    return event.kind == DOMAIN.kind


def _is_problem(event: Accepted) -> bool:
    return event.kind == "problem"


def problem_of(view: GameView) -> Problem:
    """The parsed problem; an empty one if there is no problem yet, or if the journal is damaged."""
    return _parsed(view.problem)


@lru_cache(maxsize=16)
def _parsed(text: str) -> Problem:
    try:
        return parse_problem(text)
    except PddlSyntaxError:
        return Problem("unknown", "unknown")


def expected_problem(view: GameView) -> Problem:
    """The problem with the expected effects of the executed steps of the plan.

    The problem itself changes only with the model's next answer, but the map should show where the agent is now.
    """
    if view.arriving is not None:
        return view.arriving
    problem = problem_of(view)
    facts = {str(fact): fact for fact in problem.facts}
    for step in view.planned.plan[: view.executed - bool(view.mismatch)]:
        for fact in step.removed:
            facts.pop(fact, None)
        facts |= {fact: _atom(fact) for fact in step.added}
    return replace(problem, facts=frozenset(facts.values()))


def _atom(text: str) -> Atom:
    """The fact in a text. The text of a damaged journal may be empty."""
    predicate, *args = text.strip("()").split() or ("",)
    return Atom(predicate, tuple(args))
