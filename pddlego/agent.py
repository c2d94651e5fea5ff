"""The loop: read what the game says, formalize, plan on the goal ladder, execute, and again (paper, section 2)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pddlego import events as ev
from pddlego.episode import Episode
from pddlego.errors import BudgetSpentError, ModelError, OutOfTimeError, PddlegoError, explained
from pddlego.events import Event, Outcome
from pddlego.expect import as_said, surprise
from pddlego.formalize import CommandProposal, CommandSource, Formalizer, ProblemProposal, read_file, with_unmatched
from pddlego.games import Game, Observation
from pddlego.intentions import Intention, intended, unforeseen
from pddlego.memory import Memory
from pddlego.meter import Meter, OverError
from pddlego.models import Completion, Model
from pddlego.models.ask import ask
from pddlego.oversight import ACCEPTED, Overseer, Question, Verdict, What
from pddlego.pddl import Problem
from pddlego.pddl.invariants import contradictions
from pddlego.planning import Planner, PlanStatus, PlanStep, climb
from pddlego.refine import Attempt, ExhaustedError, Retry, refine
from pddlego.remedies import ablated, remedied, unless_contradicting, unless_incomplete
from pddlego.restart import Restart
from pddlego.situation import Exchange, Situation
from pddlego.telling import (
    UNREACHABLE,
    answered,
    edit_question,
    formalized,
    no_plan,
    recordable,
    rejected,
    resumed,
    started,
)
from pddlego.text import writable


class Agent:
    """Plays one episode. `run` yields every event as it happens; it is the only way to see inside."""

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
    ) -> None:
        self.episode, self.setting, self.game = episode, episode.setting, game
        self.method, self.model, self.planner = method, model, planner
        self.overseer, self.restart = overseer, restart
        self._meter = Meter(episode.limits, clock)
        self._problem = self.setting.start
        self._memory = Memory(method.plans and "remedies" not in episode.method.without)
        self._notes: tuple[str, ...] = ()
        self._seen = Observation("")
        self._given: Problem | None = None
        self._hint = Retry()
        self._told = False

    def run(self) -> Iterator[Event]:
        """Play to the end. The last event is always `EpisodeEnded`, whatever happens.

        While an event is looked at, the episode's time stands still: a slow display costs no seconds. An interrupt
        that is thrown in here ends the episode as `interrupted`.
        """
        episode = self._episode()
        event = next(episode, None)
        while event is not None:
            thrown: KeyboardInterrupt | None = None
            with self._meter.paused():
                try:
                    yield event
                except KeyboardInterrupt as error:
                    thrown = error
            event = episode.throw(thrown) if thrown else next(episode, None)

    def _episode(self) -> Generator[Event, None, None]:
        self._meter.begin()
        try:
            yield started(self.episode, self.model)
            yield self._observed(None, self.game.start())
            if self.restart is not None:
                yield from self._go_back(self.restart)
            while True:
                intentions = yield from self._decide()
                yield from self._execute(intentions)
        except OverError as over:
            yield self._ended(over.outcome, over.message, over.cause)
        except ExhaustedError as error:
            yield self._ended(Outcome.NO_PLAN, str(error))
        except BudgetSpentError as error:
            yield self._ended(Outcome.BUDGET, error.sentence, "evaluation")
        except ModelError as error:
            yield self._ended(Outcome.MODEL_ERROR, error.sentence)
        except PddlegoError as error:
            yield self._ended(Outcome.CRASHED, error.sentence)
        except KeyboardInterrupt:
            yield self._ended(Outcome.INTERRUPTED, "interrupted by the user")
        except Exception as error:  # noqa: BLE001 -- the episode's border: a bug ends this episode, not the others
            yield self._ended(Outcome.CRASHED, explained(error))

    def _go_back(self, restart: Restart) -> Iterator[Event]:
        """Bring the game to where another episode was, by its commands. Raises `ReplayError`."""
        restart.check_answer("the first look", restart.look, self._seen.text)
        for each in restart.commands:
            answer = self._looked() if each.free else self.game.step(each.command)
            restart.check_answer(f"'{each.command}'", each.text, answer.text)
            yield self._observed(Intention(each.command), answer, each.unforeseen, each.free)
        self._problem = restart.before
        self._memory.go_back_to(restart.known)
        nothing_to_ask = self.method.plans and not self._memory.news
        self._given = restart.corrected or (restart.before if nothing_to_ask else None)
        yield resumed(restart)

    @property
    def seconds(self) -> float:
        """The episode's time: it stands still while somebody looks or judges."""
        return self._meter.seconds

    # formalize and plan

    def _decide(self) -> Generator[Event, None, tuple[Intention, ...]]:
        """What to do next: ask until an answer leads to a plan (or is a command), at most `1 + retries` times."""
        first, self._hint = self._hint, Retry()
        self._told = False
        intentions = yield from refine(self._attempt, self.episode.retries, first)
        if self._told:  # else the problem was given, and what it does not cover is still news
            self._memory.news = []
        return intentions

    def _attempt(self, retry: Retry) -> Generator[Event, None, Attempt[tuple[Intention, ...]]]:
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
        last = retry.attempt >= self.episode.retries
        proposal = unless_contradicting(proposal, self._problem, self.setting.invariants, last)
        if proposal.feedback is not None:
            yield rejected(retry, proposal.feedback, proposal)
            return Attempt(answer, feedback=proposal.feedback)
        verdict = yield from self._judge("edits", partial(edit_question, self._problem, proposal, situation))
        if verdict.kind == "rejected":
            yield rejected(retry, verdict.feedback, proposal)
            return Attempt(answer, feedback=verdict.feedback)
        if verdict.kind == "replaced":
            proposal = read_file(verdict.text, situation)
        return (yield from self._plan(retry, answer, proposal))

    def _judge(self, what: What, question: Callable[[], Question]) -> Generator[Event, None, Verdict]:
        """What a person says of it, if there is one who wants to be asked. Their time is not the episode's."""
        if self.overseer is None or not self.overseer.wants(what):
            return ACCEPTED
        began = time.monotonic()
        with self._meter.paused():
            verdict = self.overseer.judge(question())
        verdict = replace(verdict, text=writable(verdict.text))
        yield ev.Judged(what, verdict.kind, verdict.text, time.monotonic() - began)
        return verdict

    def _plan(
        self, retry: Retry, answer: str, proposal: ProblemProposal
    ) -> Generator[Event, None, Attempt[tuple[Intention, ...]]]:
        ladder = climb(
            *(self.planner, self.setting.domain, proposal.problem, self.setting.ladder),
            self._objection,
            lambda: self._meter.seconds_left,
        )
        intentions, planned = intended(self.setting, proposal.problem, ladder)
        broken = ladder.tried[-1].result
        if broken.status is PlanStatus.CRASHED:
            yield planned
            raise OverError(Outcome.CRASHED, f"the planner failed, which is no fault of the answer: {broken.message}")
        if not intentions:
            feedback = with_unmatched(no_plan(ladder), proposal.report)
            yield planned
            self._meter.check_time()  # what ran out of the episode's time is no fault of the problem
            yield rejected(retry, feedback, proposal)
            return Attempt(answer, feedback=feedback)
        commands = "\n".join(each.command for each in intentions)
        preview = formalized(self._problem, proposal, self.setting.invariants), planned
        question = partial(Question, "plans", commands, reason=ladder.rung or "", preview=preview)
        verdict = yield from self._judge("plans", question)
        if verdict.kind == "rejected":
            yield planned
            yield rejected(retry, verdict.feedback, proposal)
            return Attempt(answer, feedback=verdict.feedback)
        if verdict.kind == "replaced":
            intentions = tuple(Intention(each.strip()) for each in verdict.text.splitlines() if each.strip())
            planned = replace(planned, plan=tuple(ev.PlannedStep("(by a person)", each.command) for each in intentions))
        yield self._accept(proposal)
        yield planned
        return Attempt(answer, intentions)

    def _objection(self, step: PlanStep) -> str:
        """Why no plan may begin with this step now; empty if one may."""
        command = self.setting.command(step)
        if not command:
            return "how to do that is not known yet"
        return self._memory.refusals.objection(as_said(command, self._seen.valid_commands))

    def _accept(self, proposal: ProblemProposal) -> Event:
        event = formalized(self._problem, proposal, self.setting.invariants)
        if proposal.problem != self._problem:
            self._memory.problem_changed()
        self._problem = proposal.problem
        self._notes = tuple(str(entry) for entry in proposal.report.unmatched) if proposal.report else ()
        return event

    def _situation(self, retry: Retry) -> Situation:
        situation = Situation(
            self.setting.prompts,
            self.game.task,
            self.setting.domain,
            self._problem,
            tuple(self._memory.to_read(retry.attempt, retry.failed_with(UNREACHABLE))),
            tuple(self._memory.history),
            self._seen.valid_commands,
            self._notes,
            retry.feedback,
            retry.rejected,
            retry.attempt,
            self.setting.reading,
            self.setting.only_planned,
            retry.repeated,
            contradictions(self._problem, self.setting.invariants),
            self._memory.refusals.repeated,
        )
        return ablated(situation, self.episode.method.without)

    def _ask(self, situation: Situation) -> Generator[Event, None, Completion]:
        request = self.method.request(situation)
        if request is None:
            return Completion("")
        request = remedied(request, situation)
        self._meter.check_call()
        self._told = True
        number = self._meter.tally.calls + 1
        messages = tuple(ev.RecordedMessage(each.role, each.content) for each in request.messages)
        sent = number, request.purpose, situation.attempt, messages, request.characters
        yield ev.Asked(*sent, request.warmth, request.room)
        self._meter.asked(request.characters)
        try:
            answer = yield from ask(self.model, replace(request, seconds=self._meter.seconds_left), number)
        except BudgetSpentError as error:
            if not error.sent:
                self._meter.not_sent(request.characters)
            raise
        except ModelError as error:
            self._meter.check_time(isinstance(error, OutOfTimeError))  # it is no fault of the model then
            raise
        answer = recordable(answer)
        self._meter.answered(answer)
        yield answered(number, answer)
        return answer

    # execute

    def _execute(self, intentions: Sequence[Intention]) -> Generator[Event, None, None]:
        """Send the commands, until the game answers otherwise than the plan expected."""
        for planned in intentions:
            intention = replace(planned, command=as_said(planned.command, self._seen.valid_commands))
            verdict, intention = yield from self._judge_command(intention)
            if verdict.kind == "rejected":
                self._hint = Retry(0, intention.command, verdict.feedback)
                return
            observed = yield from self._send(intention)
            if observed.refused or observed.surprise or self.episode.replan_every_step or verdict.kind == "replaced":
                return
            self._meter.check_time()

    def _judge_command(self, intention: Intention) -> Generator[Event, None, tuple[Verdict, Intention]]:
        """What a person says of a command, and what is to be sent in its place."""
        verdict = yield from self._judge("commands", partial(Question, "commands", intention.command))
        if verdict.kind == "replaced":
            intention = Intention(as_said(" ".join(verdict.text.split()), self._seen.valid_commands))
        return verdict, intention

    def _send(self, intention: Intention) -> Generator[Event, None, ev.Observed]:
        """Send one command. Raises `OverError` where that ends the game or the steps."""
        observed = self._observed(intention, self.game.step(intention.command))
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
        if command and self._seen.look:
            yield self._observed(Intention(command), self._looked(), free=True)
        elif command in self._seen.valid_commands:
            verdict, intention = yield from self._judge_command(Intention(command))
            if verdict.kind != "rejected":
                yield from self._send(intention)

    def _looked(self) -> Observation:
        """What the game tells of what there is to see, as an answer."""
        return replace(self._seen, text=self._seen.look)

    def _observed(
        self, intention: Intention | None, answer: Observation, told: str = "", free: bool = False
    ) -> ev.Observed:
        """Take in what the game answered, and say whether it was refused or surprising."""
        command = intention.command if intention else None
        refused = self.setting.is_refused(answer.text)
        difference = ""
        if intention is not None and intention.step is not None and not answer.won:
            said = [each.text for each in self._memory.history]
            difference = surprise(self.setting, intention.step, answer.text, self._problem, said)
        read = self.setting.read(answer.text)
        exchange = Exchange(command, read)
        if intention is not None:
            exchange = replace(exchange, unforeseen=told or unforeseen(intention, difference, refused))
        if self.setting.score and command is not None:
            exchange = replace(exchange, score=answer.score, gained=answer.score - self._seen.score)
        self._seen = answer
        self._memory.take(exchange, refused)
        if intention is not None and not free:
            self._meter.step(refused)
        steps = self._meter.tally.steps
        return ev.Observed(
            *(steps, command, answer.text, read, answer.score, answer.won, answer.lost, refused, difference),
            exchange.unforeseen,
            free,
        )

    def _ended(self, outcome: Outcome, message: str, cause: ev.Cause = "") -> ev.EpisodeEnded:
        return ev.EpisodeEnded(outcome, message, self._seen.score, self._meter.final(), cause)
