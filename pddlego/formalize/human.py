"""A person who plays: the baseline that every reader understands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from pddlego.formalize.base import CommandProposal
from pddlego.models import Request
from pddlego.situation import Feedback, Situation

Person = Callable[[Situation], str]
"""Types the next command. Raises `KeyboardInterrupt` to stop."""


class HumanActions:
    """Sends what a person types, also what the game will refuse. Asks no model."""

    mode = "human"
    plans: Literal[False] = False

    def __init__(self, person: Person) -> None:
        self._person = person

    def request(self, situation: Situation) -> Request | None:
        return None

    def read(self, answer: str, situation: Situation) -> CommandProposal:
        command = " ".join(self._person(situation).split())
        return CommandProposal(command, None if command else Feedback("no command", "nothing was typed."))


def typed_before(commands: Iterable[str]) -> Person:
    """The person of a recorded episode. At the end of the record they stop."""
    left = iter(commands)

    def person(situation: Situation) -> str:
        command = next(left, None)
        if command is None:
            raise KeyboardInterrupt
        return command

    return person
