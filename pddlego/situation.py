"""What a formalizer is asked about: the values that a prompt is rendered from."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.pddl import Domain, Problem


@dataclass(frozen=True)
class Exchange:
    """A command (None for the first observation) and what was read of the game's answer."""

    command: str | None
    text: str


@dataclass(frozen=True)
class Feedback:
    """Why an answer could not be used: a category for statistics, a message for the model, and the evidence."""

    category: str
    message: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Situation:
    """Everything a request may be rendered from.

    `news` is what happened since the last accepted answer, `history` all of the episode. `notes` are remarks on the
    last accepted answer (edit lines that matched nothing). `feedback` and `rejected` are set when the last answer to
    this same question could not be used; `attempt` counts from 0.
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
