"""Names what a problem lacks: facts that an answer lost, and facts and ways without which there is no plan."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, takewhile

from pddlego.errors import TooManyCasesError
from pddlego.methods.textgames.formalize import ProblemProposal, PromptContext
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import GameSetting, MapRule
from pddlego.pddl import Atom, DefectKind, Formula
from pddlego.pddl.conditions import Not, changed_atoms, required_atoms, walk
from pddlego.pddl.exclusive import never_together
from pddlego.pddl.invariants import contradictions, one_way
from pddlego.pddl.rules import remark
from pddlego.planning import PlanStatus, TriedRung
from pddlego.planning.state import State
from pddlego.planning.why.relaxed import Relaxation
from pddlego.planning.world import World
from pddlego.util.limits import Work

_MOST_FACTS, _MOST_WORK = 100, 100_000
"""Limits on the search for a fact that makes a goal false: facts, and steps of evaluation."""


def missing_facts(
    knowledge: Knowledge, tried: Sequence[TriedRung], rule: MapRule | None = None, task: str = ""
) -> tuple[str, ...]:
    """Advice for each reason why no goal has a plan; with the `rule` of a map, also the places that are cut off.

    Missing facts are those about what other facts name, or else the `task`, and come first.
    """
    unreachable = {rung.name for rung in tried if rung.status is PlanStatus.UNSOLVABLE}
    higher = takewhile(lambda rung: rung.status is not PlanStatus.ALREADY_TRUE, tried)  # nothing below is missed
    wanted = unreachable.intersection(rung.name for rung in higher)
    needed = [*_not_held(knowledge, wanted, task), *_needed_by_all(knowledge)] if unreachable else []
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
        *(_not_reachable(knowledge, rule) if unreachable and rule is not None else ()),
        *(f"add {fact} if it is true, so that '{name}' is still to be reached" for fact, name in against.items()),
    )


_NO_GOALS = (
    "no <goals> were found in the answer, so only the goal of the problem file was tried: write one condition per line "
    'between <goals> and </goals>, or in "goals" of an edit'
)


def _not_held(knowledge: Knowledge, unreachable: Collection[str], task: str) -> Iterator[str]:
    """The missing facts, which no action makes true, of the first goal that cannot be reached and needs any."""
    domain, problem, missing = knowledge.domain, knowledge.problem, tuple[Atom, ...]()
    with suppress(TooManyCasesError):
        relaxed = Relaxation(domain, problem, Work(_MOST_WORK))
        goals = (rung.goal for rung in knowledge.ladder if rung.name in unreachable and not rung.explores)
        missing = next(filter(None, (relaxed.missing(goal, _MOST_COMPARED) for goal in goals)), ())
    named = {arg for fact in problem.facts for arg in fact.args}
    objects, text = [item.name for item in problem.sorted_objects()], _words(task)

    conditions = {atom.predicate for action in domain.actions for atom in required_atoms(action.precondition)}

    def rank(atom: Atom) -> tuple[bool, int]:
        """An action that lacks a condition comes before a goal that has another way, such as to be confirmed."""
        names = [arg for arg in atom.args if not arg.startswith("?")]
        nearness = 0 if named.intersection(names) else 1 if any(_words(name) in text for name in names) else 2
        return atom.predicate not in conditions, nearness

    def is_other(atom: Atom) -> bool:
        """Whether the task has none of its names, without their numbers."""
        return not any(_words(re.sub(r"_\d+$", "", name)) in text for name in atom.args)

    first = min(map(rank, missing), default=None)
    for atom in sorted((atom for atom in missing if rank(atom) == first), key=is_other)[:_MOST_NOT_HELD]:
        shown = " ".join("…" if arg.startswith("?") else arg for arg in (atom.predicate, *atom.args))
        alike = [name for arg in atom.args for name in objects if name != arg and _is_part(arg, name)]
        hint = f"; the file has {', '.join(alike[:_MOST_NOT_HELD])}: is that the same?" if alike else ""
        yield f"there is no ({shown}), and no action makes one{hint}"


_MOST_NOT_HELD, _MOST_COMPARED = 5, 100
"""The maximum numbers of missing facts that are named, and of those from which they are chosen."""


def _is_part(name: str, other: str) -> bool:
    """Whether all words of one name are in the other, in their order."""
    return _words(name) in _words(other) or _words(other) in _words(name)


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
    if len(facts) > _MOST_FACTS or not world.holds(goal, world.initial, {}):
        return None
    right = [fact for fact in facts if not world.holds(goal, State(true | {fact}), {})]
    return right[0] if len(right) == 1 else None


def _not_reachable(knowledge: Knowledge, rule: MapRule) -> Iterator[str]:
    """The places of the problem to which no exits lead from the agent's place; those not visited are first."""
    facts, domain, ways = knowledge.problem.sorted_facts(), knowledge.domain, defaultdict[str, list[str]](list)
    for fact in facts:
        if fact.predicate == rule.exit and len(fact.args) > 1:
            ways[fact.args[0]].append(fact.args[1])
    here = [fact.args[0] for fact in facts if fact.predicate == rule.here and fact.args]
    reached, waiting = set(here), list(here)
    while waiting:
        waiting += (new := set(ways[waiting.pop()]) - reached)
        reached |= new
    named = {arg for fact in facts for arg in fact.args}
    objects = (*knowledge.problem.objects, *(constant for constant in domain.constants if constant.name in named))
    left = {obj.name for obj in objects if domain.is_a(obj.type, rule.room)} - reached
    visited = {fact.args[0] for fact in facts if fact.predicate == rule.visited and fact.args}
    if rule.exit and here and left:
        names = [f"{name} (not visited)" for name in sorted(left - visited)] + sorted(left & visited)
        yield f"not reachable from {' or '.join(here)}: {', '.join(names)}"


