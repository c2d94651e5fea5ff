"""What is changed when a model is asked again: the ladder of remedies.

1. Every retry says what was wrong with the last answer, and shows the atoms or lines that are to blame.
2. An answer that is, word for word, the one that was just rejected: the request says so, and the temperature is raised
   (`INCREASE` for each repetition, up to the model's bound). An endpoint that takes no temperature is asked in other
   words instead.
3. The same again: in `edit` the whole problem file is asked for in place of an edit (`PddlEdit`).

An answer that was cut off (the endpoint says so, or it ends in the middle) is not read as if it were whole: it is asked
for again with more room.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pddlego.methods.textgames.formalize.base import ProblemProposal, Proposal, with_unmatched
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Completion, Request
from pddlego.models.feedback import CUT_OFF, Feedback, cut_off
from pddlego.pddl import Defect, DefectKind, Problem
from pddlego.pddl.invariants import Invariant, contradictions
from pddlego.pddl.tolerant import MISSING

INCREASE = 0.3
"""Added to the temperature for each repetition."""

MORE_TOKENS = 16_384
"""Tokens that an answer may have after one that was cut off."""


def remedied(request: Request, situation: Situation) -> Request:
    """The request with what the last failure asks for."""
    unfinished = situation.feedback is not None and situation.feedback.category == CUT_OFF
    hotter = INCREASE * (situation.repeated - situation.reworded)
    return replace(request, temperature_increase=hotter, max_tokens=MORE_TOKENS if unfinished else None)


def ablated(situation: Situation, without: Collection[str]) -> Situation:
    """The situation as a mode `without` some of its parts sees it (`modes.ABLATIONS`)."""
    if "remedies" in without or "feedback" in without:
        situation = replace(situation, repeated=0, reworded=0)
    if "feedback" in without:
        news = tuple(replace(each, unforeseen="") for each in situation.news)
        situation = replace(situation, news=news, notes=(), contradictions=(), refused=(), feedback=None, rejected="")
    return situation


def unless_contradicting(
    proposal: ProblemProposal, before: Problem, invariants: Sequence[Invariant], last: bool
) -> ProblemProposal:
    """The proposal, with a feedback of its own if the problem contradicts itself in a way in which `before` did not.

    On the `last` try it is planned with all the same: a map with a fault is better than none.
    """
    if proposal.feedback is not None or last:
        return proposal
    known = contradictions(before, invariants)
    new = tuple(each for each in contradictions(proposal.problem, invariants) if each not in known)
    if not new:
        return proposal
    feedback = with_unmatched(Feedback(DefectKind.CONTRADICTION.value, CONTRADICTS, new), proposal.report)
    defects = tuple(Defect(DefectKind.CONTRADICTION, each, each) for each in new)
    return replace(proposal, feedback=feedback, defects=proposal.defects + defects)


CONTRADICTS = (
    "the problem file contradicts itself. See which of these facts the game has said, and leave the others out:"
)
"""What is said of a problem that cannot be true."""

FILTERED = Feedback(
    "content filter",
    "the endpoint's content filter withheld the answer. Write nothing but what was asked for, in plain words.",
)
"""What is said of an answer that a filter took away."""


def unless_incomplete(proposal: Proposal, answer: Completion) -> Proposal:
    """The proposal, with a feedback of its own if the endpoint cut the answer off before it was whole, or filtered it.

    What is complete counts, whatever would have followed it.
    """
    mended = isinstance(proposal, ProblemProposal) and any(
        each.kind is DefectKind.REPAIRED and MISSING in each.message for each in proposal.defects
    )
    if answer.finish not in ("length", "content_filter") or (proposal.feedback is None and not mended):
        return proposal
    return replace(proposal, feedback=cut_off() if answer.finish == "length" else FILTERED)
