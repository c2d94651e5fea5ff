"""Episodes of the reader that errs on purpose, with the wrong facts that it wrote and those that were found."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pddlego.episode.events import Accepted, Answered, Event
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import resolve
from pddlego.evaluation.prepare import make_setup
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.first_error import check_recorded
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Problem, apply_edit, parse_edit, parse_problem
from pddlego.pddl.conditions import Renaming, read_atom
from pddlego.pddl.problem import rename
from pddlego.pddl.sexpr import read_sexprs
from pddlego.runs.folders import find_journals
from pddlego.runs.journal import read_journal
from tests.traces import trace_of

GAMES = ("coin", "mapreader", "twc", "cooking-easy", "cooking-hard", "cooking-full")

Claim = tuple[bool, str]
"""Whether the problem has the fact (else it lacks it), and the fact."""


def played(path: Path, model: str, seeds: str, modes: str = "edit", games: Sequence[str] = GAMES) -> Path:
    """An evaluation in a new folder."""
    arguments = {"games": games, "modes": modes.split(","), "models": (model,), "seeds": seeds, "workers": 2}
    with evaluating(make_setup(resolve(arguments, {})), path) as running:
        for _ in running.evaluation.run():
            pass
    return path


@dataclass(frozen=True)
class Scrambled:
    """An episode in which every name that a model wrote is another one. `names` leads back."""

    events: tuple[Event, ...]
    names: dict[str, str]


def scrambled(events: Sequence[Event], setting: GameSetting, seed: int) -> Scrambled:
    rng, new = random.Random(seed), {name.name: name.name for name in setting.start.domain.constants}

    def name(old: str) -> str:
        return new.setdefault(old, "x" + "".join(rng.choices("abcdefghijklm", k=8)))

    def with_names(event: Event) -> Event:
        if not isinstance(event, Accepted):
            return event
        problem = parse_problem(event.text)
        used = {arg for fact in problem.facts for arg in fact.args} | {obj.name for obj in problem.objects}
        text = str(rename(problem, Renaming({old: name(old) for old in sorted(used)})))
        return replace(event, text=text, renamed=tuple((name(old), name(other)) for old, other in event.renamed))

    return Scrambled(tuple(map(with_names, events)), {now: old for old, now in new.items()})


@dataclass
class Found:
    """Of wrong facts that were written on purpose: `both` were found, `written` and `found` are all of each.

    Only the first answer of an episode that brings any counts for `found`: what comes later may follow from it.
    """

    both: int = 0
    written: int = 0
    both_first: int = 0
    found: int = 0

    @property
    def recall(self) -> float:
        return self.both / self.written

    @property
    def precision(self) -> float:
        return self.both_first / self.found


def compare(run: Path, other_names: bool) -> Found:
    """Check every episode of a run, with the names as they are or with others."""
    total, settings = Found(), {name: load(name) for name in GAMES}
    for number, journal in enumerate(find_journals(run)):
        recorded = read_journal(journal, make_codec())
        assert recorded.started is not None
        setting = settings[recorded.started.setting]
        episode = Scrambled(recorded.events, {})
        if other_names:
            episode = scrambled(recorded.events, setting, number)
        _compare(
            check_recorded(trace_of(episode.events), setting, TextGameOptions()).events,
            recorded.events,
            episode.names,
            setting,
            total,
        )
    return total


def _compare(
    checked: Sequence[Event], events: Sequence[Event], names: dict[str, str], setting: GameSetting, total: Found
) -> None:
    accepted = iter([event for event in events if isinstance(event, Accepted)])
    before, answer, clean = setting.start.problem, None, True
    for event in checked:
        if isinstance(event, Answered):
            answer = event.completion
        if not isinstance(event, FactsChecked) or event.rejected:
            continue
        original = next(accepted)
        problem = parse_problem(original.text)
        written: set[Claim] = set()
        if answer is not None and answer.mistake is not None and original.source == "model":
            edit = parse_edit(answer.mistake.correct)
            right = apply_edit(before, edit, setting.start.domain.constants).problem
            written = _difference(problem, right, setting)
        found = {(error.verdict != "missing", _text(error.fact, names, setting)) for error in event.errors}
        total.both += len(written & found)
        total.written += len(written)
        if clean:
            total.both_first += len(written & found)
            total.found += len(found)
        clean = clean and not written and not found
        before, answer = problem, None


def _difference(wrong: Problem, right: Problem, setting: GameSetting) -> set[Claim]:
    opinions = {name for name, rule in setting.claims.items() if rule.opinion}
    there = {_text(str(fact), {}, setting) for fact in wrong.facts if fact.predicate not in opinions}
    wanted = {_text(str(fact), {}, setting) for fact in right.facts if fact.predicate not in opinions}
    return {(True, fact) for fact in there - wanted} | {(False, fact) for fact in wanted - there}


def _text(fact: str, names: dict[str, str], setting: GameSetting) -> str:
    atom = read_atom(read_sexprs(fact).expressions[0])
    assert atom is not None
    args = tuple(names.get(arg, arg) for arg in atom.args)
    rule = setting.claims.get(atom.predicate)
    return str(replace(atom, args=tuple(sorted(args)) if rule and rule.symmetric else args))
