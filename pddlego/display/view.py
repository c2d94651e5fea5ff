"""What is on screen, as a value folded from events and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from pddlego.display.text import clean
from pddlego.events import (
    Answered,
    Asked,
    EditLine,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    Formalized,
    Judged,
    Limits,
    Observed,
    Planned,
    PlannedStep,
    Rejected,
    Resumed,
    Retrying,
    TriedRung,
)
from pddlego.pddl import Atom, PddlSyntaxError, Problem, parse_problem

LOG_LENGTH = 50

MARKED = frozenset({"matched nothing", "refused", "merged"})
"""What a person should see of the lines of an edit."""


@dataclass(frozen=True)
class View:
    """The state of one episode as far as it is shown. `executed` counts the steps of the current plan that were sent,
    and `surprise` says how the answer to the last of them differs from what the plan expected.

    `asking` is the purpose of the request in flight (empty if none) and `asked_at` when it was sent, in seconds;
    `retrying` is the last trouble with it, and `tried_at` when that was.
    """

    title: str = ""
    setting: str = ""
    mode: str = ""
    model: str = ""
    seed: int = 0
    goals: tuple[str, ...] = ()
    limits: Limits = field(default_factory=lambda: Limits(0))
    map_rule: Mapping[str, Any] | None = None
    problem: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    lines: tuple[EditLine, ...] = ()
    rejected: Rejected | None = None
    tried: tuple[TriedRung, ...] = ()
    rung: str | None = None
    plan: tuple[PlannedStep, ...] = ()
    executed: int = 0
    surprise: str = ""
    log: tuple[Observed, ...] = ()
    step: int = 0
    refused: int = 0
    calls: int = 0
    from_cache: int = 0
    tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0
    asking: str = ""
    asked_at: float = 0.0
    retrying: Retrying | None = None
    tried_at: float = 0.0
    ended: EpisodeEnded | None = None


def expected_problem(view: View) -> Problem:
    """The problem, moved on by what the executed steps of the plan were expected to change.

    The problem itself changes only when the model has read what happened; a person wants to see where the agent is.
    """
    try:
        problem = parse_problem(view.problem)
    except PddlSyntaxError:
        return Problem("unknown", "unknown")
    facts = {str(each): each for each in problem.facts}
    for step in view.plan[: view.executed - bool(view.surprise)]:
        for fact in step.removed:
            facts.pop(fact, None)
        facts |= {fact: _atom(fact) for fact in step.added}
    return replace(problem, facts=frozenset(facts.values()))


def cleaned(event: Event) -> Event:
    """The event with all of its texts cleaned."""
    found = _cleaned(event)
    assert isinstance(found, type(event))
    return found


def _cleaned(value: Any) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_cleaned, value))
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changes = {each.name: _cleaned(getattr(value, each.name)) for each in fields(value)}
        return replace(value, **changes)
    return value


def _atom(text: str) -> Atom:
    """The fact that a text is; a journal may hold anything, also none."""
    predicate, *args = text.strip("()").split() or ("",)
    return Atom(predicate, tuple(args))


def fold(view: View, event: Event, seconds: float) -> View:
    """The view after `event`, which happened `seconds` after the start.

    Text from outside is cleaned here, so that nothing that is drawn can steer the terminal.
    """
    event = cleaned(event)
    view = replace(view, seconds=seconds)
    if isinstance(event, EpisodeStarted):
        return _started(event)
    if isinstance(event, Observed):
        return _observed(view, event)
    if isinstance(event, Asked):
        return replace(view, asking=event.purpose, asked_at=seconds, calls=event.call, retrying=None)
    if isinstance(event, Retrying):
        return replace(view, retrying=event, tried_at=seconds)
    if isinstance(event, Answered):
        tokens = view.tokens + event.tokens_in + event.tokens_out
        kept = view.from_cache + event.from_cache
        return replace(
            view, asking="", retrying=None, tokens=tokens, estimated=view.estimated or event.estimated, from_cache=kept
        )
    if isinstance(event, Formalized):
        return replace(
            view,
            problem=event.problem,
            added=event.added,
            removed=event.removed,
            renamed=event.renamed,
            lines=event.lines,
            rejected=None,
            # The plan was made of another problem, with other names: what was done of it is in this one.
            tried=(),
            rung=None,
            plan=(),
            executed=0,
            surprise="",
        )
    if isinstance(event, Rejected):
        return replace(view, rejected=event)
    if isinstance(event, Planned):
        return replace(
            view,
            tried=event.tried,
            rung=event.rung,
            plan=event.plan,
            executed=0,
            surprise="",
        )
    if isinstance(event, Resumed):
        return replace(view, problem=event.corrected or event.before, added=event.added, removed=event.removed)
    if isinstance(event, Judged):
        return view
    return replace(view, asking="", ended=event)


MAP_RULE = ("room", "here", "visited", "exit", "closed", "things", "directions")
"""What a map is drawn by. A journal in which one of them is missing has no map."""


FURTHEST = 1
"""Places between two rooms that an exit connects, across or down: more would draw a picture of nothing."""


def _map_rule(rule: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if rule is None or not all(isinstance(rule.get(name), str) for name in MAP_RULE[:-1]):
        return None
    directions = rule.get("directions")
    if not isinstance(directions, Mapping):
        return None
    pairs = list(directions.values())
    good = all(
        isinstance(each, (list, tuple))
        and [type(one) for one in each] == [int, int]
        and max(map(abs, each)) <= FURTHEST
        for each in pairs
    )
    return rule if good else None


def _started(event: EpisodeStarted) -> View:
    return View(
        event.title,
        event.setting,
        event.mode,
        event.model,
        event.seed,
        event.goals,
        event.limits,
        _map_rule(event.map),
    )


def _observed(view: View, event: Observed) -> View:
    return replace(
        view,
        log=(*view.log, event)[-LOG_LENGTH:],
        step=event.step,
        refused=view.refused + event.refused,
        executed=view.executed + (event.command is not None and not event.free),
        surprise=view.surprise if event.free else event.surprise,
    )
