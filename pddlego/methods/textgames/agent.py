"""The loop: read what the game says, decide what to do, execute, and again (paper, section 2)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pddlego.episode.approval import REJECTED_BY_PERSON, Approver, Decision, Question, ask_approval
from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Accepted, Event, Outcome, Rejected, Source, Started
from pddlego.episode.lifecycle import played
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.methods.textgames.events import GameEvent, Observed, Planned, PlannedStep, Resumed
from pddlego.methods.textgames.formalize import (
    CommandProposal,
    Formalizer,
    Observations,
    ProblemProposal,
    Proposal,
    Situation,
)
from pddlego.methods.textgames.formalize.problems import (
    INCOMPLETE,
    read_file,
    unless_contradicting,
    unless_incomplete,
    with_unmatched,
    without_planned,
)
from pddlego.methods.textgames.games import Game
from pddlego.methods.textgames.knowledge import Knowledge, read_written, written_text
from pddlego.methods.textgames.memory import (
    UNREACHABLE,
    Memory,
    Placeholders,
    ablated,
    no_plan,
    remedied,
)
from pddlego.methods.textgames.options import requests_of
from pddlego.methods.textgames.truth import Checker, GameReader, checked
from pddlego.methods.textgames.world import Episode, GameSession, Intention, Restart, intended, normalize_command
from pddlego.models import Completion, Model
from pddlego.models.base import Feedback
from pddlego.pddl import Defect, DefectKind, Problem, diff
from pddlego.pddl.diff import domain_diff
from pddlego.pddl.exclusive import contradictions
from pddlego.planning import Planner, PlanStatus, PlanStep
from pddlego.planning.ladder import climb
from pddlego.runs.store import DOMAIN, DOMAIN_FROM

_MODELS_GOALS = "a goal of the model's"
"""Stands on the ladder before the model has written its goals."""


def started(episode: Episode, model: Model) -> Started:
    """What is played, by which method and model, under which limits."""
    setting = episode.setting
    begun_with = setting.sources.get(DOMAIN_FROM, "")
    goals = tuple(rung.name for rung in setting.start.ladder) or (_MODELS_GOALS,) if episode.plans else ()
    return Started(
        setting=setting.name,
        title=setting.title,
        mode=episode.mode,
        model=model.name,
        seed=episode.seed,
        task=setting.about,
        limits=episode.limits,
        played_by=GameEvent.method,
        details={
            "goals": goals,
            "map": setting.map.model_dump() if setting.map else None,
            **({"writes_domain": True} if episode.writes_domain else {}),
            **({DOMAIN: begun_with} if episode.writes_domain and begun_with else {}),
        },
    )


def rejected(retry: Retry, feedback: Feedback, proposal: Proposal) -> Rejected:
    """The event of a rejected answer; `proposal` is what it was read as."""
    if not isinstance(proposal, ProblemProposal):
        return Rejected(retry.attempt, feedback, attempts=retry.attempts)
    lines = proposal.report.entries if proposal.report else ()
    kinds = tuple(defect.kind.value for defect in proposal.defects)
    return Rejected(retry.attempt, feedback, lines, kinds, retry.attempts)


def accepted(before: Problem, proposal: ProblemProposal, source: Source = "model") -> Accepted:
    """A proposal is accepted: what it changed, and what was wrong with it and harmless."""
    report = proposal.report
    renamed = report.renamed if report else ()
    changed = diff(before, proposal.problem, dict(renamed))
    # The next request shows them to the model.
    messages = contradictions(proposal.problem, proposal.knowledge.invariants)
    harmless = (Defect(DefectKind.CONTRADICTION, message, message, blocking=False) for message in messages)
    defects = (*proposal.defects, *harmless)
    return Accepted(
        kind="problem",
        text=str(proposal.problem),
        added=changed.added,
        removed=changed.removed,
        renamed=renamed,
        lines=report.entries if report else (),
        defects=tuple(defect.message for defect in defects),
        kinds=tuple(defect.kind.value for defect in defects),
        source=source,
    )


def _domain_accepted(before: Knowledge, after: Knowledge) -> tuple[Accepted, ...]:
    """A domain of the model's is accepted, if it is another than before or its commands are: what changed in it."""
    last, written = before.written, after.written
    if written is None or written is last:
        return ()
    changed = domain_diff(before.domain, written.domain)
    same_commands = last is not None and last.commands == written.commands
    if not changed and same_commands:
        return ()
    return (Accepted(kind=DOMAIN, text=written_text(written), added=changed.added, removed=changed.removed),)


