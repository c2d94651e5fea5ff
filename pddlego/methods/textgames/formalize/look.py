"""The key `look` of an edit: goals of the model for the next plan, which are tried before those that explore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pddlego.methods.textgames.formalize import MOST_PLACES
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.pddl import Domain, Entry, EntryKind, Formula, PddlSyntaxError, TypedName, check, same_name
from pddlego.pddl.conditions import And, Equal, Exists, Or, parse_condition


def read_look(lines: Sequence[str], knowledge: Knowledge) -> tuple[Mapping[str, Formula], tuple[Entry, ...]]:
    """The goals of the lines, which are places or conditions, and an entry for each line. A wrong line has no goal."""
    goals, entries = dict[str, Formula](), list[Entry]()
    for line in [*dict.fromkeys(lines)][:MOST_PLACES]:
        goal, wrong = _at_place(line, knowledge), "it is neither a place of the problem file nor a short condition"
        with suppress(PddlSyntaxError):
            goal = parse_condition(line) if line.startswith("(") and len(line) <= _LONGEST else goal
        if goal is not None:
            defects = check(knowledge.domain, knowledge.problem.with_goal(goal))
            wrong = next((defect.message for defect in defects if defect.blocking), "")
        if goal is not None and not wrong:
            goals[line] = goal
        entries.append(Entry(EntryKind.UNMATCHED if wrong else EntryKind.APPLIED, "look", line[:_LONGEST], wrong))
    return goals, tuple(entries)


_LONGEST = 200
"""Maximum length of a condition."""


def _at_place(name: str, knowledge: Knowledge) -> Formula | None:
    """The goals of the ladder that explore, at this place; None if it is not a place."""
    places = [obj for obj in (*knowledge.problem.objects, *knowledge.domain.constants) if same_name(obj.name, name)]
    exploring = [rung.goal for rung in knowledge.ladder if rung.explores]
    return _either([_bound(goal, place, knowledge.domain) for goal in exploring for place in places])


def _either(goals: Sequence[Formula | None]) -> Formula | None:
    kept = tuple(goal for goal in goals if goal is not None)
    return Or(kept) if kept else None


def _bound(goal: Formula, place: TypedName, domain: Domain) -> Formula | None:
    """The goal in which a variable of an `exists` equals the place; None if no variable can."""
    if isinstance(goal, Exists):
        same = tuple(Equal(name.name, place.name) for name in goal.variables if domain.is_a(place.type, name.type))
        return replace(goal, part=And((Or(same), goal.part))) if same else None
    if not isinstance(goal, And | Or):
        return None
    bound = [_bound(part, place, domain) for part in goal.parts]
    if isinstance(goal, Or):
        return _either(bound)
    return And(tuple(new or old for new, old in zip(bound, goal.parts, strict=True))) if any(bound) else None
