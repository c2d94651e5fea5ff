"""The loop: read what the game says, formalize, plan on the goal ladder, execute, and again (paper, section 2)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pddlego.events import Accepted, Event, Outcome, Source
from pddlego.methods.textgames.episode import Episode
from pddlego.methods.textgames.event_builders import (
    accepted,
    command_question,
    edit_question,
    plan_question,
    rejected,
    resumed,
    started,
)
from pddlego.methods.textgames.events import Observed, PlannedStep
from pddlego.methods.textgames.expect import as_said
from pddlego.methods.textgames.fixed_rules import FixedRules
from pddlego.methods.textgames.formalize import (
    CommandProposal,
    CommandSource,
    Formalizer,
    ProblemProposal,
    read_file,
    with_unmatched,
    without_planned,
)
from pddlego.methods.textgames.games import Game
from pddlego.methods.textgames.intentions import Intention, intended
from pddlego.methods.textgames.memory import Memory
from pddlego.methods.textgames.no_plan import UNREACHABLE, no_plan
from pddlego.methods.textgames.placeholders import Placeholders
from pddlego.methods.textgames.remedies import ablated, remedied, unless_contradicting, unless_incomplete
from pddlego.methods.textgames.restart import Restart
from pddlego.methods.textgames.situation import Situation
from pddlego.methods.textgames.world import ObservedGame
from pddlego.models import Completion, Model
from pddlego.pddl import Problem
from pddlego.pddl.invariants import contradictions
from pddlego.planning import Planner, PlanStatus, PlanStep
from pddlego.planning.ladder import climbing
from pddlego.refine.advice import advised
from pddlego.refine.approval import REJECTED_BY_PERSON, Overseer, Verdict, judge
from pddlego.refine.ask import ask
from pddlego.refine.asked import Advisers
from pddlego.refine.episode import played
from pddlego.refine.loop import Attempt, Retry, refine
from pddlego.refine.usage import Meter, OverError

Intentions = tuple[Intention, ...]


class Agent:
    """Plays one episode. `run` yields every event as it happens; it is the only way to see inside.

    One that `monitors` compares what the game answers with what the plan expected: it stops at a surprise, and asks
    nothing where all went as expected and nothing else was said.
    """

    def __init__(
        self,
        episode: Episode,
        game: Game,
        method: Formalizer | CommandSource,
        model: Model,
        planner: Planner,
        clock: Callable[[], float] = time.monotonic,
        overseer: Overseer | None = None,
        restart: Restart | None = None,
        advisers: Advisers | None = None,
    ) -> None:
        self.episode, self.setting = episode, episode.setting
        self.method, self.model, self.planner = method, model, planner
        self.overseer, self.restart, self.advisers = overseer, restart, advisers or Advisers()
        self.monitors = method.plans and "replanning" not in episode.without
        self._meter = Meter(episode.limits, clock)
        self._problem = self.setting.start
        self._memory = Memory(method.plans and "remedies" not in episode.without)
        self._rules = FixedRules(self.setting.rules, self.setting.script if method.plans else "")
        self._world = ObservedGame(self.setting, game, self._memory, self._meter, self._rules)
        self._placeholders = Placeholders(self.setting.placeholder)
        self._notes: tuple[str, ...] = ()
        self._given: Problem | None = None
        self._hint = Retry()
        self._was_asked = self._takes_no_temperature = False
        self._rung: str | None = None

    def run(self) -> Iterator[Event]:
        """Play to the end. The last event is always `Ended`, whatever happens; see `played`."""
        return played(self._episode(), self._meter)

    @property
    def seconds(self) -> float:
        """The episode's time: it stands still while somebody looks or judges."""
        return self._meter.seconds

    def _episode(self) -> Generator[Event, None, None]:
        yield started(self.episode, self.model)
        yield self._world.start(self._problem)
        if self.restart is not None:
            yield from self._go_back(self.restart)
        while True:
            yield from self._follow_rules()
            intentions = yield from self._decide()
            yield from self._execute(intentions)

    def _go_back(self, restart: Restart) -> Iterator[Event]:
        """Begin where another episode was. Raises `ReplayError`."""
        yield from self._world.go_back(restart, self._problem)
        self._problem = restart.before
        self._placeholders.used(restart.before)
        self._memory.go_back_to(restart.known)
        nothing_to_ask = self.method.plans and not self._memory.news
        self._given = restart.corrected or (restart.before if nothing_to_ask else None)
        yield resumed(restart)

    # formalize and plan

    def _decide(self) -> Generator[Event, None, Intentions]:
        """What to do next: ask until an answer leads to a plan (or is a command), at most `1 + retries` times."""
        expected = self._as_expected()
        if expected is not None:
            attempt = yield from self._plan(Retry(), str(expected), ProblemProposal(expected), source="plan")
            if attempt.value is not None:
                self._memory.went_as_planned()
                return attempt.value
            if attempt.feedback is not None and attempt.feedback.category == REJECTED_BY_PERSON:
                self._hint = Retry(0, attempt.answer, attempt.feedback)
        first, self._hint = self._hint, Retry()
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
        if not self.monitors or self._hint.feedback or not news or any(each.after is None for each in news):
            return None
        expected = replace(self._problem, facts=news[-1].after or frozenset())
        return without_planned(expected, self.setting.only_planned)[0]

    def _attempt(self, retry: Retry) -> Generator[Event, None, Attempt[Intentions]]:
        if self._given is not None:  # by a person, or by a record that needs no answer
            given, self._given = self._given, None
            attempt = yield from self._plan(retry, str(given), ProblemProposal(given))
            self._problem = given  # it stands, even if it takes more than that for a plan
            return attempt
        if self._memory.look_is_due(retry.attempt, retry.failed_with(UNREACHABLE)):
            yield from self._look_again()
        situation = self._situation(retry)
        completion = yield from self._ask(situation)
        answer = completion.text
        proposal = unless_incomplete(self.method.read(answer, situation), completion)
        if proposal.feedback is not None:
            yield rejected(retry, proposal.feedback, proposal if isinstance(proposal, ProblemProposal) else None)
            return Attempt(answer, feedback=proposal.feedback)
        if isinstance(proposal, CommandProposal):
            return Attempt(answer, (Intention(proposal.command),))
        last = retry.attempt >= self.episode.most_retries
        proposal = unless_contradicting(proposal, self._problem, self.setting.invariants, last)
        if proposal.feedback is not None:
            yield rejected(retry, proposal.feedback, proposal)
            return Attempt(answer, feedback=proposal.feedback)
        question = partial(edit_question, self._problem, proposal, situation)
        verdict = yield from judge(self.overseer, "edits", question, self._meter)
        if verdict.kind == "rejected":
            yield rejected(retry, verdict.feedback, proposal)
            return Attempt(answer, feedback=verdict.feedback)
        if verdict.kind == "replaced":
            proposal = read_file(verdict.text, situation)
        return (yield from self._plan(retry, answer, proposal))

    def _plan(
        self, retry: Retry, answer: str, proposal: ProblemProposal, source: Source = "model"
    ) -> Generator[Event, None, Attempt[Intentions]]:
        problem = self._rules.known(proposal.problem)
        planning = climbing(
            *(self.planner, self.setting.domain, problem, self._rules.ladder(self.setting.ladder)),
            lambda step: self._objection(step, problem),
            lambda: self._meter.seconds_left,
        )
        ladder = yield from advised(planning, self.advisers, self._meter)
        intentions, planned = intended(self.setting, problem, ladder)
        self._rung = ladder.rung
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
        preview = accepted(self._problem, proposal, self.setting.invariants, source), planned
        question = partial(plan_question, [intention.command for intention in intentions], ladder.rung or "", preview)
        verdict = yield from judge(self.overseer, "plans", question, self._meter)
        if verdict.kind == "rejected":
            yield planned
            yield rejected(retry, verdict.feedback, proposal)
            return Attempt(answer, feedback=verdict.feedback)
        if verdict.kind == "replaced":
            intentions = tuple(Intention(line.strip()) for line in verdict.text.splitlines() if line.strip())
            steps = tuple(PlannedStep("(by a person)", intention.command) for intention in intentions)
            planned = replace(planned, plan=steps)
        yield self._accept(proposal, source)
        yield planned
        return Attempt(answer, intentions)

    def _objection(self, step: PlanStep, problem: Problem) -> str:
        """Why no plan may begin with this step now; empty if one may."""
        command = self.setting.command(step, problem)
        if not command:
            return "how to do that is not known yet"
        return self._memory.refusals.objection(as_said(command, self._world.valid_commands))

    def _accept(self, proposal: ProblemProposal, source: Source) -> Accepted:
        event = accepted(self._problem, proposal, self.setting.invariants, source)
        if source == "model" and proposal.problem != self._problem:
            self._memory.problem_changed()
        self._problem = proposal.problem
        self._placeholders.used(self._problem)
        self._notes = tuple(str(entry) for entry in proposal.report.unmatched) if proposal.report else ()
        return event

    def _situation(self, retry: Retry) -> Situation:
        situation = Situation(
            rules=self.setting.reader,
            task=self._world.task,
            domain=self.setting.domain,
            problem=self._problem,
            news=tuple(self._memory.to_read(retry.attempt, retry.failed_with(UNREACHABLE))),
            history=tuple(self._memory.history),
            valid_commands=self.setting.shown(self._world.valid_commands),
            notes=self._notes,
            feedback=retry.feedback,
            rejected=retry.rejected,
            attempt=retry.attempt,
            reading=self.setting.reading,
            only_planned=self.setting.only_planned,
            repeated=retry.repeated,
            contradictions=contradictions(self._problem, self.setting.invariants),
            refused=self._memory.refusals.repeated,
            placeholder=self._placeholders.next,
            reworded=retry.repeated if self._takes_no_temperature else 0,
        )
        return ablated(situation, self.episode.without)

    def _ask(self, situation: Situation) -> Generator[Event, None, Completion]:
        request = self.method.request(situation)
        if request is None:
            return Completion("")
        self._meter.check_call()
        self._was_asked = True
        completion = yield from ask(self.model, remedied(request, situation), self._meter, situation.attempt)
        self._takes_no_temperature = self._takes_no_temperature or "temperature" in completion.not_taken
        return completion

    # execute

    def _execute(self, intentions: Sequence[Intention]) -> Generator[Event, None, None]:
        """Send the commands, until the game answers otherwise than the plan expected.

        What a fixed rule asks for comes first. Where a model must read what came of it, that ends the plan.
        """
        for planned in intentions:
            followed = yield from self._follow_rules()
            if followed and self._rules.told:
                return
            intention = replace(planned, command=as_said(planned.command, self._world.valid_commands))
            verdict, intention = yield from self._judge_command(intention)
            if verdict.kind == "rejected":
                self._hint = Retry(0, intention.command, verdict.feedback)
                return
            observed = yield from self._send(intention)
            surprised = self.monitors and (observed.refused or observed.surprise)
            if surprised or self.episode.replan_every_step or verdict.kind == "replaced":
                return
            self._meter.check_time()
        self._rules.plan_ended(self._rung)

    def _follow_rules(self) -> Generator[Event, None, bool]:
        """Send what fixed rules ask for. Whether there was anything."""
        followed = False
        while (command := self._rules.due()) is not None:
            followed = True
            verdict, intention = yield from self._judge_command(Intention(command, by_rule=True))
            if verdict.kind != "rejected":
                yield from self._send(intention)
        return followed

    def _judge_command(self, intention: Intention) -> Generator[Event, None, tuple[Verdict, Intention]]:
        """What a person says of a command, and what is to be sent in its place."""
        verdict = yield from judge(self.overseer, "commands", partial(command_question, intention.command), self._meter)
        if verdict.kind == "replaced":
            intention = Intention(as_said(" ".join(verdict.text.split()), self._world.valid_commands))
        return verdict, intention

    def _send(self, intention: Intention) -> Generator[Event, None, Observed]:
        """Send one command. Raises `OverError` where that ends the game or the steps."""
        observed = self._world.send(intention, self._problem)
        yield observed
        if observed.won:
            raise OverError(Outcome.WON)
        if observed.lost:
            raise OverError(Outcome.LOST, "the game says that it can no longer be won")
        self._meter.check_steps()
        return observed

    def _look_again(self) -> Iterator[Event]:
        """Look around: what was missed may be seen again."""
        command = self.setting.look
        if command and self._world.seen.look:
            yield self._world.look(command, self._problem)
        elif command in self._world.valid_commands:
            verdict, intention = yield from self._judge_command(Intention(command))
            if verdict.kind != "rejected":
                yield from self._send(intention)