def resumed(restart: Restart) -> Resumed:
    """Where an episode goes on, and what a person changed in the problem there."""
    corrected = restart.corrected
    changed = diff(restart.before, corrected or restart.before)
    return Resumed(
        source=restart.source,
        step=restart.step,
        before=str(restart.before),
        known=restart.known,
        corrected=str(corrected) if corrected else None,
        written=restart.written,
        added=changed.added,
        removed=changed.removed,
    )


def _edit_question(before: Problem, proposal: ProblemProposal, situation: Situation) -> Question:
    """A proposal as a person is asked about it."""
    renamed = proposal.report.renamed if proposal.report else ()
    changed = diff(before, proposal.problem, dict(renamed))
    return Question(
        what="edits",
        title="a change of the problem",
        text=str(proposal.problem),
        changes=True,
        added=changed.added,
        removed=changed.removed,
        renamed=renamed,
        preview=(accepted(before, proposal),),
        faults=lambda text: read_file(text, situation).faults,
        suffix=".pddl",
    )


def plan_question(commands: Sequence[str], goal: str, preview: tuple[Event, ...]) -> Question:
    """A plan as a person is asked about it, with the problem that it was made for."""
    return Question("plans", "a plan", "\n".join(commands), reason=goal, preview=preview)


Intentions = tuple[Intention, ...]


@dataclass(frozen=True)
class Agents:
    """The method, the model, the planner and the approver of an episode."""

    method: Formalizer
    model: Model
    planner: Planner
    approver: Approver | None = None


def _unusable(
    retry: Retry, answer: str, proposal: Proposal, feedback: Feedback
) -> Generator[Event, None, Attempt[Intentions]]:
    """An attempt that failed, and the event that says so."""
    yield rejected(retry, feedback, proposal)
    return Attempt(answer, feedback=feedback)


