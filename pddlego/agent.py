"""The loop: read what the game says, formalize, plan on the goal ladder, execute, and again (paper, section 2)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from pddlego import events as ev
from pddlego.errors import BudgetSpentError, ModelError, PddlegoError
from pddlego.events import Event, Limits, Outcome, Tally
from pddlego.expect import as_said, surprise
from pddlego.formalize import CommandProposal, CommandSource, Formalizer, ProblemProposal, with_unmatched
from pddlego.games import Game, Observation
from pddlego.models import Model
from pddlego.pddl import Problem, diff
from pddlego.planning import LadderResult, Planner, PlanStatus, PlanStep, climb, validate
from pddlego.refine import Attempt, ExhaustedError, Retry, refine
from pddlego.settings import Setting
from pddlego.situation import Exchange, Feedback, Situation
from pddlego.telling import kinds, lines, rejected, tried

UNREACHABLE = {
    PlanStatus.UNSOLVABLE: ("goal unreachable", "with this problem file no sequence of actions reaches any goal:"),
    PlanStatus.ALREADY_TRUE: ("goal already true", "in this problem file the goal is true before any action:"),
    PlanStatus.INVALID: ("invalid problem", "the planner cannot read the problem file:"),
    PlanStatus.TIMEOUT: ("planner timeout", "the planner found no plan in time for this problem file:"),
}
"""What the model is told when the ladder gives no plan, by the status of its last rung."""


MAX_ANSWER = 200_000
"""Characters of an answer that are read and kept; the longest useful one is a problem file of some thousand."""


class _OverError(Exception):
    """The episode is over."""

    def __init__(self, outcome: Outcome, message: str = "") -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message


@dataclass(frozen=True)
class Intention:
    """A command to send, with the plan step that it stands for, if a planner chose it."""

    command: str
    step: PlanStep | None = None


class Agent:
    """Plays one episode. `run` yields every event as it happens; it is the only way to see inside."""

    def __init__(
        self,
        setting: Setting,
        seed: int,
        game: Game,
        method: Formalizer | CommandSource,
        model: Model,
        planner: Planner,
        limits: Limits,
        retries: int = 5,
        replan_every_step: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.setting, self.seed, self.game = setting, seed, game
        self.method, self.model, self.planner = method, model, planner
        self.limits, self.retries, self.replan_every_step = limits, retries, replan_every_step
        self._clock, self._began = clock, clock()
        self._problem = setting.start
        self._news: list[Exchange] = []
        self._history: list[Exchange] = []
        self._notes: tuple[str, ...] = ()
        self._seen = Observation("")
        self._tally = Tally()

    def run(self) -> Iterator[Event]:
        """Play to the end. The last event is always `EpisodeEnded`, whatever happens.

        While an event is looked at, the episode's time stands still: a slow display costs no seconds. An interrupt
        that is thrown in here ends the episode as `interrupted`.
        """
        episode = self._episode()
        event = next(episode, None)
        while event is not None:
            shown = self._clock()
            thrown: KeyboardInterrupt | None = None
            try:
                yield event
            except KeyboardInterrupt as error:
                thrown = error
            self._began += self._clock() - shown
            event = episode.throw(thrown) if thrown else next(episode, None)

    def _episode(self) -> Generator[Event, None, None]:
        try:
            yield self._started()
            yield self._observed(None, self.game.start())
            while True:
                intentions = yield from self._decide()
                yield from self._execute(intentions)
        except _OverError as over:
            yield self._ended(over.outcome, over.message)
        except ExhaustedError as error:
            yield self._ended(Outcome.NO_PLAN, str(error))
        except BudgetSpentError as error:
            yield self._ended(Outcome.BUDGET, error.sentence)
        except ModelError as error:
            yield self._ended(Outcome.MODEL_ERROR, error.sentence)
        except PddlegoError as error:
            yield self._ended(Outcome.CRASHED, error.sentence)
        except KeyboardInterrupt:
            yield self._ended(Outcome.INTERRUPTED, "interrupted by the user")
        except Exception as error:  # noqa: BLE001 -- the episode's border: a bug ends this episode, not the others
            yield self._ended(Outcome.CRASHED, f"a bug in pddlego: {type(error).__name__}: {error}")

    # formalize and plan

    def _decide(self) -> Generator[Event, None, tuple[Intention, ...]]:
        """What to do next: ask until an answer leads to a plan (or is a command), at most `1 + retries` times."""
        intentions = yield from refine(self._attempt, self.retries)
        self._news = []
        return intentions

    def _attempt(self, retry: Retry) -> Generator[Event, None, Attempt[tuple[Intention, ...]]]:
        situation = self._situation(retry)
        answer = yield from self._ask(situation)
        proposal = self.method.read(answer, situation)
        if proposal.feedback is not None:
            yield rejected(retry, proposal.feedback, proposal if isinstance(proposal, ProblemProposal) else None)
            return Attempt(answer, feedback=proposal.feedback)
        if isinstance(proposal, CommandProposal):
            return Attempt(answer, (Intention(proposal.command),))
        return (yield from self._plan(retry, answer, proposal))

    def _plan(
        self, retry: Retry, answer: str, proposal: ProblemProposal
    ) -> Generator[Event, None, Attempt[tuple[Intention, ...]]]:
        setting = self.setting
        ladder = climb(self.planner, setting.domain, proposal.problem, setting.ladder, self._can_say)
        steps = ladder.plan.steps if ladder.plan else ()
        intentions = tuple(Intention(setting.command(step), step) for step in steps)
        planned = self._planned(ladder, proposal.problem, intentions)
        broken = ladder.tried[-1].result
        if broken.status is PlanStatus.CRASHED:
            yield planned
            raise _OverError(Outcome.CRASHED, f"the planner failed, which is no fault of the answer: {broken.message}")
        if not intentions:
            feedback = with_unmatched(_no_plan(ladder), proposal.report)
            yield planned
            yield rejected(retry, feedback, proposal)
            return Attempt(answer, feedback=feedback)
        yield self._accept(proposal)
        yield planned
        return Attempt(answer, tuple(itertools.takewhile(lambda each: each.command, intentions)))

    def _can_say(self, step: PlanStep) -> bool:
        return bool(self.setting.command(step))

    def _planned(self, ladder: LadderResult, problem: Problem, intentions: Sequence[Intention]) -> ev.Planned:
        """What the ladder gave, with what each step of the plan is expected to change."""
        expected = validate(self.setting.domain, problem, ladder.plan).states if ladder.plan else ()
        plan = tuple(
            ev.PlannedStep(
                str(each.step),
                each.command,
                tuple(sorted(str(fact) for fact in after - before)),
                tuple(sorted(str(fact) for fact in before - after)),
            )
            for each, before, after in zip(intentions, expected, expected[1:], strict=False)
        )
        return ev.Planned(tuple(tried(each) for each in ladder.tried), ladder.rung, plan)

    def _accept(self, proposal: ProblemProposal) -> Event:
        report = proposal.report
        renamed = report.renamed if report else ()
        changed = diff(self._problem, proposal.problem, dict(renamed))
        self._problem = proposal.problem
        self._notes = tuple(str(entry) for entry in report.unmatched) if report else ()
        return ev.Formalized(
            str(proposal.problem),
            tuple(str(each) for each in (*changed.added_objects, *changed.added_facts)),
            tuple(str(each) for each in (*changed.removed_objects, *changed.removed_facts)),
            renamed,
            lines(report),
            tuple(each.message for each in proposal.defects),
            kinds(proposal),
        )

    def _situation(self, retry: Retry) -> Situation:
        return Situation(
            self.setting.prompts,
            self.game.task,
            self.setting.domain,
            self._problem,
            tuple(self._news),
            tuple(self._history),
            self._seen.valid_commands,
            self._notes,
            retry.feedback,
            retry.rejected,
            retry.attempt,
            self.setting.reading,
            self.setting.only_planned,
        )

    def _ask(self, situation: Situation) -> Generator[Event, None, str]:
        request = self.method.request(situation)
        if request is None:
            return ""
        self._check_budget()
        used = self._tally
        number = used.calls + 1
        messages = tuple(ev.RecordedMessage(each.role, each.content) for each in request.messages)
        yield ev.Asked(number, request.purpose, situation.attempt, messages, request.characters)
        self._tally = used = replace(used, calls=number, characters=used.characters + request.characters)
        try:
            answer = self.model.complete(replace(request, seconds=self._seconds_left()))
        except ModelError:
            self._check_time()  # what ran out of the episode's time is no fault of the model
            raise
        # A lone surrogate, legal in JSON, can be neither written nor shown; an endless answer helps nobody.
        answer = replace(answer, text=answer.text[:MAX_ANSWER].encode(errors="replace").decode())
        self._tally = replace(
            used,
            tokens_in=used.tokens_in + answer.tokens_in,
            tokens_out=used.tokens_out + answer.tokens_out,
            tokens_cached=used.tokens_cached + answer.tokens_cached,
            model_seconds=used.model_seconds + answer.seconds,
        )
        yield ev.Answered(
            number,
            answer.text,
            answer.tokens_in,
            answer.tokens_out,
            answer.tokens_cached,
            answer.seconds,
            answer.attempts,
            answer.estimated,
            answer.finish,
        )
        return answer.text

    def _check_budget(self) -> None:
        """Raises `_OverError` before a call that a limit does not allow."""
        used, limits = self._tally, self.limits
        if limits.calls is not None and used.calls >= limits.calls:
            raise _OverError(Outcome.BUDGET, f"{_count(limits.calls, 'model call')} used up")
        if limits.tokens is not None and used.tokens_in + used.tokens_out >= limits.tokens:
            raise _OverError(Outcome.BUDGET, f"{_count(limits.tokens, 'token')} used up")
        self._check_time()

    def _check_time(self) -> None:
        left = self._seconds_left()
        if left is not None and left <= 0:
            raise _OverError(Outcome.BUDGET, f"{_count(self.limits.seconds or 0, 'second')} used up")

    def _seconds_left(self) -> float | None:
        limit = self.limits.seconds
        return None if limit is None else limit - (self._clock() - self._began)

    # execute

    def _execute(self, intentions: Sequence[Intention]) -> Iterator[Event]:
        """Send the commands, until the game answers otherwise than the plan expected."""
        for planned in intentions:
            intention = replace(planned, command=as_said(planned.command, self._seen.valid_commands))
            observed = self._observed(intention, self.game.step(intention.command))
            yield observed
            if observed.won:
                raise _OverError(Outcome.WON)
            if observed.lost:
                raise _OverError(Outcome.LOST, "the game says that it can no longer be won")
            if observed.step >= self.limits.steps:
                raise _OverError(Outcome.STEP_LIMIT, f"not won within {_count(self.limits.steps, 'step')}")
            if observed.refused or observed.surprise or self.replan_every_step:
                return
            self._check_time()

    def _observed(self, intention: Intention | None, answer: Observation) -> ev.Observed:
        """Take in what the game answered, and say whether it was refused or surprising."""
        command = intention.command if intention else None
        refused = self.setting.is_refused(answer.text)
        difference = ""
        if intention is not None and intention.step is not None and not answer.won:
            said = [each.text for each in self._history]
            difference = surprise(self.setting, intention.step, answer.text, self._problem, said)
        read = self.setting.read(answer.text)
        exchange = Exchange(command, read)
        if self.setting.score and command is not None:
            exchange = replace(exchange, score=answer.score, gained=answer.score - self._seen.score)
        self._seen = answer
        self._news.append(exchange)
        self._history.append(exchange)
        if intention is not None:
            used = self._tally
            self._tally = replace(used, steps=used.steps + 1, refused=used.refused + refused)
        return ev.Observed(
            self._tally.steps, command, answer.text, read, answer.score, answer.won, answer.lost, refused, difference
        )

    def _started(self) -> ev.EpisodeStarted:
        setting = self.setting
        goals = tuple(rung.name for rung in setting.ladder) if self.method.plans else ()
        drawn = asdict(setting.map) if setting.map else None
        return ev.EpisodeStarted(
            setting.name,
            setting.title,
            self.method.mode,
            self.model.name,
            self.seed,
            setting.about,
            goals,
            self.limits,
            drawn,
        )

    def _ended(self, outcome: Outcome, message: str) -> ev.EpisodeEnded:
        tally = replace(self._tally, seconds=self._clock() - self._began)
        return ev.EpisodeEnded(outcome, message, self._seen.score, tally)


def _count(number: float, noun: str) -> str:
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def _no_plan(ladder: LadderResult) -> Feedback:
    last = ladder.tried[-1].result
    category, message = UNREACHABLE[last.status]
    tried = (f"{each.name}: {each.result.status.value} ({each.result.message})" for each in ladder.tried)
    return Feedback(category, message, tuple(tried))
