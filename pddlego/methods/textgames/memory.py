"""What an episode has seen, what of it is news, and which commands were refused while nothing was learned in between.

One observation that a model missed is gone for ever: every later request shows only what is new, the problem stays
wrong, and the same plan comes out of it. What is done about it, each time the same command is refused:

1. once: as after any surprise, the model reads what was expected, and is shown everything since its last answer that
   changed something.
2. twice: the agent looks around (at no cost if the game describes the place anyway), and the model reads that the
   command was repeated.
3. three times: besides, no plan may begin with that command any more, so that another goal of the ladder is tried.

All of this ends as soon as an answer changes the problem. The agent also looks around when two answers to the same
question have left no goal within reach, and shows all that ever happened when a third one does: what is missing may be
what was missed before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from pddlego.episode.loop import Retry
from pddlego.methods.textgames.formalize import Exchange, Situation
from pddlego.models import Request
from pddlego.models.base import CUT_OFF, Feedback
from pddlego.pddl import Problem
from pddlego.planning import PlanStatus, TriedRung

REPEATED, FUTILE = 2, 3
"""Refusals of one command after which it is called repeated, and after which no plan may begin with it."""

LONGEST = 3
"""Commands of a sequence whose repetition is noticed."""


class Refusals:
    """The commands that were refused since the problem last changed."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._unlooked = False

    def refused(self, command: str) -> None:
        """The game refused the command."""
        self._times[command] += 1
        self._unlooked = self._unlooked or self._times[command] == REPEATED

    def changed(self) -> None:
        """The problem is another one: what was refused before says nothing about it."""
        self._times.clear()
        self._unlooked = False

    @property
    def repeated(self) -> tuple[tuple[str, int], ...]:
        """Commands that were refused more than once, with how often."""
        return tuple(sorted((command, times) for command, times in self._times.items() if times >= REPEATED))

    def objection(self, command: str) -> str:
        """Why no plan may begin with the command; empty if one may."""
        times = self._times[command]
        return f"the game refused '{command}' {times} times" if times >= FUTILE else ""

    def look_is_due(self) -> bool:
        """Whether a command has become repeated since the agent last looked around."""
        return self._unlooked

    def looked(self) -> None:
        """The agent looks around: the commands that are repeated by now call for no other look."""
        self._unlooked = False


class Memory:
    """All exchanges with the game: `news` came since the last answer, `history` is everything.

    With `remedies` what leads nowhere again and again is noticed, and more than the news is shown. One that is `whole`
    shows everything always.
    """

    def __init__(self, remedies: bool = True, whole: bool = False) -> None:
        self.history: list[Exchange] = []
        self.news: list[Exchange] = []
        self.refusals = Refusals()
        self._remedies, self._whole = remedies, whole
        self._since_change: list[Exchange] = []

    def take(self, exchange: Exchange, refused: bool, reported: bool = True) -> None:
        """Add an exchange; `refused` if the game refused it. It is news only if it is `reported` to the model."""
        for exchanges in (self.news, self._since_change, self.history)[0 if reported else 2 :]:
            exchanges.append(exchange)
        if refused and exchange.command is not None and self._remedies:
            self.refusals.refused(exchange.command)

    def problem_changed(self) -> None:
        """An answer has changed the problem: what was seen until now has been of use."""
        self.refusals.changed()
        self._since_change = []

    def went_as_planned(self) -> None:
        """The problem is what a plan expected, and nothing that was seen since is news."""
        self.news, self._since_change = [], []

    def go_back_to(self, known: int) -> None:
        """The problem was made from the first `known` exchanges."""
        self.problem_changed()
        self.news = self.history[known:]
        self._since_change = list(self.news)

    def look_is_due(self, attempt: int, unreachable: bool) -> bool:
        """Whether to look around before the next question, the `attempt`-th of its kind.

        `unreachable` says that the last answer to it left no goal within reach.
        """
        if attempt == 0:
            return self.refusals.look_is_due()
        return self._remedies and unreachable and attempt == REPEATED

    def looked(self) -> None:
        """The agent looks around."""
        self.refusals.looked()

    def to_read(self, attempt: int, unreachable: bool) -> list[Exchange]:
        """What the model reads: the news; after a mismatch everything since its last change; and the whole history if
        this does not help."""
        if self._whole or (self._remedies and unreachable and attempt > REPEATED):
            return self.history
        surprised = self._remedies and any(exchange.unforeseen for exchange in self.news)
        return self._since_change if surprised or self.refusals.repeated else self.news

    @property
    def repeating(self) -> tuple[str, ...]:
        """The last commands, up to `LONGEST`, where they were sent `FUTILE` times one after another; else none."""
        commands = [exchange.command for exchange in self.history if exchange.command is not None]
        for length in range(1, LONGEST + 1):
            last = commands[-length:]
            if self._remedies and len(last) == length and commands[-length * FUTILE :] == last * FUTILE:
                return tuple(last)
        return ()


