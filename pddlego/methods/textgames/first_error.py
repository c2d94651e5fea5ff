"""What the model got wrong first in an episode, and what the problem is without that error."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import get_args

from pddlego.episode.events import Outcome, Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import FactError, FactsChecked, GameRead, Observed, Verdict
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.memory import UNREACHABLE
from pddlego.methods.textgames.options import MODES, PLANNING, TextGameOptions
from pddlego.methods.textgames.play import make_method, make_reference
from pddlego.methods.textgames.resume import RecordedGame, moment_at
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth import Checker, GameReader, Reference
from pddlego.methods.textgames.world import Restart
from pddlego.models import Model
from pddlego.pddl import Atom, DefectKind, Problem
from pddlego.pddl.conditions import read_atom, read_typed_list
from pddlego.pddl.sexpr import read_sexprs
from pddlego.runs.store import DOMAIN


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


def first_error(trace: Trace) -> FirstError | None:
    """The first wrong fact that stayed until the end, or else what was wrong with the answers that ended the episode.

    None for an episode without errors, and for one whose facts were not checked.
    """
    facts = trace.all(FactsChecked)
    accepted = [event for event in facts if not event.rejected]
    if accepted and accepted[-1].errors:
        stayed = accepted[-1].errors[0]
        begun = [(error, event) for event in accepted for error in event.errors if _began_alike(error, stayed)]
        error, checked = next((pair for pair in begun if pair[0].fact == stayed.fact), begun[0])
        return FirstError(error.kind, str(error), error.since, checked)
    ended, rejected = trace.ended, trace.last(Rejected)
    is_unplanned = ended is not None and ended.outcome is Outcome.NO_PLAN
    if not (facts and facts[-1].rejected and is_unplanned and rejected is not None):
        return None
    last, step, category = facts[-1], max(event.step for event in trace.all(Observed)), rejected.feedback.category
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


def check_recorded(trace: Trace, setting: GameSetting, options: TextGameOptions, model: Model | None = None) -> Trace:
    """A recorded episode in `setting` with what is true of each problem.

    It is compared with what `model` reads, else with the game's own facts where its engine reports them, else with what
    the built-in reader reads. Where the model writes no problem, those of the reference are added. Raises `UsageError`
    if the reader cannot read the game, `ModelError` if the model cannot answer, and `EngineError` if the game cannot.
    """
    started = trace.started
    assert started is not None, "a recorded episode has begun"
    variant = parse_variant(started.mode, MODES)
    played = setting_for(setting, variant, str(started.details.get(DOMAIN, "")))
    seed = started.seed or 0
    reference = make_reference(played, seed) if model is None else Reference(played, model)
    plans = variant.mode.name in PLANNING
    checker = Checker(played, make_method(started.mode, played, seed), reference) if plans else GameReader(reference)
    with closing(checker):
        return trace.without(FactsChecked, GameRead).with_checks(checker.after)


@dataclass(frozen=True)
class Correction:
    """The first error of an episode, and where the episode goes on without it."""

    error: FirstError
    restart: Restart


def correction(played: RecordedGame) -> Correction | None:
    """The correction of a recorded episode; None if no error was found.

    Raises `UsageError` if the built-in reader cannot read the game.
    """
    error = first_error(check_recorded(played.trace, played.loaded, TextGameOptions()))
    if error is None:
        return None
    moment = moment_at(played, error.step)
    symmetric = {name for name, rule in played.loaded.claims.items() if rule.symmetric}
    if not error.checked.rejected:
        return Correction(error, replace(moment, corrected=corrected(moment.before, error, symmetric)))
    problem = corrected(moment.latest, error, symmetric)
    return Correction(error, replace(moment, before=problem, known=len(moment.commands) + 1, corrected=problem))
