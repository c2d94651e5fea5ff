"""Fixed rules: commands that are sent because the game said something, without a plan and without a model.

The scripts of the paper take what is seen in this way, and open containers. A setting states such rules as data; what
they cannot say (the recipe of Cooking World) is a script in Python, which may also state facts and set a goal.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from pddlego.methods.textgames.reader.paper_cooking import PaperCooking
from pddlego.methods.textgames.settings import FixedRule
from pddlego.pddl import Problem
from pddlego.planning import Rung
from pddlego.util.text import filled


class FixedRules:
    """The rules of a setting during one episode, and its script."""

    def __init__(self, rules: Sequence[FixedRule], script: str = "") -> None:
        self._rules = rules
        self._script = PaperCooking() if script else None
        self._waiting: deque[str] = deque()
        self._sent: set[str] = set()

    @property
    def told(self) -> bool:
        """Whether a model reads what came of them: a script states what it found itself."""
        return self._script is None

    def take_in(self, command: str | None, text: str) -> None:
        """The game answered `text`."""
        if command is not None and command in self._waiting:  # an episode that is brought to where it was
            self._waiting.remove(command)
            self._sent.add(command)
        if self._script is not None:
            self._script.take_in(command, text)
        for rule in self._rules:
            for match in re.finditer(rule.when, text):
                due = filled(rule.command, match.groupdict(default=""))
                if due not in self._waiting and not (rule.once and due in self._sent):
                    self._waiting.append(due)

    def due(self) -> str | None:
        """The next command to be sent at once; None if there is none."""
        found = self._waiting.popleft() if self._waiting else self._script.due() if self._script else None
        if found is not None:
            self._sent.add(found)
        return found

    def known(self, problem: Problem) -> Problem:
        """The problem with the facts that a script states itself."""
        return self._script.known(problem) if self._script is not None else problem

    def ladder(self, ladder: tuple[Rung, ...]) -> tuple[Rung, ...]:
        """The goals, with those of a script before them."""
        return (*(self._script.goals() if self._script is not None else ()), *ladder)

    def plan_ended(self, rung: str | None) -> None:
        """A plan for the goal was carried out to its end."""
        if self._script is not None:
            self._script.plan_ended(rung)
