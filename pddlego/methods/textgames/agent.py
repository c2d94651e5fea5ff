"""The agent of text games: how an observation becomes a command (paper, section 2).

`Agent` repeats these steps until the game or a limit ends the episode:

1. Observe. `GameSession` sends a command, and stores the game's observation in the `Memory`, where it is news until a
   model has read it.
2. Formalize. The `Formalizer` of the mode turns the news and the last problem into a request. The model's answer is
   read as a proposal: a PDDL problem, or in mode `act` a command, which is sent at once.
3. Plan. The planner looks for a plan for the first goal of the ladder that can be reached from the proposed problem. An
   answer that cannot be read, or that leads to no plan, is rejected: the model reads the reason and answers again
   (`refine`). An accepted problem replaces the last one.
4. Act. `Knowledge.command` says each step of the plan as a command of the game. The agent sends the commands until the
   plan ends, the game answers otherwise than the plan expected, or it names a thing that the plan looks for. Then step
   2 follows; no model is asked if the game confirmed the plan and said nothing else. Commands of fixed rules come
   first, and a user may approve each step.

`PlanningPolicy` does 2 and 3, and `Agent` does 1 and 4.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

from pddlego.episode.approval import REJECTED_BY_PERSON, Approver, Decision, Question, RecordedApprover, ask_approval
from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Accepted, Event, Judged, Outcome, Rejected, Source, Started
from pddlego.episode.lifecycle import played
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.episode.trace import Trace
from pddlego.errors import ModelError
from pddlego.methods.textgames.advice import missing_facts, with_losses
from pddlego.methods.textgames.events import GameEvent, Observed, Planned, PlannedStep, Resumed
from pddlego.methods.textgames.formalize import (
    LOOK_GOAL,
    SEPARATOR,
    CommandProposal,
    Exchange,
    Formalizer,
    Observations,
    ProblemProposal,
    PromptContext,
    Proposal,
)
from pddlego.methods.textgames.formalize.confirmed import unless_taken_back
from pddlego.methods.textgames.formalize.constraint import (
    CONSTRAINT,
    constraint_request,
    is_pddl,
    kept_faults,
    read_kept,
)
from pddlego.methods.textgames.formalize.contents import CONTENTS, contents_request, read_contents
from pddlego.methods.textgames.formalize.look import wanted_things
from pddlego.methods.textgames.formalize.problems import (
    read_file,
    unless_contradicting,
    unless_incomplete,
    with_unmatched,
    without_planned,
)
from pddlego.methods.textgames.games import FromFile, Game
from pddlego.methods.textgames.keeping import Keeper
from pddlego.methods.textgames.knowledge import Base, Knowledge, restored, written_text
from pddlego.methods.textgames.memory import (
    UNREACHABLE,
    Memory,
    Placeholders,
    no_plan,
    remedied,
    without_ablated,
)
from pddlego.methods.textgames.options import DOMAIN, RULES, TRANSITIONS, requests_of
from pddlego.methods.textgames.reading.rules import LearnedRules
from pddlego.methods.textgames.shortening import fitting_request
from pddlego.methods.textgames.truth import Checker, GameReader, with_checks
from pddlego.methods.textgames.world import (
    EpisodeSetup,
    GameSession,
    Intention,
    Restart,
    check_same,
    intended,
    names_any,
    normalize_command,
)
from pddlego.models import Completion, Model, Request
from pddlego.models.base import INVALID, Feedback, incomplete
from pddlego.models.prompts import Prompts
from pddlego.models.transcript import TranscriptModel
from pddlego.pddl import TRUE, DefectKind, EditSyntaxError, EntryKind, Formula, Problem, diff
from pddlego.pddl.edit import domain_diff
from pddlego.pddl.invariants import contradictions
from pddlego.pddl.rules import remark
from pddlego.planning import Planner, PlanStatus, PlanStep
from pddlego.planning.ladder import LadderResult, Rung, climb
from pddlego.runs.store import installed_version
from pddlego.runs.summary import ENGINE, GAME_FILE
from pddlego.util.limits import Clock
from pddlego.util.text import count

_MOST_SHOWN = 200
"""Maximum length of the commands that a request says were not sent."""

_MODELS_GOALS = "a goal of the model's"
"""The name of a goal on the ladder before the model has written its goals."""


def _started(episode: EpisodeSetup, model: Model, file: Mapping[str, str]) -> Started:
    setting = episode.setting
    begun_with = setting.sources.get(DOMAIN.option, "")
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
            **({DOMAIN.kind: begun_with} if episode.writes_domain and begun_with else {}),
            **({RULES.kind: rules} if (rules := setting.start.learned.text) or setting.asking.rules else {}),
            **({TRANSITIONS.kind: taught} if (taught := setting.sources.get(TRANSITIONS.option)) else {}),
            **({GAME_FILE: file} if file else {}),
            **({ENGINE: engine} if (engine := _engine(setting.packages)) else {}),
        },
    )


def _engine(packages: Iterable[str]) -> str:
    """The packages that run a game, with their versions; empty if none of them is installed."""
    versions = ((name, installed_version(name)) for name in packages)
    return ", ".join(f"{name} {version}" for name, version in versions if version is not None)


def _rejected(retry: Retry, feedback: Feedback, proposal: Proposal) -> Rejected:
    """Make the event of a rejected answer, which was read as the proposal."""
    if not isinstance(proposal, ProblemProposal):
        return Rejected(retry.attempt, feedback, attempts=retry.attempts)
    kinds = tuple(defect.kind.value for defect in proposal.defects)
    return Rejected(retry.attempt, feedback, proposal.entries, kinds, retry.attempts)


def _accepted(before: Problem, proposal: ProblemProposal, source: Source = "model") -> Accepted:
    """Make the event of an accepted problem: what it changes, and its harmless defects."""
    changed = diff(before, proposal.problem, dict(proposal.renamed))
    # The next request shows them to the model.
    messages = map(str, contradictions(proposal.problem, proposal.knowledge.invariants))
    harmless = (remark(DefectKind.CONTRADICTION, message, message) for message in messages)
    defects = (*proposal.defects, *harmless)
    return Accepted(
        kind="problem",
        text=str(proposal.problem),
        added=changed.added,
        removed=changed.removed,
        renamed=proposal.renamed,
        lines=proposal.entries,
        defects=tuple(defect.message for defect in defects),
        kinds=tuple(defect.kind.value for defect in defects),
        source=source,
    )


def _domain_accepted(before: Knowledge, after: Knowledge) -> tuple[Accepted, ...]:
    """Make the event of an accepted domain; empty if neither the domain nor its commands changed."""
    last, written = before.written, after.written
    if written is None or written is last:
        return ()
    changed = domain_diff(before.domain, written.domain)
    same_commands = last is not None and last.commands == written.commands
    if not changed and same_commands:
        return ()
    return (Accepted(kind=DOMAIN.kind, text=written_text(written), added=changed.added, removed=changed.removed),)


def _rules_accepted(before: LearnedRules, after: LearnedRules) -> tuple[Accepted, ...]:
    """Make the event of new reading rules; empty without any."""
    if before == after:
        return ()
    added, removed = (
        tuple("; ".join(rule.sentence) for rule in one.rules if rule not in other.rules)
        for one, other in ((after, before), (before, after))
    )
    return (Accepted(kind=RULES.kind, text=after.text, added=added, removed=removed),)


def _resumed(restart: Restart) -> Resumed:
    """Make the event of a resumed episode, with what a person changed in its problem."""
    corrected = restart.corrected
    changed = diff(restart.before, corrected or restart.before)
    return Resumed(
        source=restart.source,
        step=restart.step,
        before=str(restart.before),
        known=restart.covered_observations,
        corrected=str(corrected) if corrected else None,
        written=restart.written,
        added=changed.added,
        removed=changed.removed,
    )


def _edit_question(before: Problem, proposal: ProblemProposal, situation: PromptContext) -> Question:
    """The question whether a person accepts a proposal."""
    changed = diff(before, proposal.problem, dict(proposal.renamed))
    return Question(
        what="edits",
        title="a change of the problem",
        text=str(proposal.problem),
        changes=True,
        added=changed.added,
        removed=changed.removed,
        renamed=proposal.renamed,
        preview=(_accepted(before, proposal),),
        faults=lambda text: read_file(text, situation).faults,
        suffix=".pddl",
    )


def plan_question(commands: Sequence[str], goal: str, preview: tuple[Event, ...]) -> Question:
    """The question whether a person accepts a plan. `preview` are the events that follow if they do."""
    return Question("plans", "a plan", "\n".join(commands), reason=goal, preview=preview)


Intentions = tuple[Intention, ...]

_NOTHING_NEW = {PlanStatus.UNSOLVABLE, PlanStatus.ALREADY_TRUE}


def _looked(proposal: ProblemProposal, planned: Planned) -> Mapping[str, set[PlanStatus]]:
    """What came of the goals of each place of `look` for which a plan was sought."""
    places = (place for place, goals in proposal.look.items() for _ in goals)
    tried = (rung.status for rung in planned.tried if rung.name == LOOK_GOAL)
    statuses = defaultdict[str, set[PlanStatus]](set)
    for place, status in zip(places, tried, strict=False):
        statuses[place].add(status)
    return statuses


@dataclass(frozen=True)
class Agents:
    """What an agent works with: the formalizer of its mode, the model, the planner, and the user who approves."""

    formalizer: Formalizer
    model: Model
    planner: Planner
    approver: Approver | None = None


def _recorded_agents(agents: Agents, trace: Trace, source: str) -> Agents:
    """The agents with the recorded answers, which cost nothing, and decisions in place of the model and the user."""
    free = partial(replace, tokens_in=0, tokens_out=0, tokens_cached=0, from_cache=True)
    answers = [(call.request, free(call.completion)) for call in trace.calls]
    judged = [(event.what, Decision(event.decision, event.text)) for event in trace.all(Judged)]
    return replace(agents, model=TranscriptModel(answers, source), approver=RecordedApprover(judged))


def _meaning(answer: str, proposal: Proposal, before: Problem) -> object:
    """What a rejected answer says: its files and the lines that cannot be applied if it was read, or else its words."""
    is_file = isinstance(proposal, ProblemProposal) and not proposal.by_rules and proposal.problem != before
    if isinstance(proposal, ProblemProposal) and (proposal.report or is_file):
        failed = tuple(
            str(entry) for entry in proposal.entries if entry.kind in (EntryKind.REFUSED, EntryKind.UNMATCHED)
        )
        return proposal.problem, proposal.knowledge.written, failed
    return " ".join(answer.split())


class PlanningPolicy:
    """Turns observations into commands: asks the model for a problem, and the planner for a plan.

    `knowledge` holds the last accepted problem, and `sought` the things that the last plan looks for. `look` looks
    around in the game. `hint` is the feedback of a user who rejected a plan or a command: the next request begins with
    it. The `keeper` says what plans must keep.
    """

    def __init__(
        self, episode: EpisodeSetup, agents: Agents, world: GameSession, look: Callable[[], Iterator[Event]]
    ) -> None:
        self.episode, self.setting = episode, episode.setting
        self.knowledge = self.setting.start
        self.keeper = Keeper(episode.options.unknown, self.knowledge)
        self.hint = Retry()
        self.rung: str | None = None
        self.sought = frozenset[str]()
        self._tour: Mapping[str, Sequence[Formula]] = {}
        self.agents, self._formalizer, self._planner = agents, agents.formalizer, agents.planner
        self._world, self._memory, self._rules, self._budget = world, world.memory, world.rules, world.budget
        self._look = look
        self._placeholders = Placeholders(self.knowledge.placeholder)
        self._notes: tuple[str, ...] = ()
        self._rest: tuple[str, ...] = ()
        self._given: Problem | None = None
        self._was_asked = self._takes_no_temperature = False

    def go_back(self, restart: Restart) -> None:
        """Restore the knowledge of a recorded episode. A corrected problem is planned with immediately."""
        knowledge = restored(self.setting.start, restart.written, restart.before)
        self.knowledge = replace(knowledge, base=Base(restart.before, restart.covered_observations))
        self._placeholders.used(restart.before)
        nothing_to_ask = self.episode.plans and not self._memory.news
        self._given = restart.corrected or (restart.before if nothing_to_ask else None)

    def decide(self) -> Generator[Event, None, Intentions]:
        """Decide what to do next: the commands of a plan, or one command.

        No model is asked if the game confirmed what the plan predicted and said nothing else. Otherwise the model is
        asked until an answer leads to a plan (or is a command), at most `1 + retries` times. Raises `EpisodeOver` if
        the last answer does not. The rest of an answer is sent first.
        """
        if following := self._following():
            return following
        expected = self._as_expected()
        if expected == self.knowledge.problem:  # the same commands would follow without end
            last = self._memory.news[-1].command
            self._notes += (f"'{last}' went as planned and left the file as it was: something is missing in it",)
        elif expected is not None:
            proposal = ProblemProposal(self.knowledge.with_problem(expected), look=self._tour)
            attempt = yield from self._plan(Retry(), str(expected), proposal, source="plan")
            if attempt.value is not None:
                self._memory.went_as_planned()
                return attempt.value
            if attempt.feedback is not None and attempt.feedback.category == REJECTED_BY_PERSON:
                self.hint = Retry(0, attempt.answer, attempt.feedback)
        first, self.hint = self.hint, Retry()
        self._was_asked, is_given = False, self._given is not None
        attempt = yield from refine(self._attempt, self.episode.most_retries, first)
        if attempt.value is None:
            raise EpisodeOver(Outcome.NO_PLAN, attempt.failure)
        if self._was_asked or not is_given:  # what a given problem does not cover is still news
            self._memory.news = []
        return attempt.value

    def _following(self) -> Intentions:
        """The next command of the last answer. Returns no command if there is no rest, or if it is not valid now."""
        if not self._rest:
            return ()
        proposal = self._formalizer.read(self._rest[0], self._situation(Retry()))
        assert isinstance(proposal, CommandProposal), "a plan has no rest"
        if proposal.feedback is not None:
            self.drop_rest("it is not valid now")
            return ()
        self._rest = self._rest[1:]
        return (Intention(proposal.command, continues=True),)

    def drop_rest(self, reason: str) -> None:
        """Drop the commands of the last answer that were not sent. The next request says so."""
        if self._rest:
            self._notes = (f"Not sent: {SEPARATOR.join(self._rest)[:_MOST_SHOWN]} ({reason}).",)
        self._rest = ()

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
        expected = replace(self.knowledge.problem, facts=news[-1].after or frozenset())
        reference = self.setting.reader.reference  # in a domain of the model's, only the model can take such facts back
        if reference is not None and any(fact.predicate in reference.only_planned for fact in expected.facts):
            return None
        return without_planned(expected, self.knowledge.only_planned)[0]

    def list_contents(self) -> Iterator[Event]:
        """Let the model list what rooms and opened containers hold, where the script does not read it."""
        while (script := self._rules.script) is not None and script.unread is not None:
            seen = Observations((Exchange(None, script.unread),))
            situation = PromptContext(self.knowledge, self._world.game.task, seen, reader=self.setting.reader)
            request = contents_request(Prompts(self.setting.asking.prompts), situation)
            attempt = yield from refine(partial(self._list, request), self.episode.most_retries)
            if attempt.value is None:
                raise EpisodeOver(Outcome.NO_PLAN, attempt.failure)
            script.listed(attempt.value)

    def _list(self, request: Request, retry: Retry) -> Generator[Event, None, Attempt[tuple[str, ...]]]:
        """Ask once for the contents of a room or a container. The value are the script's commands for them."""
        answer = (yield from ask(self.agents.model, request, self._budget, retry.attempt)).text
        try:
            commands = read_contents(answer)
        except EditSyntaxError:
            feedback = Feedback(INVALID, 'it is not a JSON object with the lists "things" and "closed"')
            yield Rejected(retry.attempt, feedback, attempts=retry.attempts)
            return Attempt(answer, feedback=feedback)
        yield Accepted(CONTENTS, answer, added=commands)
        return Attempt(answer, commands)

    def _attempt(self, retry: Retry) -> Generator[Event, None, Attempt[Intentions]]:
        """Ask the model once, read its answer as a proposal, and plan with it. The user may change the proposal."""
        if self._given is not None:  # by a person, or by a record that needs no answer
            problem, self._given = self._given, None
            attempt = yield from self._plan(retry, str(problem), ProblemProposal(self.knowledge.with_problem(problem)))
            self.knowledge = self.knowledge.with_problem(problem)  # it is kept, even if it is not enough for a plan
            return attempt
        if self._memory.look_is_due(retry.attempt, retry.failed_with(UNREACHABLE)):
            self._memory.looked()
            yield from self._look()
        completion, situation = yield from self._ask(self._situation(retry))
        answer = "\n".join((*situation.answers, completion.text))
        proposal = self._read(completion, situation)
        if proposal.feedback is not None:
            return (yield from self._reject(retry, answer, proposal, proposal.feedback))
        if isinstance(proposal, CommandProposal):
            self._rest, self._notes = proposal.rest, ()
            return Attempt(answer, (Intention(proposal.command),))
        question = partial(_edit_question, self.knowledge.problem, proposal, situation)
        decision = yield from ask_approval(self.agents.approver, "edits", question, self._budget)
        if decision.kind == "rejected":
            return (yield from self._reject(retry, answer, proposal, decision.feedback))
        if decision.kind == "replaced":
            proposal = read_file(decision.text, situation)
        return (yield from self._plan(retry, answer, proposal))

    def _read(self, completion: Completion, situation: PromptContext) -> Proposal:
        """Read an answer as a proposal, with feedback if the answer is incomplete or the problem contradicts itself."""
        proposal = unless_incomplete(self._formalizer.read(completion.text, situation), completion)
        if not isinstance(proposal, ProblemProposal):
            return proposal
        last = situation.retry.attempt >= self.episode.most_retries
        proposal = unless_contradicting(proposal, self.knowledge, last)
        if proposal.by_rules or "feedback" in self.episode.without:
            return proposal
        return with_losses(unless_taken_back(proposal, situation, last), situation, self.setting)

    def _plan(
        self, retry: Retry, answer: str, proposal: ProblemProposal, source: Source = "model"
    ) -> Generator[Event, None, Attempt[Intentions]]:
        """Plan with the proposed problem, and accept the problem if there is a plan and the user accepts it."""
        intentions, planned = self._climb(proposal)
        if planned.tried[-1].status is PlanStatus.CRASHED:
            yield planned
            reason = f"the planner failed, not because of the answer: {planned.tried[-1].message}"
            raise EpisodeOver(Outcome.CRASHED, reason)
        is_constrained = source == "model" and not intentions and self._is_constrained(proposal)
        if is_constrained and retry.attempt:  # asked once more, perhaps an exit was forgotten
            yield from self._accept(proposal, source)
            yield planned
            raise EpisodeOver(Outcome.NO_PLAN, self.keeper.prevents(planned))
        if not intentions:
            feedback = with_unmatched(no_plan(planned.tried), proposal.report)
            if source == "model" and "feedback" not in self.episode.without:
                facts = self._rules.with_script_facts(proposal.problem)
                advice = missing_facts(
                    *(proposal.knowledge.with_problem(facts), planned.tried, self.setting.map, self._world.game.task)
                )
                demand = f"each plan must keep {self.keeper.constraint}, and without it there is a plan"
                feedback = replace(feedback, evidence=(*[demand] * is_constrained, *feedback.evidence, *advice))
            yield planned
            self._budget.check_time()  # if the episode's time ran out, the problem is not to blame
            if source == "plan":
                return Attempt(answer, feedback=feedback)
            return (yield from self._reject(retry, answer, proposal, feedback))
        preview = *self._events_of(proposal, source), planned
        commands = [intention.command for intention in intentions]
        question = partial(plan_question, commands, planned.rung or "", preview)
        decision = yield from ask_approval(self.agents.approver, "plans", question, self._budget)
        if decision.kind == "rejected":
            yield planned
            return (yield from self._reject(retry, answer, proposal, decision.feedback))
        if decision.kind == "replaced":
            intentions = tuple(Intention(line.strip()) for line in decision.text.splitlines() if line.strip())
            steps = tuple(PlannedStep("(by a person)", intention.command) for intention in intentions)
            planned = replace(planned, plan=steps)
        yield from self._accept(proposal, source)
        if source == "model":
            vain = (place for place, statuses in _looked(proposal, planned).items() if statuses <= _NOTHING_NEW)
            self._notes += tuple(f"look {place}: no plan leads to anything new there" for place in vain)
        yield planned
        return Attempt(answer, intentions)

    def _reject(
        self, retry: Retry, answer: str, proposal: Proposal, feedback: Feedback
    ) -> Generator[Event, None, Attempt[Intentions]]:
        """Reject the answer: the event that says so, and the failed attempt with its feedback.

        Good rules are kept, and what was wrong with the others is said, too.
        """
        before = self.knowledge
        if isinstance(proposal, ProblemProposal):
            feedback = replace(feedback, evidence=(*feedback.evidence, *proposal.remarks))
            self.knowledge = replace(before, learned=proposal.knowledge.learned)
            yield from _rules_accepted(before.learned, self.knowledge.learned)
        yield _rejected(retry, feedback, proposal)
        return Attempt(answer, feedback=feedback, meaning=_meaning(answer, proposal, before.problem))

    def _climb(self, proposal: ProblemProposal) -> tuple[Intentions, Planned]:
        """Plan for the first goal of the ladder that can be reached. Returns no commands if none can.

        The problem includes the facts, and the ladder the goals, that a fixed script of the setting adds.
        """
        knowledge, rungs = self._task_of(proposal)
        for kept in self.keeper.ladders(knowledge, rungs):
            ladder = self._climbed(knowledge, kept, self.keeper.forbids)
            if ladder.plan is not None:
                break
        self.rung = ladder.rung
        goals = (rung.goal for rung in self._rules.ladder(knowledge.ladder) if rung.name == ladder.rung)
        self.sought = frozenset().union(*map(knowledge.sought_for, goals))
        intentions, planned = intended(knowledge, ladder)
        looked = _looked(proposal, planned)
        done = {place for place, statuses in looked.items() if PlanStatus.ALREADY_TRUE in statuses}
        if ladder.rung == LOOK_GOAL:
            self.sought = wanted_things(knowledge, self.setting.map)
            reached = next(place for place, statuses in looked.items() if PlanStatus.SOLVED in statuses)
            left = {place: goals for place, goals in proposal.look.items() if place not in looked}
            intentions, planned, others = self._toured(knowledge, left, intentions, planned)
            done |= {reached, *others} if self.episode.options.replan != "every-step" else set()
        self._tour = {place: goals for place, goals in proposal.look.items() if place not in done}
        return intentions, planned

    def _task_of(self, proposal: ProblemProposal) -> tuple[Knowledge, tuple[Rung, ...]]:
        """The knowledge with the facts of the script, and the goals: what an answer looks for is before exploration."""
        knowledge = proposal.knowledge.with_problem(self._rules.with_script_facts(proposal.problem))
        asked = (Rung(LOOK_GOAL, goal) for goals in proposal.look.values() for goal in goals)
        first = [*(rung.explores for rung in knowledge.ladder), True].index(True)
        return knowledge, self._rules.ladder((*knowledge.ladder[:first], *asked, *knowledge.ladder[first:]))

    def _climbed(
        self, knowledge: Knowledge, rungs: tuple[Rung, ...], forbids: Callable[[PlanStep], str]
    ) -> LadderResult:
        return climb(
            *(self._planner, knowledge.domain, knowledge.problem, rungs),
            lambda step: self._objection(knowledge, step, forbids),
            lambda: self._budget.seconds_left,
        )

    def _is_constrained(self, proposal: ProblemProposal) -> bool:
        """Whether the constraint is the reason why a problem has no plan: there is one that breaks it."""
        return self.keeper.constraint != TRUE and self._climbed(*self._task_of(proposal), lambda _: "").plan is not None

    def _toured(
        self,
        knowledge: Knowledge,
        look: Mapping[str, Sequence[Formula]],
        intentions: Intentions,
        planned: Planned,
    ) -> tuple[Intentions, Planned, list[str]]:
        """Add the ways to further places to a plan, one after another. Returns the places with a way, too."""
        reached = list[str]()
        for place, goals in look.items():
            after = intentions[-1].after if intentions and len(intentions) == len(planned.plan) else None
            # The plan ends before its end, nothing would end a tour, or what it makes of a constraint is not known.
            if after is None or not self.sought or self.keeper.constraint != TRUE:
                break
            there = knowledge.with_problem(replace(knowledge.problem, facts=after))
            rungs = [Rung(LOOK_GOAL, goal) for goal in goals]
            ladder = climb(
                *(self._planner, there.domain, there.problem, rungs), seconds_left=lambda: self._budget.seconds_left
            )
            if ladder.plan is not None:
                more, way = intended(there, ladder)
                intentions, planned = (*intentions, *more), replace(planned, plan=(*planned.plan, *way.plan))
                reached.append(place)
        return intentions, planned, reached

    def over(self, observed: Observed) -> Iterator[Event]:
        """Learn from the command that ended the game, or was the last one."""
        return iter(())

    def goes_on(self, following: Intention | None) -> bool:
        """Whether a tour (`look`) goes on although something sought was named: before it leaves the place."""
        rule = self.setting.map
        if self.rung != LOOK_GOAL or following is None or rule is None:
            return False
        return not any(fact.predicate == rule.here for fact in following.effects[1])

    def _objection(self, knowledge: Knowledge, step: PlanStep, forbids: Callable[[PlanStep], str]) -> str:
        """The reason why no plan may begin with this step now; empty if one may."""
        command = knowledge.command(step)
        if not command:
            return "how to do that is not known yet"
        if room := forbids(step):
            return f"it enters {room}, whose name is not known"
        return self._memory.refusals.objection(normalize_command(command, self._world.seen.valid_commands))

    def _events_of(self, proposal: ProblemProposal, source: Source) -> tuple[Accepted, ...]:
        """The events of an accepted proposal: for the domain and the rules if they changed, and for the problem."""
        domain = _domain_accepted(self.knowledge, proposal.knowledge)
        rules = _rules_accepted(self.knowledge.learned, proposal.knowledge.learned)
        return *domain, *rules, _accepted(self.knowledge.problem, proposal, source)

    def _accept(self, proposal: ProblemProposal, source: Source) -> Iterator[Accepted]:
        events = self._events_of(proposal, source)
        if source == "model" and (proposal.problem != self.knowledge.problem or len(events) > 1):
            self._memory.problem_changed()
        before, self.knowledge = self.knowledge, proposal.knowledge
        goes_on = source == "plan" and before.learned.rules  # the rules read the step, or add its effects
        if not (proposal.by_rules or goes_on) and (source == "model" or before.base is not None):
            unread = () if source == "plan" or self._was_asked else self._memory.news
            base = Base(proposal.problem, len(self._memory.history) - len(unread))
            self.knowledge = replace(proposal.knowledge, base=base)
        self._placeholders.used(self.knowledge.problem)
        if source == "model" and (proposal.notes or self._was_asked):  # else the last ones are still to be shown
            self._notes = proposal.notes
        yield from events

    def _situation(self, retry: Retry) -> PromptContext:
        """All that a request may show: the knowledge, the observations, and how the last answer failed."""
        news = tuple(self._memory.to_read(retry.attempt, retry.failed_with(UNREACHABLE)))
        is_refused = any(exchange.refused for exchange in news)
        seen = Observations(
            news=news,
            history=tuple(self._memory.history),
            valid_commands=self.setting.asking.shown(self._world.seen.valid_commands),
            refused=self._memory.refusals.repeated,
            repeating=self._memory.repeating,
            kinds=self._world.seen.kinds,
            things=self._world.seen.things,
            place=self.setting.observing.read(self._world.seen.look) if is_refused else "",
            every_command=self._world.every_command,
        )
        situation = PromptContext(
            self.knowledge,
            self._world.game.task,
            seen,
            retry,
            notes=self._notes,
            contradictions=tuple(map(str, contradictions(self.knowledge.problem, self.knowledge.invariants))),
            placeholder=self._placeholders.next,
            reworded=retry.repeated if self._takes_no_temperature else 0,
            reader=self.setting.reader,
        )
        return without_ablated(situation, self.episode.without)

    def _ask(self, situation: PromptContext) -> Generator[Event, None, tuple[Completion, PromptContext]]:
        """Send the requests of an attempt: one, or one for each part in mode `full+steps`.

        Returns the last answer, and the situation with the answers before it.
        """
        while True:
            request = fitting_request(self._formalizer, situation, self.agents.model)
            if request is None:
                return Completion(""), situation
            self._budget.check_call()
            self._was_asked = True
            attempt = situation.retry.attempt
            try:
                completion = yield from ask(self.agents.model, remedied(request, situation), self._budget, attempt)
            except ModelError:  # perhaps its reason was the model's window, which is known now
                shorter = fitting_request(self._formalizer, situation, self.agents.model)
                if shorter is None or shorter.note == request.note:
                    raise
                completion = yield from ask(self.agents.model, remedied(shorter, situation), self._budget, attempt)
            self._takes_no_temperature = self._takes_no_temperature or "temperature" in completion.not_taken
            answers = (*situation.answers, completion.text)
            if incomplete(completion) or len(answers) == requests_of(self.episode.mode):
                return completion, situation
            situation = replace(situation, answers=answers)


