"""Formalizers: they turn a `PromptContext` into a request, and the answer of a model into a `Proposal`.

Formalizers are pure functions: the agent sends the requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pddlego.episode.loop import FIRST, Retry
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import ReaderRules
from pddlego.models import Request
from pddlego.models.base import Feedback
from pddlego.pddl import Atom, Defect, DefectKind, EditReport, Entry, Formula, Problem

MOST_GOALS = 20
"""Maximum number of goals of an answer that are tried."""

LOOK_GOAL, MOST_PLACES = "look where the model says", 5
"""The name of the goals of `look` in an answer, and the maximum number of its places that are tried."""

SEPARATOR, MOST_COMMANDS = "; ", 10
"""The text between the commands of an answer, and their maximum number: some answers repeat themselves without end."""


@dataclass(frozen=True)
class Exchange:
    """A command (None for the first observation), and the part of the game's observation that the model reads.

    `score` is from 0 to 1, or None in settings without a score; `gained` is its increase. `unforeseen` is a sentence
    about a mismatch with the plan. `effects` are the facts that the plan's step makes true and those that it makes
    false, if the game answered as the plan expected; `unnamed` are the facts about their placeholders when the step was
    planned, because later a placeholder may stand for another room. `after` are the facts that the plan expected to be
    true after the command; it is None if the observation states anything else. `undone` are the facts that the plan
    expected the command to make false; None if the command was not a step of a plan, so that its effects are unknown.
    `refused`: the game said that the command had no effect.
    `valid_commands`, or else `kinds` and `things`, are those after this exchange if requests show them for every turn
    (see `Observations`). `continues`: the command is of the same answer as the one before.
    """

    command: str | None
    text: str
    score: float | None = None
    gained: float = 0.0
    unforeseen: str = ""
    effects: tuple[frozenset[Atom], frozenset[Atom]] = (frozenset(), frozenset())
    unnamed: frozenset[Atom] = frozenset()
    after: frozenset[Atom] | None = None
    undone: tuple[str, ...] | None = ()
    refused: bool = False
    continues: bool = False
    valid_commands: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    things: tuple[str, ...] = ()

    @property
    def changes(self) -> Iterator[tuple[Atom, bool]]:
        """The facts of `effects` in a fixed order, each with its new value."""
        for holds, facts in zip((True, False), self.effects, strict=True):
            yield from ((fact, holds) for fact in sorted(facts, key=lambda fact: fact.sort_key))


@dataclass(frozen=True)
class Observations:
    """The exchanges since the last accepted answer (`news`) and all exchanges (`history`), and the valid commands.

    If a game has too many valid commands, `kinds` and `things` describe them instead (see `Observation`), and
    `every_command` lists them, which may take seconds.

    `refused` are the commands that the game refused repeatedly since the problem last changed, with the number of
    refusals; if there are any, `news` has all exchanges since that change. `repeating` is the sequence of last commands
    if it was repeated. `place` is the last description of the agent's place if a command of the news was refused.
    """

    news: tuple[Exchange, ...] = ()
    history: tuple[Exchange, ...] = ()
    valid_commands: tuple[str, ...] = ()
    refused: tuple[tuple[str, int], ...] = ()
    repeating: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    place: str = ""
    every_command: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False)


@dataclass(frozen=True)
class Terms:
    """The constraints on a model's own domain; empty ones do not restrict it.

    `schemas` are the actions for which the setting has commands. The request explains which goals to choose (`hint`),
    and their form (`detailed`).
    """

    schemas: tuple[str, ...] = ()
    hint: bool = True
    detailed: bool = True


@dataclass(frozen=True)
class PromptContext:
    """The arguments from which a request is rendered, and with which its answer is read.

    `retry` holds the rejected answer to the same request, and `answers` the answers to the requests for its earlier
    parts (mode `full+steps`). `notes` are about the last accepted answer (`ProblemProposal.notes`). `contradictions`
    are messages about contradictory facts of the problem. `placeholder` is the first unused name for a room that was
    not seen yet. `reworded` counts the retries that are phrased differently because the endpoint accepts no
    temperature. `unread` are sentences of the news that no learned rule reads. `reader` has the rules of the built-in
    reader. `offered`: the request offers the optional part of an answer (`options.OFFERED`).
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
    unread: tuple[str, ...] = ()
    terms: Terms = Terms()
    reader: ReaderRules = field(default_factory=ReaderRules)
    offered: bool = False

    @property
    def valid_commands(self) -> tuple[str, ...]:
        return self.seen.valid_commands


@dataclass(frozen=True)
class ProblemProposal:
    """The knowledge with the problem of an answer. `feedback` is the reason why it cannot be used; None if it can.

    `report` lists the lines of an edit; it is None for a file. `defects` are all defects, including harmless ones.
    `look` are the places and conditions to see next, in order, by the words of the answer: of the goals of each, one
    is enough. `by_rules`: the problem is what reading rules read. `remarks` are about rules of an answer that is used.
    """

    knowledge: Knowledge
    feedback: Feedback | None = None
    report: EditReport | None = None
    defects: tuple[Defect, ...] = ()
    look: Mapping[str, Sequence[Formula]] = field(default_factory=dict)
    by_rules: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def problem(self) -> Problem:
        return self.knowledge.problem

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """The objects that the edit renamed, as pairs of old and new names."""
        return self.report.renamed if self.report else ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The lines of the edit, each with its outcome."""
        return self.report.entries if self.report else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What had no effect, declared objects, lost facts, exits without a way back, and remarks on rules."""
        unmatched = self.report.unmatched if self.report else ()
        kinds = (DefectKind.UNDECLARED_OBJECT, DefectKind.LOST_FACT, DefectKind.ONE_WAY, DefectKind.IGNORED_KEY)
        noted = (defect.message for defect in self.defects if not defect.blocking and defect.kind in kinds)
        return (*map(str, unmatched), *noted, *self.remarks)

    @property
    def faults(self) -> tuple[str, ...]:
        """The messages about errors that make the proposal unusable; empty if it can be used."""
        return self.feedback.evidence if self.feedback else ()


@dataclass(frozen=True)
class CommandProposal:
    """The command that an answer names, and the `rest` of its commands, each to be read when its turn comes.

    `feedback` is the reason why the answer cannot be used; None if it can.
    """

    command: str
    feedback: Feedback | None = None
    rest: tuple[str, ...] = ()


Proposal = ProblemProposal | CommandProposal


class Formalizer(Protocol):
    """A method of writing problems or choosing commands.

    If `request` returns None, no model is asked, and `read` is called with an empty answer.
    """

    def request(self, situation: PromptContext) -> Request | None: ...

    def read(self, answer: str, situation: PromptContext) -> Proposal: ...
