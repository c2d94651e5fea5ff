"""Build PDDL files from the user's own description: at once (`Build`), or piece by piece from Python (`Builder`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from pddlego.episode.approval import Approver
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Ended, Event, Limits, Outcome, Started
from pddlego.episode.lifecycle import played
from pddlego.episode.loop import Attempt
from pddlego.errors import ModelError, UsageError
from pddlego.methods.builders.building import BuildPart, BuildSteps, ComponentWriter
from pddlego.methods.builders.draft import (
    ACTION_COMPONENTS,
    COMPONENTS,
    Component,
    ComponentError,
    Draft,
    read_component,
)
from pddlego.methods.builders.reviewing import FeedbackBy, Reviewer
from pddlego.models import Model
from pddlego.pddl import parse_domain
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit import sections_of
from pddlego.pddl.problem import read_problem
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning import Planner
from pddlego.runs.journal import Timed
from pddlego.util.text import suggestion


@dataclass(frozen=True)
class Built:
    """The texts of the files that were built, and a plan if one was found.

    `sound` is true if the checks find no errors and, for a task, a plan exists. `message` is the outcome in words.
    """

    domain: str
    problem: str
    plan: str
    sound: bool
    message: str
    calls: int


class Build:
    """A build of a description: `events` does the work, and `built` is its result.

    Feedback by a person, or by both, asks the `approver`. Raises `UsageError` for arguments that nothing can be built
    from.
    """

    def __init__(
        self,
        what: BuildPart,
        description: str,
        model: Model,
        planner: Planner,
        *,
        steps: BuildSteps,
        feedback: FeedbackBy,
        rounds: int,
        retries: int,
        limits: Limits,
        approver: Approver | None = None,
        begin: Draft | None = None,
    ) -> None:
        self._draft, self._plan = begin or Draft(), ""
        _check_choices(what=(what, BuildPart), steps=(steps, BuildSteps), feedback=(feedback, FeedbackBy))
        if not isinstance(description, str) or not description.strip():
            raise UsageError("The description is empty", "There is nothing to build of.", "Describe it in words.")
        if what == "problem" and not self._draft.sections:
            reason, advice = "None was given.", "Name it with --domain (Python: domain=)."
            raise UsageError("A problem needs its domain", reason, advice)
        self._budget = Budget(limits)
        writer = ComponentWriter(what, description, model, self._budget, steps=steps, retries=retries, keep=self._keep)
        self._reviewer = Reviewer(writer, planner, feedback, rounds, approver)

    def events(self) -> Timed:
        """Every event; the last one is `Ended`. A build is won if there are no errors and, with a problem, a plan."""
        return Timed(played(self._work(), self._budget), lambda: self._budget.seconds)

    def built(self, ended: Ended) -> Built:
        """The result after the last event. If the build has failed, it is a partial result."""
        draft = self._draft
        return Built(
            domain=draft.domain if draft.sections else "",
            problem=draft.problem if self._reviewer.writer.what != "domain" and draft.has_problem else "",
            plan=self._plan,
            sound=ended.outcome is Outcome.WON,
            message=ended.message,
            calls=ended.usage.calls,
        )

    def _keep(self, draft: Draft, plan: str) -> None:
        self._draft, self._plan = draft, plan

    def _work(self) -> Generator[Event, None, None]:
        writer = self._reviewer.writer
        yield Started(
            setting="description",
            title=f"a {writer.what} from a description",
            mode=f"build ({writer.steps})",
            model=writer.model.name,
            seed=None,
            task=writer.description.strip().splitlines()[0][:200],
            limits=self._budget.limits,
            played_by="builders",
        )
        self._draft = yield from writer.write_all(self._draft)
        self._draft, review = yield from self._reviewer.review(self._draft)
        self._plan = review.plan
        self._budget.score = float(review.is_sound)
        if not review.is_sound:
            raise EpisodeOver(Outcome.LOST, "what was built has defects, or no plan")
        valid = "the domain is valid" if writer.what == "domain" else "the files are valid, and a plan was found"
        raise EpisodeOver(Outcome.WON, valid)


def _check_choices(**choices: tuple[str, Any]) -> None:
    for name, (value, literal) in choices.items():
        known = get_args(literal)
        if value not in known:
            raise UsageError(f"{name} = {value} is not possible", f"It is one of: {', '.join(known)}.", "Choose one.")


class Builder:
    """A domain and a problem that are built piece by piece.

    `domain` and `problem` are their texts. Only `ask` sends requests; `prompt` returns the text that it would send.
    """

    def __init__(self, model: Model, description: str = "", domain: str = "", retries: int = 5) -> None:
        """Begin with nothing, or with the text of a `domain`. Raises `PddlSyntaxError` for an invalid one."""
        self._draft = Draft().with_domain(parse_domain(domain)) if domain else Draft()
        self._writer = ComponentWriter("task", description, model, Budget(Limits(None)), retries=retries)

    @property
    def calls(self) -> int:
        """The number of requests."""
        return self._writer.budget.usage.calls

    @property
    def domain(self) -> str:
        """The text of the domain so far."""
        return self._draft.domain

    @property
    def problem(self) -> str:
        """The text of the problem so far."""
        return self._draft.problem

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions that the model has listed (`ask("action-list")`), then of all others."""
        return tuple(dict.fromkeys((*(action.name for action in self._draft.planned), *self._draft.actions)))

    def prompt(self, *components: str, action: str = "", advice: str = "") -> str:
        """The text of a request for one component or several."""
        return self._writer.prompt(self._draft, _known(components), action=action, advice=advice)

    def ask(self, *components: str, action: str = "", advice: str = "", prompt: str = "") -> Builder:
        """Ask the model for components in one request, and put the answer into the files.

        `components` are those of `pddlego build`: types, constants, predicates, functions, rules, action-list, action,
        parameters, preconditions, effects, objects, init, goal, domain, problem. `action` names the action that they
        belong to. `prompt` replaces the built-in prompt; the answer has the same form. An answer that cannot be parsed,
        or that would introduce defects, is rejected, and the model is asked again up to `retries` times.

        Raises `ModelError` if the model cannot answer, or if no answer is usable.
        """
        kinds = _known(components)
        attempt = _finished(self._writer.attempt(self._draft, kinds, action=action, advice=advice, prompt=prompt))
        if attempt.value is None:
            reason = attempt.failure or "No answer could be used."
            raise ModelError(f"The model has no usable {', '.join(kinds)}", reason, "See the last answer, or set it.")
        self._draft = attempt.value
        return self

    def set(self, component: str, value: str | Mapping[str, Any]) -> Builder:
        """Replace a component by PDDL, or by the JSON value of a model's answer.

        In PDDL, `component` is a section of the domain (types, constants, predicates, functions, rules, actions), or
        objects, init, goal. Raises `UsageError` for a value that cannot be read.
        """
        return self._change(component, value, keeps=False)

    def append(self, component: str, value: str | Mapping[str, Any]) -> Builder:
        """Add to a component, with the arguments of `set`. Entries with the same name are replaced."""
        return self._change(component, value, keeps=True)

    def remove(self, component: str, name: str) -> Builder:
        """Remove an entry of a section or of objects by its name, or a fact of init by its text.

        Raises `UsageError` for an unknown one.
        """
        draft, lines = self._draft, dict(self._draft.sections.get(component, {}))
        known = {"objects": [obj.name for obj in draft.objects], "init": draft.facts}.get(component, tuple(lines))
        if name not in known:
            raise UsageError(f"There is no '{name}' in {component}", "", suggestion(name, known, "See the files."))
        lines.pop(name, None)
        self._draft = replace(
            draft,
            sections={**draft.sections, component: lines} if component in _SECTIONS else draft.sections,
            planned=tuple(action for action in draft.planned if component != "actions" or action.name != name),
            objects=tuple(obj for obj in draft.objects if component != "objects" or obj.name != name),
            facts=tuple(fact for fact in draft.facts if component != "init" or fact != name),
        )
        return self

    def _change(self, component: str, value: str | Mapping[str, Any], keeps: bool) -> Builder:
        before, old = self._draft, self._draft if keeps else Draft()
        if not isinstance(value, str) and component in ("action-list", *ACTION_COMPONENTS):
            self._draft = before.with_component(_component(component, value))
            return self
        if isinstance(value, str):
            part = _part(component, value)
        else:
            part = Draft().with_component(_component(component, value))
        sections = {name: {**old.sections.get(name, {}), **lines} for name, lines in part.sections.items()}
        changes: dict[str, Any] = {"sections": {**before.sections, **sections}}
        if component == "objects":
            changes["objects"] = tuple({obj.name: obj for obj in (*old.objects, *part.objects)}.values())
        elif component == "init":
            changes["facts"] = tuple(dict.fromkeys((*old.facts, *part.facts)))
        elif component == "goal":
            changes["goal"] = part.goal
        self._draft = replace(before, **changes)
        return self


