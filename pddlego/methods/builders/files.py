"""Build PDDL files from a user's description: `pddlego build` and `pddlego.build`."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import get_args

from pddlego.episode.approval import Approver
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Limits, Outcome, Started
from pddlego.episode.lifecycle import played
from pddlego.errors import UsageError
from pddlego.methods.builders.building import BuildOrder, BuildPart, How, StepAsking, built
from pddlego.methods.builders.draft import Draft
from pddlego.methods.builders.events import PlanTried
from pddlego.methods.builders.reviewing import By, Review, Reviewing, reviewed
from pddlego.models import Model
from pddlego.models.prompts import Prompts
from pddlego.planning import Planner
from pddlego.runs.journal import Timed, follow


@dataclass(frozen=True)
class BuildOptions:
    """How a description is built: in which steps, with whose feedback, within which limits. Feedback by a person, or by
    both, asks the `approver`."""

    steps: How = "by-component"
    feedback: By = "none"
    rounds: int = 3
    retries: int = 5
    limits: Limits = field(default_factory=lambda: Limits(None))
    approver: Approver | None = None


class Build:
    """One description on its way to files. After its `events`, `draft`, `review` and `plan` are what came of it.

    Raises `UsageError` for what cannot be built.
    """

    def __init__(
        self, what: BuildPart, description: str, model: Model, planner: Planner, options: BuildOptions, begin: Draft
    ) -> None:
        _check(what, description, options, begin)
        self.draft, self.review, self.plan = begin, Review(), ""
        self.order = BuildOrder(what, description, options.steps)
        self._model, self._planner, self._options = model, planner, options

    def events(self) -> Timed:
        """Everything that happens, the last event is `Ended`: won if what was built is sound, and has a plan where a
        problem is part of it."""
        budget = Budget(self._options.limits)
        return Timed(played(self._work(budget), budget), lambda: budget.seconds)

    def _noting(
        self, work: Generator[Event, None, tuple[Draft, Review]]
    ) -> Generator[Event, None, tuple[Draft, Review]]:
        """The events of a review, with the last plan kept whatever ends it."""
        while True:
            try:
                event = next(work)
            except StopIteration as done:
                reviewed: tuple[Draft, Review] = done.value
                return reviewed
            if isinstance(event, PlanTried):
                self.plan = "\n".join(event.plan)
            yield event

    def _keep(self, draft: Draft) -> None:
        self.draft, self.plan = draft, ""  # an older plan is not valid for this draft

    def _work(self, budget: Budget) -> Generator[Event, None, None]:
        options = self._options
        yield Started(
            setting="description",
            title=f"a {self.order.what} from a description",
            mode=f"build ({options.steps})",
            model=self._model.name,
            seed=None,
            task=self.order.description.strip().splitlines()[0][:200] if self.order.description.strip() else "",
            limits=options.limits,
            played_by="builders",
        )
        asking = StepAsking(self._model, budget, Prompts("builders"), options.retries, keep=self._keep)
        self.draft = yield from built(self.order, asking, self.draft)
        review = Reviewing(self.order, asking, self._planner, options.feedback, options.rounds, options.approver)
        self.draft, self.review = yield from self._noting(reviewed(review, self.draft))
        self.plan = self.review.plan
        budget.score = float(self.review.sound)
        if not self.review.sound:
            raise EpisodeOver(Outcome.LOST, "what was built has defects, or no plan")
        valid = "the domain is valid" if self.order.what == "domain" else "the files are valid, and a plan was found"
        raise EpisodeOver(Outcome.WON, valid)


def _check(what: str, description: str, options: BuildOptions, begin: Draft) -> None:
    """Raises `UsageError` for what cannot be built."""
    for name, value, known in (
        ("what", what, get_args(BuildPart)),
        ("steps", options.steps, get_args(How)),
        ("feedback", options.feedback, get_args(By)),
    ):
        if value not in known:
            raise UsageError(f"{name} = {value} is not possible", f"It is one of: {', '.join(known)}.", "Choose one.")
    if not isinstance(description, str) or not description.strip():
        raise UsageError("The description is empty", "There is nothing to build of.", "Describe it in words.")
    if what == "problem" and not begin.sections:
        raise UsageError("A problem needs its domain", "None was given.", "Name it with --domain (Python: domain=).")


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


def build(
    what: BuildPart, description: str, model: Model, planner: Planner, options: BuildOptions, begin: Draft | None = None
) -> Built:
    """Build to the end, without a display."""
    work = Build(what, description, model, planner, options, begin or Draft())
    ended = follow(work.events(), [])
    draft = work.draft
    return Built(
        domain=draft.domain if draft.sections else "",
        problem=draft.problem if what != "domain" and draft.objects else "",
        plan=work.plan,
        sound=ended.outcome is Outcome.WON,
        message=ended.message,
        calls=ended.usage.calls,
    )
