"""The exchanges of an episode with the game, and the remedies for commands that the game refuses again and again.

A request shows only new observations. If the model overlooked an earlier one, its problem stays wrong, and the planner
finds the same plan again. The remedies depend on how often the game has refused the same command:

1. once: as after any mismatch, the model reads the expectation of the plan, and all exchanges since its last answer
   that changed the problem.
2. twice: the agent also looks around (at no cost if the game has described the place), and the model reads that the
   command was repeated.
3. three times: no plan may begin with the command any more, so that another goal of the ladder is tried.

The counts are reset when an answer changes the problem. The agent also looks around after two answers to the same
question without a plan, and shows the whole history after a third one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from pddlego.episode.loop import Retry
from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.models import Request
from pddlego.models.base import CUT_OFF, Feedback
from pddlego.pddl import Problem
from pddlego.planning import PlanStatus, TriedRung

REPEATED, FUTILE = 2, 3
"""Number of refusals after which a command counts as repeated, and after which no plan may begin with it."""

LONGEST = 3
"""Maximum length of a sequence of commands whose repetition is detected."""


class Refusals:
    """The commands that were refused since the problem last changed."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self.look_is_due = False
        """Whether a command has become repeated since the agent last looked around."""

    def refused(self, command: str) -> None:
        """Count a refusal of the command."""
        self._times[command] += 1
        self.look_is_due = self.look_is_due or self._times[command] == REPEATED

    def changed(self) -> None:
        """Reset the counts, because the problem has changed."""
        self._times.clear()
        self.look_is_due = False

    @property
    def repeated(self) -> tuple[tuple[str, int], ...]:
        """The commands that were refused at least `REPEATED` times, with the number of refusals."""
        return tuple(sorted((command, times) for command, times in self._times.items() if times >= REPEATED))

    def objection(self, command: str) -> str:
        """The reason why no plan may begin with the command; empty if a plan may."""
        times = self._times[command]
        return f"the game refused '{command}' {times} times" if times >= FUTILE else ""


class Memory:
    """The exchanges with the game: `history` has all of them, and `news` those since the last accepted answer.

    With `remedies`, repeated refusals and failures show the model more than the news. With `whole`, each request shows
    the whole history.
    """

    def __init__(self, remedies: bool = True, whole: bool = False) -> None:
        self.history: list[Exchange] = []
        self.news: list[Exchange] = []
        self.refusals = Refusals()
        self._remedies, self._whole = remedies, whole
        self._since_change: list[Exchange] = []

    def take(self, exchange: Exchange, refused: bool, reported: bool = True) -> None:
        """Add an exchange. It is news only if it is `reported` to the model."""
        self.history.append(exchange)
        if reported:
            self.news.append(exchange)
            self._since_change.append(exchange)
        if refused and exchange.command is not None and self._remedies:
            self.refusals.refused(exchange.command)

    def problem_changed(self) -> None:
        """Forget the refusals and the exchanges since the last change, because an answer has changed the problem."""
        self.refusals.changed()
        self._since_change = []

    def went_as_planned(self) -> None:
        """Clear the news, because the observations stated only the expected effects of the plan."""
        self.news, self._since_change = [], []

    def go_back_to(self, known: int) -> None:
        """Restore the news for a problem that covers the first `known` exchanges."""
        self.problem_changed()
        self.news = self.history[known:]
        self._since_change = list(self.news)

    def look_is_due(self, attempt: int, unreachable: bool) -> bool:
        """Whether the agent should look around before it asks the model for the `attempt`-th time.

        `unreachable`: no goal can be reached from the problem of the last answer.
        """
        if attempt == 0:
            return self.refusals.look_is_due
        return self._remedies and unreachable and attempt == REPEATED

    def looked(self) -> None:
        """Record that the agent looks around for the commands that are repeated so far."""
        self.refusals.look_is_due = False

    def to_read(self, attempt: int, unreachable: bool) -> list[Exchange]:
        """The exchanges that the next request shows.

        These are the news; after a mismatch or repeated refusals, all exchanges since the problem last changed; and
        after more than `REPEATED` answers without a plan, the whole history.
        """
        if self._whole or (self._remedies and unreachable and attempt > REPEATED):
            return self.history
        has_mismatch = self._remedies and any(exchange.unforeseen for exchange in self.news)
        return self._since_change if has_mismatch or self.refusals.repeated else self.news

    @property
    def repeating(self) -> tuple[str, ...]:
        """The shortest sequence of up to `LONGEST` commands with which the history ends `FUTILE` times in a row.

        Empty if there is no such sequence.
        """
        commands = [exchange.command for exchange in self.history if exchange.command is not None]
        for length in range(1, LONGEST + 1):
            last = commands[-length:]
            if self._remedies and len(last) == length and commands[-length * FUTILE :] == last * FUTILE:
                return tuple(last)
        return ()


class Placeholders:
    """The numbered names for rooms that were not seen yet. With an empty `prefix` the setting has no such names."""

    def __init__(self, prefix: str) -> None:
        self._prefix, self._highest = prefix, 0

    def used(self, problem: Problem) -> None:
        """Record the placeholders in an accepted problem."""
        matches = (re.fullmatch(rf"{re.escape(self._prefix)}(\d{{1,6}})", obj.name) for obj in problem.objects)
        self._highest = max([self._highest, *(int(match.group(1)) for match in matches if match)])

    @property
    def next(self) -> str:
        """The first unused placeholder; empty for a setting without placeholders."""
        return f"{self._prefix}{self._highest + 1}" if self._prefix else ""


UNREACHABLE = "goal unreachable"
"""The category of an answer from whose problem no goal can be reached."""

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
"""The statuses that are reported first if goals failed in several ways: they are the most informative ones."""


def no_plan(rungs: Sequence[TriedRung]) -> Feedback:
    """Feedback for the model if no goal of the ladder has a plan."""
    statuses = [rung.status for rung in rungs]
    most_informative = next((status for status in _SAYS_MOST if status in statuses), statuses[-1])
    category, message = NO_PLAN[most_informative]
    tried = (f"{rung.name}: {rung.status.value} ({rung.message})" for rung in rungs)
    return Feedback(category, message, tuple(tried))


INCREASE = 0.3
"""The increase of the temperature for each repetition of a rejected answer."""

MORE_TOKENS = 16_384
"""Maximum number of tokens of a retry after an answer that was cut off."""


def remedied(request: Request, situation: PromptContext) -> Request:
    """The request with a higher temperature after a repeated answer, and more tokens after one that was cut off."""
    unfinished = situation.retry.failed_with(CUT_OFF)
    hotter = INCREASE * (situation.retry.repeated - situation.reworded)
    return replace(request, temperature_increase=hotter, max_tokens=MORE_TOKENS if unfinished else None)


def without_ablated(situation: PromptContext, without: Collection[str]) -> PromptContext:
    """The situation without the feedback and remedies that a variant of a mode removes (`options.ABLATIONS`)."""
    if "remedies" in without or "feedback" in without:
        situation = replace(situation, retry=replace(situation.retry, repeated=0), reworded=0)
    if "feedback" in without:
        news = tuple(replace(news_item, unforeseen="") for news_item in situation.seen.news)
        seen = replace(situation.seen, news=news, refused=())
        retry = Retry(situation.retry.attempt)
        situation = replace(situation, seen=seen, retry=retry, notes=(), contradictions=())
    return situation
