"""What is on screen of a text game, as a value folded from events and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import ValidationError

from pddlego.display.view import View, cleaned, fold_common
from pddlego.episode.events import Accepted, Answered, Event, Started, Streamed
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep, Resumed
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom, Entry, PddlSyntaxError, Problem, parse_problem
from pddlego.pddl.partial import problem_so_far
from pddlego.planning import TriedRung
from pddlego.runs.store import DOMAIN

LOG_LENGTH = 50


@dataclass(frozen=True)
class ProblemChange:
    """What the last answer changed of a file: facts or parts of it, renamed objects, and the lines of an edit."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    lines: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Waiting:
    """What is waited for (empty: nothing), and since when, in seconds from the start."""

    what: str = ""
    since: float = 0.0


@dataclass(frozen=True)
class GameView(View):
    """The state of one episode as far as it is shown. `executed` counts the steps of the current plan that were sent,
    and `mismatch` says how the answer to the last of them differs from what the plan expected. `arriving` is what the
    lines of an answer that is under way make of the problem, `waiting` what else is waited for, and since when. Where
    the model `writes_domain` the `domain` is its own, and the last answer that changed it did so.
    """

    goals: tuple[str, ...] = ()
    map_rule: MapRule | None = None
    problem: str = ""
    change: ProblemChange = ProblemChange()
    tried: tuple[TriedRung, ...] = ()
    rung: str | None = None
    plan: tuple[PlannedStep, ...] = ()
    executed: int = 0
    mismatch: str = ""
    log: tuple[Observed, ...] = ()
    arriving: Problem | None = None
    waiting: Waiting = Waiting()
    writes_domain: bool = False
    domain: str = ""
    domain_change: ProblemChange = ProblemChange()

    @property
    def has_map(self) -> bool:
        """Whether there is one to draw: the domain has words for places and exits."""
        rule = self.map_rule
        if rule is None or not self.writes_domain:
            return rule is not None
        return all(f"({name} " in self.domain for name in (rule.here, rule.exit))


def problem_of(view: GameView) -> Problem:
    """The problem; an empty one where nothing is known yet, or a journal holds anything."""
    try:
        return parse_problem(view.problem)
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
    view = replace(view, arriving=None, waiting=Waiting(_waiting(view, event), seconds))
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
        view = replace(view, rejected=None, domain=event.text)
        return replace(view, domain_change=ProblemChange(event.added, event.removed))
    if isinstance(event, Answered):
        return replace(view, domain_change=ProblemChange())
    if isinstance(event, Accepted):
        # The plan was made of another problem, with other names: what was done of it is in this one.
        view = replace(view, rejected=None, tried=(), rung=None, plan=(), executed=0, mismatch="")
        change = ProblemChange(event.added, event.removed, event.renamed, event.lines)
        return replace(view, problem=event.text, change=change)
    if isinstance(event, Planned):
        return replace(view, tried=event.tried, rung=event.rung, plan=event.plan, executed=0, mismatch="")
    if isinstance(event, Resumed):
        return replace(view, problem=event.corrected or event.before, change=ProblemChange(event.added, event.removed))
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
