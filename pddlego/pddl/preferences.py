"""Preferences (PDDL 3; Gerevini et al. 2009): constraints that a plan may violate. The metric says what that costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pddlego.pddl.conditions import TRUE, And, Forall, Formula, Preference, Trajectory, TypedName, parts_of


def split_preferences(section: Formula) -> tuple[Formula, tuple[Preference, ...]]:
    """What a goal or constraints demand, and the preferences among them: those below `and` and `forall`."""
    demanded, preferences = _split(section)
    return TRUE if demanded is None else demanded, preferences


def split_goal(goal: Formula) -> tuple[Formula, list[Preference]]:
    """What a goal demands, and its preferences as constraints on the last state."""
    demanded, preferences = split_preferences(goal)
    return demanded, [replace(own, part=Trajectory("at end", (own.part,), place=own.part.place)) for own in preferences]


def _split(formula: Formula, bound: tuple[TypedName, ...] = ()) -> tuple[Formula | None, tuple[Preference, ...]]:
    match formula:
        case Preference():  # those of one forall share its variables
            return None, (replace(formula, variables=bound + formula.variables) if bound else formula,)
        case And():
            splits = [_split(part, bound) for part in formula.parts]
            preferences = tuple(own for _, several in splits for own in several)
            parts = tuple(part for part, _ in splits if part is not None)
            if preferences and len(parts) < 2:
                return parts[0] if parts else None, preferences
            return replace(formula, parts=parts), preferences
        case Forall():
            rest, preferences = _split(formula.part, bound + formula.variables)
            return None if rest is None else replace(formula, part=rest), preferences
    return formula, ()


def with_preferences(goal: Formula, constraints: Formula, preferences: tuple[Preference, ...]) -> tuple[Formula, ...]:
    """The goal and the constraints of a problem as they are printed; preferences about the last state are goals."""
    of_goal = [replace(own, part=parts_of(own.part)[0]) for own in preferences if is_goal(own)]
    return _together(goal, of_goal), _together(constraints, (own for own in preferences if not is_goal(own)))


def _together(demanded: Formula, preferences: Iterable[Preference]) -> Formula:
    """A section that `split_preferences` splits into equal parts."""
    preferences = tuple(preferences)
    parts = demanded.parts if isinstance(demanded, And) and len(demanded.parts) != 1 else (demanded,)
    return And((*parts, *preferences)) if preferences else demanded


def is_goal(own: Preference) -> bool:
    """Whether a preference is about the last state, as those of goals are."""
    return isinstance(own.part, Trajectory) and own.part.operator == "at end"
