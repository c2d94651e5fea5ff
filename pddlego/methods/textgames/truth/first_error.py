"""What the model got wrong first in an episode, and what the problem is without that error."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from pddlego.episode.events import Ended, Event, Outcome, Rejected
from pddlego.methods.textgames.events import FactError, FactsChecked, Observed, Verdict
from pddlego.methods.textgames.memory import UNREACHABLE
from pddlego.pddl import Atom, DefectKind, Problem
from pddlego.pddl.conditions import read_atom, read_typed_list
from pddlego.pddl.sexpr import read_sexprs


@dataclass(frozen=True)
class FirstError:
    """What the model got wrong first and did not correct: its kind, what it is, and after which step.

    `checked` is the problem with it: that of an accepted answer, or of the `rejected` ones with which an episode ended.
    """

    kind: str
    what: str
    step: int
    checked: FactsChecked

    def __str__(self) -> str:
        rejected = self.checked.rejected and self.kind != UNUSABLE
        return f"{self.what} after step {self.step}{' in a rejected answer' if rejected else ''}"


def first_error(events: Sequence[Event]) -> FirstError | None:
    """The first wrong fact that stayed until the end, or else what was wrong with the answers that ended the episode.

    None for an episode without errors, and for one whose facts were not checked.
    """
    facts = [event for event in events if isinstance(event, FactsChecked)]
    accepted = [event for event in facts if not event.rejected]
    if accepted and accepted[-1].errors:
        stayed = accepted[-1].errors[0]
        begun = [(error, event) for event in accepted for error in event.errors if _began_alike(error, stayed)]
        error, checked = next((pair for pair in begun if pair[0].fact == stayed.fact), begun[0])
        return FirstError(error.kind, str(error), error.since, checked)
    ended = events[-1] if events else None
    if not (facts and facts[-1].rejected and isinstance(ended, Ended) and ended.outcome is Outcome.NO_PLAN):
        return None
    last, step = facts[-1], max(event.step for event in events if isinstance(event, Observed))
    category = next(event.feedback.category for event in reversed(events) if isinstance(event, Rejected))
    counted = get_args(Verdict) if category in _READ else ("wrong",) if category in _PARTLY_READ else ()
    new = [error for error in last.errors if error.since == step and error.verdict in counted]
    if not new:
        return FirstError(UNUSABLE, f"{UNUSABLE} ({category})", step, last)
    error = new[0]
    return FirstError(error.kind, str(error), step, last)


def _began_alike(error: FactError, other: FactError) -> bool:
    """Whether both are errors of one kind that began at the same step: an object may have another name later."""
    return (error.kind, error.since) == (other.kind, other.since)


UNUSABLE = "unusable answer"
"""The kind of an error that is not in a fact."""

_READ = (UNREACHABLE, DefectKind.CONTRADICTION.value)
"""Categories of rejected answers that were read as a whole: what is missing there, the model left out."""

_PARTLY_READ = ("defects", "refused lines")
"""Categories of rejected answers of which some lines were read."""


def corrected(problem: Problem, error: FirstError, symmetric: Collection[str]) -> Problem:
    """The problem of the error without it: the fact that was misread, or everything if the answer was unusable.

    A wrong fact and a missing one that differ in one argument are one misread fact. Facts of `symmetric` predicates say
    the same in both directions.
    """
    all_errors = error.checked.errors
    first = next((one for one in all_errors if str(one) == error.what), None)
    errors = all_errors if first is None else tuple(_misread(first, all_errors, symmetric))
    wrong = {_atom(one) for one in errors if one.verdict != "missing"}
    wrong |= {replace(fact, args=fact.args[::-1]) for fact in wrong if fact.predicate in symmetric}
    right = {_atom(one) for one in errors if one.verdict == "missing"}
    used = {arg for fact in problem.facts | right for arg in fact.args}
    new = {obj for line in error.checked.new for obj in read_typed_list(line.split())[0] if obj.name in used}
    return replace(problem, objects=problem.objects | new, facts=problem.facts - wrong | right)


def _misread(first: FactError, errors: Sequence[FactError], symmetric: Collection[str]) -> Iterator[FactError]:
    """The error, and the errors that come from the same misreading: what was written instead, or should have been."""
    yield first
    for other in errors:
        opposite = (first.verdict == "missing") != (other.verdict == "missing")
        if opposite and (first.predicate, first.since) == (other.predicate, other.since):
            fact, instead = _atom(first).args, _atom(other).args
            if first.predicate in symmetric:
                instead = max(instead, instead[::-1], key=lambda args: sum(map(str.__eq__, args, fact)))
            if sum(a != b for a, b in itertools.zip_longest(fact, instead)) == 1:
                yield other


def _atom(error: FactError) -> Atom:
    atom = read_atom(read_sexprs(error.fact).expressions[0])
    assert atom is not None, error.fact
    return atom
