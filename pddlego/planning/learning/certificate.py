"""Certifies learned actions: each is the same as that of a reference, safe, or wrong in a state that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import And, Formula
from pddlego.pddl.domain import Action
from pddlego.planning.compare import ComparisonVerdict, Witness
from pddlego.planning.domains.process import compare_apart

_SECONDS = 5.0
"""The time limit of a comparison."""

_NAMES = {ComparisonVerdict.SAME: "safe", ComparisonVerdict.DIFFERENT: "wrong"}


@dataclass(frozen=True)
class Certificate:
    """The verdict on a learned action: `same`, `safe` (possible in fewer states, with the same effects), `wrong`,
    `undecided`, or `unknown` if the action was not learned. A `wrong` one has a `witness`.
    """

    action: str
    verdict: str
    witness: Witness | None = None

    def __str__(self) -> str:
        if self.witness is None:
            return f"{self.action}: {self.verdict}"
        learned, true = (" ".join(one) if one else "nothing" for one in (self.witness.right, self.witness.left))
        outcome = f"learned {learned}, true {true}" if self.witness.left is not None else "it is impossible"
        return f"{self.action}: {self.verdict}: {self.witness.action} in {' '.join(self.witness.facts)}: {outcome}"


def certify(
    domain: Domain, learned: Domain, problem: Problem | None = None, assumed: Sequence[Formula] = ()
) -> tuple[Certificate, ...]:
    """Compare learned actions with those of the `domain`, in states that the `assumed` conditions allow.

    With a `problem`, its invariants are also assumed. Each comparison has `_SECONDS` in a separate process, which gets
    more to end.
    """
    by_name, conditions = learned.actions_by_name, tuple(assumed)
    return tuple(_certified(domain, true, by_name.get(true.name), problem, conditions) for true in domain.actions)


@lru_cache(maxsize=1_000)  # most actions are the same in the next episode
def _certified(
    domain: Domain, true: Action, learned: Action | None, problem: Problem | None, assumed: tuple[Formula, ...]
) -> Certificate:
    if learned is None:
        return Certificate(true.name, "unknown")
    with_true, with_learned = (replace(domain, actions=(action,), text="") for action in (true, learned))
    everywhere = compare_apart(with_true, with_learned, problem, assumed=assumed, seconds=_SECONDS)
    if everywhere.verdict is ComparisonVerdict.SAME:
        return Certificate(true.name, "same")
    # Where both call it possible:
    both = replace(true, parameters=learned.parameters, precondition=And((true.precondition, learned.precondition)))
    with_both = replace(with_true, actions=(both,))
    inside = compare_apart(with_both, with_learned, problem, assumed=assumed, seconds=_SECONDS)
    verdict = _NAMES.get(inside.verdict, "undecided")
    witness = inside.witnesses[0] if verdict == "wrong" and inside.witnesses else None
    return Certificate(true.name, verdict, witness)
