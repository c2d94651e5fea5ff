"""Review and revise a draft: checks first, then a planner, then opinions (feedbacks of L2P), with a stop rule.

A round ends with one revised component. The review stops when nothing is found, when the rounds are used up, or when
two revisions in a row change nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from pddlego.episode.approval import Approver, Question, ask_approval
from pddlego.episode.ask import ask
from pddlego.episode.budget import EpisodeOver
from pddlego.episode.events import Event, Outcome, Rejected
from pddlego.methods.builders.building import (
    OF_PROBLEM,
    BuilderRequest,
    BuildOrder,
    BuildPart,
    Step,
    StepAsking,
    changes,
    component,
)
from pddlego.methods.builders.components import COMPONENTS, WholeDomain, WholeProblem
from pddlego.methods.builders.draft import Draft
from pddlego.methods.builders.events import DefectsFound, PlanTried
from pddlego.models.base import Feedback, Message, Request
from pddlego.pddl import Defect, DefectKind
from pddlego.pddl.nearly_json import EditSyntaxError, last_object
from pddlego.planning import Planner, PlanStatus, Search
from pddlego.planning.solve import checked_domain, checked_problem
from pddlego.util.answers import spoken

_OF_ACTION = ("parameters", "preconditions", "effects", "action")
"""Components of one action."""

_OF_KIND: Mapping[DefectKind, str] = {
    DefectKind.TYPE_CYCLE: "types",
    DefectKind.DUPLICATE_TYPE: "types",
    DefectKind.UNDECLARED_SUPERTYPE: "types",
    DefectKind.DUPLICATE_CONSTANT: "constants",
    DefectKind.DUPLICATE_PREDICATE: "predicates",
    DefectKind.DUPLICATE_OBJECT: "objects",
    DefectKind.OBJECT_IS_CONSTANT: "objects",
    DefectKind.NEGATED_INIT: "init",
    DefectKind.DERIVED_INIT: "init",
    DefectKind.BROKEN_INVARIANT: "init",
    DefectKind.EMPTY_GOAL: "goal",
    DefectKind.GOAL_TRUE: "goal",
}
"""The component that a defect of a kind is in, wherever it is."""


def _components_of(what: BuildPart) -> tuple[str, ...]:
    """Return the components that a revision may rewrite: not those of a domain that was given."""
    known = {"domain": [kind for kind in COMPONENTS if kind not in OF_PROBLEM], "problem": list(OF_PROBLEM)}
    return tuple(kind for kind in known.get(what, COMPONENTS) if kind != "action-list")


def _named_by(defects: Iterable[Defect], draft: Draft, what: BuildPart) -> tuple[Step, ...]:
    """The components that defects name, blocking defects first. A defect that several components may cause names
    nothing."""
    first = sorted(defects, key=lambda defect: not defect.blocking)
    steps = dict.fromkeys(step for defect in first if (step := _named(defect, draft)) is not None)
    return tuple(step for step in steps if step.kind in _components_of(what))


def _named(defect: Defect, draft: Draft) -> Step | None:
    if defect.kind in _OF_KIND:
        return Step(_OF_KIND[defect.kind])
    place = defect.subject.partition(",")[0]
    if place.startswith("derived predicate "):
        return Step("rules")
    action = place.removeprefix("action ")
    if action == place or action not in draft.actions:
        return None
    return Step("effects" if defect.kind is DefectKind.EMPTY_EFFECT else "action", action)


def next_step(blamed: Step | None, named: Iterable[Step], unchanged: Sequence[Step]) -> Step | None:
    """The component that the model blamed if the checks name it, else the first one that they name.

    A component whose revision changed nothing is not named any longer; when no other is left, the model decides.
    """
    left = [step for step in named if not any(_includes(tried, step) for tried in unchanged)]
    if not left or (blamed is not None and any(_includes(blamed, step) for step in left)):
        return blamed
    return left[0]


def _includes(step: Step, other: Step) -> bool:
    """Whether writing `step` again may fix what is wrong with `other`: a part of it, the whole of it, or the same."""
    whole = "problem" if other.kind in OF_PROBLEM else "domain"
    same_action = bool(step.action) and step.action == other.action and "action" in (step.kind, other.kind)
    return step == other or step.kind == whole or same_action


By = Literal["none", "model", "person", "both"]
"""Whose opinion is asked for, after the checks."""

SEARCH = Search("gbf", "hff", "auto")

_UNCHANGED = 2
"""Revisions in a row that change nothing, after which the review stops."""


class Diagnosis(BaseModel):
    """Why checks failed: a summary, the cause, and which component to write again, and how (no PDDL)."""

    summary: str
    cause: str = ""
    component: str
    action: str = ""
    repair: str


class PlanDiagnosis(BaseModel):
    """Why no plan exists: the bottleneck, which component to rewrite, and how."""

    bottleneck: str
    component: str
    action: str = ""
    fix: str


class Judgement(BaseModel):
    """Whether the files say what the description says; a score from 1 to 10."""

    score: int = Field(ge=1, le=10)
    passing: bool
    critique: str = ""
    missing: tuple[str, ...] = ()
    component: str = ""
    action: str = ""


class PlanJudgement(BaseModel):
    """Whether a plan is what was meant, or uses a loophole."""

    intended: bool
    critique: str = ""
    component: str = ""
    action: str = ""


class Lesson(BaseModel):
    """What to learn of a revision that did not help."""

    lesson: str


T = TypeVar("T", bound=BaseModel)
"""What a model says in a review."""


@dataclass(frozen=True)
class Review:
    """What is known of a draft: what the checks found, `defects` that stop and `warnings`, the components that these
    `named`, what the planner said, and the plan.

    `advice` says what to do about it, `step` to which component; empty where nothing was found.
    """

    defects: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    named: tuple[Step, ...] = ()
    status: PlanStatus | None = None
    plan: str = ""
    advice: str = ""
    step: Step | None = None

    @property
    def sound(self) -> bool:
        """Whether both files can be planned with and there is a plan, where a problem is there."""
        return not self.defects and self.status in (None, PlanStatus.SOLVED)


@dataclass(frozen=True)
class Reviewing:
    """A review: whose opinion, in how many rounds at most, who plans, and a person where there is one."""

    order: BuildOrder
    asking: StepAsking
    planner: Planner
    by: By = "none"
    rounds: int = 3
    approver: Approver | None = None


def reviewed(how: Reviewing, draft: Draft) -> Generator[Event, None, tuple[Draft, Review]]:
    """Check, plan, ask for opinions and revise, then let a person look; the draft and what is known of it."""
    draft, review = yield from _by_model(how, draft)
    after = yield from _looked_over(how, draft)
    if after != draft:
        review = yield from look(how, after)
    return after, review


def _revised(how: Reviewing, draft: Draft, step: Step, advice: str) -> Generator[Event, None, Draft | None]:
    """Rewrite one component. Returns None if no answer is usable; the draft stays unchanged."""
    try:
        return (yield from component(how.order, how.asking, draft, step, advice))
    except EpisodeOver as over:
        if over.outcome is not Outcome.NO_PLAN:
            raise
        return None


def _can_be_planned(draft: Draft) -> bool:
    domain = checked_domain(draft.domain).domain
    return domain is not None and checked_problem(domain, draft.problem).problem is not None


def _looked_over(how: Reviewing, draft: Draft) -> Generator[Event, None, Draft]:
    """A person looks at both files, and may change them; a hint goes to the model, which writes the file again."""
    files = {"domain": ("domain",), "problem": ("problem",), "task": ("domain", "problem")}[how.order.what]
    for file in files:
        for number in range(how.rounds + 1):
            review = yield from ask_approval(how.approver, "files", partial(_question, draft, file), how.asking.budget)
            if review.kind == "accepted":
                break
            if review.kind == "replaced":
                before = draft
                kind = WholeDomain(domain=review.text) if file == "domain" else WholeProblem(problem=review.text)
                draft = draft.with_component(kind)
                how.asking.keep(draft)
                yield from changes(before, draft)
                continue
            hint = f"A person looked at the file and rejected it: {review.text or 'no reason was given'}"
            after = None if number == how.rounds else (yield from _revised(how, draft, Step(file), hint))
            if after is None:
                yield DefectsFound("person", False, (f"the {file} file was rejected, and is left as it is",))
                break
            draft = after
    return draft


def _question(draft: Draft, file: str) -> Question:
    def faults(text: str) -> tuple[str, ...]:
        if file == "domain":
            return tuple(defect.message for defect in checked_domain(text).defects if defect.blocking)
        domain = checked_domain(draft.domain).domain
        defects = checked_problem(domain, text).defects if domain is not None else ()
        return tuple(defect.message for defect in defects if defect.blocking)

    text = draft.domain if file == "domain" else draft.problem
    return Question("files", f"the {file} file", text, faults=faults, suffix=".pddl")


def _by_model(how: Reviewing, draft: Draft) -> Generator[Event, None, tuple[Draft, Review]]:
    unchanged, lessons = list[Step](), list[str]()
    for number in range(how.rounds + 1):
        review = yield from look(how, draft)
        if how.by not in ("model", "both") or number == how.rounds:
            return draft, review
        review = yield from opinions(how, draft, review, unchanged)
        if review.step is None:
            return draft, review
        advice = "\n".join((review.advice, *lessons))
        after = yield from _revised(how, draft, review.step, advice)
        if after is None or (review.sound and not _can_be_planned(after)):
            return draft, review  # an opinion does not take the place of what works
        if after == draft:
            unchanged.append(review.step)
            lesson = yield from opinion(how, draft, "reflect", Lesson, review.advice)
            lessons += [lesson.lesson] if lesson is not None else []
            if len(unchanged) == _UNCHANGED:
                return draft, review
        else:
            unchanged.clear()
        draft = after
    raise AssertionError("a round is always the last")


def look(how: Reviewing, draft: Draft) -> Generator[Event, None, Review]:
    """What the checks say, and then the planner."""
    domain = checked_domain(draft.domain)
    findings = list(domain.defects)
    problem = None
    if domain.domain is not None and how.order.what != "domain":
        problem = checked_problem(domain.domain, draft.problem)
        findings += problem.defects
    ignored = (DefectKind.UNUSED_OBJECT,)  # a description may well name what is of no use
    shown = [finding for finding in findings if finding.kind not in ignored]
    defects, warnings = (
        tuple(_told(finding) for finding in shown if finding.blocking is stops) for stops in (True, False)
    )
    yield DefectsFound("checks", not shown, (*defects, *warnings))
    named = _named_by(shown, draft, how.order.what)
    if domain.domain is None or problem is None or problem.problem is None:
        return Review(defects, warnings, named)
    budget = how.asking.budget
    budget.check_time()
    left = budget.seconds_left
    result = how.planner.solve(domain.domain, problem.problem, SEARCH, seconds=left)
    budget.check_time()
    plan = str(result.plan) if result.plan is not None else ""
    yield PlanTried(result.status, result.message, tuple(plan.splitlines()))
    return Review(defects, warnings, named, result.status, plan)


def _told(defect: Defect) -> str:
    return f"[{defect.kind.id}] {defect.message}"


def opinions(
    how: Reviewing, draft: Draft, review: Review, unchanged: Sequence[Step] = ()
) -> Generator[Event, None, Review]:
    """Ask a model which component to rewrite; no step means none. A component that the checks name has priority.

    Writing one of `unchanged` again has changed nothing since the last change.
    """
    findings = (*review.defects, *review.warnings)
    if findings:
        diagnosis = yield from opinion(how, draft, "diagnose", Diagnosis, "\n".join(findings))
        todo = _to_do(how, draft, review, diagnosis, diagnosis.repair if diagnosis else "")
        content = review.sound and todo.step is None and not unchanged
        step = None if content else next_step(todo.step, review.named, unchanged)
        if step != todo.step:
            todo = replace(review, advice="\n".join(findings), step=step)
        if todo.step is not None or review.defects:
            return todo
    if not review.sound:
        status = review.status.value if review.status else ""
        bottleneck = yield from opinion(how, draft, "diagnose-plan", PlanDiagnosis, status)
        return _to_do(how, draft, review, bottleneck, bottleneck.fix if bottleneck else "")
    judgement = yield from opinion(how, draft, "evaluate", Judgement, "")
    if judgement is not None and not judgement.passing:
        return _to_do(how, draft, review, judgement, "\n".join((judgement.critique, *judgement.missing)))
    if review.plan:
        plan = yield from opinion(how, draft, "evaluate-plan", PlanJudgement, review.plan)
        if plan is not None and not plan.intended:
            return _to_do(how, draft, review, plan, plan.critique)
    return review


ReviewedDefect = Diagnosis | PlanDiagnosis | Judgement | PlanJudgement


def _to_do(how: Reviewing, draft: Draft, review: Review, finding: ReviewedDefect | None, advice: str) -> Review:
    """What an opinion asks for; nothing where it names no component of what is built, or no action that there is."""
    kind = finding.component.strip().lower() if finding is not None else ""
    if finding is None or kind not in _components_of(how.order.what):
        return review
    action = finding.action.strip().lower() if kind in _OF_ACTION else ""
    if kind in _OF_ACTION and action not in draft.actions:
        return review
    return replace(review, advice=advice, step=Step(kind, action))


def opinion(how: Reviewing, draft: Draft, kind: str, model: type[T], matter: str) -> Generator[Event, None, T | None]:
    """Ask for an opinion, again if it cannot be parsed; if it never can, it is skipped with an event."""
    fault = ""
    for attempt in range(_READINGS):
        text = how.asking.prompts.render(
            "builders/review",
            kind=kind,
            description=how.order.description,
            domain=draft.domain,
            problem="" if how.order.what == "domain" else draft.problem,
            matter=matter,
            components=_components_of(how.order.what),
            fault=fault,
        )
        context = BuilderRequest(how.order, Step(kind), draft, "review")
        answer = yield from ask(
            how.asking.model, Request(kind, (Message("user", text),), context, {}), how.asking.budget, attempt
        )
        try:
            value = last_object(spoken(answer.text), tuple(model.model_fields), tolerant=False).value
            opinion = model.model_validate(value)
        except EditSyntaxError:
            fault = "there is no JSON object in it that can be read"
        except ValidationError as error:
            first = error.errors()[0]
            fault = f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"
        else:
            fine = getattr(opinion, "passing", getattr(opinion, "intended", kind == "reflect"))
            lines = tuple(f"{name}: {value}" for name, value in opinion.model_dump().items() if value not in ("", ()))
            yield DefectsFound(kind, bool(fine), lines)
            return opinion
        yield Rejected(attempt, Feedback("invalid answer", f"the review cannot be read: {fault}"))
    yield DefectsFound(kind, False, ("no opinion that can be read came of it: nothing was reviewed",))
    return None


_READINGS = 2
"""Tries at an opinion."""
