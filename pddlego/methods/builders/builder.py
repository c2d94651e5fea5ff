"""Build PDDL files from the user's own description: at once (`Build`), or piece by piece from Python (`Builder`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pddlego.episode.approval import ACCEPTED, Approver, Decision, Question
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Ended, Event, Limits, Outcome, Started
from pddlego.episode.lifecycle import played
from pddlego.episode.trace import Trace
from pddlego.errors import ModelError, UsageError
from pddlego.methods.builders.building import BuildPart, BuildSteps, ComponentWriter, Rule, Target, components_in
from pddlego.methods.builders.draft import (
    ACTION_COMPONENTS,
    COMPONENTS,
    PROBLEM_COMPONENTS,
    Component,
    ComponentError,
    Draft,
    components_of,
    read_component,
)
from pddlego.methods.builders.reviewing import Choice, FeedbackBy, Judgement, Reviewer, ask_opinion
from pddlego.models import Model
from pddlego.models.function import Answer
from pddlego.pddl import parse_domain
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit import sections_of
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning import Planner
from pddlego.runs.journal import Timed, save_journal
from pddlego.util.text import suggestion


@dataclass(frozen=True)
class Built:
    """The texts of the files that were built, and a plan if one was found.

    `sound` is true if the checks find no errors and, for a task, a plan exists. `message` is the outcome in words.
    `record` has the events: requests, answers with their tokens, and why answers were rejected.
    """

    domain: str
    problem: str
    plan: str
    sound: bool
    message: str
    calls: int
    record: Trace = field(default_factory=Trace, repr=False, compare=False)

    def save(self, folder: str | Path) -> Path:
        """Write the record to a folder for `pddlego show`. Raises `PddlegoError` if that fails, or it has one."""
        return save_journal(self.record, Path(folder))


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
        if feedback in ("person", "both") and approver is None:
            reason = f"With feedback={feedback}, a person reads the files, and there is no way to ask one."
            raise UsageError("Feedback of a person needs a person", reason, "Pass person=, or use 'pddlego build'.")
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
        yield _started(writer, f"build ({writer.steps})")
        self._draft = yield from writer.write_all(self._draft)
        self._draft, review = yield from self._reviewer.review(self._draft)
        self._plan = review.plan
        self._budget.score = float(review.is_sound)
        if not review.is_sound:
            status = review.status.value if review.status is not None else "not planned"
            raise EpisodeOver(Outcome.LOST, review.defects[0] if review.defects else f"no plan: {status}")
        valid = "the domain is valid" if writer.what == "domain" else "the files are valid, and a plan was found"
        raise EpisodeOver(Outcome.WON, valid)


LevelName = Literal["classical", "numbers", "time"]
"""A level of PDDL, by its name."""


def first_draft(level: LevelName, domain: str = "") -> Draft:
    """An empty draft, or one of a domain, whose numbers and time raise the level.

    Raises `UsageError` for an unknown level, and `PddlSyntaxError` for an invalid domain.
    """
    _check_choices(level=(level, LevelName))
    draft = Draft(level=Level[level.upper()])
    return draft.with_domain(parse_domain(domain)) if domain else draft


def _started(writer: ComponentWriter, mode: str) -> Started:
    return Started(
        setting="description",
        title=f"a {writer.what} from a description",
        mode=mode,
        model=writer.model.name,
        seed=None,
        task=writer.description.strip().partition("\n")[0][:200],
        limits=writer.budget.limits,
        played_by="builders",
    )


def _check_choices(**choices: tuple[str, Any]) -> None:
    for name, (value, literal) in choices.items():
        known = get_args(literal)
        if value not in known:
            raise UsageError(f"{name} = {value} is not possible", f"It is one of: {', '.join(known)}.", "Choose one.")


Person = Callable[[str, str], str | None]
"""A person's feedback on a file: gets `domain` or `problem` and its text, and returns advice; empty to accept it."""

Value = TypeVar("Value")


def _advice(person: Person, file: str, text: str) -> str:
    """A person's advice, empty if the file is accepted; None counts as acceptance. Raises `UsageError` for no text."""
    advice = person(file, text)
    if advice is not None and not isinstance(advice, str):
        what = f"The person's feedback is of the type {type(advice).__name__}"
        raise UsageError(what, "The function person returns a text.", "Return advice, or an empty text to accept.")
    return (advice or "").strip()


@dataclass(frozen=True)
class PersonApprover:
    """Asks a person about files by calling a function."""

    person: Person

    def wants(self, what: str) -> bool:
        return what == "files"

    def decide(self, question: Question) -> Decision:
        file = "problem" if "problem" in question.title else "domain"
        advice = _advice(self.person, file, question.text)
        return Decision("rejected", advice) if advice else ACCEPTED


@dataclass(frozen=True)
class Opinion:
    """An opinion on the files of a builder: whether it `approves` of them, or which component to rewrite, and how."""

    approves: bool
    advice: str = ""
    component: str = ""
    action: str = ""


@dataclass(frozen=True)
class BuilderReply:
    """An answer that was accepted: its `text` as the model wrote it, and the components in it as values."""

    text: str
    components: tuple[Component, ...]


