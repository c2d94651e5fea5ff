"""The transitions of recorded episodes of text games, and the actions that are learned from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing

from pddlego.episode.events import Accepted
from pddlego.episode.trace import Trace
from pddlego.errors import UsageError
from pddlego.methods.base import base_mode
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep
from pddlego.methods.textgames.lessons import Lessons, transition_between
from pddlego.methods.textgames.options import WRITES_DOMAIN
from pddlego.methods.textgames.play import make_reference
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth import Follows
from pddlego.pddl import Problem, parse_problem, same_name
from pddlego.planning import PlanStep
from pddlego.planning.learning.learner import LearnedDomain
from pddlego.planning.learning.transitions import Transition


def learned_from_games(episodes: Sequence[tuple[Trace, GameSetting, object]], true: bool) -> LearnedDomain:
    """The actions of a setting that the plans of its episodes teach (`Method.learned`).

    Raises `UsageError` for episodes in which the model writes a domain.
    """
    writing = next((mode for trace, *_ in episodes if (mode := base_mode(trace.begun.mode)) in WRITES_DOMAIN), "")
    if writing:
        reason = f"In mode {writing}, the model writes its own domain."
        raise UsageError("Nothing can be learned from these episodes", reason, "Name a run of another mode.")
    lessons = Lessons.begin(episodes[0][1], keeps_all=True)
    for trace, setting, _ in episodes:
        if true:
            with closing(make_reference(setting, trace.begun.seed or 0)) as reference:
                lessons = lessons.with_all(_true(trace, setting, reference))
        else:
            lessons = lessons.with_all(_read(trace, setting))
    return lessons.learned


def _steps(trace: Trace) -> Iterator[tuple[Accepted | Observed, PlanStep | None]]:
    """The observations, each with the step of a plan that led to it, and the accepted problems."""
    plan = deque[PlannedStep]()
    for event in trace.events:
        if isinstance(event, Planned):
            plan = deque(event.plan)
        elif isinstance(event, Accepted) and event.kind == "problem":
            yield event, None
        elif isinstance(event, Observed) and not event.repeated:
            is_next = bool(plan) and same_name(plan[0].command, event.command or "") and not event.free
            yield event, PlanStep.read(plan.popleft().action) if is_next else None


def _true(trace: Trace, setting: GameSetting, reference: Follows) -> Iterator[Transition]:
    """The transitions between the problems of a reference."""
    for event, step in _steps(trace):
        if isinstance(event, Observed):
            before, renamed = reference.knowledge.problem, reference.read(event)
            after = None if event.refused else reference.knowledge.problem
            taught = transition_between(setting, before, step, after, renamed) if step is not None else None
            yield from (taught,) if taught is not None else ()


def _read(trace: Trace, setting: GameSetting) -> Iterator[Transition]:
    """The transitions between the problems that were read, of steps that no other command follows before the next."""
    problem: Problem = setting.start.problem
    sent: list[tuple[Observed, PlanStep | None]] = []
    for event, step in _steps(trace):
        if isinstance(event, Observed):
            sent += [] if event.free else [(event, step)]
            continue
        before, problem = problem, parse_problem(event.text)
        for observed, tried in sent if len(sent) == 1 else ():
            if tried is not None and (observed.refused or not observed.mismatch):
                after = None if observed.refused else problem
                taught = transition_between(setting, before, tried, after, event.renamed)
                yield from (taught,) if taught is not None else ()
        sent = []
