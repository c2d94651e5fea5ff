"""What a formalizer is asked about: the values that a prompt is rendered from."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.methods.textgames.setting_schema import ReadingRule
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.written import Written
from pddlego.models.feedback import Feedback
from pddlego.pddl import Atom, Domain, Problem


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
class Situation:
    """Everything a request may be rendered from.

    `news` is what happened since the last accepted answer, `history` all of the episode. `notes` are remarks on the
    last accepted answer (edit lines that matched nothing), `contradictions` say how the problem contradicts itself.
    `feedback` and `rejected` are set when the last answer to this same question could not be used; `attempt` counts
    from 0, `repeated` how often in a row that answer was the one that had been rejected before it. `rules` names the
    reader's rules for the game; `reading` are those that are data. `only_planned` are predicates that come about in
    plans only. `refused` are commands that the game refused again and again while the problem stayed as it is, with how
    often; then `news` is everything since it last changed. `placeholder` is the first name for a room not yet seen that
    was never used, empty where a game has no such names. `reworded` counts the repetitions that are met with other
    words, because the endpoint takes no temperature. Where the model writes the domain, too, `schemas` are the actions
    that the game has commands for, `goals` the conditions that the domain must have words for, `written` what the last
    accepted answer brought, `repeating` the last commands where they repeat, and `reference` is for stand-ins. Many
    fields, because a prompt may show each of them.
    """

    rules: str
    task: str
    domain: Domain
    problem: Problem
    news: tuple[Exchange, ...] = ()
    history: tuple[Exchange, ...] = ()
    valid_commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    feedback: Feedback | None = None
    rejected: str = ""
    attempt: int = 0
    reading: tuple[ReadingRule, ...] = ()
    only_planned: tuple[str, ...] = ()
    repeated: int = 0
    contradictions: tuple[str, ...] = ()
    refused: tuple[tuple[str, int], ...] = ()
    placeholder: str = ""
    reworded: int = 0
    schemas: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    written: Written | None = None
    repeating: tuple[str, ...] = ()
    reference: GameSetting | None = None
