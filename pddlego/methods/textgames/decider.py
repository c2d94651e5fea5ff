"""What to do next: ask the model, read and check its answer, plan on the goal ladder, until there are commands."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial

from pddlego.episode.approval import REJECTED_BY_PERSON, Overseer, judge
from pddlego.episode.ask import ask
from pddlego.episode.budget import OverError
from pddlego.episode.events import Accepted, Event, Outcome, Source
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.methods.textgames.episode import Episode, Restart
from pddlego.methods.textgames.event_builders import accepted, domain_accepted, edit_question, plan_question, rejected
from pddlego.methods.textgames.events import PlannedStep
from pddlego.methods.textgames.formalize.base import (
    CommandProposal,
    Formalizer,
    ProblemProposal,
    with_unmatched,
    without_planned,
)
from pddlego.methods.textgames.formalize.gen import read_file
from pddlego.methods.textgames.knowledge import Knowledge, read_written
from pddlego.methods.textgames.memory import (
    UNREACHABLE,
    Placeholders,
    ablated,
    no_plan,
    remedied,
    unless_contradicting,
    unless_incomplete,
)
from pddlego.methods.textgames.situation import Seen, Situation
from pddlego.methods.textgames.world import Intention, ObservedGame, as_said, intended
from pddlego.models import Completion, Model
from pddlego.pddl import Problem
from pddlego.pddl.exclusive import contradictions
from pddlego.planning import Planner, PlanStatus, PlanStep
from pddlego.planning.ladder import climb

Intentions = tuple[Intention, ...]


@dataclass(frozen=True)
class Thinking:
    """Who is asked in an episode: how, which model, which planner, and a person where there is one."""

    method: Formalizer
    model: Model
    planner: Planner
    overseer: Overseer | None = None


class Decider:
    """Keeps what is known of the game, and makes commands of it. `look` looks around in the game."""

    def __init__(
        self, episode: Episode, thinking: Thinking, world: ObservedGame, look: Callable[[], Iterator[Event]]
    ) -> None:
        self.episode, self.setting = episode, episode.setting
        self.known = self.setting.start
        self.hint = Retry()
        self.rung: str | None = None
        self._method, self._model, self._planner = thinking.method, thinking.model, thinking.planner
        self._overseer = thinking.overseer
        self._world, self._memory, self._rules, self._meter = world, world.memory, world.rules, world.meter
        self._look = look
        self._placeholders = Placeholders(self.known.placeholder)
        self._notes: tuple[str, ...] = ()
        self._given: Problem | None = None
        self._was_asked = self._takes_no_temperature = False

    def go_back(self, restart: Restart) -> None:
        """Know what another episode knew there; what a person corrected is planned with at once."""
        self.known = self.known.with_problem(restart.before)
        if restart.written:
            self.known = self.setting.start.rewritten(read_written(restart.written), restart.before)
        self._placeholders.used(restart.before)
        nothing_to_ask = self.episode.plans and not self._memory.news
        self._given = restart.corrected or (restart.before if nothing_to_ask else None)

    def decide(self) -> Generator[Event, None, Intentions]:
        """What to do next: ask until an answer leads to a plan (or is a command), at most `1 + retries` times."""
        expected = self._as_expected()
        if expected is not None:
            proposal = ProblemProposal(self.known.with_problem(expected))
            attempt = yield from self._plan(Retry(), str(expected), proposal, source="plan")
            if attempt.value is not None:
                self._memory.went_as_planned()
                return attempt.value
            if attempt.feedback is not None and attempt.feedback.category == REJECTED_BY_PERSON:
                self.hint = Retry(0, attempt.answer, attempt.feedback)
        first, self.hint = self.hint, Retry()
        self._was_asked = False
        attempt = yield from refine(self._attempt, self.episode.most_retries, first)
        if attempt.value is None:
            raise OverError(Outcome.NO_PLAN, attempt.failure)
        if self._was_asked:  # else the problem was given, and what it does not cover is still news
            self._memory.news = []
        return attempt.value

    def _as_expected(self) -> Problem | None:
        """The problem as the plan has left it, if the game answered exactly so and there is nothing else to read."""
        news = self._memory.news
        if not self.episode.monitors or self.hint.feedback or not news or any(each.after is None for each in news):
            return None
        expected = replace(self.known.problem, facts=news[-1].after or frozenset())
        return without_planned(expected, self.known.only_planned)[0]

    def _attempt(self, retry: Retry) -> Generator[Event, None, Attempt[Intentions]]:
        if self._given is not None:  # by a person, or by a record that needs no answer
            given, self._given = self._given, None
            attempt = yield from self._plan(retry, str(given), ProblemProposal(self.known.with_problem(given)))
            self.known = self.known.with_problem(given)  # it stands, even if it takes more than that for a plan
            return attempt
        if self._memory.look_is_due(retry.attempt, retry.failed_with(UNREACHABLE)):
            yield from self._look()
        situation = self._situation(retry)
        completion = yield from self._ask(situation)
        answer = completion.text
        proposal = unless_incomplete(self._method.read(answer, situation), completion)
        if isinstance(proposal, ProblemProposal):
            last = retry.attempt >= self.episode.most_retries
            proposal = unless_contradicting(proposal, self.known, last)
        if proposal.feedback is not None:
            yield rejected(retry, proposal.feedback, proposal)
            return Attempt(answer, feedback=proposal.feedback)
        if isinstance(proposal, CommandProposal):
            return Attempt(answer, (Intention(proposal.command),))
        question = partial(edit_question, self.known.problem, proposal, situation)
        verdict = yield from judge(self._overseer, "edits", question, self._meter)
        if verdict.kind == "rejected":
            yield rejected(retry, verdict.feedback, proposal)
            return Attempt(answer, feedback=verdict.feedback)
        if verdict.kind == "replaced":
            proposal = read_file(verdict.text, situation)
        return (yield from self._plan(retry, answer, proposal))

    def _plan(
        self, retry: Retry, answer: str, proposal: ProblemProposal, source: Source = "model"
    ) -> Generator[Event, None, Attempt[Intentions]]:
        known = proposal.knowledge.with_problem(self._rules.known(proposal.problem))
        ladder = climb(
            *(self._planner, known.domain, known.problem, self._rules.ladder(known.ladder)),
            lambda step: self._objection(known, step),
            lambda: self._meter.seconds_left,
        )
        intentions, planned = intended(known, ladder)
        self.rung = ladder.rung
        last = ladder.tried[-1]
        if last.status is PlanStatus.CRASHED:
            yield planned
            raise OverError(Outcome.CRASHED, f"the planner failed, which is no fault of the answer: {last.message}")
        if not intentions:
            feedback = with_unmatched(no_plan(ladder), proposal.report)
            yield planned
            self._meter.check_time()  # what ran out of the episode's time is no fault of the problem
            if source == "model":
                yield rejected(retry, feedback, proposal)
            return Attempt(answer, feedback=feedback)
        preview = *self._accepted(proposal, source), planned
        question = partial(plan_question, [intention.command for intention in intentions], ladder.rung or "", preview)
        verdict = yield from judge(self._overseer, "plans", question, self._meter)
        if verdict.kind == "rejected":
            yield planned
            yield rejected(retry, verdict.feedback, proposal)
            return Attempt(answer, feedback=verdict.feedback)
        if verdict.kind == "replaced":
            intentions = tuple(Intention(line.strip()) for line in verdict.text.splitlines() if line.strip())
            steps = tuple(PlannedStep("(by a person)", intention.command) for intention in intentions)
            planned = replace(planned, plan=steps)
        yield from self._accept(proposal, source)
        yield planned
        return Attempt(answer, intentions)

    def _objection(self, known: Knowledge, step: PlanStep) -> str:
        """Why no plan may begin with this step now; empty if one may."""
        command = known.command(step)
        if not command:
            return "how to do that is not known yet"
        return self._memory.refusals.objection(as_said(command, self._world.seen.valid_commands))

    def _accepted(self, proposal: ProblemProposal, source: Source) -> tuple[Accepted, ...]:
        """What is said of a proposal that is accepted: of the domain, where that changed, and of the problem."""
        domain = domain_accepted(self.known, proposal.knowledge)
        return *domain, accepted(self.known.problem, proposal, source)

    def _accept(self, proposal: ProblemProposal, source: Source) -> Iterator[Accepted]:
        events = self._accepted(proposal, source)
        if source == "model" and (proposal.problem != self.known.problem or len(events) > 1):
            self._memory.problem_changed()
        self.known = proposal.knowledge
        self._placeholders.used(self.known.problem)
        self._notes = tuple(str(entry) for entry in proposal.report.unmatched) if proposal.report else ()
        yield from events

    def _situation(self, retry: Retry) -> Situation:
        seen = Seen(
            news=tuple(self._memory.to_read(retry.attempt, retry.failed_with(UNREACHABLE))),
            history=tuple(self._memory.history),
            valid_commands=self.setting.asking.shown(self._world.seen.valid_commands),
            refused=self._memory.refusals.repeated,
            repeating=self._memory.repeating,
        )
        situation = Situation(
            self.known,
            self._world.game.task,
            seen,
            retry,
            notes=self._notes,
            contradictions=contradictions(self.known.problem, self.known.invariants),
            placeholder=self._placeholders.next,
            reworded=retry.repeated if self._takes_no_temperature else 0,
            reader=self.setting.reader,
        )
        return ablated(situation, self.episode.without)

    def _ask(self, situation: Situation) -> Generator[Event, None, Completion]:
        request = self._method.request(situation)
        if request is None:
            return Completion("")
        self._meter.check_call()
        self._was_asked = True
        completion = yield from ask(self._model, remedied(request, situation), self._meter, situation.retry.attempt)
        self._takes_no_temperature = self._takes_no_temperature or "temperature" in completion.not_taken
        return completion
