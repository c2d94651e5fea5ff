"""What an episode has seen, what of it is news, and which commands were refused while nothing was learned in between.

One observation that a model missed is gone for ever: every later request shows only what is new, the problem stays
wrong, and the same plan comes out of it. What is done about it, each time the same command is refused:

1. once: as after any surprise, the model reads what was expected, and is shown everything since its last answer that
   changed something.
2. twice: the agent looks around (for nothing where the game tells it so), and the model is told that the command
   repeats itself.
3. three times: besides, no plan may begin with that command any more, so that another goal of the ladder is tried.

All of this ends as soon as an answer changes the problem. The agent also looks around when two answers to the same
question have left no goal within reach, and shows all that ever happened when a third one does: what is missing may be
what was missed before.
"""

from __future__ import annotations

from collections import Counter

from pddlego.methods.textgames.situation import Exchange

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
        """Whether a command has become repeated since this was last asked."""
        due, self._unlooked = self._unlooked, False
        return due


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

    def take(self, exchange: Exchange, refused: bool, told: bool = True) -> None:
        """Something was seen; `refused` says that it was a refusal of the command. What is not `told` is no news."""
        for exchanges in (self.news, self._since_change, self.history)[0 if told else 2 :]:
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

    def to_read(self, attempt: int, unreachable: bool) -> list[Exchange]:
        """What the model is shown: the news; after a surprise all since its last answer that changed something; and all
        that ever happened where that leads nowhere again and again."""
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
