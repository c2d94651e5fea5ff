"""Review a draft and rewrite parts of it: the checks come first, then the planner, then a model's opinions (L2P).

A round ends with one rewritten component. The review stops when nothing is wrong, after the last round, or after two
revisions in a row that change nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from pddlego.episode.approval import Approver, Question, ask_approval
from pddlego.episode.ask import ask
from pddlego.episode.events import Event, Rejected
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.methods.builders.building import BuilderRequest, BuildPart, ComponentWriter, Target
from pddlego.methods.builders.draft import (
    ACTION_COMPONENTS,
    PROBLEM_COMPONENTS,
    Draft,
    WholeDomain,
    WholeProblem,
    components_of,
)
from pddlego.methods.builders.events import PlanTried, Reviewed
from pddlego.models.base import INVALID, Feedback, Message, Request
from pddlego.pddl import Defect, DefectKind
from pddlego.pddl.nearly_json import EditSyntaxError, last_object
from pddlego.pddl.portable import checked_domain
from pddlego.pddl.rules import Level, Where
from pddlego.planning import Planner, PlanStatus, Search
from pddlego.planning.checked import checked_problem
from pddlego.util.answers import spoken
from pddlego.util.text import fault_of

FeedbackBy = Literal["none", "model", "person", "both"]
"""The reviewers of a draft after the checks and the planner."""

_SEARCH = Search("gbf", "hff", "auto")

_MAX_UNCHANGED = 2
"""The number of revisions in a row without effect after which the review stops."""

_OPINION_RETRIES = 1

_DEFECTS_OF: Mapping[str, Sequence[DefectKind]] = {
    "types": (DefectKind.TYPE_CYCLE, DefectKind.DUPLICATE_TYPE, DefectKind.UNDECLARED_SUPERTYPE),
    "constants": (DefectKind.DUPLICATE_CONSTANT,),
    "predicates": (DefectKind.DUPLICATE_PREDICATE,),
    "objects": (DefectKind.DUPLICATE_OBJECT, DefectKind.OBJECT_IS_CONSTANT),
    "init": (
        *(DefectKind.NEGATED_INIT, DefectKind.DERIVED_INIT, DefectKind.BROKEN_INVARIANT, DefectKind.MISSING_NUMBER),
    ),
    "goal": (DefectKind.EMPTY_GOAL, DefectKind.GOAL_TRUE),
}
"""The kinds of defects that only this component can contain, wherever the check reports them."""


class _Opinion(BaseModel):
    """A model's answer in a review."""

    purpose: ClassVar[str]
    """The purpose of the request that it answers."""

    @property
    def approves(self) -> bool:
        """Whether nothing has to be rewritten."""
        return False


class Diagnosis(_Opinion):
    """Why the checks fail, which component to rewrite, and how."""

    purpose = "diagnose"
    summary: str
    cause: str = ""
    component: str
    action: str = ""
    repair: str

    @property
    def advice(self) -> str:
        return self.repair


class _PlanDiagnosis(_Opinion):
    """Why no plan exists, which component to rewrite, and how."""

    purpose = "diagnose-plan"
    bottleneck: str
    component: str
    action: str = ""
    fix: str

    @property
    def advice(self) -> str:
        return self.fix


class Judgement(_Opinion):
    """Whether the files match the description. The score is from 1 to 10."""

    purpose = "evaluate"
    score: int = Field(ge=1, le=10)
    passing: bool
    critique: str = ""
    missing: tuple[str, ...] = ()
    component: str = ""
    action: str = ""

    @property
    def approves(self) -> bool:
        return self.passing

    @property
    def advice(self) -> str:
        return "\n".join((self.critique, *self.missing))


class _PlanEvaluation(_Opinion):
    """Whether a plan does what the description means, or exploits a mistake in the domain."""

    purpose = "evaluate-plan"
    intended: bool
    critique: str = ""
    component: str = ""
    action: str = ""

    @property
    def approves(self) -> bool:
        return self.intended

    @property
    def advice(self) -> str:
        return self.critique