_SECTIONS = ("types", "constants", "predicates", "functions", "rules", "actions")
_PROBLEM_PARTS = ("objects", "init", "goal")


def _known(components: tuple[str, ...]) -> tuple[str, ...]:
    """The components. Raises `UsageError` for unknown ones, and for none."""
    for name in components or ("",):
        if name not in COMPONENTS:
            raise _unknown(name, COMPONENTS)
    return components


def _unknown(component: str, known: Collection[str]) -> UsageError:
    advice = suggestion(component, known, f"They are: {', '.join(known)}.")
    return UsageError(f"Unknown component '{component}'", "", advice)


def _component(component: str, value: object) -> Component:
    """The component that a JSON value holds. Raises `UsageError`."""
    try:
        return read_component(component, json.dumps(value))
    except (ComponentError, KeyError, TypeError) as error:
        what = f"The value of {component} cannot be read"
        raise UsageError(what, f"{error}.", "Use the form of a model's answer, or PDDL.") from error


def _part(component: str, text: str) -> Draft:
    """A draft with nothing but one component, from PDDL. Raises `UsageError`."""
    known = (*_SECTIONS, *_PROBLEM_PARTS)
    if component not in known:
        raise _unknown(component, known)
    what = f"The text of {component} cannot be read"
    expressions = read_sexprs(text)
    if expressions.unclosed or expressions.extra:  # the text would end more than its own part
        raise UsageError(what, "Its parentheses do not fit.", "Fix them.")
    section = text if component in ("rules", "actions") else f"(:{component} {text})"
    if component in _PROBLEM_PARTS:
        goal = "" if component == "goal" else " (:goal (and))"
        problem = read_problem(f"(define (problem part) (:domain part) {section}{goal})")
        part, defects = Draft().with_problem(problem.problem), problem.defects
    else:
        domain = read_domain(f"(define (domain part) {section})")
        part, defects = Draft(sections={component: sections_of(domain.domain)[component]}), domain.defects
    faults = [defect.message for defect in defects if defect.blocking]
    if faults or (component in _SECTIONS and not part.sections[component]):
        raise UsageError(what, f"{faults[0] if faults else 'It is empty'}.", "")
    return part


def _finished(events: Generator[Event, None, Attempt[Draft]]) -> Attempt[Draft]:
    """Run a generator to its end, and return its value."""
    while True:
        try:
            next(events)
        except StopIteration as done:
            attempt: Attempt[Draft] = done.value
            return attempt