_MOST_LOST = 10
"""The maximum number of facts that a note lists, and of notes on exits."""


def with_losses(proposal: ProblemProposal, situation: PromptContext, setting: GameSetting) -> ProblemProposal:
    """The proposal, with a harmless defect for the facts that it lost, and for each new exit without a way back."""
    if proposal.feedback is not None:
        return proposal
    before, invariants = situation.knowledge.problem, situation.knowledge.invariants
    lost = [str(fact) for fact in lost_facts(proposal, situation, setting)]
    how = "the deleted objects took facts with them" if proposal.report else "the file leaves out facts"
    shown = " ".join(lost[:_MOST_LOST]) + (f" and {len(lost) - _MOST_LOST} more" if len(lost) > _MOST_LOST else "")
    message = f"{how} that nothing contradicts: {shown}. Add those that are still true, with the present names"
    defects = [remark(DefectKind.LOST_FACT, lost[0], message)] if lost else []
    known = {*one_way(before, invariants)}
    ways = (way for way in one_way(proposal.problem, invariants) if way not in known and str(way.missing) not in lost)
    defects += [remark(DefectKind.ONE_WAY, str(way), str(way)) for way in islice(ways, _MOST_LOST)]
    return replace(proposal, defects=(*proposal.defects, *defects))


def lost_facts(proposal: ProblemProposal, situation: PromptContext, setting: GameSetting) -> list[Atom]:
    """The facts that a whole file leaves out, or an edit deletes with an object, although nothing contradicts them.

    A fact is contradicted if the invariants exclude it, a step of the plan was to make it false, a new fact has another
    name in place of an object that is gone, or an observation names its objects. Exits and visited rooms stay: they are
    contradicted only by an observation that differs from what the plan expected.
    """
    knowledge, problem, news = situation.knowledge, proposal.problem, situation.seen.news
    declared = {obj.name for obj in knowledge.problem.objects}
    gone = declared - {obj.name for obj in problem.objects} - {old for old, _ in proposal.renamed}
    stated = {_in_any_order(fact) for fact in problem.facts}
    lost = [fact for fact in knowledge.problem.sorted_facts() if _in_any_order(fact) not in stated]
    if proposal.report is not None:
        deleted = {entry.line for entry in proposal.entries if entry.where == "init.delete"}
        lost = [fact for fact in lost if not gone.isdisjoint(fact.args) and str(fact) not in deleted]
    new = problem.facts - knowledge.problem.facts
    renamed = {_in_any_order(fact, arg) for fact in new for arg in fact.args[:_MOST_LOST]}
    together = replace(problem, facts=problem.facts.union(lost))
    undone = (fact.strip("()").split() for exchange in news for fact in exchange.undone or ())
    denied = (fact for violation in contradictions(together, knowledge.invariants) for fact in violation.facts)
    against = {*map(_in_any_order, denied), *((name, *sorted(args)) for name, *args in undone)}
    effects = (effect for action in knowledge.domain.actions for effect in changed_atoms(action.effect))
    fleeting = {atom.predicate for atom, value in effects if not value}
    unsure = fleeting if any(exchange.undone is None for exchange in news) else set()
    staying = {setting.map.exit, setting.map.visited} if setting.map else set()
    known = proposal.knowledge.domain.predicates_by_name.keys() - unsure
    known -= {name for name, claim in setting.claims.items() if claim.opinion}
    texts = [(_words(f"{item.command} {item.text} {item.unforeseen}"), bool(item.unforeseen)) for item in news]

    def is_lost(fact: Atom) -> bool:
        stays, old = fact.predicate in staying, [arg for arg in fact.args if arg in gone]
        names = [_words(arg) for arg in fact.args if not stays or arg in declared]
        enough = any if fact.predicate in fleeting and not any(map(knowledge.is_placeholder, fact.args)) else all
        seen = (enough(name in text for name in names) for text, surprise in texts if surprise or not stays)
        is_renamed = len(old) > 1 or (old and _in_any_order(fact, old[0]) in renamed)
        return fact.predicate in known and _in_any_order(fact) not in against and not is_renamed and not any(seen)

    return list(filter(is_lost, lost))


def _in_any_order(fact: Atom, without: str = "") -> tuple[str, ...]:
    """The predicate and the sorted arguments of a fact, except for one of them."""
    return (fact.predicate, *sorted(arg for arg in fact.args if arg != without))


def _words(text: str) -> str:
    return f" {' '.join(re.findall('[a-z0-9]+', text.lower()))} "
