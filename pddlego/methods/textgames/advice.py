"""Names the facts that a problem without a plan lacks, where the domain and the goals leave no choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from pddlego.errors import TooManyCasesError
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.pddl import Atom, Formula
from pddlego.pddl.conditions import Not, required_atoms, walk
from pddlego.pddl.exclusive import never_together
from pddlego.planning import PlanStatus, TriedRung
from pddlego.planning.world import World
from pddlego.util.limits import Work

_MOST_FACTS, _MOST_WORK = 100, 100_000
"""Limits on the search for a fact that makes a goal false: facts, and steps of evaluation."""


def missing_facts(knowledge: Knowledge, tried: Sequence[TriedRung]) -> tuple[str, ...]:
    """Advice for each reason why no goal has a plan; empty if no reason is certain."""
    unreachable = {rung.name for rung in tried if rung.status is PlanStatus.UNSOLVABLE}
    needed = list(_needed_by_all(knowledge)) if unreachable else []
    for rung in knowledge.ladder if knowledge.written else ():
        if rung.name in unreachable and (reason := never_together(knowledge.domain, rung.goal)):
            needed.append(f"{rung.name}: {reason}")
    true = {rung.name for rung in tried if rung.status is PlanStatus.ALREADY_TRUE}
    work, against = Work(_MOST_WORK), dict[Atom, str]()
    with suppress(TooManyCasesError):
        for rung in knowledge.ladder:
            fact = fact_against(knowledge, rung.goal, work) if rung.name in true else None
            against |= {} if fact is None else {fact: rung.name}
    if knowledge.has_no_goals:
        needed.append(_NO_GOALS)
    return (
        *needed,
        *(f"add {fact} if it is true, so that '{name}' is still to be reached" for fact, name in against.items()),
    )


_NO_GOALS = (
    "no <goals> were found in the answer, so only the goal of the problem file was tried: write one condition per line "
    'between <goals> and </goals>, or in "goals" of an edit'
)


def _needed_by_all(knowledge: Knowledge) -> Iterator[str]:
    """The predicates of which each action needs a fact that a model can state, if the problem has none."""
    domain = knowledge.domain
    actions = [{atom.predicate for atom in required_atoms(action.precondition)} for action in domain.actions]
    present = {fact.predicate for fact in knowledge.problem.facts}.union(domain.rules, knowledge.only_planned)
    for name in sorted(set.intersection(*actions) - present if actions else ()):
        if name in domain.predicates_by_name:
            yield f"there is no fact {domain.predicates_by_name[name]}, which every action needs: add it"


def fact_against(knowledge: Knowledge, goal: Formula, work: Work) -> Atom | None:
    """The only additional fact that makes a goal false which is true; None if there is no such fact, or several.

    A goal such as a room that was not visited is true by mistake if the agent's own room is not marked as visited.
    Raises `TooManyCasesError` if the evaluation takes too much `work`.
    """
    domain, true = knowledge.domain, knowledge.problem.facts
    world = World(domain, knowledge.problem, work)
    negated = {node.part for node, _ in walk(goal) if isinstance(node, Not) and isinstance(node.part, Atom)}
    predicates = {domain.predicates_by_name.get(atom.predicate) for atom in negated if len(atom.args) == 1}
    facts = [
        fact
        for predicate in sorted(filter(None, predicates), key=lambda predicate: predicate.name)
        for obj in world.objects
        if domain.is_a(obj.type, predicate.parameters[0].type)
        and (fact := Atom(predicate.name, (obj.name,))) not in true
    ]
    if len(facts) > _MOST_FACTS or not world.holds(goal, true, {}):
        return None
    right = [fact for fact in facts if not world.holds(goal, true | {fact}, {})]
    return right[0] if len(right) == 1 else None
