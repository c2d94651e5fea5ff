"""A person who plays: the baseline that every reader understands."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pddlego.methods.textgames.formalize.base import CommandProposal
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Request
from pddlego.models.feedback import Feedback
from pddlego.util.text import writable

Person = Callable[[tuple[str, ...]], str]
"""Types the next command, given those that are possible. Raises `KeyboardInterrupt` to stop."""


class HumanActions:
    """Sends what a person types, also what the game will refuse. Asks no model."""

    def __init__(self, person: Person) -> None:
        self._person = person

    def request(self, situation: Situation) -> Request | None:
        return None

    def read(self, answer: str, situation: Situation) -> CommandProposal:
        command = " ".join(writable(self._person(situation.valid_commands)).split())
        return CommandProposal(command, None if command else Feedback("no command", "nothing was typed."))


def typed_before(commands: Iterable[str]) -> Person:
    """The person of a recorded episode. At the end of the record they have nothing to say."""
    left = iter(commands)
    return lambda possible: next(left, "")
