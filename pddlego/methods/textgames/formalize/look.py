"""`look` in an edit or above a file: where the model wants to look next, before the goals that explore."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from pddlego.methods.textgames.formalize import MOST_PLACES
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom, Domain, Entry, EntryKind, Formula, PddlSyntaxError, TypedName, check, same_name
from pddlego.pddl.conditions import And, Equal, Exists, Forall, Or, atoms_of, changed_atoms, conjuncts, parse_condition


def look_lines(answer: str) -> list[str]:
    """The places or conditions in a line `look: …` of an answer, which may be a comment of the file."""
    found = _LOOK.search(answer)
    text = found[1].strip(" []") if found else ""
    return [text] if text.startswith("(") else [place.strip(" \"'`") for place in text.split(",") if place.strip()]


_LOOK = re.compile(r"^[;\s]*look:(.{0,500})$", re.IGNORECASE | re.MULTILINE)


def wanted_things(knowledge: Knowledge, places: MapRule | None) -> frozenset[str]:
    """The names of all things that are looked for: those of `sought`, and those of facts and goals without a place."""
    goals = [rung.goal for rung in knowledge.ladder]
    sought = frozenset[str]().union(*map(knowledge.sought_for, goals))
    head = knowledge.domain.predicates_by_name.get(places.things) if places is not None else None
    if head is None or places is None:
        return sought
    facts, objects = knowledge.problem.facts, (*knowledge.problem.objects, *knowledge.domain.constants)
    located = {fact.args[0] for fact in facts if fact.predicate in (places.things, places.holding)}
    named = {arg for atom in (*facts, *(atom for goal in goals for atom in atoms_of(goal))) for arg in atom.args}
    things = {item.name for item in objects if knowledge.domain.is_a(item.type, head.parameters[0].type)}
    return sought | (things & named - located)


def read_look(lines: Sequence[str], knowledge: Knowledge) -> tuple[Mapping[str, Sequence[Formula]], tuple[Entry, ...]]:
    """The goals of the lines, which are places or conditions, and an entry for each line. A wrong line has no goal."""
    goals, entries = dict[str, Sequence[Formula]](), list[Entry]()
    for line in [*dict.fromkeys(lines)][:MOST_PLACES]:
        wanted, wrong = _at_place(line, knowledge), "it is neither a place of the problem file nor a short condition"
        with suppress(PddlSyntaxError):
            wanted = [parse_condition(line)] if line.startswith("(") and len(line) <= _LONGEST else wanted
        for goal in wanted:
            defects = check(knowledge.domain, knowledge.problem.with_goal(goal))
            faults = (defect.message for defect in defects if defect.blocking)
            wrong = next(chain(faults, _never_made(goal, knowledge)), "")
        if wanted and not wrong:
            goals[line] = wanted
        entries.append(Entry(EntryKind.UNMATCHED if wrong else EntryKind.APPLIED, "look", line[:_LONGEST], wrong))
    return goals, tuple(entries)


_LONGEST = 200
"""Maximum length of a condition."""


def _never_made(goal: Formula, knowledge: Knowledge) -> Iterator[str]:
    """Messages about facts of a condition that no action makes true."""
    changes = (change for action in knowledge.domain.actions for change in changed_atoms(action.effect))
    made = {atom.predicate for atom, value in changes if value}.union(knowledge.domain.rules)
    for part in conjuncts(goal):
        if isinstance(part, Atom) and part.predicate not in made and part not in knowledge.problem.facts:
            yield f"no action makes {part} true"


def _at_place(name: str, knowledge: Knowledge) -> list[Formula]:
    """The goals of the ladder that explore, in order, at this place; empty if it is not a place."""
    places = [obj for obj in (*knowledge.problem.objects, *knowledge.domain.constants) if same_name(obj.name, name)]
    exploring = [rung.goal for rung in knowledge.ladder if rung.explores]
    bound = (_bound(goal, place, knowledge.domain) for goal in exploring for place in places)
    return [goal for goal in bound if goal is not None]


def _either(goals: Sequence[Formula | None]) -> Formula | None:
    kept = tuple(goal for goal in goals if goal is not None)
    return Or(kept) if kept else None


def _bound(goal: Formula, place: TypedName, domain: Domain) -> Formula | None:
    """The goal in which a variable of an `exists` equals the place; None if no variable can."""
    if isinstance(goal, Exists):
        same = tuple(Equal(name.name, place.name) for name in goal.variables if domain.is_a(place.type, name.type))
        return replace(goal, part=And((Or(same), goal.part))) if same else None
    if not isinstance(goal, And | Or) or any(isinstance(part, Forall) for part in goal.parts):
        return None  # or it is about every place
    bound = [_bound(part, place, domain) for part in goal.parts]
    if isinstance(goal, Or):
        return _either(bound)
    return And(tuple(new or old for new, old in zip(bound, goal.parts, strict=True))) if any(bound) else None
