"""The first uncorrected error of a model in an episode, and the problem without that error."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

from pddlego.episode.events import Event, Outcome, Rejected
from pddlego.episode.trace import Trace
from pddlego.errors import UsageError
from pddlego.methods.base import base_mode, parse_variant
from pddlego.methods.textgames.events import ActionsCertified, FactError, FactsChecked, GameRead, Observed
from pddlego.methods.textgames.lessons import Lessons
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.memory import NO_PLAN
from pddlego.methods.textgames.options import LEARN_ACTIONS, MODES, PLANNING, TRANSITIONS, TextGameOptions
from pddlego.methods.textgames.play import make_method, make_reference
from pddlego.methods.textgames.resume import RecordedGame, restart_at
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth import Checker, GameReader, Reference
from pddlego.methods.textgames.world import Restart
from pddlego.models import Model
from pddlego.pddl import Atom, DefectKind, Problem
from pddlego.pddl.conditions import read_atom, read_typed_list
from pddlego.pddl.edit import EntryKind
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning import PlanStatus
from pddlego.runs.store import begun_with, last_text
from pddlego.runs.summary import LastingError, unusable_answer


@dataclass(frozen=True)
class FirstError(LastingError):
    """An error that the model did not correct. `checked` is the check of the problem with the error.

    That problem is the first accepted one that has the error, or the last rejected one of the episode.
    """

    step: int = 0
    checked: FactsChecked = field(kw_only=True, repr=False)

    @property
    def is_unusable(self) -> bool:
        """Whether the whole answer is the error, and not a fact."""
        return self.kind == self.text

    @property
    def summary(self) -> LastingError:
        """The error without its check, for results."""
        rejected = " in a rejected answer" if self.checked.rejected and not self.is_unusable else ""
        return LastingError(self.kind, self.text + rejected, self.step, self.fatal)


def first_error(trace: Trace) -> FirstError | None:
    """The error that ended the episode, else the oldest lasting error; None without one or without checks of facts."""
    return next(iter(lasting_errors(trace)), None)


def lasting_errors(trace: Trace) -> list[FirstError]:
    """The first error of each kind, of the last accepted problem and of the rejected answer that ended the episode.

    They are sorted by the step at which they began. An error of the last answer comes first if it is fatal: without
    it, the episode would have gone on, whatever the accepted problem was; or if the accepted problem was right.
    """
    accepted = [check for check in trace.all(FactsChecked) if not check.rejected]
    lasting = accepted[-1].errors if accepted else ()
    errors = [_since(accepted, oldest) for oldest in lasting]
    last = list(_errors_of_rejected(trace, lasting))
    if last and (last[0].fatal or not errors):
        errors = [*last, *errors]
    else:  # that there is no plan, or a contradiction, follows from the errors of the accepted problem
        errors += [error for error in last if not error.is_unusable]
    first: dict[str, FirstError] = {}
    for error in errors:
        first.setdefault(error.kind, error)
    return list(first.values())


def _since(accepted: Sequence[FactsChecked], last: FactError) -> FirstError:
    """The error as it was when it began. Its fact may differ then: objects may be renamed later."""
    kind = (last.kind, last.since)
    same = [(error, check) for check in accepted for error in check.errors if (error.kind, error.since) == kind]
    error, checked = next((pair for pair in same if pair[0].fact == last.fact), same[0])
    return FirstError(error.kind, str(error), error.since, checked=checked)


def _errors_of_rejected(trace: Trace, lasting: Collection[FactError]) -> Iterator[FirstError]:
    """The errors of the rejected answer that ended the episode. `lasting` are those of the accepted problem."""
    checks, ended, rejected = trace.all(FactsChecked), trace.ended, trace.last(Rejected)
    is_unplanned = ended is not None and ended.outcome is Outcome.NO_PLAN
    if not (checks and checks[-1].rejected and is_unplanned and rejected is not None):
        return
    last, step, category = checks[-1], max(event.step for event in trace.all(Observed)), rejected.feedback.category
    new_errors = [error for error in last.errors if error.since == step]
    if category not in _READ:  # a missing fact may be in a line that was not read
        unfit = (entry.line for entry in rejected.lines if entry.kind in (EntryKind.REFUSED, EntryKind.UNMATCHED))
        is_named = partial(_is_named, (*rejected.feedback.parts, *unfit))
        new_errors = [error for error in new_errors if error.verdict == "wrong" and is_named(error)]
    fatal = category not in _READ and not _was_read_with(trace, rejected.attempt + 1, lasting)
    for error in new_errors:
        yield FirstError(error.kind, str(error), step, fatal, checked=last)
    if not new_errors:
        unusable = unusable_answer(rejected, step)
        yield FirstError(unusable.kind, unusable.text, step, fatal, checked=last)


def _is_named(parts: Sequence[str], error: FactError) -> bool:
    """Whether wrong parts or lines of an answer hold a fact, or name an object of it: then it needed no other error."""
    objects = _atom(error).args
    return any(error.fact in part or part.split(" ", 1)[0] in objects for part in parts)


def _was_read_with(trace: Trace, answers: int, lasting: Collection[FactError]) -> bool:
    """Whether one of the last rejected answers was read completely, and still had an error of the accepted problem."""
    last, begun = trace.all(Rejected)[-answers:], {(error.kind, error.since) for error in lasting}
    events = [event for event in trace.events if isinstance(event, (Rejected, FactsChecked))]
    return any(
        not begun.isdisjoint((error.kind, error.since) for error in check.errors)
        for event, check in itertools.pairwise(events)
        if isinstance(check, FactsChecked) and event in last and event.feedback.category in _READ
    )


_READ = (
    DefectKind.CONTRADICTION.value,
    *(category for status, (category, _) in NO_PLAN.items() if status is not PlanStatus.INVALID),
)
"""Categories of rejected answers that were read completely: a missing fact is an error of the model."""


def without_error(problem: Problem, error: FirstError, symmetric: Collection[str]) -> Problem:
    """The problem without the error, or without any error if the answer was unusable.

    A wrong fact and a missing one that differ in one argument are one misread fact, and are corrected together. The
    arguments of `symmetric` predicates may be exchanged.
    """
    all_errors = error.checked.errors
    first = next((fact_error for fact_error in all_errors if str(fact_error) == error.text), None)
    errors = all_errors if first is None else tuple(_misread(first, all_errors, symmetric))
    wrong = {_atom(fact_error) for fact_error in errors if fact_error.verdict != "missing"}
    wrong |= {replace(fact, args=fact.args[::-1]) for fact in wrong if fact.predicate in symmetric}
    missing = {_atom(fact_error) for fact_error in errors if fact_error.verdict == "missing"}
    names = {arg for fact in problem.facts | missing for arg in fact.args}
    new = {obj for line in error.checked.new for obj in read_typed_list(line.split())[0] if obj.name in names}
    return replace(problem, objects=problem.objects | new, facts=problem.facts - wrong | missing)


def _misread(first: FactError, errors: Sequence[FactError], symmetric: Collection[str]) -> Iterator[FactError]:
    """The error and its counterparts: a wrong fact is the counterpart of a missing one that it should have been."""
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
    """The trace of a recorded episode with a new check of the facts of each problem.

    The reference is the problem that `model` writes. Without a model, it consists of the game's own facts if the engine
    reports them, and otherwise is the problem of the built-in reader. In modes without problems, the problems of the
    reference are added to the trace; in mode `edit+learn-actions`, the certificates of the learned actions.

    Raises `UsageError` if the reader cannot read the game, `ModelError` if the model
    cannot answer, and `EngineError` if the game fails.
    """
    with closing(_checker(trace, setting, model)) as checker:
        checked = trace.without(FactsChecked, GameRead, ActionsCertified).with_checks(checker.after)
    if base_mode(trace.begun.mode) != LEARN_ACTIONS:
        return checked
    lessons, last = Lessons.begin(setting, last_text(trace, TRANSITIONS.kind)), checked.last(Observed)
    certificates = lessons.certificates()
    wrong = tuple(str(one) for one in certificates if one.verdict == "wrong")
    certified = ActionsCertified(tuple(map(str, certificates)), wrong)
    return checked.with_checks(lambda event: (certified,) if event is last else ())


def check_running(
    trace: Trace, setting: GameSetting, options: TextGameOptions
) -> Callable[[Event], Iterator[FactsChecked | GameRead]]:
    """The checks of `check_recorded` for a running episode, event by event, with the built-in reader as reference.

    Raises `UsageError` if the reader cannot read the game, and if the game's own facts are the reference.
    """
    if setting.facts:
        reason = "The facts of this game are those of a second game."
        raise UsageError("The facts cannot be checked yet", reason, "Check them when the episode has ended.")
    return _checker(trace, setting, None).after


def _checker(trace: Trace, setting: GameSetting, model: Model | None) -> Checker | GameReader:
    started = trace.begun
    variant = parse_variant(started.mode, MODES)
    setting = setting_for(setting, variant, begun_with(trace, variant.mode.carries.kind))
    seed = started.seed or 0
    reference = make_reference(setting, seed) if model is None else Reference(setting, model)
    plans = variant.mode.name in PLANNING
    return Checker(setting, make_method(started.mode, setting, seed), reference) if plans else GameReader(reference)


@dataclass(frozen=True)
class Correction:
    """The first error of an episode, the restart with the problem without that error, and the restart with it.

    The second one, `control`, shows what is won without a correction: its model answers anew.
    """

    error: FirstError
    restart: Restart
    control: Restart


def correction(recorded: RecordedGame) -> Correction | None:
    """The correction of a recorded episode; None if no error was found.

    Raises `UsageError` if the built-in reader cannot read the game.
    """
    error = first_error(check_recorded(recorded.trace, recorded.loaded, TextGameOptions()))
    if error is None:
        return None
    restart = restart_at(recorded, error.step)
    symmetric = {name for name, rule in recorded.loaded.claims.items() if rule.symmetric}
    if not error.checked.rejected:
        return Correction(error, replace(restart, corrected=without_error(restart.before, error, symmetric)), restart)
    problem = without_error(restart.latest, error, symmetric)
    covered = len(restart.commands) + 1
    right = replace(restart, before=problem, covered_observations=covered, corrected=problem)
    return Correction(error, right, restart)
