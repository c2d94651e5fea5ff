"""Names the facts that a problem without a plan lacks, where the domain and the goals leave no choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pddlego.errors import TooManyCasesError
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.pddl import Atom, Formula
from pddlego.pddl.conditions import Not, required_atoms, walk
from pddlego.planning import PlanStatus, TriedRung
from pddlego.planning.world import World
from pddlego.util.limits import Work

_MOST_FACTS, _SECONDS = 100, 0.5
"""Limits on the search for a fact that makes a goal false."""


def missing_facts(knowledge: Knowledge, tried: Sequence[TriedRung]) -> tuple[str, ...]:
    """Advice for each reason why no goal has a plan; empty if no single fact is known to be missing."""
    unreachable = any(rung.status is PlanStatus.UNSOLVABLE for rung in tried)
    needed = list(_needed_by_all(knowledge)) if unreachable else []
    true = {rung.name for rung in tried if rung.status is PlanStatus.ALREADY_TRUE}
    goals = (rung.goal for rung in knowledge.ladder if rung.name in true)
    against = dict.fromkeys(fact for goal in goals if (fact := fact_against(knowledge, goal)) is not None)
    return (*needed, *(f"add {fact} if it is true: then this goal is not reached yet" for fact in against))


def _needed_by_all(knowledge: Knowledge) -> Iterator[str]:
    """The predicates of which each action needs a fact, if the problem has none."""
    actions = [{atom.predicate for atom in required_atoms(one.precondition)} for one in knowledge.domain.actions]
    there = {fact.predicate for fact in knowledge.problem.facts}
    for name in sorted(set.intersection(*actions) - there if actions else ()):
        yield f"there is no fact {knowledge.domain.predicates_by_name[name]}, which every action needs: add it"


def fact_against(knowledge: Knowledge, goal: Formula) -> Atom | None:
    """The only additional fact that makes a goal false which is true; None if there is no such fact, or several.

    A goal such as a room that was not visited is true by mistake if the agent's own room is not marked as visited.
    """
    world = World(knowledge.domain, knowledge.problem, Work(seconds=_SECONDS))
    negated = {node.part for node, _ in walk(goal) if isinstance(node, Not) and isinstance(node.part, Atom)}
    names = sorted({atom.predicate for atom in negated if len(atom.args) == 1})
    facts = [
        fact
        for name in names
        for obj in world.objects
        if knowledge.domain.is_a(obj.type, knowledge.domain.predicates_by_name[name].parameters[0].type)
        and (fact := Atom(name, (obj.name,))) not in knowledge.problem.facts
    ]
    try:
        if not world.holds(goal, knowledge.problem.facts, {}):
            return None
        right = [fact for fact in facts[:_MOST_FACTS] if not world.holds(goal, knowledge.problem.facts | {fact}, {})]
    except TooManyCasesError:
        return None
    return right[0] if len(right) == 1 and len(facts) <= _MOST_FACTS else None
