"""Which component a review rewrites next: what the checks name comes before what a model blames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pddlego.methods.builders.building import OF_PROBLEM, Step, What
from pddlego.methods.builders.components import COMPONENTS
from pddlego.methods.builders.draft import Draft
from pddlego.pddl import Defect, DefectKind

OF_ACTION = ("parameters", "preconditions", "effects", "action")
"""Components of one action."""

OF_KIND: Mapping[DefectKind, str] = {
    DefectKind.TYPE_CYCLE: "types",
    DefectKind.DUPLICATE_TYPE: "types",
    DefectKind.UNDECLARED_SUPERTYPE: "types",
    DefectKind.DUPLICATE_CONSTANT: "constants",
    DefectKind.DUPLICATE_PREDICATE: "predicates",
    DefectKind.DUPLICATE_OBJECT: "objects",
    DefectKind.OBJECT_IS_CONSTANT: "objects",
    DefectKind.NEGATED_INIT: "init",
    DefectKind.DERIVED_INIT: "init",
    DefectKind.BROKEN_INVARIANT: "init",
    DefectKind.EMPTY_GOAL: "goal",
    DefectKind.GOAL_TRUE: "goal",
}
"""The component that a defect of a kind is in, wherever it is."""


def components_of(what: What) -> tuple[str, ...]:
    """Return the components that a revision may rewrite: not those of a domain that was given."""
    known = {"domain": [kind for kind in COMPONENTS if kind not in OF_PROBLEM], "problem": list(OF_PROBLEM)}
    return tuple(kind for kind in known.get(what, COMPONENTS) if kind != "action-list")


def named_by(defects: Iterable[Defect], draft: Draft, what: What) -> tuple[Step, ...]:
    """The components that defects name, blocking defects first. A defect that several components may cause names
    nothing."""
    first = sorted(defects, key=lambda defect: not defect.blocking)
    steps = dict.fromkeys(step for defect in first if (step := _named(defect, draft)) is not None)
    return tuple(step for step in steps if step.kind in components_of(what))


def _named(defect: Defect, draft: Draft) -> Step | None:
    if defect.kind in OF_KIND:
        return Step(OF_KIND[defect.kind])
    place = defect.subject.partition(",")[0]
    if place.startswith("derived predicate "):
        return Step("rules")
    action = place.removeprefix("action ")
    if action == place or action not in draft.actions:
        return None
    return Step("effects" if defect.kind is DefectKind.EMPTY_EFFECT else "action", action)


def next_step(blamed: Step | None, named: Iterable[Step], unchanged: Sequence[Step]) -> Step | None:
    """The component that the model blamed if the checks name it, else the first one that they name.

    A component whose revision changed nothing is not named any longer; when no other is left, the model decides.
    """
    left = [step for step in named if not any(_includes(tried, step) for tried in unchanged)]
    if not left or (blamed is not None and any(_includes(blamed, step) for step in left)):
        return blamed
    return left[0]


def _includes(step: Step, other: Step) -> bool:
    """Whether writing `step` again may fix what is wrong with `other`: a part of it, the whole of it, or the same."""
    whole = "problem" if other.kind in OF_PROBLEM else "domain"
    same_action = bool(step.action) and step.action == other.action and "action" in (step.kind, other.kind)
    return step == other or step.kind == whole or same_action