class Agent:
    """Plays one episode: observes, decides, and sends commands. `run` yields every event as it happens."""

    def __init__(
        self,
        episode: EpisodeSetup,
        game: Game,
        agents: Agents,
        clock: Clock = time.monotonic,
        restart: Restart | None = None,
        checker: Checker | GameReader | None = None,
        policy: type[PlanningPolicy] = PlanningPolicy,
    ) -> None:
        self.episode, self.setting = episode, episode.setting
        self.restart, self._agents, self._checker = restart, agents, checker
        self._repeated = restart.repeated if restart is not None and restart.corrected is None else None
        if restart is not None and self._repeated is not None and not restart.replayed:
            agents = _recorded_agents(agents, self._repeated, restart.source)
        self._budget = Budget(episode.limits, clock)
        self._memory = Memory(episode.plans and "remedies" not in episode.without, episode.options.history == "all")
        self._world = GameSession(episode, game, self._memory, self._budget)
        self._rules = self._world.rules
        self._policy = policy(episode, agents, self._world, self._look_again)

    def run(self) -> Iterator[Event]:
        """Play to the end. The last event is always `Ended`, whatever happens; see `played`."""
        events = self._episode() if self._repeated is None else self._resume(self._repeated)
        events = self._policy.keeper.follow(events)
        if self._checker is not None:
            events = with_checks(events, self._checker)
        return played(events, self._budget)

    @property
    def seconds(self) -> float:
        """The episode's time, without pauses for a person or a display."""
        return self._budget.seconds

    def _episode(self) -> Generator[Event, None, None]:
        game = self._world.game
        file = game.file if isinstance(game, FromFile) else {}
        yield _started(self.episode, self._agents.model, file)
        if self.setting.constraint and self.episode.plans:
            yield from self._constrained(self.setting.constraint)
        yield self._world.start()
        if self.restart is not None and self._repeated is None:
            yield from self._go_back(self.restart)
        rounds = self.setting.asking.protocol.rounds if self.episode.plans else None
        for number in itertools.count():
            yield from self._follow_rules()
            if number == rounds:
                raise EpisodeOver(Outcome.STEP_LIMIT, f"not won within {count(rounds, 'plan')}")
            intentions = yield from self._policy.decide()
            yield from self._execute(intentions)

    def _constrained(self, text: str) -> Generator[Event, None, None]:
        """Find out what plans must keep, in PDDL. Raises `EpisodeOver` if no answer of the model says it."""
        restart = self.restart if self._repeated is None else None
        text = (restart.constraint if restart else "") or text
        if is_pddl(text):
            formula = str(read_kept(text)[0])
            yield Accepted(CONSTRAINT, formula, added=(formula,), source="plan")
            yield from restart.broken if restart else ()
            return
        attempt = yield from refine(partial(self._formalize, text), self.episode.most_retries)
        if attempt.value is None:
            reason = f"the game was not begun, because '{text}' could not be formalized: {attempt.failure}"
            raise EpisodeOver(Outcome.NO_PLAN, reason)

    def _formalize(self, sentence: str, retry: Retry) -> Generator[Event, None, Attempt[str]]:
        """Ask the model once what a sentence is in PDDL."""
        start = self.setting.reader.reference or self.setting.start
        request = constraint_request(Prompts(self.setting.asking.prompts), sentence, self.setting.reader, start, retry)
        answer = (yield from ask(self._policy.agents.model, request, self._budget, retry.attempt)).text
        if faults := kept_faults(answer, start):
            feedback = Feedback("invalid constraint", "the constraint cannot be used:", faults)
            yield Rejected(retry.attempt, feedback, attempts=retry.attempts)
            return Attempt(answer, feedback=feedback)
        formula = str(read_kept(answer)[0])
        yield Accepted(CONSTRAINT, formula, added=(formula,))
        return Attempt(answer, formula)

    def _resume(self, recorded: Trace) -> Generator[Event, None, None]:
        """Repeat the recorded events, and go on. Raises `ReplayError` if the game answers otherwise than recorded."""
        events = self._episode()
        for then in recorded.events:
            if not (then.passing or then.derived or isinstance(then, Resumed)):
                now = next(events, None)
                if now is None:
                    return  # it ended, as with fewer rounds
                yield now
                if isinstance(then, Observed):
                    check_same(f"'{then.command}'", then.text, now.text if isinstance(now, Observed) else now.type)
        self._policy.agents = self._agents
        assert self.restart is not None, "only a restart repeats an episode"
        yield _resumed(self.restart)
        yield from events

    def _go_back(self, restart: Restart) -> Iterator[Event]:
        """Continue where another episode was. Raises `ReplayError` if the game answers otherwise than it did then."""
        yield from self._world.go_back(restart)
        self._memory.go_back_to(restart.covered_observations)
        self._policy.go_back(restart)
        yield _resumed(restart)

    def _execute(self, intentions: Sequence[Intention]) -> Generator[Event, None, None]:
        """Send the commands of a plan until the game answers otherwise than the plan expected.

        Commands of fixed rules come first. They end the plan if the model must read the observations that follow.
        """
        options = self.episode.options
        found = False
        for planned, following in zip_longest(intentions, intentions[1:]):
            followed = yield from self._follow_rules()
            if followed and self._rules.is_reported:
                return
            intention = replace(planned, command=normalize_command(planned.command, self._world.seen.valid_commands))
            unread = any(exchange.after is None for exchange in self._memory.news)
            if planned is not intentions[0] and self._policy.keeper.stops(intention, unread):
                return
            decision, intention = yield from self._judge_command(intention)
            if decision.kind in ("rejected", "replaced"):
                self._policy.drop_rest("the user changed the command before")
            if decision.kind == "rejected":
                self._policy.hint = Retry(0, intention.command, decision.feedback)
                return
            score = self._world.seen.score
            observed = yield from self._send(intention)
            if observed.refused or observed.score < score:
                self._policy.drop_rest("the command before failed")
            if observed.refused and options.rewind:
                yield from self._world.rewind()
            found = found or names_any(self._policy.sought, observed.read)
            ends = found and not self._policy.goes_on(following)
            surprised = self.episode.monitors and (observed.refused or observed.mismatch or ends)
            if surprised or options.replan == "every-step" or decision.kind == "replaced":
                return
            self._budget.check_time()
        self._rules.plan_ended(self._policy.rung)

    def _follow_rules(self) -> Generator[Event, None, bool]:
        """Send the commands of fixed rules. Returns whether any was sent."""
        followed = False
        yield from self._policy.list_contents()
        while (command := self._rules.due()) is not None:
            followed = True
            decision, intention = yield from self._judge_command(Intention(command, by_rule=True))
            if decision.kind != "rejected":
                yield from self._send(intention)
            yield from self._policy.list_contents()
        return followed

    def _judge_command(self, intention: Intention) -> Generator[Event, None, tuple[Decision, Intention]]:
        """Ask the user about a command. Returns the decision, and the command to send, which may be the user's."""
        question = partial(Question, "commands", "a command", intention.command)
        decision = yield from ask_approval(self._policy.agents.approver, "commands", question, self._budget)
        if decision.kind == "replaced":
            intention = Intention(normalize_command(" ".join(decision.text.split()), self._world.seen.valid_commands))
        return decision, intention

    def _send(self, intention: Intention) -> Generator[Event, None, Observed]:
        """Send one command. Raises `EpisodeOver` if the game is over then, or no step is left."""
        observed = self._world.send(intention, self._policy.knowledge)
        yield observed
        most = self._budget.limits.steps
        if observed.won or observed.lost or (most is not None and self._budget.usage.steps >= most):
            yield from self._policy.over(observed)
        if observed.won:
            raise EpisodeOver(Outcome.WON)
        if observed.lost:
            raise EpisodeOver(Outcome.LOST, "the game says that it can no longer be won")
        self._budget.check_steps()
        return observed

    def _look_again(self) -> Iterator[Event]:
        """Look around, because the model may have missed something that can be seen."""
        command = self.setting.observing.look
        if command and self._world.seen.look:
            yield self._world.look(command)
        elif command in self._world.seen.valid_commands:
            decision, intention = yield from self._judge_command(Intention(command))
            if decision.kind != "rejected":
                yield from self._send(intention)