class Placeholders:
    """Which placeholders an episode has used. Without a `prefix` the setting has none."""

    def __init__(self, prefix: str) -> None:
        self._prefix, self._highest = prefix, 0

    def used(self, problem: Problem) -> None:
        """A problem was accepted, with whatever placeholders are in it."""
        matches = (re.fullmatch(rf"{re.escape(self._prefix)}(\d{{1,6}})", obj.name) for obj in problem.objects)
        self._highest = max([self._highest, *(int(match.group(1)) for match in matches if match)])

    @property
    def next(self) -> str:
        """The first unused one; empty for a setting without placeholders."""
        return f"{self._prefix}{self._highest + 1}" if self._prefix else ""


UNREACHABLE = "goal unreachable"
"""The category of an answer whose problem leaves no goal within reach."""

NO_PLAN = {
    PlanStatus.UNSOLVABLE: (UNREACHABLE, "with this problem file no sequence of actions reaches any goal:"),
    PlanStatus.ALREADY_TRUE: ("goal already true", "in this problem file the goal is true before any action:"),
    PlanStatus.INVALID: ("invalid problem", "the planner cannot read the problem file:"),
    PlanStatus.TIMEOUT: ("planner timeout", "the planner found no plan in time for this problem file:"),
    PlanStatus.BOUND: ("planner bound", "the planner found no plan that is short enough for this problem file:"),
    PlanStatus.MEMORY: (
        "planner out of memory",
        "the planner ran out of memory with this problem file; make it smaller:",
    ),
}
"""What the model reads if no goal of the ladder has a plan, by the status of the most informative rung."""

_SAYS_MOST = (PlanStatus.INVALID, PlanStatus.MEMORY, PlanStatus.TIMEOUT, PlanStatus.BOUND)
"""If goals failed in several ways, these are reported first: they say more than that a goal is already true."""


def no_plan(rungs: Sequence[TriedRung]) -> Feedback:
    """Feedback for the model if no goal of the ladder has a plan."""
    statuses = [rung.status for rung in rungs]
    category, message = NO_PLAN[next((status for status in _SAYS_MOST if status in statuses), statuses[-1])]
    tried = (f"{rung.name}: {rung.status.value} ({rung.message})" for rung in rungs)
    return Feedback(category, message, tuple(tried))


INCREASE = 0.3
"""Added to the temperature for each repetition."""

MORE_TOKENS = 16_384
"""Tokens that an answer may have after one that was cut off."""


def remedied(request: Request, situation: Situation) -> Request:
    """The request with what the last failure asks for."""
    unfinished = situation.retry.failed_with(CUT_OFF)
    hotter = INCREASE * (situation.retry.repeated - situation.reworded)
    return replace(request, temperature_increase=hotter, max_tokens=MORE_TOKENS if unfinished else None)


def ablated(situation: Situation, without: Collection[str]) -> Situation:
    """The situation as a mode `without` some of its parts sees it (`options.ABLATIONS`)."""
    if "remedies" in without or "feedback" in without:
        situation = replace(situation, retry=replace(situation.retry, repeated=0), reworded=0)
    if "feedback" in without:
        news = tuple(replace(news_item, unforeseen="") for news_item in situation.seen.news)
        seen = replace(situation.seen, news=news, refused=())
        retry = Retry(situation.retry.attempt)
        situation = replace(situation, seen=seen, retry=retry, notes=(), contradictions=())
    return situation
