"""What is on screen of a text game, as a value folded from events and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from pydantic import ValidationError

from pddlego.display.view import View, cleaned, fold_common
from pddlego.episode.events import Accepted, Answered, Event, Started, Streamed
from pddlego.methods.textgames.events import FactsChecked, GameRead, Observed, Planned, PlannedStep, Resumed
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom, PddlSyntaxError, Problem, parse_problem
from pddlego.pddl.partial import problem_so_far
from pddlego.planning import TriedRung
from pddlego.runs.store import DOMAIN

LOG_LENGTH = 50


NO_CHANGE = Accepted("", "")
"""What an answer changed that changed nothing."""


@dataclass(frozen=True)
class GameView(View):
    """The state of one episode as it is shown.

    `executed` counts the commands of the current plan that were sent; `mismatch` says how the last response differs
    from the plan. `arriving` is the problem with the complete lines of an answer in progress. `waiting` is what the
    agent waits for besides a model (empty: nothing), since `waiting_since` in seconds. `domain` is the model's own
    domain if it `writes_domain`. `change` and `domain_change` are what the last answer changed in each file. `checked`
    says which facts of the problem are true. `sketched`: the problem is the built-in reader's.
    """

    goals: tuple[str, ...] = ()
    map_rule: MapRule | None = None
    problem: str = ""
    change: Accepted = NO_CHANGE
    tried: tuple[TriedRung, ...] = ()
    rung: str | None = None
    plan: tuple[PlannedStep, ...] = ()
    executed: int = 0
    mismatch: str = ""
    log: tuple[Observed, ...] = ()
    arriving: Problem | None = None
    waiting: str = ""
    waiting_since: float = 0.0
    writes_domain: bool = False
    domain: str = ""
    domain_change: Accepted = NO_CHANGE
    checked: FactsChecked | None = None
    sketched: bool = False

    @property
    def errors(self) -> Mapping[str, str]:
        """What is not right about the facts of the problem: the verdict on each, as far as they were checked."""
        return {error.fact: error.verdict for error in self.checked.errors} if self.checked else {}

    @property
    def has_map(self) -> bool:
        """Whether there is one to draw: the domain has words for places and exits."""
        rule = self.map_rule
        if rule is None or not self.writes_domain:
            return rule is not None
        return all(f"({name} " in self.domain for name in (rule.here, rule.exit))


def problem_of(view: GameView) -> Problem:
    """The problem; an empty one where nothing is known yet, or a journal holds anything."""
    return _parsed(view.problem)


@lru_cache(maxsize=16)
def _parsed(text: str) -> Problem:
    try:
        return parse_problem(text)
    except PddlSyntaxError:
        return Problem("unknown", "unknown")


def expected_problem(view: GameView) -> Problem:
    """The problem, moved on by what the executed steps of the plan were expected to change.

    The problem itself changes only when the model has read what happened; a person wants to see where the agent is.
    """
    if view.arriving is not None:
        return view.arriving
    problem = problem_of(view)
    facts = {str(fact): fact for fact in problem.facts}
    for step in view.plan[: view.executed - bool(view.mismatch)]:
        for fact in step.removed:
            facts.pop(fact, None)
        facts |= {fact: _atom(fact) for fact in step.added}
    return replace(problem, facts=frozenset(facts.values()))


def _atom(text: str) -> Atom:
    """The fact that a text is; a journal may hold anything, also none."""
    predicate, *args = text.strip("()").split() or ("",)
    return Atom(predicate, tuple(args))


def fold(view: GameView, event: Event, seconds: float) -> GameView:
    """The view after `event`, which happened `seconds` after the start.

    Text from outside is cleaned here, so that nothing that is drawn can steer the terminal.
    """
    event = cleaned(event)
    view = fold_common(view, event, seconds)
    if isinstance(event, Streamed):
        answer = view.request.text if view.request else ""
        arriving = problem_so_far(problem_of(view), answer) if view.goals and answer else None
        return replace(view, arriving=arriving)
    view = replace(view, arriving=None, waiting=_waiting(view, event), waiting_since=seconds)
    if isinstance(event, Started):
        goals = event.details.get("goals")
        shown = tuple(map(str, goals)) if isinstance(goals, (list, tuple)) else ()
        return replace(
            view,
            goals=shown,
            map_rule=_map_rule(event.details.get("map")),
            writes_domain=bool(event.details.get("writes_domain")),
            domain=str(event.details.get(DOMAIN, "")),
        )
    if isinstance(event, Observed):
        return replace(
            view,
            log=(*view.log, event)[-LOG_LENGTH:],
            executed=view.executed + (event.command is not None and not event.free),
            mismatch=view.mismatch if event.free else event.mismatch,
        )
    if isinstance(event, Accepted) and event.kind == DOMAIN:
        return replace(view, rejected=None, domain=event.text, domain_change=event)
    if isinstance(event, Answered):
        return replace(view, domain_change=NO_CHANGE)
    if isinstance(event, Accepted):
        # The plan was made of another problem, with other names: what was done of it is in this one.
        view = replace(view, rejected=None, tried=(), rung=None, plan=(), executed=0, mismatch="")
        return replace(view, problem=event.text, change=event)
    if isinstance(event, Planned):
        return replace(view, tried=event.tried, rung=event.rung, plan=event.plan, executed=0, mismatch="")
    if isinstance(event, FactsChecked) and not event.rejected:
        return replace(view, checked=event)
    if isinstance(event, GameRead):
        return replace(view, problem=event.problem, sketched=True)
    if isinstance(event, Resumed):
        problem = event.corrected or event.before
        return replace(view, problem=problem, change=Accepted("problem", problem, event.added, event.removed))
    return view


def _waiting(view: GameView, event: Event) -> str:
    """What happens after an event, where that may take a while."""
    if isinstance(event, Started):
        return "starting the game engine"
    return "planning" if isinstance(event, Answered) and view.goals else ""


def _map_rule(rule: object) -> MapRule | None:
    """The rule in a journal, which may hold anything."""
    try:
        return MapRule.model_validate(rule)
    except ValidationError:
        return None
