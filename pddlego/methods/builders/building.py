"""Ask for one component after another. Each answer is read and checked; if it is rejected, the model reads why."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Accepted, Event, Outcome, Rejected
from pddlego.episode.loop import FIRST, Attempt, Retry, refine
from pddlego.methods.builders.components import Component, ComponentError, parts_of, read_component, schema_of
from pddlego.methods.builders.draft import Draft, typed
from pddlego.models import Completion, Model
from pddlego.models.base import Feedback, Message, Request, cut_off, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import Defect
from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.conditions import TRUE
from pddlego.pddl.diff import domain_diff
from pddlego.pddl.lint import domain_warnings
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import DefectKind
from pddlego.util.answers import spoken

BuildPart = Literal["domain", "problem", "task"]
How = Literal["whole", "by-component", "by-action"]

_PASSES = 2
"""Times that `by-action` goes through the actions: in the second the predicates of all are known (Guan et al. 2023)."""

OF_PROBLEM = ("objects", "init", "goal", "problem")
"""Components of the problem file."""


@dataclass(frozen=True)
class Step:
    """One question: which component, and of which action."""

    kind: str
    action: str = ""


@dataclass(frozen=True)
class BuildOrder:
    """What is to be built of a description, and how. `reference` is for stand-ins; no model is sent it.

    A `task` is a domain and a problem of it.
    """

    what: BuildPart
    description: str
    how: How = "by-component"
    reference: object = field(default=None, repr=False)


@dataclass(frozen=True)
class StepAsking:
    """The model that writes components, its limits, and the number of retries after an unusable answer.

    An answer is unusable if it cannot be parsed or, with `checks`, if it stops planning. `keep` is called after every
    component, so that paid answers survive a failure.
    """

    model: Model
    budget: Budget
    prompts: Prompts
    retries: int = 5
    checks: bool = True
    keep: Callable[[Draft], None] = lambda draft: None


@dataclass(frozen=True)
class BuilderRequest:
    """What a request was rendered from, for stand-ins."""

    order: BuildOrder
    step: Step
    draft: Draft
    purpose: str = "component"


def built(order: BuildOrder, asking: StepAsking, draft: Draft) -> Generator[Event, None, Draft]:
    """Ask for everything that the order needs, one component after another; returns what came of it.

    Raises `EpisodeOver` where a component has no usable answer within the retries.
    """
    if order.what in ("domain", "task"):
        for step in _domain_steps(order.how):
            draft = yield from component(order, asking, draft, step)
        if order.how != "whole":
            for number, step in enumerate(_action_steps(order.how, draft)):
                draft = yield from component(order, asking, draft, step)
                last = (number + 1) % max(1, len(draft.planned)) == 0
                draft = draft.without_unused() if order.how == "by-action" and last else draft
    if order.what in ("problem", "task"):
        for kind in ("problem",) if order.how == "whole" else ("objects", "init", "goal"):
            draft = yield from component(order, asking, draft, Step(kind))
    return draft


def _domain_steps(how: How) -> Iterator[Step]:
    kinds = {
        "whole": ("domain",),
        "by-component": ("types", "constants", "predicates", "rules", "action-list"),
        "by-action": ("types", "constants", "action-list"),
    }
    yield from (Step(kind) for kind in kinds[how])


def _action_steps(how: How, draft: Draft) -> Iterator[Step]:
    if how == "by-action":
        for _ in range(_PASSES):
            yield from (Step("action", action.name) for action in draft.planned)
        return
    for action in draft.planned:
        yield from (Step(kind, action.name) for kind in ("parameters", "preconditions", "effects"))


def attempted(
    order: BuildOrder,
    asking: StepAsking,
    draft: Draft,
    kinds: Sequence[str],
    *,
    action: str = "",
    advice: str = "",
    prompt: str = "",
) -> Generator[Event, None, Attempt[Draft]]:
    """Ask for components in one request until an answer fits what is there, at most `1 + retries` times.

    `action` is the one that they belong to, `advice` what a review found; `prompt` is sent instead of our text.
    """

    def propose(retry: Retry) -> Generator[Event, None, Attempt[Draft]]:
        text = prompt_of(order, asking.prompts, draft, kinds, action=action, retry=retry, advice=advice)
        if prompt:
            text = f"{prompt}\n{asking.prompts.render('builders/feedback', **_feedback(retry))}".strip()
        context = BuilderRequest(order, Step(kinds[0], action), draft)
        schema = schema_of(kinds[0]) if len(kinds) == 1 else {}
        request = Request(kinds[0], (Message("user", text),), context, schema)
        answer = yield from ask(asking.model, request, asking.budget, retry.attempt)
        attempt = _read(answer, draft, [Step(kind, action) for kind in kinds], asking.checks)
        if attempt.feedback is not None:
            yield Rejected(retry.attempt, attempt.feedback, attempts=retry.attempts)
        return attempt

    return (yield from refine(propose, asking.retries))


def component(
    order: BuildOrder, asking: StepAsking, draft: Draft, step: Step, advice: str = ""
) -> Generator[Event, None, Draft]:
    """Ask for one component. Raises `EpisodeOver` if no answer fits what is there."""
    attempt = yield from attempted(order, asking, draft, (step.kind,), action=step.action, advice=advice)
    if attempt.value is None:
        raise EpisodeOver(Outcome.NO_PLAN, f"{step.kind}: {attempt.failure}")
    asking.keep(attempt.value)
    yield from changes(draft, attempt.value)
    return attempt.value


def changes(before: Draft, after: Draft) -> Iterator[Accepted]:
    """What a component changed, as events: of the domain, of the problem, or of neither."""
    changed = domain_diff(before.reading.domain, after.reading.domain)
    if changed.added or changed.removed:
        yield Accepted("domain", after.domain, changed.added, changed.removed)
    old = {*map(typed, before.objects), *before.facts, f"goal {before.goal}"}
    new = {*map(typed, after.objects), *after.facts, f"goal {after.goal}"}
    if old != new:
        yield Accepted("problem", after.problem, tuple(sorted(new - old)), tuple(sorted(old - new)))


def prompt_of(
    order: BuildOrder,
    prompts: Prompts,
    draft: Draft,
    kinds: Sequence[str],
    *,
    action: str = "",
    retry: Retry = FIRST,
    advice: str = "",
) -> str:
    """The text of a request for components, of an action where they belong to one."""
    return prompts.render(
        "builders/component",
        kinds=kinds,
        action=action,
        about=next((planned.about for planned in draft.planned if planned.name == action), ""),
        description=order.description,
        domain=draft.domain if draft.sections else "",
        problem=draft.problem if draft.objects or draft.facts else "",
        advice=advice,
        **_feedback(retry),
    )


def _feedback(retry: Retry) -> dict[str, Any]:
    return {"feedback": retry.feedback, "rejected": shortened(retry.rejected), "repeated": retry.repeated}


def _read(answer: Completion, draft: Draft, steps: Sequence[Step], checks: bool) -> Attempt[Draft]:
    """The draft with the components that an answer brings, or what is wrong with the first that does not fit."""
    try:
        texts = parts_of(spoken(answer.text), [step.kind for step in steps])
        components = [read_component(kind, text) for kind, text in texts.items()]
    except ComponentError as error:
        feedback = Feedback("invalid answer", f"{error}.")
        return Attempt(answer.text, feedback=cut_off() if error.cut_off or answer.finish == "length" else feedback)
    attempt = Attempt(answer.text, draft)
    for step, part in zip(steps, components, strict=True):
        if attempt.value is not None:
            attempt = _with(part, answer.text, attempt.value, step, checks)
    return attempt


def _with(component: Component, answer: str, draft: Draft, step: Step, checks: bool) -> Attempt[Draft]:
    named = getattr(component, "name", "")
    if step.action and named != step.action:
        reason = f"the answer defines '{named}' instead of '{step.action}'"
        return Attempt(answer, feedback=Feedback("invalid answer", reason))
    after = draft.with_component(component)
    old = _defects_of(draft, step)
    new = [defect for defect in _defects_of(after, step) if defect not in old] if checks else []
    new = new or (_empty_effects(after, step) if checks else [])
    if new:
        lines = tuple(f"[{defect.kind.id}] {defect.message}" for defect in new)
        return Attempt(answer, feedback=Feedback("defects", "this answer would introduce these defects:", lines))
    return Attempt(answer, after)


def _empty_effects(draft: Draft, step: Step) -> list[Defect]:
    """Actions that the component completes and that change nothing: a warning, but no later component can fix it."""
    if step.kind not in ("effects", "action", "domain"):
        return []
    warnings = domain_warnings(draft.reading.domain)
    empty = [defect for defect in warnings if defect.kind is DefectKind.EMPTY_EFFECT]
    return [defect for defect in empty if step.kind == "domain" or defect.subject == f"action {step.action}"]


def _defects_of(draft: Draft, step: Step) -> tuple[Defect, ...]:
    """What makes planning impossible in the file that the component belongs to, as far as it is there."""
    reading = draft.reading
    if step.kind not in OF_PROBLEM:
        unreadable = tuple(defect for defect in reading.defects if defect.blocking)
        return unreadable or tuple(defect for defect in check_domain(reading.domain) if defect.blocking)
    problem = read_problem(draft.problem)
    if step.kind in ("objects", "init"):  # the goal is not there yet
        problem = replace(problem, problem=problem.problem.with_goal(TRUE))
    if step.kind == "objects":
        problem = replace(problem, problem=replace(problem.problem, facts=frozenset()))
    return tuple(defect for defect in check_reading(reading.domain, problem) if defect.blocking)
