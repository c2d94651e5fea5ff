"""Ask a model for one component after another. Each answer is checked, and a rejected component is requested again."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from pydantic import ValidationError

from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Accepted, Event, Outcome, Rejected
from pddlego.episode.loop import FIRST, Attempt, Retry, refine
from pddlego.methods.builders.draft import (
    COMPONENTS,
    PROBLEM_COMPONENTS,
    ActionPart,
    Component,
    ComponentError,
    Draft,
    prompt_of,
    read_components,
    schema_of,
)
from pddlego.methods.builders.headings import headed_component
from pddlego.methods.builders.records.l2p import tagged_components, unasked
from pddlego.models import Completion, Model
from pddlego.models.base import INVALID, Feedback, Message, Request, cut_off, incomplete, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import Defect, Domain, Problem
from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.conditions import TRUE
from pddlego.pddl.edit import domain_diff
from pddlego.pddl.lint import domain_warnings
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import DefectKind, Level
from pddlego.util.answers import spoken
from pddlego.util.text import fault_of

BuildPart = Literal["domain", "problem", "task"]
"""The files to build. A task is a domain and a problem."""

BuildSteps = Literal["whole", "by-component", "by-action"]
"""The size of the steps: whole files, one component at a time, or one action at a time."""

_PASSES = 2
"""Passes of `by-action` through the actions. In the second pass, all predicates are known (Guan et al., 2023). It skips
actions after which no predicate was added.
"""


@dataclass(frozen=True)
class Target:
    """The component that a request asks for, and the action that it belongs to, if any."""

    kind: str
    action: str = ""


Rule = Callable[[str, str], Iterable[str]]
"""A check of the user: gets the text of the domain and that of the problem, and returns what is wrong in words."""


@dataclass(frozen=True)
class Gold:
    """The domain and the problem that a description describes."""

    domain: Domain
    problem: Problem


@dataclass(frozen=True)
class BuilderRequest:
    """The context of a request, from which the built-in model computes its answer. It is never sent."""

    what: BuildPart
    gold: Gold | None
    target: Target
    draft: Draft
    is_review: bool = False


@dataclass(frozen=True)
class ComponentWriter:
    """Asks a model for the components of the domain and the problem that a text describes.

    An answer is rejected if it cannot be parsed or, with `checks`, if it makes planning impossible. The model then gets
    the reason and may try again, up to `retries` times. `keep` receives every new draft, and the plan if one was found
    for it, so that paid answers survive a failure. `rules` are further checks. Only built-in models see `gold`.
    """

    what: BuildPart
    description: str
    model: Model
    budget: Budget
    steps: BuildSteps = "by-component"
    retries: int = 5
    checks: bool = True
    gold: Gold | None = field(default=None, repr=False)
    keep: Callable[[Draft, str], None] = lambda draft, plan: None
    rules: tuple[Rule, ...] = ()
    prompts: Prompts = field(default_factory=partial(Prompts, "builders"))

    def write_all(self, draft: Draft) -> Generator[Event, None, Draft]:
        """Ask for all components. Raises `EpisodeOver` if one has no usable answer."""
        if self.what != "problem":
            draft = yield from self._write_domain(draft)
        if self.what != "domain":
            metric = ("metric",) if draft.level > Level.CLASSICAL else ()
            for kind in ("problem",) if self.steps == "whole" else ("objects", "init", "goal", *metric):
                draft = yield from self._required(draft, Target(kind))
        return draft

    def _write_domain(self, draft: Draft) -> Generator[Event, None, Draft]:
        for kind in _DOMAIN_COMPONENTS[self.steps]:
            if kind == "action-list" and draft.level > Level.CLASSICAL:
                draft = yield from self._required(draft, Target("functions"))
            draft = yield from self._required(draft, Target(kind))
        whole = "timed-action" if draft.level >= Level.TIME else "action"
        if self.steps == "by-component":
            kinds = ("timed-action",) if draft.level >= Level.TIME else ("parameters", "preconditions", "effects")
            for action in draft.planned:
                for kind in kinds:
                    draft = yield from self._required(draft, Target(kind, action.name))
        if self.steps == "by-action" and draft.planned:
            for number in range(_PASSES):
                for action in draft.planned:
                    if number == 0 or draft.added_after(action.name):
                        draft = yield from self._required(draft, Target(whole, action.name))
                draft = draft.without_unused()
        return draft

    def _required(self, draft: Draft, target: Target) -> Generator[Event, None, Draft]:
        attempt = yield from self.write(draft, target)
        if attempt.value is None:
            raise EpisodeOver(Outcome.NO_PLAN, f"{target.kind}: {attempt.failure}")
        return attempt.value

    def write(self, draft: Draft, target: Target, advice: str = "") -> Generator[Event, None, Attempt[Draft]]:
        """Ask for one component. The value of the attempt is the new draft, or None if no answer is usable."""
        attempt = yield from self.attempt(draft, (target.kind,), action=target.action, advice=advice)
        if attempt.value is not None:
            yield from self.accept(draft, attempt.value, attempt.notes)
        return attempt

    def accept(self, before: Draft, after: Draft, notes: tuple[str, ...] = ()) -> Iterator[Accepted]:
        """Keep a new draft. Yields an event for each of the two files that has changed, or with the `notes`."""
        self.keep(after, "")
        domain = domain_diff(before.reading.domain, after.reading.domain)
        old, new = _problem_lines(before), _problem_lines(after)
        if domain or (notes and old == new):
            yield Accepted("domain", after.domain, domain.added, domain.removed, defects=notes)
        if old != new:
            added, removed = tuple(sorted(new - old)), tuple(sorted(old - new))
            yield Accepted("problem", after.problem, added, removed, defects=() if domain else notes)

    def attempt(
        self,
        draft: Draft,
        kinds: Sequence[str],
        *,
        action: str = "",
        advice: str = "",
        prompt: str = "",
        first: int = 0,
    ) -> Generator[Event, None, Attempt[Draft]]:
        """Ask for components in one request until an answer is usable, at most `1 + retries` times.

        `action` is the action that they belong to, and `advice` the result of a review. `prompt` replaces the built-in
        prompt; see `filled_prompt`. `first` is the number of the first attempt, which determines its seed.
        """

        def propose(retry: Retry) -> Generator[Event, None, Attempt[Draft]]:
            text = self.prompt(draft, kinds, action=action, advice=advice, retry=retry)
            if prompt:
                own = filled_prompt(prompt, self.description, draft, action)
                text = f"{own}\n{self.prompts.render('builders/feedback', **_feedback(retry))}".strip()
            context = BuilderRequest(self.what, self.gold, Target(kinds[0], action), draft)
            schema = schema_of(kinds[0]) if len(kinds) == 1 else {}
            request = Request(kinds[0], (Message("user", text),), context, schema)
            answer = yield from ask(self.model, request, self.budget, first + retry.attempt)
            attempt = self._read(answer, draft, [Target(kind, action) for kind in kinds])
            if attempt.feedback is not None:
                yield Rejected(retry.attempt, attempt.feedback, attempts=retry.attempts)
            return attempt

        return (yield from refine(propose, self.retries))

    def _read(self, answer: Completion, draft: Draft, targets: Sequence[Target]) -> Attempt[Draft]:
        """Put the components of an answer into the draft, up to the first that is rejected."""
        notes: list[str] = []
        try:
            components = components_in(answer.text, targets, notes)
        except ComponentError as error:
            feedback = incomplete(answer) or (cut_off() if error.cut_off else Feedback(INVALID, f"{error}."))
            return Attempt(answer.text, feedback=feedback)
        for component in components:
            kind = next(kind for kind, model in COMPONENTS.items() if type(component) is model)
            result = self._put(component, draft, Target(kind, targets[0].action))
            if isinstance(result, Feedback):
                return Attempt(answer.text, feedback=result)
            draft = result
        return Attempt(answer.text, draft, notes=tuple(notes))

    def _put(self, component: Component, draft: Draft, target: Target) -> Draft | Feedback:
        """The draft with the component, or the reason why the component is rejected."""
        if isinstance(component, ActionPart) and target.action and component.name != target.action:
            return Feedback(INVALID, f"the answer defines '{component.name}' instead of '{target.action}'")
        after = draft.with_component(component)
        if not self.checks:
            return after
        known = _defects(draft, target)
        defects = [defect for defect in _defects(after, target) if defect not in known] or _empty_effects(after, target)
        lines = [f"[{defect.kind.id}] {defect.message}" for defect in defects]
        for rule in self.rules:
            before = set(rule(draft.domain, draft.problem))
            lines += [line for line in rule(after.domain, after.problem) if line not in before]
        return Feedback("defects", "this answer would introduce these defects:", tuple(lines)) if lines else after

    def prompt(
        self, draft: Draft, kinds: Sequence[str], *, action: str = "", advice: str = "", retry: Retry = FIRST
    ) -> str:
        """The text of a request for components; the arguments are those of `attempt`."""
        return self.prompts.render(
            "builders/component",
            kinds=[prompt_of(kind, draft.level) for kind in kinds],
            level=draft.level.name.lower(),
            action=action,
            planned=[planned for planned in draft.planned if planned.about and "predicates" in kinds],
            about=next((planned.about for planned in draft.planned if planned.name == action), ""),
            description=self.description,
            domain=draft.domain if draft.sections else "",
            problem=draft.problem if draft.has_problem else "",
            advice=advice,
            later=draft.added_after(action) if {"action", "timed-action"} & {*kinds} and not advice else (),
            **_feedback(retry),
        )


_DOMAIN_COMPONENTS = {
    "whole": ("domain",),
    "by-component": ("types", "constants", "predicates", "rules", "action-list"),
    "by-action": ("types", "constants", "action-list"),
}
"""The components of a domain that are requested before those of its actions."""


def _problem_lines(draft: Draft) -> set[str]:
    metric = (draft.metric,) if draft.metric else ()
    return {*(obj.line for obj in draft.objects), *draft.facts, f"goal {draft.goal}", *metric}


def _feedback(retry: Retry) -> dict[str, Any]:
    return {"feedback": retry.feedback, "rejected": shortened(retry.rejected), "repeated": retry.repeated}


def filled_prompt(prompt: str, description: str, draft: Draft, action: str) -> str:
    """A prompt of the user with texts in place of the names that L2P's prompts have in braces, such as `{types}`.

    Other braces stay as they are.
    """
    lines = {name: "\n".join(section.values()) for name, section in draft.sections.items()}
    domain, problem = draft.domain if draft.sections else "", draft.problem if draft.has_problem else ""
    planned = {named.name: named.about for named in draft.planned}
    texts = {
        **dict.fromkeys(("description", "domain_desc", "problem_desc"), description),
        **dict.fromkeys(("context", "context_injection"), f"{domain}\n{problem}".strip()),
        **{name: lines.get(name, "") for name in ("types", "constants", "predicates", "functions")},
        **dict.fromkeys(("actions", "nl_actions"), "\n".join(f"- {name}: {about}" for name, about in planned.items())),
        "domain": domain,
        "problem": problem,
        "action_name": action,
        "action_desc": planned.get(action, ""),
    }
    return re.sub(r"\{(\w+)\}", lambda match: texts.get(match[1], match[0]), prompt)


def components_in(answer: str, targets: Sequence[Target], notes: list[str]) -> list[Component]:
    """The components of an answer in our form, or in one of L2P's, which may have several actions.

    `notes` gets a note for each part that was not asked for. Raises `ComponentError`.
    """
    text, repairs = spoken(answer), list[str]()
    try:
        found = read_components([target.kind for target in targets], text, repairs)
        notes += repairs
        return found
    except ComponentError:
        found = list[Component]()
        for target in targets:
            try:
                tagged = tagged_components(target.kind, text, target.action, notes)
                component = None if tagged else headed_component(target.kind, text, target.action)
            except (LookupError, TypeError, AttributeError, RecursionError, ValueError) as error:
                fault = fault_of(error.errors()[0]) if isinstance(error, ValidationError) else str(error)
                raise ComponentError(f"the {target.kind} cannot be read: {fault}") from error
            if component is not None:
                tagged = [component]
            if not tagged:
                raise
            found += tagged
        notes += unasked([target.kind for target in targets], text)
        return found


def _empty_effects(draft: Draft, target: Target) -> list[Defect]:
    """Actions that the component completes and that change nothing: a warning, but no later component can fix it."""
    if target.kind not in ("effects", "action", "timed-action", "domain"):
        return []
    warnings = domain_warnings(draft.reading.domain)
    empty = [defect for defect in warnings if defect.kind is DefectKind.EMPTY_EFFECT]
    return [defect for defect in empty if target.kind == "domain" or defect.subject == target.action]


def _defects(draft: Draft, target: Target) -> tuple[Defect, ...]:
    """The errors in the file that the component belongs to. Components that are requested later may be missing."""
    reading = draft.reading
    if target.kind not in PROBLEM_COMPONENTS:
        unreadable = tuple(defect for defect in reading.defects if defect.blocking)
        return unreadable or tuple(defect for defect in check_domain(reading.domain, draft.level) if defect.blocking)
    problem = read_problem(draft.problem)
    if target.kind in ("objects", "init"):
        problem = replace(problem, problem=problem.problem.with_goal(TRUE))
    if target.kind == "objects":
        empty = replace(problem.problem, facts=frozenset(), values=frozenset(), later=frozenset(), metric=None)
        problem = replace(problem, problem=empty)
    return tuple(defect for defect in check_reading(reading.domain, problem, draft.level) if defect.blocking)
