"""Constraints on the states that a plan passes through (PDDL 3; Gerevini et al. 2009, section 2.2).

A plan gives a sequence of states with times: the initial state, then one state after each moment at which something
happens. Without time, state i has the time i. `planning.trajectories` says which constraints a sequence satisfies.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from pddlego.pddl.conditions import (
    CONSTRAINTS,
    TRUE,
    And,
    Forall,
    Formula,
    Trajectory,
    Unreadable,
    in_short,
    parts_of,
    read_condition,
    read_preference,
    read_typed_list,
)
from pddlego.pddl.rules import Defect, Reason, syntax_defect
from pddlego.pddl.sexpr import MAX_NUMBER, NUMBER, Sexpr, place_of, show
from pddlego.util.text import nearest

MEANINGS = {
    "at end": "the condition holds in the last state",
    "always": "the condition holds in each state",
    "sometime": "the condition holds in at least one state",
    "at-most-once": "if the condition begins to hold and ends, it does not hold again",
    "sometime-after": "after each state with the first condition, or in it, the second holds in some state",
    "sometime-before": "before each state with the first condition, the second held in some state",
    "within": "the condition holds in some state until this time",
    "always-within": "after each state with the first condition, or in it, the second holds within this time",
    "hold-during": "the condition holds in each state from the first time to the second",
    "hold-after": "the condition holds in each state from this time on",
}
"""What each of `CONSTRAINTS` says of the states that a plan passes through."""


def read_constraints(section: tuple[Sexpr, ...] | None, defects: list[Defect]) -> Formula:
    """Read a section `(:constraints C)`; without one, the constraint that is always satisfied."""
    if section is None:
        return TRUE
    if len(section) != 2 or not isinstance(section[1], tuple):
        fault, advice = "the constraints must be one list", "put all of them into one (and …)"
        defects.append(syntax_defect(fault, f"{advice}, as in (:constraints (and …))", place_of(section)))
        return And(tuple(read_constraint(part) for part in section[1:] if isinstance(part, tuple)))
    return read_constraint(section[1])


def read_constraint(part: Sexpr) -> Formula:
    """Read one constraint, or several below `and` and `forall`. Total: anything else becomes `Unreadable`."""
    place = place_of(part)
    match part:
        case ():
            return And(place=place)
        case ("and", *several):
            return And(tuple(map(read_constraint, several)), place=place)
        case ("preference", *_):
            return read_preference(part, read_constraint)
        case ("forall", tuple() as names, inner):
            variables, defects = read_typed_list(names)
            if variables and not defects:
                return Forall(variables, read_constraint(inner), place=place)
    name, rest = ("at end", part[2:]) if part[:2] == ("at", "end") else (show(part[:1])[1:-1], part[1:])
    if isinstance(part, str) or name not in CONSTRAINTS:
        return _unreadable(part, _not_a_constraint(part, name))
    times, conditions = CONSTRAINTS[name]
    if len(rest) != times + conditions:
        return _unreadable(part, Reason(f"'{name}' has {len(rest)} part(s)", f"write {constraint_form(name)}"))
    for time in rest[:times]:
        if not isinstance(time, str) or not NUMBER.match(time) or time.startswith("-"):
            fault = f"{in_short(time)} is not a time"
            return _unreadable(part, Reason(fault, f"write a number from 0, as in {constraint_form(name)}"))
    if times == 2 and Decimal(str(rest[0])[:MAX_NUMBER]) >= Decimal(str(rest[1])[:MAX_NUMBER]):
        fault = f"'{name}' ends at {rest[1]}, before it begins"
        return _unreadable(part, Reason(fault, "write the earlier time first"))
    for condition in rest[times:]:
        if isinstance(condition, tuple) and (
            condition[:2] == ("at", "end") or show(condition[:1])[1:-1] in CONSTRAINTS
        ):
            fault = f"constraints cannot be nested, and {in_short(condition)} is one"
            return _unreadable(part, Reason(fault, f"write a condition on one state inside '{name}'"))
    numbers = tuple(Decimal(str(time)[:MAX_NUMBER]) for time in rest[:times])
    return Trajectory(name, tuple(map(read_condition, rest[times:])), numbers, place=place)


def constraint_form(name: str) -> str:
    """The form of a constraint, as in `(within TIME (…))`."""
    times, conditions = CONSTRAINTS[name]
    return f"({' '.join([name, *['TIME'] * times, *['(…)'] * conditions])})"


def _not_a_constraint(part: Sexpr, name: str) -> Reason:
    if name in ("not", "or", "imply", "exists"):
        return Reason(f"'{name}' is not allowed around constraints", f"write '{name}' inside a constraint")
    meant = nearest(name, CONSTRAINTS) if name else None
    if meant:
        return Reason(f"'{name}' is not a constraint", f"did you mean {meant}?", meant)
    condition = show(part) if isinstance(part, tuple) and part else "(…)"
    return Reason(
        "this is not a constraint", f"say when it holds, as in (always {condition}) or (sometime {condition})"
    )


def _unreadable(part: Sexpr, reason: Reason) -> Unreadable:
    word = show(part[0]) if reason.meant and isinstance(part, tuple) else ""
    return Unreadable(show(part), reason, place=place_of(part), word=word)


def constraints_in(formula: Formula) -> Iterator[Trajectory]:
    """The constraints in a section, those below `forall` with their variables."""
    if isinstance(formula, Trajectory):
        yield formula
    else:
        for part in parts_of(formula):
            yield from constraints_in(part)