class Builder:
    """A domain and a problem that are built piece by piece.

    `domain` and `problem` are their texts. `ask`, `evaluate`, `revise` and `select` send requests; `prompt` returns the
    text that `ask` would send, and `reply` is the last accepted answer to `ask` or `revise`. `record` has the events so
    far: requests, answers with their tokens, why answers were rejected, and what the accepted ones changed.
    """

    def __init__(
        self,
        model: Model,
        description: str = "",
        domain: str = "",
        retries: int = 5,
        resolve: Callable[[Any], Model] = lambda model: model,
        level: LevelName = "classical",
    ) -> None:
        """Begin with nothing, or with the text of a `domain`. Raises `PddlSyntaxError` for an invalid one.

        `resolve` returns the model for the value of an argument `by`, such as a name. `level` is that of PDDL.
        """
        self._resolve = resolve
        self._draft = first_draft(level, domain)
        self._writer = ComponentWriter("task", description, model, Budget(Limits(None)), retries=retries)
        self.reply: BuilderReply | None = None
        self.record = Trace()
        self.record.add(_started(self._writer, "build (piece by piece)"), 0.0)

    @property
    def calls(self) -> int:
        """The number of requests."""
        return self._writer.budget.usage.calls

    def save(self, folder: str | Path) -> Path:
        """Write the record to a folder for `pddlego show`. Raises `PddlegoError` if that fails, or it has one."""
        return save_journal(self.record, Path(folder))

    def _run(self, events: Generator[Event, None, Value]) -> Value:
        """Record the events of a generator, and return its value."""
        while True:
            try:
                event = next(events)
            except StopIteration as done:
                value: Value = done.value
                return value
            if not event.passing:
                self.record.add(event, self._writer.budget.seconds)

    def _accept(self, draft: Draft, notes: tuple[str, ...] = ()) -> None:
        for event in self._writer.accept(self._draft, draft, notes):
            self.record.add(event, self._writer.budget.seconds)
        self._draft = draft

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
        return self._writer.prompt(self._draft, _known(components, self._draft.level), action=action, advice=advice)

    def ask(self, *components: str, action: str = "", advice: str = "", prompt: str = "") -> Builder:
        """Ask the model for components in one request, and put the answer into the files.

        `components` are those of `pddlego build`: types, constants, predicates, functions, rules, action-list, action,
        parameters, preconditions, effects, objects, init, goal, domain, problem; with numbers metric, with time
        timed-action. `action` names the action that they
        belong to. `prompt` replaces the built-in prompt; the answer has the same form. An answer that cannot be parsed,
        or that would introduce defects, is rejected, and the model is asked again up to `retries` times.

        Raises `ModelError` if the model cannot answer, or if no answer is usable.
        """
        return self._asked(self._writer, _known(components, self._draft.level), action, advice, prompt)

    def evaluate(
        self,
        component: str = "",
        *,
        action: str = "",
        by: str | Answer | Model | None = None,
        person: Person | None = None,
    ) -> Opinion:
        """Return whether the files match the description, and what to rewrite if not (L2P's feedback).

        With a `component`, only that component is evaluated, as NL2Plan does after each step. The opinion is the
        model's own, that of another model (`by`), or a person's: `person` gets `domain` or `problem` and the text of
        that file, and returns advice, or an empty text to accept it. Raises `ModelError` without a readable opinion.
        """
        if component:
            _known((component,), self._draft.level)
        if person is not None:
            return self._read_by(person, component, action)
        shown = f"Evaluate only the component {component}{f' of the action {action}' if action else ''}."
        matter, components = (shown, (component,)) if component else ("", ())
        judged = self._run(ask_opinion(self._of(by), self._draft, Judgement, matter, components))
        if judged is None:
            raise ModelError("The model has no readable opinion", "It was asked twice.", "See its answers.")
        rewritten = component or judged.component.strip().lower()
        return Opinion(judged.approves, judged.advice, rewritten, action or judged.action.strip().lower())

    def _read_by(self, person: Person, component: str, action: str) -> Opinion:
        """A person's opinion on the file of a component, or on each file."""
        files = {"domain": self.domain, "problem": self.problem}
        if component:
            files.pop("domain" if component in PROBLEM_COMPONENTS else "problem")
        elif not self._draft.has_problem:
            files.pop("problem")
        for file, text in files.items():
            advice = _advice(person, file, text)
            if advice:
                return Opinion(False, advice, component or file, action)
        return Opinion(True, component=component, action=action)

    def revise(self, opinion: Opinion, *, by: str | Answer | Model | None = None) -> Builder:
        """Ask for the component that an opinion names again, with its advice; nothing if it approves.

        Raises `UsageError` if it names no component, and `ModelError` as `ask`.
        """
        if not isinstance(opinion, Opinion):
            raise UsageError("That is not an opinion", f"It is {opinion!r:.60}.", "Pass the result of evaluate().")
        if opinion.approves:
            return self
        return self._asked(
            self._of(by), _known((opinion.component,), self._draft.level), opinion.action, opinion.advice
        )

    def select(
        self,
        *components: str,
        action: str = "",
        number: int = 3,
        by: str | Answer | Model | None = None,
        score: Callable[[Builder], float] | None = None,
    ) -> Builder:
        """Ask for components several times, each time from the same files, and keep the best of the usable answers.

        A model chooses (the builder's own, or `by`), or the highest `score` of a builder with the candidate. Raises
        `ModelError` if no answer is usable.
        """
        if number < 1:
            raise UsageError(f"number = {number} is not possible", "A candidate is needed.", "Give 1 or more.")
        kinds, retries = _known(components, self._draft.level), self._writer.retries + 1
        drafts = []
        for candidate in range(number):
            events = self._writer.attempt(self._draft, kinds, action=action, first=candidate * retries)
            drafts.append(self._run(events).value)
        usable = list({(draft.domain, draft.problem): draft for draft in drafts if draft is not None}.values())
        if not usable:
            raise ModelError(
                f"The model has no usable {', '.join(kinds)}", f"{number} answers were asked for.", "See its answers."
            )
        if score is not None:
            self._accept(max(usable, key=lambda draft: score(self._with(draft))))
        elif len(usable) > 1:
            texts = (f"Candidate {place}:\n{_files(draft)}" for place, draft in enumerate(usable, start=1))
            choice = self._run(ask_opinion(self._of(by), self._draft, Choice, "\n\n".join(texts)))
            if choice is None or choice.best > len(usable):
                reason = "Its answer names none of the candidates." if choice else "It was asked twice."
                raise ModelError("The model has no readable choice", reason, "Use score=, or another model (by=).")
            self._accept(usable[choice.best - 1])
        else:
            self._accept(usable[0])
        return self

    def _with(self, draft: Draft) -> Builder:
        other = copy(self)
        other._draft = draft
        return other

    def _of(self, model: str | Answer | Model | None) -> ComponentWriter:
        return self._writer if model is None else replace(self._writer, model=self._resolve(model))

    def _asked(
        self, writer: ComponentWriter, kinds: tuple[str, ...], action: str, advice: str, prompt: str = ""
    ) -> Builder:
        attempt = self._run(writer.attempt(self._draft, kinds, action=action, advice=advice, prompt=prompt))
        if attempt.value is None:
            reason = attempt.failure or "No answer could be used."
            raise ModelError(f"The model has no usable {', '.join(kinds)}", reason, "See the last answer, or set it.")
        self._accept(attempt.value, attempt.notes)
        components = components_in(attempt.answer, [Target(kind, action) for kind in kinds], [])
        self.reply = BuilderReply(attempt.answer, tuple(components))
        return self

    def rule(self, check: Rule) -> Rule:
        """Add a check to those of answers, as a decorator. An answer after which it says something new is rejected."""
        self._writer = replace(self._writer, rules=(*self._writer.rules, check))
        return check

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

    def prune(self) -> Builder:
        """Remove the predicates that no action and no rule uses."""
        self._draft = self._draft.without_unused()
        return self

    def _change(self, component: str, value: str | Mapping[str, Any], keeps: bool) -> Builder:
        before, old = self._draft, self._draft if keeps else Draft()
        if not isinstance(value, str) and component in ("action-list", "domain", "problem", *ACTION_COMPONENTS):
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
        elif component == "metric":
            changes["metric"] = part.metric
        self._draft = replace(before, **changes)
        return self


