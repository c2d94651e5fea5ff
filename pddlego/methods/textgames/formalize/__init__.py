"""What a formalizer is asked about (a `Situation`) and what its answer stands for (a `Proposal`).

A formalizer turns a situation into a request, and the answer of a model into a proposal. Formalizers are pure: the
agent sends the requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from pddlego.episode.loop import FIRST, Retry
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import ReaderRules
from pddlego.models import Request
from pddlego.models.base import Feedback
from pddlego.pddl import Atom, Defect, EditReport, Entry, Problem

MOST_GOALS = 20
"""Goals of an answer that are tried at most."""


@dataclass(frozen=True)
class Exchange:
    """A command (None for the first observation) and what was read of the game's answer.

    `score`, from 0 to 1, is there in settings where the score is read too; `gained` is by how much it grew.
    `unforeseen` says what the plan expected, where the game answered otherwise. `after` are the facts that the plan
    expected to be true then, where the game answered exactly so and said nothing that was not known.
    """

    command: str | None
    text: str
    score: float | None = None
    gained: float = 0.0
    unforeseen: str = ""
    after: frozenset[Atom] | None = None


@dataclass(frozen=True)
class Observations:
    """What the game said: `news` since the last accepted answer, `history` all of it, and the commands it takes now.

    Where the game takes too many commands, `kinds` and `things` say what they consist of (see `Observation`), and
    `every_command` lists them, which may take seconds.

    `refused` are commands that the game refused again and again while the problem stayed as it is, with how often; then
    `news` is everything since it last changed. `repeating` are the last commands where they repeat.
    """

    news: tuple[Exchange, ...] = ()
    history: tuple[Exchange, ...] = ()
    valid_commands: tuple[str, ...] = ()
    refused: tuple[tuple[str, int], ...] = ()
    repeating: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    every_command: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False)


@dataclass(frozen=True)
class Terms:
    """What a model that writes the domain is bound to: `schemas` are the actions that the game has commands for,
    `goals` conditions that the domain must have words for. Empty where it is free.

    If it writes the goals, the request says which ones to choose (`hint`), and which form they have (`detailed`).
    """

    schemas: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    hint: bool = True
    detailed: bool = True


@dataclass(frozen=True)
class Situation:
    """What a request is rendered from, and what its answer is read with.

    `retry` holds the last answer to the same request if it could not be used, `answers` those to the requests for the
    earlier parts of this one. `notes` are about the last accepted answer (edit lines that matched nothing);
    `contradictions` say how the problem contradicts itself. `placeholder` is the first unused name for a room not yet
    seen. `reworded` counts the retries that are phrased differently because the endpoint accepts no temperature.
    `reader` is for the built-in reader.
    """

    knowledge: Knowledge
    task: str = ""
    seen: Observations = Observations()
    retry: Retry = FIRST
    answers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    placeholder: str = ""
    reworded: int = 0
    terms: Terms = Terms()
    reader: ReaderRules = field(default_factory=ReaderRules)


@dataclass(frozen=True)
class ProblemProposal:
    """What an answer makes of what is known. `feedback` says why it cannot be used; without it the problem is sound.

    `report` is there for edits. `defects` are all that the check found, the harmless ones too.
    """

    knowledge: Knowledge
    feedback: Feedback | None = None
    report: EditReport | None = None
    defects: tuple[Defect, ...] = ()

    @property
    def problem(self) -> Problem:
        return self.knowledge.problem

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """The objects that the edit renamed, as pairs of old and new names."""
        return self.report.renamed if self.report else ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The lines of the edit, each with what became of it."""
        return self.report.entries if self.report else ()

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The lines of the edit that matched nothing."""
        return tuple(map(str, self.report.unmatched)) if self.report else ()

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with it, one message each; empty if it can be used."""
        return self.feedback.evidence if self.feedback else ()


@dataclass(frozen=True)
class CommandProposal:
    """The command that an answer stands for. `feedback` says why it cannot be used."""

    command: str
    feedback: Feedback | None = None


Proposal = ProblemProposal | CommandProposal


class Formalizer(Protocol):
    """A method. Without a request no model is asked, and the answer is empty."""

    def request(self, situation: Situation) -> Request | None: ...

    def read(self, answer: str, situation: Situation) -> Proposal: ...
