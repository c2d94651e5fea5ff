"""What changed between two problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pddlego.pddl.edit_values import Edit, SectionEdit
from pddlego.pddl.problem import Atom, Problem, TypedName, rename


@dataclass(frozen=True)
class Diff:
    """Objects and facts that only the later (`added`) or only the earlier problem (`removed`) has, sorted."""

    added_objects: tuple[TypedName, ...]
    removed_objects: tuple[TypedName, ...]
    added_facts: tuple[Atom, ...]
    removed_facts: tuple[Atom, ...]

    def __bool__(self) -> bool:
        return bool(self.added_objects or self.removed_objects or self.added_facts or self.removed_facts)


def diff(before: Problem, after: Problem, renamed: Mapping[str, str] | None = None) -> Diff:
    """The difference of two problems; goals are not compared, because the goal ladder changes them.

    With `renamed` (old name: new name) what only got another name counts as unchanged.
    """
    if renamed:
        before = rename(before, renamed)
    return Diff(
        tuple(each for each in after.sorted_objects() if each not in before.objects),
        tuple(each for each in before.sorted_objects() if each not in after.objects),
        tuple(each for each in after.sorted_facts() if each not in before.facts),
        tuple(each for each in before.sorted_facts() if each not in after.facts),
    )


def edit_between(before: Problem, after: Problem) -> Edit:
    """The edit that makes `before` into `after`, without renaming: what is new is added, what is gone deleted."""
    changed = diff(before, after)
    return Edit(
        SectionEdit(tuple(map(str, changed.added_objects)), (), tuple(map(str, changed.removed_objects))),
        SectionEdit(tuple(map(str, changed.added_facts)), (), tuple(map(str, changed.removed_facts))),
    )
