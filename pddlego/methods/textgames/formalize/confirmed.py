"""What the game confirmed: effects of the plan's steps, which an answer must not take back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pddlego.methods.textgames.formalize import Exchange, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.problems import with_unmatched
from pddlego.models.base import Feedback
from pddlego.pddl import Atom, DefectKind
from pddlego.pddl.invariants import contradictions
from pddlego.pddl.rules import remark


def confirmed(news: Iterable[Exchange]) -> Mapping[Atom, tuple[bool, str]]:
    """The facts that steps of the plan made true or false, each with the command of the last such step.

    After a command with unknown effects, or a lower score, nothing is known any more.
    """
    known: dict[Atom, tuple[bool, str]] = {}
    for exchange in news:
        if exchange.unforeseen or exchange.undone is None or exchange.gained < 0:
            known.clear()
        else:
            known |= {fact: (holds, exchange.command or "") for fact, holds in exchange.changes}
    return known


def _taken_back(proposal: ProblemProposal, situation: PromptContext) -> Iterator[tuple[Atom, bool, str]]:
    """The confirmed facts that the problem contradicts, under their present names, whether they hold, and the command.

    Facts about rooms that were not seen yet are left out: such a name may stand for another room now.
    """
    knowledge, renamed = proposal.knowledge, dict(proposal.renamed)
    names = {item.name for item in (*proposal.problem.objects, *knowledge.domain.constants)}
    names = {name for name in names if not situation.knowledge.is_placeholder(name)}
    for fact, (holds, command) in confirmed(situation.seen.news).items():
        fact = Atom(fact.predicate, tuple(renamed.get(arg, arg) for arg in fact.args))
        declared = knowledge.domain.predicates_by_name.get(fact.predicate)
        is_stated = declared is not None and len(declared.parameters) == len(fact.args)
        is_stated = is_stated and fact.predicate not in knowledge.only_planned
        if is_stated and names.issuperset(fact.args) and (fact in proposal.problem.facts) != holds:
            yield fact, holds, command


def unless_taken_back(proposal: ProblemProposal, situation: PromptContext, last: bool) -> ProblemProposal:
    """The proposal, with a note for each confirmed fact that it contradicts.

    It is feedback if such a fact and the problem exclude each other, unless this is the `last` attempt.
    """
    found = list(_taken_back(proposal, situation)) if proposal.feedback is None else []
    if not found:
        return proposal
    problem, invariants = proposal.problem, situation.knowledge.invariants
    lines = tuple(
        f"after '{command}' the file must {'' if holds else 'not '}have {fact}: the plan expected it, the game agreed"
        for fact, holds, command in found
    )
    true = [fact for fact, holds, _ in found if holds]
    together = replace(problem, facts=problem.facts.union(true))
    excluded = len(contradictions(together, invariants)) > len(contradictions(problem, invariants))
    if excluded and not last:
        feedback = Feedback(DefectKind.CONTRADICTION.value, "the problem file contradicts the game:", lines)
        return replace(proposal, feedback=with_unmatched(feedback, proposal.report))
    facts = (str(fact) for fact, *_ in found)
    defects = (remark(DefectKind.LOST_FACT, *noted) for noted in zip(facts, lines, strict=True))
    return replace(proposal, defects=(*proposal.defects, *defects))