class PlanningPolicy:
    """Keeps what is known of the game, and makes commands of it. `look` looks around in the game."""

    def __init__(
        self, episode: Episode, agents: Agents, world: GameSession, look: Callable[[], Iterator[Event]]
    ) -> None:
        self.episode, self.setting = episode, episode.setting
        self.known = self.setting.start
        self.hint = Retry()
        self.rung: str | None = None
        self._method, self._model, self._planner = agents.method, agents.model, agents.planner
        self._approver = agents.approver
        self._world, self._memory, self._rules, self._budget = world, world.memory, world.rules, world.budget
        self._look = look
        self._placeholders = Placeholders(self.known.placeholder)
        self._notes: tuple[str, ...] = ()
        self._given: Problem | None = None
        self._was_asked = self._takes_no_temperature = False

    def go_back(self, restart: Restart) -> None:
        """Restore the state of a recorded episode. A corrected problem is planned with immediately."""
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
            raise EpisodeOver(Outcome.NO_PLAN, attempt.failure)
        if self._was_asked:  # else the problem was given, and what it does not cover is still news
            self._memory.news = []
        return attempt.value

    def _as_expected(self) -> Problem | None:
        """The problem that the plan predicted, if the game confirmed it and there is nothing else to read."""
        news = self._memory.news
        if (
            not self.episode.monitors
            or self.hint.feedback
            or not news
            or any(news_item.after is None for news_item in news)
        ):
            return None
        expected = replace(self.known.problem, facts=news[-1].after or frozenset())
        return without_planned(expected, self.known.only_planned)[0]

    def _attempt(self, retry: Retry) -> Generator[Event, None, Attempt[Intentions]]:
        if self._given is not None:  # by a person, or by a record that needs no answer
            problem, self._given = self._given, None
            attempt = yield from self._plan(retry, str(problem), ProblemProposal(self.known.with_problem(problem)))
            self.known = self.known.with_problem(problem)  # it is kept, even if it is not enough for a plan
            return attempt
        if self._memory.look_is_due(retry.attempt, retry.failed_with(UNREACHABLE)):
            yield from self._look()
        completion, situation = yield from self._ask(self._situation(retry))
        answer = "\n".join((*situation.answers, completion.text))
        proposal = self._read(completion, situation)
        if proposal.feedback is not None:
            return (yield from _unusable(retry, answer, proposal, proposal.feedback))
        if isinstance(proposal, CommandProposal):
            return Attempt(answer, (Intention(proposal.command),))
        question = partial(_edit_question, self.known.problem, proposal, situation)
        decision = yield from ask_approval(self._approver, "edits", question, self._budget)
        if decision.kind == "rejected":
            return (yield from _unusable(retry, answer, proposal, decision.feedback))
        if decision.kind == "replaced":
            proposal = read_file(decision.text, situation)
        return (yield from self._plan(retry, answer, proposal))

    def _read(self, completion: Completion, situation: Situation) -> Proposal:
        """What an answer proposes, with a feedback if it is incomplete or contradicts itself."""
        proposal = unless_incomplete(self._method.read(completion.text, situation), completion)
        if not isinstance(proposal, ProblemProposal):
            return proposal
        return unless_contradicting(proposal, self.known, situation.retry.attempt >= self.episode.most_retries)

    def _plan(
        self, retry: Retry, answer: str, proposal: ProblemProposal, source: Source = "model"
    ) -> Generator[Event, None, Attempt[Intentions]]:
        """Plan with what is proposed, and accept it if that leads to a plan."""
        intentions, planned = self._climb(proposal)
        if planned.tried[-1].status is PlanStatus.CRASHED:
            yield planned
            reason = f"the planner failed, not because of the answer: {planned.tried[-1].message}"
            raise EpisodeOver(Outcome.CRASHED, reason)
        if not intentions:
            feedback = with_unmatched(no_plan(planned.tried), proposal.report)
            yield planned
            self._budget.check_time()  # if the episode's time ran out, the problem is not to blame
            if source == "plan":
                return Attempt(answer, feedback=feedback)
            return (yield from _unusable(retry, answer, proposal, feedback))
        preview = *self._accepted(proposal, source), planned
        commands = [intention.command for intention in intentions]
        question = partial(plan_question, commands, planned.rung or "", preview)
        decision = yield from ask_approval(self._approver, "plans", question, self._budget)
        if decision.kind == "rejected":
            yield planned
            return (yield from _unusable(retry, answer, proposal, decision.feedback))
        if decision.kind == "replaced":
            intentions = tuple(Intention(line.strip()) for line in decision.text.splitlines() if line.strip())
            steps = tuple(PlannedStep("(by a person)", intention.command) for intention in intentions)
            planned = replace(planned, plan=steps)
        yield from self._accept(proposal, source)
        yield planned
        return Attempt(answer, intentions)

    def _climb(self, proposal: ProblemProposal) -> tuple[Intentions, Planned]:
        """The commands of a plan for the first goal that can be reached; none if no goal can."""
        known = proposal.knowledge.with_problem(self._rules.known(proposal.problem))
        ladder = climb(
            *(self._planner, known.domain, known.problem, self._rules.ladder(known.ladder)),
            lambda step: self._objection(known, step),
            lambda: self._budget.seconds_left,
        )
        self.rung = ladder.rung
        return intended(known, ladder)

    def _objection(self, known: Knowledge, step: PlanStep) -> str:
        """Why no plan may begin with this step now; empty if one may."""
        command = known.command(step)
        if not command:
            return "how to do that is not known yet"
        return self._memory.refusals.objection(normalize_command(command, self._world.seen.valid_commands))

    def _accepted(self, proposal: ProblemProposal, source: Source) -> tuple[Accepted, ...]:
        """What is said of a proposal that is accepted: of the domain, where that changed, and of the problem."""
        domain = _domain_accepted(self.known, proposal.knowledge)
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
        seen = Observations(
            news=tuple(self._memory.to_read(retry.attempt, retry.failed_with(UNREACHABLE))),
            history=tuple(self._memory.history),
            valid_commands=self.setting.asking.shown(self._world.seen.valid_commands),
            refused=self._memory.refusals.repeated,
            repeating=self._memory.repeating,
            kinds=self._world.seen.kinds,
            things=self._world.seen.things,
            every_command=self._world.every_command,
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

    def _ask(self, situation: Situation) -> Generator[Event, None, tuple[Completion, Situation]]:
        """Send the requests of an attempt. Returns the last answer, and the situation with the answers before it."""
        while True:
            request = self._method.request(situation)
            if request is None:
                return Completion(""), situation
            self._budget.check_call()
            self._was_asked = True
            attempt = situation.retry.attempt
            completion = yield from ask(self._model, remedied(request, situation), self._budget, attempt)
            self._takes_no_temperature = self._takes_no_temperature or "temperature" in completion.not_taken
            answers = (*situation.answers, completion.text)
            if completion.finish in INCOMPLETE or len(answers) == requests_of(self.episode.mode):
                return completion, situation
            situation = replace(situation, answers=answers)


class Agent:
    """Plays one episode. `run` yields every event as it happens; it is the only way to see inside."""

    def __init__(
        self,
        episode: Episode,
        game: Game,
        agents: Agents,
        clock: Callable[[], float] = time.monotonic,
        restart: Restart | None = None,
        checker: Checker | GameReader | None = None,
    ) -> None:
        self.episode, self.setting = episode, episode.setting
        self.approver, self.restart = agents.approver, restart
        self._model, self._checker = agents.model, checker
        self._budget = Budget(episode.limits, clock)
        self._memory = Memory(episode.plans and "remedies" not in episode.without, episode.whole_memory)
        self._world = GameSession(episode, game, self._memory, self._budget)
        self._rules = self._world.rules
        self._policy = PlanningPolicy(episode, agents, self._world, self._look_again)

    def run(self) -> Iterator[Event]:
        """Play to the end. The last event is always `Ended`, whatever happens; see `played`."""
        events = self._episode()
        if self._checker is not None:
            events = checked(events, self._checker)
        return played(events, self._budget)

    @property
    def seconds(self) -> float:
        """The episode's time, without pauses for a person or a display."""
        return self._budget.seconds

    def _episode(self) -> Generator[Event, None, None]:
        yield started(self.episode, self._model)
        yield self._world.start()
        if self.restart is not None:
            yield from self._go_back(self.restart)
        while True:
            yield from self._follow_rules()
            intentions = yield from self._policy.decide()
            yield from self._execute(intentions)

    def _go_back(self, restart: Restart) -> Iterator[Event]:
        """Begin where another episode was. Raises `ReplayError`."""
        yield from self._world.go_back(restart)
        self._memory.go_back_to(restart.known)
        self._policy.go_back(restart)
        yield resumed(restart)

    def _execute(self, intentions: Sequence[Intention]) -> Generator[Event, None, None]:
        """Send the commands, until the game answers otherwise than the plan expected.

        What a fixed rule asks for comes first. Where a model must read what came of it, that ends the plan.
        """
        for planned in intentions:
            followed = yield from self._follow_rules()
            if followed and self._rules.is_reported:
                return
            intention = replace(planned, command=normalize_command(planned.command, self._world.seen.valid_commands))
            decision, intention = yield from self._judge_command(intention)
            if decision.kind == "rejected":
                self._policy.hint = Retry(0, intention.command, decision.feedback)
                return
            observed = yield from self._send(intention)
            if observed.refused and self.episode.rewinds:
                yield from self._world.rewind()
            surprised = self.episode.monitors and (observed.refused or observed.mismatch)
            if surprised or self.episode.replan_every_step or decision.kind == "replaced":
                return
            self._budget.check_time()
        self._rules.plan_ended(self._policy.rung)

    def _follow_rules(self) -> Generator[Event, None, bool]:
        """Send the commands of fixed rules. Returns whether any was sent."""
        followed = False
        while (command := self._rules.due()) is not None:
            followed = True
            decision, intention = yield from self._judge_command(Intention(command, by_rule=True))
            if decision.kind != "rejected":
                yield from self._send(intention)
        return followed

    def _judge_command(self, intention: Intention) -> Generator[Event, None, tuple[Decision, Intention]]:
        """What a person says of a command, and what is to be sent in its place."""
        question = partial(Question, "commands", "a command", intention.command)
        decision = yield from ask_approval(self.approver, "commands", question, self._budget)
        if decision.kind == "replaced":
            intention = Intention(normalize_command(" ".join(decision.text.split()), self._world.seen.valid_commands))
        return decision, intention

    def _send(self, intention: Intention) -> Generator[Event, None, Observed]:
        """Send one command. Raises `EpisodeOver` where that ends the game or the steps."""
        observed = self._world.send(intention, self._policy.known)
        yield observed
        if observed.won:
            raise EpisodeOver(Outcome.WON)
        if observed.lost:
            raise EpisodeOver(Outcome.LOST, "the game says that it can no longer be won")
        self._budget.check_steps()
        return observed

    def _look_again(self) -> Iterator[Event]:
        """Look around: what was missed may be seen again."""
        command = self.setting.observing.look
        if command and self._world.seen.look:
            yield self._world.look(command)
        elif command in self._world.seen.valid_commands:
            decision, intention = yield from self._judge_command(Intention(command))
            if decision.kind != "rejected":
                yield from self._send(intention)
