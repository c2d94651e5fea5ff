"""A problem that is built from the same observations as the model's, to compare it with."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from pddlego.episode.events import Accepted, Answered, Event, Rejected
from pddlego.errors import ModelError
from pddlego.methods.textgames.events import FactsChecked, GameRead, Observed, Resumed
from pddlego.methods.textgames.formalize.problems import Formalizer, PddlEdit, ProblemProposal
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.memory import Placeholders
from pddlego.methods.textgames.reader.model import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.situation import Exchange, Observations, Situation
from pddlego.methods.textgames.truth.judge import Judge, Renamed
from pddlego.models import Model
from pddlego.models.prompts import Prompts
from pddlego.pddl import PddlSyntaxError, Problem, parse_problem

_TRIES = 3
"""Answers of a reference to the same question, at most."""


class Follows(Protocol):
    """Follows an episode, and knows the facts that it can be compared with."""

    known: Knowledge

    def read(self, observed: Observed) -> Renamed:
        """Take in an answer of the game. Returns the objects that were renamed, as pairs of old and new names."""

    def close(self) -> None:
        """The episode is over."""


class Reference:
    """Reads what the game says with `model`, and keeps the problem. The built-in reader is one such model.

    An answer that cannot be used is asked for again, up to `_TRIES` times.
    """

    def __init__(self, setting: GameSetting, model: Model | None = None) -> None:
        self._rules, self._observing = setting.reader, setting.observing
        self.known = setting.reader.reference or setting.start
        self._method = PddlEdit(Prompts(setting.asking.prompts))
        self._model = model or ReaderModel()
        self._placeholders = Placeholders(self.known.placeholder)
        self._history: list[Exchange] = []
        self._task = ""
        self._score = 0.0

    def close(self) -> None:
        """Nothing is held."""

    def read(self, observed: Observed) -> Renamed:
        """Take in an answer of the game; the objects that have another name now. Raises `ModelError`."""
        exchange = Exchange(observed.command, observed.read)
        if self._observing.score and observed.command is not None:
            exchange = Exchange(observed.command, observed.read, observed.score, observed.score - self._score)
        self._score = observed.score
        self._task = observed.task or self._task
        self._history.append(exchange)
        seen = Observations((exchange,), tuple(self._history))
        rules = replace(self._rules, reference=None)
        situation = Situation(self.known, self._task, seen, placeholder=self._placeholders.next, reader=rules)
        for _ in range(_TRIES):
            completion = self._model.complete(self._method.request(situation))
            proposal = self._method.read(completion.text, situation)
            if proposal.feedback is None:
                return self._keep(proposal)
        reason = " ".join((proposal.feedback.message if proposal.feedback else "", *proposal.faults[:1]))
        raise ModelError("The reference has no usable answer", reason, "Compare with another model, or the reader.")

    def _keep(self, proposal: ProblemProposal) -> Renamed:
        self.known = self.known.with_problem(proposal.problem)
        self._placeholders.used(proposal.problem)
        return proposal.report.renamed if proposal.report else ()


class Checker:
    """Compares every problem of an episode with a reference, event by event."""

    def __init__(self, setting: GameSetting, method: Formalizer, reference: Follows) -> None:
        self._setting, self._method, self._reference = setting, method, reference
        self._judge = Judge(setting.claims, reference.known.placeholder)
        self._known, self._step = setting.start, 0
        self._answers: list[str] = []

    def close(self) -> None:
        """Close the reference."""
        self._reference.close()

    def after(self, event: Event) -> Iterator[FactsChecked]:
        """What is true of the problem that an event brings. Raises `ModelError` if the reference cannot answer."""
        if isinstance(event, Observed) and not event.repeated:
            self._step = event.step
            renamed = self._reference.read(event)
            self._judge.reference_changed(self._reference.known.problem, renamed)
        elif isinstance(event, Answered):
            self._answers.append(event.completion.text)
        elif isinstance(event, Rejected) and self._answers:
            *earlier, answer = self._answers
            situation = Situation(self._known, answers=tuple(earlier), reader=self._setting.reader)
            proposal, self._answers = self._method.read(answer, situation), []
            if isinstance(proposal, ProblemProposal):
                renamed = proposal.report.renamed if proposal.report else ()
                yield self._checked(proposal.problem, renamed, rejected=True)
        problem = _claimed(event)
        if problem is not None:
            self._answers, self._known = [], self._known.with_problem(problem)
            yield self._checked(problem, event.renamed if isinstance(event, Accepted) else ())

    def _checked(self, problem: Problem, renamed: Renamed, *, rejected: bool = False) -> FactsChecked:
        return self._judge.judge(problem, self._reference.known, renamed, self._step, rejected=rejected)


class GameReader:
    """Reads along where the model writes no problem."""

    def __init__(self, reference: Follows) -> None:
        self._reference = reference

    def close(self) -> None:
        """Close the reference."""
        self._reference.close()

    def after(self, event: Event) -> Iterator[GameRead]:
        """What the reference has read, after what the game said; nothing if it cannot read that."""
        if isinstance(event, Observed) and not event.repeated:
            with suppress(ModelError):  # the episode does not need it
                self._reference.read(event)
                yield GameRead(str(self._reference.known.problem))


def checked(events: Iterable[Event], checker: Checker | GameReader) -> Generator[Event, None, None]:
    """The events of an episode, each followed by what the checker says of it."""
    for event in events:
        yield event
        yield from checker.after(event)


def _claimed(event: Event) -> Problem | None:
    """The problem that an event brings; None without one, and for one that a damaged journal holds."""
    text = event.corrected or event.before if isinstance(event, Resumed) else ""
    if isinstance(event, Accepted) and event.kind == "problem":
        text = event.text
    try:
        return parse_problem(text) if text else None
    except PddlSyntaxError:
        return None