class Choice(_Opinion):
    """Which of several candidates is the best, counted from 1."""

    purpose = "select"
    best: int = Field(ge=1)
    reason: str = ""

    @property
    def approves(self) -> bool:
        return True


class _Lesson(_Opinion):
    """What to learn from a revision without effect."""

    purpose = "reflect"
    lesson: str

    @property
    def approves(self) -> bool:
        return True


_Blame = Diagnosis | _PlanDiagnosis | Judgement | _PlanEvaluation
"""An opinion that can name a component to rewrite."""

_T = TypeVar("_T", bound=_Opinion)

_Revision = tuple[Target, str]
"""A component to rewrite, and advice for the model."""


@dataclass(frozen=True)
class Review:
    """The results of the checks and the planner for a draft.

    `defects` are errors, which make planning impossible, and `warnings` all other defects. `named` are the components
    with these defects, as far as they can be identified. `status` is None if the planner was not called.
    """

    defects: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    named: tuple[Target, ...] = ()
    status: PlanStatus | None = None
    plan: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether there are no errors, and a plan if there is a problem."""
        return not self.defects and self.status in (None, PlanStatus.SOLVED)


@dataclass(frozen=True)
class Reviewer:
    """Reviews a draft in at most `rounds` rounds. In each round, the model rewrites one component."""

    writer: ComponentWriter
    planner: Planner
    by: FeedbackBy = "none"
    rounds: int = 3
    approver: Approver | None = None

    def review(self, draft: Draft) -> Generator[Event, None, tuple[Draft, Review]]:
        """Check the draft, plan, ask a model for opinions, then a person. Returns the final draft with its review."""
        draft, review = yield from self._by_model(draft)
        after = yield from self._by_person(draft)
        if after != draft:
            review = yield from self._check(after)
        return after, review

    def _by_model(self, draft: Draft) -> Generator[Event, None, tuple[Draft, Review]]:
        unchanged, lessons = list[Target](), list[str]()
        review = yield from self._check(draft)
        for _ in range(self.rounds if self.by in ("model", "both") else 0):
            revision = yield from self._revision(draft, review, unchanged)
            if revision is None:
                break
            target, advice = revision
            after = (yield from self.writer.write(draft, target, "\n".join((advice, *lessons)))).value
            if after is None:
                break
            checked = yield from self._check(after)
            if review.is_sound and not checked.is_sound:  # a revision never replaces a working draft
                yield from self.writer.accept(after, draft)
                self.writer.keep(draft, review.plan)
                break
            if after == draft:
                unchanged.append(target)
                lesson = yield from ask_opinion(self.writer, draft, _Lesson, advice)
                lessons += [lesson.lesson] if lesson is not None else []
                if len(unchanged) == _MAX_UNCHANGED:
                    break
            else:
                unchanged.clear()
            draft, review = after, checked
        return draft, review

    def _check(self, draft: Draft) -> Generator[Event, None, Review]:
        """Run the checks and then, if they find no errors, the planner."""
        domain = draft.checked_domain
        problem = draft.checked_problem if self.writer.what != "domain" else None
        every = (*domain.defects, *(problem.defects if problem is not None else ()))
        # An object without use is not a defect: a description may name such objects.
        reported = [defect for defect in every if defect.kind is not DefectKind.UNUSED_OBJECT]
        defects = tuple(f"[{defect.kind.id}] {defect.message}" for defect in reported if defect.blocking)
        warnings = tuple(f"[{defect.kind.id}] {defect.message}" for defect in reported if not defect.blocking)
        yield Reviewed("checks", not reported, (*defects, *warnings))
        named = _named_by(reported, draft, self.writer.what)
        if domain.domain is None or problem is None or problem.problem is None:
            return Review(defects, warnings, named)
        budget = self.writer.budget
        budget.check_time()
        result = self.planner.solve(domain.domain, problem.problem, _SEARCH, seconds=budget.seconds_left)
        budget.check_time()
        plan = str(result.plan) if result.plan is not None else ""
        self.writer.keep(draft, plan)
        yield PlanTried(result.status, result.message, tuple(plan.splitlines()))
        no_engine = result.status is PlanStatus.INVALID and draft.level > Level.CLASSICAL  # the checks found no errors
        if result.status is PlanStatus.CRASHED or no_engine:
            result.tried("what was built")
        return Review(defects, warnings, named, result.status, plan)

    def _revision(
        self, draft: Draft, review: Review, unchanged: Sequence[Target]
    ) -> Generator[Event, None, _Revision | None]:
        """Ask a model which component to rewrite, and how; None if nothing has to be rewritten.

        A component that the checks name has priority. Rewriting one of `unchanged` has had no effect.
        """
        findings = "\n".join((*review.defects, *review.warnings))
        if findings:
            diagnosis = yield from ask_opinion(self.writer, draft, Diagnosis, findings)
            suggestion = self._blamed(draft, diagnosis)
            blamed = suggestion[0] if suggestion is not None else None
            if not review.is_sound or blamed is not None or unchanged:
                target = next_target(blamed, review.named, unchanged)
                if target is not None:
                    return suggestion if target == blamed else (target, findings)
            if review.defects:
                return None
        opinion: _Blame | None
        if not review.is_sound:
            status = review.status.value if review.status else ""
            opinion = yield from ask_opinion(self.writer, draft, _PlanDiagnosis, status)
        else:
            opinion = yield from ask_opinion(self.writer, draft, Judgement, "")
            if review.plan and (opinion is None or opinion.approves):
                opinion = yield from ask_opinion(self.writer, draft, _PlanEvaluation, review.plan)
        return self._blamed(draft, opinion)

    def _blamed(self, draft: Draft, opinion: _Blame | None) -> _Revision | None:
        """The revision that an opinion asks for; None if it approves, or names nothing that can be rewritten."""
        if opinion is None or opinion.approves:
            return None
        kind = opinion.component.strip().lower()
        action = opinion.action.strip().lower() if kind in ACTION_COMPONENTS else ""
        if kind in ACTION_COMPONENTS and action not in draft.actions:
            return None
        if kind not in _rewritable(self.writer.what, draft.level):
            return None
        return Target(kind, action), opinion.advice

    def _by_person(self, draft: Draft) -> Generator[Event, None, Draft]:
        """Show each file to a person, who may replace it, or reject it with a hint for the model."""
        for file in ("domain", "problem") if self.writer.what == "task" else (self.writer.what,):
            for number in range(self.rounds + 1):
                question = partial(_question, draft, file)
                decision = yield from ask_approval(self.approver, "files", question, self.writer.budget)
                if decision.kind == "accepted":
                    break
                if decision.kind == "replaced":
                    before, text = draft, decision.text
                    component = WholeDomain(domain=text) if file == "domain" else WholeProblem(problem=text)
                    draft = draft.with_component(component)
                    yield from self.writer.accept(before, draft)
                    continue
                hint = f"A person looked at the file and rejected it: {decision.text or 'no reason was given'}"
                after = None
                if number < self.rounds:
                    after = (yield from self.writer.write(draft, Target(file), hint)).value
                if after is None:
                    yield Reviewed("person", False, (f"the {file} file was rejected, and is left as it is",))
                    break
                draft = after
        return draft


def ask_opinion(
    writer: ComponentWriter, draft: Draft, kind: type[_T], matter: str, components: Sequence[str] = ()
) -> Generator[Event, None, _T | None]:
    """Ask for an opinion on `matter`. It is retried once; if it still cannot be parsed, it is skipped.

    The opinion may name one of the `components`; without any, each that a revision may rewrite.
    """

    def propose(retry: Retry) -> Generator[Event, None, Attempt[_T]]:
        text = writer.prompts.render(
            "builders/review",
            kind=kind.purpose,
            description=writer.description,
            domain=draft.domain,
            problem="" if writer.what == "domain" else draft.problem,
            matter=matter,
            components=components or _rewritable(writer.what, draft.level),
            fault=retry.feedback.evidence[0] if retry.feedback is not None else "",
        )
        context = BuilderRequest(writer.what, writer.gold, Target(kind.purpose), draft, is_review=True)
        request = Request(kind.purpose, (Message("user", text),), context, {})
        answer = yield from ask(writer.model, request, writer.budget, retry.attempt)
        opinion = _read(kind, answer.text)
        if not isinstance(opinion, str):
            return Attempt(answer.text, opinion)
        feedback = Feedback(INVALID, "the review cannot be read:", (opinion,))
        yield Rejected(retry.attempt, feedback)
        return Attempt(answer.text, feedback=feedback)

    opinion = (yield from refine(propose, _OPINION_RETRIES)).value
    if opinion is None:
        text = "no opinion that can be read came of it: nothing was reviewed"
        yield Reviewed(kind.purpose, False, (text,))
        return None
    lines = tuple(f"{name}: {value}" for name, value in opinion.model_dump().items() if value not in ("", ()))
    yield Reviewed(kind.purpose, opinion.approves, lines)
    return opinion


def _read(kind: type[_T], text: str) -> _T | str:
    """Read an opinion. Returns the reason as a text if it cannot be read."""
    try:
        return kind.model_validate(last_object(spoken(text), tuple(kind.model_fields)).value)
    except EditSyntaxError:
        return "there is no JSON object in it that can be read"
    except ValidationError as error:
        return fault_of(error.errors()[0])


def _question(draft: Draft, file: str) -> Question:
    def faults(text: str) -> tuple[str, ...]:
        if file == "domain":
            defects = checked_domain(text, draft.level).defects
        else:
            domain = draft.checked_domain.domain
            defects = checked_problem(domain, text, draft.level).defects if domain is not None else ()
        return tuple(defect.message for defect in defects if defect.blocking)

    text = draft.domain if file == "domain" else draft.problem
    return Question("files", f"the {file} file", text, faults=faults, suffix=".pddl")


def _rewritable(what: BuildPart, level: Level) -> tuple[str, ...]:
    """The components that a revision may rewrite: not those of a domain that the user has provided."""
    file_of = {kind: "problem" if kind in PROBLEM_COMPONENTS else "domain" for kind in components_of(level)}
    return tuple(kind for kind, file in file_of.items() if what in (file, "task") and kind != "action-list")


def _named_by(defects: Iterable[Defect], draft: Draft, what: BuildPart) -> tuple[Target, ...]:
    """The components that contain the defects, those with errors first, without defects of more than one component."""
    errors_first = sorted(defects, key=lambda defect: not defect.blocking)
    targets = dict.fromkeys(_target_of(defect, draft) for defect in errors_first)
    rewritable = _rewritable(what, draft.level)
    return tuple(target for target in targets if target is not None and target.kind in rewritable)


def _target_of(defect: Defect, draft: Draft) -> Target | None:
    for component, kinds in _DEFECTS_OF.items():
        if defect.kind in kinds:
            return Target(component)
    match defect.where:
        case Where("derived predicate"):
            return Target("rules")
        case Where("action", name) if name in draft.actions:
            if draft.level >= Level.TIME:
                return Target("timed-action", name)
            return Target("effects" if defect.kind is DefectKind.EMPTY_EFFECT else "action", name)
    return None


def next_target(blamed: Target | None, named: Iterable[Target], unchanged: Sequence[Target]) -> Target | None:
    """The component that the model blamed if the checks name it, too, or else the first that the checks name.

    A component whose revision had no effect is skipped. If no other is left, the model decides.
    """
    left = [target for target in named if not any(_includes(tried, target) for tried in unchanged)]
    if not left or (blamed is not None and any(_includes(blamed, target) for target in left)):
        return blamed
    return left[0]


def _includes(target: Target, other: Target) -> bool:
    """Whether rewriting `target` may fix `other`: the same component, its action, a part of it, or its whole file."""
    file = "problem" if other.kind in PROBLEM_COMPONENTS else "domain"
    kinds = {target.kind, other.kind}
    same_action = bool(target.action) and target.action == other.action and bool(kinds & {"action", "timed-action"})
    return target == other or target.kind == file or same_action