_SECTIONS = ("types", "constants", "predicates", "functions", "rules", "actions")
_PROBLEM_PARTS = ("objects", "init", "goal")


def _known(components: tuple[str, ...], level: Level) -> tuple[str, ...]:
    """The components. Raises `UsageError` for unknown ones, for those above the level, and for none."""
    known = components_of(level)
    for name in components or ("",):
        if name in COMPONENTS and name not in known:
            higher = "numbers or time" if name in components_of(Level.NUMBERS) else "time"
            reason = f"The level is {level.name.lower()}; it needs {higher}."
            raise UsageError(f"There is no component '{name}' at this level", reason, "Choose it with level=.")
        if name not in known:
            raise _unknown(name, known)
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
    # A comment at the end of the text must not hide the parentheses that follow.
    is_bare = component in ("rules", "actions")
    section = text if is_bare else f"(:{component} {text}\n)"
    if component in _PROBLEM_PARTS:
        goal = "" if component == "goal" else " (:goal (and))"
        problem = read_problem(f"(define (problem part) (:domain part) {section}\n{goal})")
        part, defects = Draft().with_problem(problem.problem), problem.defects
    else:
        domain = read_domain(f"(define (domain part) {section}\n)")
        part, defects = Draft(sections={component: sections_of(domain.domain)[component]}), domain.defects
    faults = [defect.message for defect in defects if defect.blocking]
    if faults or (component in _SECTIONS and not part.sections[component]):
        raise UsageError(what, f"{faults[0] if faults else 'It is empty'}.", "")
    return part


def _files(draft: Draft) -> str:
    return "\n".join(text for text in (draft.domain, draft.problem if draft.has_problem else "") if text)
